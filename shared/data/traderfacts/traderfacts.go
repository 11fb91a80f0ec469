// Package traderfacts is what each account did by day and hour ([market.Facts]). The columns of the
// trader table, and what is asked of any window, are sums of these.
//
// The newest day in which an account did something and the day before that are open: they are in one
// row with all that is needed to fold on, rewritten as the account goes on, so that what comes up to a
// day late is folded in place. Each day before them has a row of its own, which is written when
// it is open no longer, and again where the account is made again. How many orders it placed is
// a third kind of row.
//
// A row is binary, as the table is made of a million of them: some 70 bytes for an hour with fills and
// a completed position. The open row has ten more for each order that was filled lately, of which it
// knows a thousand at most. What a builder routed takes 20 for its address, and some 15 an hour.
package traderfacts

import (
	"errors"
	"fmt"
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
const version = 3

const (
	hourMs = 3_600_000
	dayMs  = 24 * hourMs
)

// At is the key of an account's row of the day that holds a time, ms.
func At(address string, ms int64) store.SeriesAt {
	return store.SeriesAt{SeriesKey: store.SeriesKey{Name: Name, Key: address, Interval: market.Day1.String()}, Time: time.UnixMilli(market.Day1.StartMs(ms)).UTC()}
}

// Row is the row of what an account did in the hours of a day that holds a time, ms.
func Row(address string, ms int64, hours market.FactsByHour) store.SeriesRow {
	at := At(address, ms)
	return rowOf(at, Append(nil, at.Time.UnixMilli(), hours))
}

func rowOf(at store.SeriesAt, extra []byte) store.SeriesRow {
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: dataset.JSON(struct{}{}), Extra: extra}}
}

// MostBytes bounds a row: those of traders have less than half as much. Where the venue tells of longer figures
// than any market has, of what builders routed in the hours it is kept by whom alone: what else there is always fits.
const MostBytes = 380 << 10

// namesAlone are hours in which it is not known what their builders routed.
func namesAlone(hours market.FactsByHour) market.FactsByHour {
	rest := make(market.FactsByHour, len(hours))
	for hour, f := range hours {
		one := *f
		one.Builders = slices.Clone(f.Builders)
		for i := range one.Builders {
			v := &one.Builders[i]
			v.RoutedFacts = market.RoutedFacts{Unknown: max(v.Unknown, 1)}
		}
		rest[hour] = &one
	}
	return rest
}

// Append appends the row of a day (its beginning, ms): the coins, the builders, and the hours in their order, each
// with its number and what there is of its facts. Whole numbers are varints, decimals as
// [packed.Writer.Decimal] has them, hours in which something was seen before are told by how long
// before.
func Append(b []byte, day int64, hours market.FactsByHour) []byte {
	row, _ := appendDay(b, day, hours)
	return row
}

// appendDay is Append, and reports whether there was room for what builders routed.
func appendDay(b []byte, day int64, hours market.FactsByHour) (row []byte, whole bool) {
	if row = appendHours(b, day, hours); len(row)-len(b) <= MostBytes {
		return row, true
	}
	return appendHours(b, day, namesAlone(hours)), false
}

func appendHours(b []byte, day int64, hours market.FactsByHour) []byte {
	w := writer{Writer: packed.Writer{B: append(b, version)}}
	w.list(hours, nil)
	w.listBuilders(hours, nil, nil)
	w.hours(day, hours)
	return w.B
}

var errRow = errors.New("it is no row of what an account did")

// Decode reads the row of a day.
func Decode(p store.Point) (market.FactsByHour, error) {
	r := reader{Reader: packed.Reader{B: p.Extra}}
	r.Check(r.Byte() == version)
	r.list()
	r.listBuilders()
	hours := r.hours(p.Time.UnixMilli(), dayMs/hourMs)
	if !r.Done() {
		return nil, fmt.Errorf("of %s: %w", p.Time.Format(time.DateOnly), errRow)
	}
	return hours, nil
}
