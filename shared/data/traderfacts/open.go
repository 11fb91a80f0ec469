package traderfacts

import (
	"time"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Open is what an account did in its open days, and what all days before them come to.
type Open struct {
	Since     int64              // ms behind which it is known what the account did; 0 where that is all
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

// AppendOpen appends the open row: what is folded on with first, the builders in it, then the coins, what
// was done before, and the hours as [Append] has them.
func AppendOpen(b []byte, o *Open) []byte {
	row, _ := appendOpenDays(b, o)
	return row
}

// appendOpenDays is AppendOpen, and reports whether there was room for what builders routed.
func appendOpenDays(b []byte, o *Open) (row []byte, whole bool) {
	if row = appendOpen(b, o); len(row)-len(b) <= MostBytes {
		return row, true
	}
	rest := *o
	rest.Hours = namesAlone(o.Hours)
	return appendOpen(b, &rest), false
}

func appendOpen(b []byte, o *Open) []byte {
	w := writer{Writer: packed.Writer{B: append(b, version)}}
	first := o.first()
	w.Int(first, o.Since, o.LastOrder.Time, o.LastOrder.Seq, o.LastOrder.Tid)
	w.seen(first, &o.Seen)
	w.listBuilders(o.Hours, o.Before.Builders, o.Seen.Builders)
	w.seenBuilders(o.Seen.Builders)
	w.list(o.Hours, o.Before.Coins)
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
	r.listBuilders()
	o.Seen.Builders = r.seenBuilders()
	return o, first
}

// openDays is how many days are open at most.
const openDays = 2
