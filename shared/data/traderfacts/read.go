package traderfacts

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Did is what an account did in all time and in a window that was read.
type Did struct {
	Open
	Stored bool               // there is an open row; else the account did nothing that is in one, or it is not known
	Placed market.OrderTimes  // orders that it placed, see [Placed]
	Days   market.FactsByHour // of the window, as far as it is in days that have rows of their own

	Broken error // why its rows cannot be read; then nothing else is known
}

// AllTime is what the account did since it is known, with the orders that it placed.
func (d *Did) AllTime() market.Facts {
	all := d.Open.AllTime()
	all.Placed.Merge(d.Placed)
	return all
}

// Within is what the account did in the hours that begin from one time on and before another, ms,
// within the window that was read.
func (d *Did) Within(from, to int64) market.Window {
	w := d.Days.Within(from, to)
	open := d.Hours.Within(from, to)
	w.Did.Merge(&open.Did)
	return w
}

// readAtOnce is of how many accounts rows are read at a time.
const readAtOnce = 16

// Read returns what accounts did in the days that a window touches, from one time on, which from tells of
// each by its place, and before another, ms, in the order of the addresses. It asks once for each
// account. Rows that cannot be read are those of one account alone: see [Did.Broken]. An error ends the sequence.
func Read(ctx context.Context, series *store.Series, addresses []string, from func(i int) int64, to int64) iter.Seq2[*Did, error] {
	return each(ctx, addresses, func(ctx context.Context, i int) (*Did, error) {
		return readOne(ctx, series, addresses[i], from(i), to)
	})
}

// ReadHours returns what accounts did in the hours of a window of the past, from the beginning of one on and before
// that of another, ms, as [Read] does, and reads no row of a day behind it. Orders that were placed are not known.
func ReadHours(ctx context.Context, series *store.Series, addresses []string, from, to int64) iter.Seq2[*Did, error] {
	return each(ctx, addresses, func(ctx context.Context, i int) (*Did, error) {
		return readHours(ctx, series, addresses[i], from, to)
	})
}

// each reads accounts, some at a time.
func each(ctx context.Context, addresses []string, read func(ctx context.Context, i int) (*Did, error)) iter.Seq2[*Did, error] {
	return func(yield func(*Did, error) bool) {
		before := 0
		for part := range slices.Chunk(addresses, 4*readAtOnce) {
			all := make([]*Did, len(part))
			g, ctx := errgroup.WithContext(ctx)
			g.SetLimit(readAtOnce)
			for i := range part {
				at := before + i
				g.Go(func() (err error) {
					if all[i], err = read(ctx, at); err != nil {
						err = fmt.Errorf("read what %s did: %w", addresses[at], err)
					}
					return err
				})
			}
			if err := g.Wait(); err != nil {
				yield(nil, err)
				return
			}
			for _, did := range all {
				if !yield(did, nil) {
					return
				}
			}
			before += len(part)
		}
	}
}

// readOne reads an account. The row of a day that is open is of no use: it was written just before
// the day was open no longer.
func readOne(ctx context.Context, series *store.Series, address string, from, to int64) (*Did, error) {
	at := OpenAt(address)
	points, err := series.RangeWhole(ctx, at.SeriesKey, time.UnixMilli(market.Day1.StartMs(max(from, 0))), time.Time{}, 0, false)
	if err != nil {
		return nil, err
	}
	did := &Did{Days: market.FactsByHour{}}
	if n := len(points); n > 0 && points[n-1].Time.Equal(at.Time) {
		did.Open, err = DecodeOpen(points[n-1].Extra)
		did.Stored, points = true, points[:n-1]
	}
	if n := len(points); err == nil && n > 0 && points[n-1].Time.Equal(PlacedAt(address).Time) {
		var placed Placed
		placed, err = DecodePlaced(points[n-1].Extra)
		did.Placed, points = placed.OrderTimes, points[:n-1]
	}
	if err == nil {
		err = did.addDays(points, to)
	}
	return did.orBroken(err), nil
}

// orBroken is what is known of an account whose rows are there, unless an error says why they cannot be read.
func (d *Did) orBroken(err error) *Did {
	if err != nil {
		return &Did{Broken: err}
	}
	return d
}

// readHours reads the hours of an account: the rows of days, and the open one.
func readHours(ctx context.Context, series *store.Series, address string, from, to int64) (*Did, error) {
	at := OpenAt(address)
	points, err := series.RangeWhole(ctx, at.SeriesKey, time.UnixMilli(market.Day1.StartMs(max(from, 0))), time.UnixMilli(to), 0, false)
	if err != nil {
		return nil, err
	}
	rows, err := series.Load(ctx, []store.SeriesAt{at})
	if err != nil {
		return nil, err
	}
	did := &Did{Days: market.FactsByHour{}}
	row, ok := rows[at]
	if !ok {
		return did, nil
	}
	did.Stored = true
	if did.Open, err = DecodeOpen(row.Extra); err == nil {
		err = did.addDays(points, to)
	}
	return did.orBroken(err), nil
}

// addDays adds rows of days up to a time, ms.
func (d *Did) addDays(rows []store.Point, to int64) error {
	for i := 0; d.Stored && i < len(rows) && rows[i].Time.UnixMilli() < min(d.first(), to); i++ {
		hours, err := Decode(rows[i])
		if err != nil {
			return err
		}
		d.Days.Merge(hours)
	}
	return nil
}
