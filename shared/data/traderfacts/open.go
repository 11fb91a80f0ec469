package traderfacts

import (
	"maps"
	"slices"
	"time"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Open is what an account did in its open days, and what all days before them come to.
type Open struct {
	Since     int64              // ms from when on it is known what the account did; 0 where that is its beginning
	Before    market.Facts       // of the days that have rows of their own, of what counts once the number alone
	Hours     market.FactsByHour // of the open days
	Seen      market.SeenOrders
	LastOrder market.Order // newest filled order that was counted; Tid is its id
}

// OpenAt is the key of an account's open row. It is behind the rows of all days.
func OpenAt(address string) store.SeriesAt {
	at := At(address, 0)
	at.Time = time.UnixMilli(market.MaxTime).UTC()
	return at
}

// OpenRow is the open row of an account.
func OpenRow(address string, o *Open) store.SeriesRow {
	return rowOf(OpenAt(address), AppendOpen(nil, o))
}

// AllTime is what the account did since it is known.
func (o *Open) AllTime() market.Facts {
	all := market.Window{Did: o.Before}
	for _, f := range o.Hours {
		all.Add(f)
	}
	return all.Did
}

// first is the beginning of the first open day, ms; 0 where nothing was done.
func (o *Open) first() int64 {
	newest := int64(0)
	for hour := range o.Hours {
		newest = max(newest, hour)
	}
	return max(0, market.Day1.StartMs(newest)-dayMs)
}

// close takes the days out of the open ones that are so no more, and returns them by their
// beginnings, ms.
func (o *Open) close() map[int64]market.FactsByHour {
	first, days := o.first(), map[int64]market.FactsByHour{}
	before := market.Window{Did: o.Before}
	for hour, f := range o.Hours {
		if hour >= first {
			continue
		}
		day := market.Day1.StartMs(hour)
		if days[day] == nil {
			days[day] = market.FactsByHour{}
		}
		days[day][hour] = f
		before.Add(f)
		delete(o.Hours, hour)
	}
	o.Before = before.Did
	return days
}

// AppendOpen appends the open row: what is folded on with first, then the coins, what was done
// before, and the hours as [Append] has them.
func AppendOpen(b []byte, o *Open) []byte {
	w := writer{Writer: packed.Writer{B: append(b, version)}}
	first := o.first()
	w.Int(first, o.Since, o.LastOrder.Time, o.LastOrder.Seq, o.LastOrder.Tid)
	w.seen(first, &o.Seen)
	w.list(o.Hours, o.Before.Coins...)
	w.facts(0, &o.Before)
	w.hours(first, o.Hours)
	return w.B
}

// DecodeOpen reads what [AppendOpen] wrote.
func DecodeOpen(b []byte) (Open, error) {
	r := reader{Reader: packed.Reader{B: b}}
	o, first := r.open()
	r.list()
	o.Before = r.facts(0)
	o.Hours = r.hours(first, openDays*dayMs/hourMs)
	if !r.Done() || o.first() != first {
		return Open{}, errRow
	}
	return o, nil
}

// open reads what is folded on with, and from when on days are open, ms.
func (r *reader) open() (o Open, first int64) {
	r.Check(r.Byte() == version)
	first, o.Since = r.Int(), r.Int()
	r.Check(first >= 0 && first <= market.MaxTime && first%dayMs == 0)
	o.LastOrder = market.Order{Time: r.Int(), Seq: r.Int(), Tid: r.Int()}
	o.Seen = r.seen(first)
	return o, first
}

// openDays is how many days are open at most.
const openDays = 2

// Kept is what an account did, for who folds it and keeps many of them: its open row as it was last,
// and what was folded since. The zero value is of an account of which nothing is known.
type Kept struct {
	row   []byte // what [AppendOpen] wrote; nil before the first
	first int64  // ms: from when on days are open in it; 0 before any
	known int64  // [Open.Since]
	order market.Order
	since market.FactsByHour
	seen  *market.SeenOrders // with what was folded since; nil while that are no fills
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

// KeepSince returns what is kept of an account of which nothing is known of before a time, ms.
func KeepSince(ms int64) *Kept { return &Kept{known: ms} }

// Stored is the open row, without what was folded since; nil before the first.
func (k *Kept) Stored() []byte { return k.row }

// IsClosed reports whether a time, ms, is before the open days: what happened then has a row that is
// not known here. What is folded of it counts in all time alone.
func (k *Kept) IsClosed(ms int64) bool { return ms < k.first }

func (k *Kept) did() market.FactsByHour {
	if k.since == nil {
		k.since = market.FactsByHour{}
	}
	return k.since
}

// Fill takes in a fill, see [market.SeenOrders.Fill].
func (k *Kept) Fill(f *market.Fill) {
	if k.seen == nil {
		k.seen = new(market.SeenOrders)
		if k.row != nil {
			r := reader{Reader: packed.Reader{B: k.row}}
			o, _ := r.open()
			k.seen = &o.Seen
		}
	}
	k.seen.Fill(k.did(), f)
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

// Rows are the rows that differ from what is stored: of the days that are open no longer, to be
// written first, and the open row, from which is folded on; it is nil where nothing was done.
// The rows of days that were closed before stay as they are, whatever was folded of them.
func (k *Kept) Rows(address string) (days []store.SeriesRow, open *store.SeriesRow) {
	if k.row != nil && len(k.since) == 0 {
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
	for _, day := range slices.Sorted(maps.Keys(closed)) {
		days = append(days, Row(address, day, closed[day]))
	}
	row := OpenRow(address, &o)
	*k = Kept{row: row.Extra, first: o.first(), known: o.Since, order: o.LastOrder}
	return days, &row
}
