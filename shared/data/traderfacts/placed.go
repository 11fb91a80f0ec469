package traderfacts

import (
	"context"
	"slices"
	"time"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Placed counts the orders that an account placed, whatever became of them, since statuses of orders
// are read. It has a row of its own, as what places orders all the time may never trade.
//
// Statuses of now come in the order in which they came about, so that what was counted is known by the
// time of the newest order, and by the ids of those of that millisecond. A status that comes behind it, of
// an order that was placed before, counts no more: nor do orders of a past that is read beside, from
// when on the account has placed one now.
type Placed struct {
	market.OrderTimes
	Newest []int64 // ids of the orders that were placed at Last, in order
}

// placedWithin is how long after an order was placed a status may be the first of it, ms. What
// comes later is of an order whose beginning was not read. What comes that long before has a wrong time:
// all that are placed until then would count no more.
const placedWithin = 60_000

// mostPlaced bounds the orders of one millisecond that count.
const mostPlaced = 1000

// MayPlace reports whether a status may be the first of its order.
func MayPlace(o *market.OrderStatus) bool {
	after := o.Time - o.Timestamp
	return o.Timestamp > 0 && o.Timestamp <= market.MaxTime && -placedWithin < after && after < placedWithin
}

// Place takes in a status, and reports whether its order counts, as it was not known.
func (p *Placed) Place(o *market.OrderStatus) bool {
	if !MayPlace(o) || o.Timestamp < p.Last {
		return false
	}
	if o.Timestamp > p.Last {
		p.Newest = p.Newest[:0]
	}
	at, known := slices.BinarySearch(p.Newest, o.Oid)
	if known || len(p.Newest) >= mostPlaced {
		return false
	}
	p.Newest = slices.Insert(p.Newest, at, o.Oid)
	p.Merge(market.OrderTimes{Count: 1, First: o.Timestamp, Last: o.Timestamp})
	return true
}

// PlacedAt is the key of the row of the orders that an account placed. It is behind the rows of all
// days, and before the open row.
func PlacedAt(address string) store.SeriesAt {
	at := OpenAt(address)
	at.Time = at.Time.Add(-time.Millisecond)
	return at
}

// PlacedRow is the row of the orders that an account placed.
func PlacedRow(address string, p *Placed) store.SeriesRow {
	return rowOf(PlacedAt(address), AppendPlaced(nil, p))
}

// ReadPlaced returns the orders that accounts placed, [Did.Placed] alone, of those of which any are known.
func ReadPlaced(ctx context.Context, series *store.Series, addresses []string) (map[string]Did, error) {
	keys := make([]store.SeriesAt, len(addresses))
	for i, address := range addresses {
		keys[i] = PlacedAt(address)
	}
	rows, err := series.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Did, len(rows))
	for at, row := range rows {
		placed, err := DecodePlaced(row.Extra)
		all[at.Key] = Did{Placed: placed.OrderTimes, Broken: err}
	}
	return all, nil
}

// AppendPlaced appends the row of the orders that an account placed.
func AppendPlaced(b []byte, p *Placed) []byte {
	w := writer{Writer: packed.Writer{B: append(b, version)}}
	w.times(0, p.OrderTimes)
	w.Length(len(p.Newest))
	oid := int64(0)
	for _, next := range p.Newest {
		w.Int(next - oid)
		oid = next
	}
	return w.B
}

// DecodePlaced reads what [AppendPlaced] wrote.
func DecodePlaced(b []byte) (Placed, error) {
	r := reader{Reader: packed.Reader{B: b}}
	r.Check(r.Byte() == version)
	p := Placed{OrderTimes: r.times(0)}
	oid := int64(0)
	for i := range r.Length(1) {
		step := r.Int()
		r.Check(i == 0 || step > 0)
		oid += step
		p.Newest = append(p.Newest, oid)
	}
	if !r.Done() {
		return Placed{}, errRow
	}
	return p, nil
}
