package exchange

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"quotary/shared/market"
)

// PastRate is the funding rate of a coin, made of what its perpetuals paid.
type PastRate struct {
	Coin string
	Time int64 // ms; see [market.PairFunding.At]
	Rate market.Decimal
}

// ratesOf is the funding rate of a coin at each time from one until before another (ms) at
// which all of its perpetuals paid: what they paid, weighted as what they expect is. Where one
// of them did not pay it cannot be known, as no exchange tells what it expected in the past.
func ratesOf(ctx context.Context, coin string, members []contract, from, to int64) (*Batch, error) {
	all := map[int64][]market.WeightedRate{} // by the time that the rate stands at
	for i := range members {
		rates, err := members[i].paid(ctx, from, to)
		if err != nil || len(rates) == 0 {
			return new(Batch), err
		}
		for at, rate := range rates {
			all[at] = append(all[at], rate)
		}
	}
	b := new(Batch)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if rate, ok := market.WeighRates(all[at]); ok && len(all[at]) == len(members) {
			b.PastRates = append(b.PastRates, PastRate{coin, at, rate})
		}
	}
	return b, nil
}

// paid are the rates that were paid from a time until before another (ms), by the time that
// they stand at, with what was traded in the 24 hours before each.
func (c *contract) paid(ctx context.Context, from, to int64) (map[int64]market.WeightedRate, error) {
	list, err := c.of.PastFundings(ctx, c.Pair, from-paidLate, to+paidLate)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	hours := market.CandleRun{Pair: c.Key, Interval: market.Hour1, From: market.Hour1.StartMs(from) - day.Milliseconds(), To: market.Hour1.StartMs(to)}
	if _, err := readRun(ctx, c.venue, c.Pair, &hours); err != nil {
		return nil, fmt.Errorf("read what was traded of %s: %w", c.Key, err)
	}
	rates := map[int64]market.WeightedRate{}
	for i := range list {
		f := &list[i]
		end := f.At() + 1
		if end < from || end >= to || f.Period == 0 {
			continue
		}
		rate := market.WeightedRate{Rate: f.Rate, Period: f.Period}
		for _, hour := range hours.Candles {
			if hour.OpenTime >= end-day.Milliseconds() && hour.OpenTime < end {
				rate.Weight = rate.Weight.Add(hour.Amount)
			}
		}
		rates[end-1] = rate
	}
	return rates, nil
}
