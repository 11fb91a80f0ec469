package exchange

import (
	"fmt"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// perpInterest is the open interest of the perpetual exchange, as its own domain stores it
// every minute. It is read again each time, as another process may write it. Nobody
// tells what it was before that exchange was followed: sums of before are without it.
type perpInterest struct{ *perpetuals }

// perpValue is what the perpetual exchange has to a sum.
type perpValue struct {
	value    market.Decimal // US dollars; 0 where there is none, or it is older than valueFor
	known    bool           // whether there is one
	followed bool           // whether there was one, that day or the day before
}

// rows are those that hold the values of a time (ms) and of before it, newest first: its
// minutes, and then its hours.
func (p perpInterest) rows(coin string, ms int64) (minutes, hours []store.SeriesAt) {
	key := pairs.PerpCoinKey(coin)
	of := func(t pairseries.Tier, before int64) []store.SeriesAt {
		at, earlier := pairseries.Interest.At(key, t, ms), pairseries.Interest.At(key, t, ms-before)
		if earlier == at {
			return []store.SeriesAt{at}
		}
		return []store.SeriesAt{at, earlier}
	}
	return of(pairseries.Tiers[0], valueFor), of(pairseries.Tiers[1], day.Milliseconds())
}

// want asks for a coin's open interest at a time, ms.
func (p perpInterest) want(r *engine.Reads, coin string, ms int64) {
	minutes, hours := p.rows(coin, ms)
	for _, at := range append(minutes, hours...) {
		r.Prefetch(at, func(_ store.SeriesAt, row *store.Point) error {
			_, err := pairseries.Interest.Decode(row.Body)
			return err
		})
	}
}

// at is a coin's open interest at a time (ms): the newest until then.
func (p perpInterest) at(r *engine.Reads, coin string, ms int64) (v perpValue, err error) {
	minutes, hours := p.rows(coin, ms)
	newest, err := newestOf(r, minutes, func(bar *market.Bar) bool { return bar.Last <= ms })
	if err != nil {
		return v, err
	}
	if !newest.Empty() && ms-newest.Last <= valueFor {
		return perpValue{newest.Close, true, true}, nil
	}
	earlier, err := newestOf(r, hours, func(bar *market.Bar) bool { return bar.First <= ms })
	return perpValue{followed: !newest.Empty() || !earlier.Empty()}, err
}

// newestOf is the newest part of rows, which are newest first, that is of a time; empty
// where there is none.
func newestOf(r *engine.Reads, rows []store.SeriesAt, of func(*market.Bar) bool) (newest market.Bar, err error) {
	for _, at := range rows {
		stored := r.Row(at)
		if stored == nil {
			continue
		}
		pack, err := pairseries.Interest.Decode(stored.Body)
		if err != nil {
			return newest, fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
		}
		for _, bar := range pack {
			if of(&bar) && bar.Last > newest.Last {
				newest = bar
			}
		}
		if !newest.Empty() {
			break
		}
	}
	return newest, nil
}
