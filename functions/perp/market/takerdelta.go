package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// takerDelta sums up the trades of the last seconds of the window: from the
// start of the second that lies a window before now, the second that runs
// included. So a window of 1s holds between one and two seconds of trades.
func (m *markets) takerDelta(ctx context.Context, in catalog.TakerDeltaIn) (catalog.TakerDeltaSum, error) {
	now := api.Now(ctx)
	sum, err := m.tradedSince(ctx, string(in.Coin), now.Add(-in.Interval.Duration()), now)
	if err != nil {
		return catalog.TakerDeltaSum{}, err
	}
	return catalog.TakerDeltaSum{
		SzDelta:  market.Text(buyersLead(sum.SizeBuyer, sum.Size)),
		ValDelta: market.Text(buyersLead(sum.AmountBuyer, sum.Amount)),
	}, nil
}

// buyersLead is bought less sold, of what was bought and of all.
func buyersLead(bought, all market.Decimal) market.Decimal {
	return bought.Add(bought).Sub(all)
}

// tradedSince is the candle of all trades from the second that holds a moment on.
// It reads the widest stored buckets that fit between that second and now, the
// open one included, at most some fifty rows: 4 of a second, 2 of five, and so
// on up to weeks.
func (m *markets) tradedSince(ctx context.Context, coin string, from, now time.Time) (market.Candle, error) {
	spans := cover(from, now)
	parts := make([]market.Candle, len(spans))
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range spans {
		group.Go(func() error {
			key := store.SeriesKey{Name: store.KlineSeries, Key: coin, Interval: s.tier.String()}
			points, err := m.series.Range(ctx, key, s.from, s.to, 0, false)
			if err != nil {
				return err
			}
			for _, p := range points {
				c, err := market.ParseCandle(p.Body)
				if err != nil {
					return fmt.Errorf("kline of %s at %s: %w", key, p.Time.Format(time.RFC3339), err)
				}
				parts[i].Merge(&c)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return market.Candle{}, err
	}
	var sum market.Candle
	for i := range parts {
		sum.Merge(&parts[i])
	}
	return sum, nil
}

// span is a run of whole buckets of a tier; the last one is open at its end.
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
