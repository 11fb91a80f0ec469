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
// account. An error ends the sequence.
func Read(ctx context.Context, series *store.Series, addresses []string, from func(i int) int64, to int64) iter.Seq2[*Did, error] {
	return func(yield func(*Did, error) bool) {
		before := 0
		for part := range slices.Chunk(addresses, 4*readAtOnce) {
			all := make([]*Did, len(part))
			g, ctx := errgroup.WithContext(ctx)
			g.SetLimit(readAtOnce)
			for i, address := range part {
				g.Go(func() (err error) {
					all[i], err = readOne(ctx, series, address, from(before+i), to)
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
	did := &Did{Days: market.FactsByHour{}}
	if n := len(points); err == nil && n > 0 && points[n-1].Time.Equal(at.Time) {
		did.Open, err = DecodeOpen(points[n-1].Extra)
		did.Stored, points = true, points[:n-1]
	}
	if n := len(points); err == nil && n > 0 && points[n-1].Time.Equal(PlacedAt(address).Time) {
		var placed Placed
		placed, err = DecodePlaced(points[n-1].Extra)
		did.Placed, points = placed.OrderTimes, points[:n-1]
	}
	for i := 0; err == nil && did.Stored && i < len(points) && points[i].Time.UnixMilli() < min(did.first(), to); i++ {
		var hours market.FactsByHour
		hours, err = Decode(points[i])
		did.Days.Merge(hours)
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s did: %w", address, err)
	}
	return did, nil
}
