package exchange

import (
	"context"
	"maps"
	"slices"
	"time"

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

// paidLate is more than a rate is paid behind its full hour, ms. What is paid at the end of a time
// is asked for with it: the next time is an hour later.
const paidLate = int64(time.Minute / time.Millisecond)

// ask is something of the past that is asked for by itself.
type ask struct {
	name string // of what was delivered of it
	steps
	of func(ctx context.Context, from, to int64) (*Batch, error)
}

// interestName begins the names of asks for open interest, before the key of a perpetual or a sum.
const interestName = "interest "

// contract is a perpetual, and who tells of it.
type contract struct {
	market.Pair
	of    Contracts
	venue Venue
}

// asksOfOne are what is asked for of a perpetual alone.
func asksOfOne(m contract) []ask {
	all := []ask{{interestName + m.Key, otherSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
		list, err := m.of.PastInterests(ctx, m.Pair, from, to)
		return &Batch{PastInterests: []PastInterest{{Interests: list}}}, err
	}}, {"funding " + m.Key, paidSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
		list, err := m.of.PastFundings(ctx, m.Pair, from, to+paidLate)
		return &Batch{PairEvents: market.PairEvents{Fundings: list}}, err
	}}}
	for _, kind := range market.RatioKinds {
		all = append(all, ask{ratioNames[kind] + " " + m.Key, otherSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
			list, err := m.of.PastRatios(ctx, kind, m.Pair, from, to)
			return &Batch{PairEvents: market.PairEvents{Ratios: list}}, err
		}})
	}
	return all
}

// ratioNames begin the names of asks for ratios.
var ratioNames = [...]string{market.LongAccounts: "accounts", market.LongTopAccounts: "topaccounts", market.LongTopPositions: "toppositions", market.MarginLoans: "loans"}

// asksOfCoins are what is asked for of the followed perpetuals of coins together, in this order.
func asksOfCoins(coins map[string][]contract) (all []ask) {
	for _, coin := range slices.Sorted(maps.Keys(coins)) {
		sums := map[string][]contract{}
		for _, m := range coins[coin] {
			key := pairseries.Stable(coin)
			if m.Inverse {
				key = pairseries.CoinMargined(coin)
			}
			sums[key] = append(sums[key], m)
		}
		for _, key := range slices.Sorted(maps.Keys(sums)) {
			all = append(all, ask{interestName + key, otherSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
				return interestOf(ctx, key, sums[key], from, to)
			}})
		}
		all = append(all, ask{"rates " + coin, paidSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
			return ratesOf(ctx, coin, coins[coin], from, to)
		}})
	}
	return all
}

// interestOf is the open interest of the perpetuals of a sum in a time. Where one of them has
// none, or is refused though others are not, there is no sum: that of the others would be wrong.
func interestOf(ctx context.Context, key string, members []contract, from, to int64) (*Batch, error) {
	var all []market.PairInterest
	missing, refused := false, 0
	for i := range members {
		list, err := members[i].of.PastInterests(ctx, members[i].Pair, from, to)
		switch {
		case ofPair(err) && refused < len(members)-1:
			refused++
		case err != nil:
			return nil, err
		}
		all, missing = append(all, list...), missing || len(list) == 0
	}
	if missing {
		return new(Batch), nil
	}
	return &Batch{PastInterests: []PastInterest{{Key: key, Interests: all}}}, nil
}
