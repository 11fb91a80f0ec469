// Package traderfacts is what each account did by day and hour ([market.Facts]): one row for each
// account and UTC day in which it did something. The columns of the trader table, and what is asked of
// any window, are sums of these.
//
// A row is binary, as the table is made of a million of them: some 70 bytes for an hour with fills and
// a completed position, and ten for each order that was filled lately.
package traderfacts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series. The key is the account's address, a bucket is a day.
const Name = "traderfacts"

// version opens an encoded row.
const version = 1

// At is the key of an account's row of the day that holds a time, ms.
func At(address string, ms int64) store.SeriesAt {
	return store.SeriesAt{SeriesKey: store.SeriesKey{Name: Name, Key: address, Interval: market.Day1.String()}, Time: time.UnixMilli(market.Day1.StartMs(ms)).UTC()}
}

// Day is what an account did in a UTC day.
type Day struct {
	Hours market.FactsByHour // of the day alone
	Seen  market.SeenOrders  // as they were behind its last event
}

// Row is the row of an account of the day that holds a time, ms.
func Row(address string, ms int64, d *Day) store.SeriesRow {
	at := At(address, ms)
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: dataset.JSON(struct{}{}), Extra: Append(nil, at.Time.UnixMilli(), d)}}
}

// Append appends the row of a day (its beginning, ms): the hours in their order, each with its number
// and what there is of its facts, and the orders that were seen. Whole numbers are varints, decimals
// as [packed.Writer.Decimal] has them, hours in which something was seen before are told by how long
// before.
func Append(b []byte, day int64, d *Day) []byte {
	w := writer{packed.Writer{B: append(b, version)}}
	w.Length(len(d.Hours))
	for _, hour := range slices.Sorted(maps.Keys(d.Hours)) {
		w.Byte(byte((hour - day) / hourMs))
		w.facts(hour, d.Hours[hour])
	}
	w.seen(day, &d.Seen)
	return w.B
}

var errRow = errors.New("it is no row of what an account did in a day")

// Decode reads a row.
func Decode(p store.Point) (d Day, err error) {
	r := reader{packed.Reader{B: p.Extra}}
	r.Check(r.Byte() == version)
	d.Hours = market.FactsByHour{}
	last := -1
	for range r.Length(2) {
		n := int(r.Byte())
		r.Check(n > last && n < 24)
		if last = n; r.Broken {
			break
		}
		hour := p.Time.UnixMilli() + int64(n)*hourMs
		f := r.facts(hour)
		d.Hours[hour] = &f
	}
	d.Seen = r.seen(p.Time.UnixMilli())
	if !r.Done() {
		return Day{}, fmt.Errorf("of %s: %w", p.Time.Format(time.DateOnly), errRow)
	}
	return d, nil
}
