package traderfacts

import (
	"maps"
	"math"
	"slices"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Kept is what an account did, for who folds it and keeps many of them: its open row as it was last,
// and what was folded since. The zero value is of an account of which nothing is known.
type Kept struct {
	row   []byte // what [AppendOpen] wrote; nil while there is none
	first int64  // ms: from when on days are open in it; 0 before any
	known int64  // [Open.Since]
	order market.Order
	since market.FactsByHour
	seen  *market.SeenOrders // with what was folded since; nil while that are no fills

	leftOut int64 // rows that were made without what builders routed
}

// Keep returns what is kept of an open row; nil is none.
func Keep(row []byte) (*Kept, error) {
	if row == nil {
		return new(Kept), nil
	}
	o, err := DecodeOpen(row)
	if err != nil {
		return nil, err
	}
	return &Kept{row: row, first: o.first(), known: o.Since, order: o.LastOrder}, nil
}

// KeepSince returns what is kept of an account of which nothing is known up to a time, ms.
func KeepSince(ms int64) *Kept {
	return &Kept{known: ms, order: market.Order{Time: ms, Seq: math.MaxInt64}} // none up to then is to be counted
}

// Stored is the open row, without what was folded since. Of an account that has done nothing none is
// stored: it stands for it.
func (k *Kept) Stored() []byte {
	if k.row == nil {
		return AppendOpen(nil, new(Open))
	}
	return k.row
}

// TakeLeftOut is how many rows had no room for what builders routed, since it was asked last.
func (k *Kept) TakeLeftOut() int64 {
	n := k.leftOut
	k.leftOut = 0
	return n
}

// IsClosed reports whether a time, ms, is before the open days: what happened then has a row that is
// not known here. What is folded of it counts in all time alone.
func (k *Kept) IsClosed(ms int64) bool { return ms < k.first }

func (k *Kept) did() market.FactsByHour {
	if k.since == nil {
		k.since = market.FactsByHour{}
	}
	return k.since
}

// Fill takes in a fill, and reports whether its builder counts, see [market.SeenOrders.Fill].
func (k *Kept) Fill(f *market.Fill) (counts bool) {
	if k.seen == nil {
		k.seen = new(market.SeenOrders)
		if k.row != nil {
			r := reader{Reader: packed.Reader{B: k.row}}
			o, _ := r.open()
			k.seen = &o.Seen
		}
	}
	return k.seen.Fill(k.did(), f)
}

// Complete takes in a trade that was completed.
func (k *Kept) Complete(t *market.CompletedTrade) { k.did().Complete(t) }

// Flow takes in what a ledger update moved, see [market.FactsByHour.Flow].
func (k *Kept) Flow(ms int64, perp, spot market.Decimal) { k.did().Flow(ms, perp, spot) }

// Order takes in a status of an order, and reports whether it counts: those that were filled do, in
// their order and each once.
func (k *Kept) Order(o *market.OrderStatus) bool {
	at := market.Order{Time: o.Time, Seq: o.Seq, Tid: o.Oid}
	if o.Status != market.StatusFilled || at.Compare(k.order) <= 0 {
		return false
	}
	k.order = at
	k.did().Order(o)
	return true
}

// Changed is the first hour whose row is another with what was folded, its beginning in ms: the last one of
// the open days where that is all time alone, and [market.MaxTime] where there is nothing.
func (k *Kept) Changed() int64 {
	first := int64(market.MaxTime)
	for hour := range k.since {
		if k.IsClosed(hour) {
			hour = k.first + openDays*dayMs - hourMs
		}
		first = min(first, hour)
	}
	return first
}

// Rows are the rows that differ from what is stored: of the days that are open no longer, to be
// written first, and the open row, from which is folded on; it is nil where it is as it was.
// The rows of days that were closed before stay as they are, whatever was folded of them.
func (k *Kept) Rows(address string) (days []store.SeriesRow, open *store.SeriesRow) {
	if len(k.since) == 0 && (k.row != nil || k.known == 0) {
		return nil, nil
	}
	o := Open{Since: k.known, Hours: market.FactsByHour{}}
	if k.row != nil {
		var err error
		if o, err = DecodeOpen(k.row); err != nil {
			panic("traderfacts: " + err.Error()) // it was read or written before
		}
	}
	if o.LastOrder = k.order; k.seen != nil {
		o.Seen = *k.seen
	}
	before := market.Window{Did: o.Before}
	for hour, f := range k.since {
		if k.IsClosed(hour) {
			before.Add(f)
			delete(k.since, hour)
		}
	}
	o.Before = before.Did
	o.Hours.Merge(k.since)
	closed := o.close()
	leftOut := k.leftOut
	note := func(whole bool) {
		if !whole {
			leftOut++
		}
	}
	for _, day := range slices.Sorted(maps.Keys(closed)) {
		extra, whole := appendDay(nil, day, closed[day])
		note(whole)
		days = append(days, rowOf(At(address, day), extra))
	}
	extra, whole := appendOpenDays(nil, &o)
	note(whole)
	row := rowOf(OpenAt(address), extra)
	*k = Kept{row: extra, first: o.first(), known: o.Since, order: o.LastOrder, leftOut: leftOut}
	return days, &row
}
