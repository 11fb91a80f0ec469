package exchange

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// listingOf is one of the perpetuals of an exchange that are margined in a stable coin, all of
// them followed.
func listingOf(platform string, at time.Time, pairs ...market.Pair) Listing {
	l := Listing{Time: at.UnixMilli(), Platform: platform, Swap: true, Pairs: pairs, Followed: map[string]bool{}}
	for _, p := range pairs {
		l.Followed[p.Key] = true
	}
	return l
}

func TestOnlyThePairsOfAMarketThatItListsNoMoreAreGone(t *testing.T) {
	t.Parallel()
	a, b, c := perpetual("BTC", "binance", false), perpetual("ETH", "binance", false), perpetual("BTC", "okx", false)
	var l listedPairs
	for _, step := range []struct {
		listed Listing
		gone   []string
	}{
		{listingOf("binance", noon, a, b), nil},
		{listingOf("okx", noon, c), nil},
		{listingOf("binance", noon, b), []string{a.Key}},
		{listingOf("binance", noon, a), []string{b.Key}},
		{listingOf("okx", noon), []string{c.Key}},
	} {
		if got := l.list([]Listing{step.listed}); !slices.Equal(got, step.gone) {
			t.Errorf("gone are %q, want %q", got, step.gone)
		}
	}
	if pair, ok := l.byKey[a.Key]; len(l.byKey) != 1 || !ok || !pair.followed {
		t.Errorf("known are %+v", l.byKey)
	}
}

// An exchange that lists other names each time, and says something of all of them, is remembered
// as long as what it lists now: each time it is listed adds nothing.
func TestAnExchangeThatListsOtherNamesEachTimeTakesNoMoreMemory(t *testing.T) {
	t.Parallel()
	const names = 40
	f, tr, fund, interest := noFlows(), noTrades(), newFundings(), newInterests()
	now := noon
	for hour := range 40 {
		b := &Batch{}
		var pairs []market.Pair
		for i := range names {
			pairs = append(pairs, perpetual(fmt.Sprintf("N%dX%d", hour, i), "binance", false))
		}
		b.Listings = []Listing{listingOf("binance", now, pairs...)}
		for id, pair := range pairs {
			ms := now.UnixMilli()
			b.Trades = append(b.Trades, market.PairTrade{Pair: pair.Key, ID: int64(id + 1), Time: ms, Px: dec(1), Sz: dec(1)})
			b.Tickers = append(b.Tickers, market.PairTicker{Pair: pair.Key, Time: ms, Amount: dec(1)})
			b.Fundings = append(b.Fundings, market.PairFunding{Pair: pair.Key, Time: ms, Rate: dec(1), Period: 1})
			b.Interests = append(b.Interests, market.PairInterest{Pair: pair.Key, Time: ms, Value: dec(1)})
		}
		f.Apply(b, now)
		f.View(now)
		tr.Apply(b, now)
		for _, p := range []Projection{fund, interest} {
			r := engine.NewReads()
			p.Prefetch(b, r)
			r.Fill(nil, nil)
			must.Do(t, p.Apply(b, r, now))
		}
		now = now.Add(time.Hour)
	}
	for what, n := range map[string]int{
		"pairs of flows": len(f.pairs.byKey), "last trades": len(f.last), "trades": len(tr.newest), "pairs of trades": len(tr.pairs.byKey),
		"amounts": len(fund.amounts), "rates": len(fund.rates.newest), "open interest": len(interest.values.newest),
	} {
		if n != names {
			t.Errorf("%s: %d are remembered, %d are listed", what, n, names)
		}
	}
	if n := len(f.counted); n != names+mostResting {
		t.Errorf("%d pairs are counted", n)
	}
}
