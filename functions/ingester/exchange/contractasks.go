package exchange

import (
	"context"
	"maps"
	"slices"

	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// steps are the times of which exchanges tell something, ms.
type steps struct {
	every   int64
	window  int64 // of what is emitted at once
	overlap int64 // of what was emitted that is asked for once more, as it may be told late
}

var (
	paidSteps  = steps{every: 3_600_000, window: 7 * day.Milliseconds(), overlap: 3_600_000} // rates are paid on full hours
	otherSteps = steps{every: stepEvery, window: pastWindow.Milliseconds()}
)

// ask is something of the past that is asked for by itself.
type ask struct {
	name string // of what was delivered of it
	steps
	of func(ctx context.Context, from, to int64) (*Batch, error)
}

// asks are everything that is asked for of the perpetuals of coins, in this order.
func (c *contractsPast) asks(coins map[string][]contract) (all []ask) {
	for _, coin := range slices.Sorted(maps.Keys(coins)) {
		all = append(all, c.asksOf(coin, coins[coin])...)
	}
	return all
}

// asksOf are those of the perpetuals of a coin. What a sum is made of is told of each of them,
// and asked of one alone only where that began to be followed after the sum was made.
func (c *contractsPast) asksOf(coin string, members []contract) (all []ask) {
	sums := map[string][]contract{}
	for _, m := range members {
		key := pairseries.Stable(coin)
		if m.Inverse {
			key = pairseries.CoinMargined(coin)
		}
		sums[key] = append(sums[key], m)
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, ask{"interest " + key, otherSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
			b, refused, err := interestOf(ctx, key, sums[key], from, to)
			for i := 0; err == nil && i < len(sums[key]); i++ {
				name := "interest " + sums[key][i].Key
				if why := refused[sums[key][i].Key]; why != nil {
					c.refused(name, why)
				} else {
					c.mark(name, span{from, to})
				}
			}
			return b, err
		}})
	}
	for _, m := range members {
		all = append(all, c.asksOfOne(m)...)
	}
	return append(all, ask{"rates " + coin, paidSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
		return ratesOf(ctx, coin, members, from, to)
	}})
}

// asksOfOne are those of a perpetual alone.
func (c *contractsPast) asksOfOne(m contract) []ask {
	return []ask{{"interest " + m.Key, otherSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
		list, err := m.of.PastInterests(ctx, m.Pair, from, to)
		return alone(list), err
	}}, {"funding " + m.Key, paidSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
		list, err := m.of.PastFundings(ctx, m.Pair, from, to)
		return &Batch{PairEvents: market.PairEvents{Fundings: list}}, err
	}}, {"accounts " + m.Key, otherSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
		list, err := m.of.PastRatios(ctx, m.Pair, from, to)
		return &Batch{PairEvents: market.PairEvents{Ratios: list}}, err
	}}}
}

// interestOf is the open interest of the perpetuals of a sum in a time. Of those that are
// refused, unless all of them are, it returns why, by key: there is no sum without them.
func interestOf(ctx context.Context, key string, members []contract, from, to int64) (b *Batch, refused map[string]error, err error) {
	var all []market.PairInterest
	whole := true
	refused = map[string]error{}
	for i := range members {
		list, err := members[i].of.PastInterests(ctx, members[i].Pair, from, to)
		switch {
		case ofPair(err) && len(refused) < len(members)-1:
			refused[members[i].Key] = err
		case err != nil:
			return nil, nil, err
		}
		all, whole = append(all, list...), whole && len(list) > 0
	}
	if !whole {
		return alone(all), refused, nil
	}
	return &Batch{PastInterests: []PastInterest{{Key: key, Interests: all}}}, refused, nil
}

// alone is open interest of the past of which no sum is made.
func alone(list []market.PairInterest) *Batch {
	return &Batch{PastInterests: []PastInterest{{Interests: list}}}
}
