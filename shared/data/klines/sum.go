package klines

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Sum is the candle of all trades of a coin from the second that holds a moment
// on, until now. It reads the widest stored buckets that fit between that second
// and now, the open one included, at most some fifty rows: 4 of a second, 2 of
// five, and so on up to weeks.
func Sum(ctx context.Context, s *store.Series, coin string, from, now time.Time) (market.Candle, error) {
	spans := cover(from, now)
	parts := make([][]market.Candle, len(spans))
	group, ctx := errgroup.WithContext(ctx)
	for i, span := range spans {
		group.Go(func() (err error) {
			parts[i], err = Read(ctx, s, coin, span.tier, dataset.Range{From: span.from, To: span.to})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return market.Candle{}, err
	}
	var sum market.Candle
	for _, part := range parts {
		for i := range part {
			sum.Merge(&part[i])
		}
	}
	return sum, nil
}

// span is a run of complete buckets of a tier; the last one is open at its end.
type span struct {
	tier     market.Interval
	from, to time.Time
}

// cover splits the time from the second that holds from until now into runs of
// buckets, each as wide as the border at its start allows. Nothing is stored
// after now, so only the beginning needs narrow ones.
func cover(from, now time.Time) []span {
	var spans []span
	at := market.Second1.Start(from)
	for i, tier := range market.KlineTiers {
		if i == len(market.KlineTiers)-1 {
			return append(spans, span{tier: tier, from: at})
		}
		wider := market.KlineTiers[i+1]
		end := wider.Start(at)
		if end.Before(at) {
			end = wider.Next(at)
		}
		if end.After(now) { // no wider bucket opens before now
			return append(spans, span{tier: tier, from: at})
		}
		if end.After(at) {
			spans = append(spans, span{tier, at, end})
		}
		at = end
	}
	return spans
}
