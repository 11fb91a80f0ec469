package exchange

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/contracts"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// memory is what projections have stored.
type memory struct {
	rows  map[store.SeriesAt]store.Point
	views map[string][]byte
}

func newMemory() *memory { return &memory{map[store.SeriesAt]store.Point{}, map[string][]byte{}} }

// restored makes a projection begin with what is stored.
func (m *memory) restored(t rapid.TB, p Projection) Projection {
	must.Do(t, p.Restore(m.views))
	return p
}

// apply has a projection take a batch and write what it made of it.
func (m *memory) apply(t rapid.TB, p Projection, b *Batch, now time.Time) {
	r := engine.NewReads()
	for {
		p.Prefetch(b, r)
		_, wanted := r.Wanted()
		if len(wanted) == 0 {
			break
		}
		found := map[store.SeriesAt]store.Point{}
		for _, at := range wanted {
			if row, ok := m.rows[at]; ok {
				found[at] = row
			}
		}
		r.Fill(nil, found)
	}
	must.Do(t, p.Apply(b, r, now))
	c := p.Changes(now, true)
	for _, row := range append(c.Coarse, c.Fine...) {
		m.rows[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
	}
	for _, v := range c.Views {
		m.views[v.Name] = v.Body
	}
}

// perpetual is a followed one.
func perpetual(base, platform string, inverse bool) market.Pair {
	quote := "USDT"
	if inverse {
		quote = "USD"
	}
	return market.Pair{Key: market.PairKey(base, quote, platform, true), Platform: platform, Base: base, Quote: quote, Swap: true, Inverse: inverse}
}

// listed puts followed perpetuals into the view of pairs.
func (m *memory) listed(all ...market.Pair) {
	var v pairs.View
	for _, p := range all {
		v.Pairs = append(v.Pairs, pairs.Pair{Pair: p, Followed: true})
	}
	m.views[pairs.Name] = pairs.Published.Encode(v)
}

func dec(n int64) market.Decimal {
	d, err := market.ParseDecimal(strconv.FormatInt(n, 10))
	if err != nil {
		panic(err)
	}
	return d
}

var equalDecimals = cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })

// midnight is the beginning of a UTC day.
const midnight = int64(1_790_000_000_000) / 86_400_000 * 86_400_000

func TestSumsOfLiquidationsAreThoseOfAllOrdersOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := []market.Pair{perpetual("BTC", "binance", false), perpetual("BTC", "bybit", true)}
		m := newMemory()
		m.listed(all...)
		distinct := map[string]market.PairLiquidation{}
		var list []market.PairLiquidation
		for range rapid.IntRange(1, 40).Draw(t, "orders") {
			l := market.PairLiquidation{
				Pair: rapid.SampledFrom(all).Draw(t, "pair").Key, Time: midnight + rapid.Int64Range(0, 200).Draw(t, "minute")*60_000 + rapid.Int64Range(0, 2).Draw(t, "ms"),
				Long: rapid.Bool().Draw(t, "long"), Px: dec(100), Sz: dec(rapid.Int64Range(1, 3).Draw(t, "size")),
			}
			l.Value = market.Notional(l.Px, l.Sz)
			distinct[fmt.Sprint(l.Pair, l.Time, l.Long, l.Sz)] = l
			list = append(list, l, l)
		}
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		p := m.restored(t, newLiquidations(new(atomic.Int64)))
		for now := time.UnixMilli(midnight); len(list) > 0; now = now.Add(time.Second) {
			n := min(len(list), rapid.IntRange(1, 5).Draw(t, "batch"))
			m.apply(t, p, &Batch{PairEvents: market.PairEvents{Liquidations: list[:n]}}, now)
			list = list[n:]
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				p = m.restored(t, newLiquidations(new(atomic.Int64)))
			}
		}
		for _, pair := range all {
			for _, tier := range pairseries.Tiers {
				want := map[int64]market.Liquidated{}
				for _, l := range distinct {
					if l.Pair == pair.Key {
						start := tier.Part.StartMs(l.Time)
						sum := want[start]
						sum.Time = start
						sum.Add(&l)
						want[start] = sum
					}
				}
				got := map[int64]market.Liquidated{}
				for at := midnight; at < midnight+day.Milliseconds(); at = tier.Row.NextMs(at) {
					if row, ok := m.rows[pairseries.Liquidations.At(pair.Key, tier, at)]; ok {
						pack := must.Get(pairseries.Liquidations.Decode(row.Body))(t)
						for start, part := range pack {
							got[start] = part
						}
					}
				}
				if diff := cmp.Diff(want, got, equalDecimals); diff != "" {
					t.Fatalf("%s of %s (-want +got):\n%s", tier.Part, pair.Key, diff)
				}
			}
		}
		v := must.Get(pairliquidations.Published.Decode(m.views[pairliquidations.Name]))(t)
		var viewed, want market.Liquidated
		for _, pair := range v.Pairs {
			sum := pair.Since(time.Time{})
			viewed.Merge(&sum)
		}
		for _, l := range distinct {
			want.Add(&l)
		}
		if diff := cmp.Diff(want, viewed, equalDecimals); diff != "" {
			t.Fatalf("the view (-want +got):\n%s", diff)
		}
	})
}

func TestOpenInterestOfACoinIsTheSumOfItsPerpetuals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := []market.Pair{perpetual("BTC", "binance", false), perpetual("BTC", "bybit", false), perpetual("BTC", "binance", true), perpetual("1000PEPE", "binance", false)}
		m := newMemory()
		m.listed(all...)
		p := m.restored(t, newInterests())
		newest := map[string]market.PairInterest{}
		began, last := int64(0), int64(0) // of events, after a pause again
		want := map[string]map[int64]market.Decimal{}
		for minute := range rapid.Int64Range(5, 60).Draw(t, "minutes") {
			for n := range rapid.IntRange(0, 3).Draw(t, "batches") {
				b := new(Batch)
				at := midnight + 30_000 + minute*60_000 + int64(n)*1000
				for _, pair := range all {
					if rapid.IntRange(0, 3).Draw(t, "silent") > 0 {
						continue
					}
					b.Interests = append(b.Interests, market.PairInterest{Pair: pair.Key, Time: at, Value: dec(rapid.Int64Range(1, 1000).Draw(t, "value"))})
				}
				if len(b.Interests) == 0 {
					continue
				}
				// The minutes that this batch ends: only the last one has a sum.
				if start := market.Minute1.StartMs(at); last > 0 && start > last {
					sumsOf(want, all, newest, start-1, began)
				}
				if last == 0 || at-last > valueFor {
					began = at
				}
				last = at
				m.apply(t, p, b, time.UnixMilli(at))
				for _, one := range b.Interests {
					newest[one.Pair] = one
				}
			}
		}
		for key, sums := range want {
			for end, sum := range sums {
				tier := pairseries.Tiers[0]
				row, ok := m.rows[pairseries.CoinInterest.At(key, tier, end)]
				if !ok {
					t.Fatalf("%s has no row at %d, %s wanted", key, end, sum)
				}
				pack := must.Get(pairseries.CoinInterest.Decode(row.Body))(t)
				if got := pack[tier.Part.StartMs(end)]; !got.Close.Equal(sum) || got.Last != end {
					t.Fatalf("%s at %d is %+v, %s wanted", key, end, got, sum)
				}
			}
		}
	})
}

// sumsOf adds the sums at a time.
func sumsOf(want map[string]map[int64]market.Decimal, all []market.Pair, newest map[string]market.PairInterest, end, began int64) {
	totals, missing := map[string]market.Decimal{}, map[string]bool{}
	for _, pair := range all {
		key := pairseries.Stable(pair.Coin())
		if pair.Inverse {
			key = pairseries.CoinMargined(pair.Coin())
		}
		v, ok := newest[pair.Key]
		switch {
		case ok && end-v.Time <= valueFor:
			totals[key] = totals[key].Add(v.Value)
		case end-began <= valueFor:
			missing[key] = true
		}
	}
	for key, total := range totals {
		if missing[key] {
			continue
		}
		if want[key] == nil {
			want[key] = map[int64]market.Decimal{}
		}
		want[key][end] = total
	}
}

func TestThePastOfOpenInterestIsSummedUpAtEachOfItsTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		p := m.restored(t, newInterests())
		past := PastInterest{Key: pairseries.Stable("btc")}
		past.Interests = []market.PairInterest{
			{Pair: "a", Time: midnight + 300_000, Value: dec(1)}, {Pair: "a", Time: midnight + 600_000, Value: dec(2)},
			{Pair: "b", Time: midnight + 300_000, Value: dec(10)}, {Pair: "b", Time: midnight + 1_500_000, Value: dec(20)}, // a is 15 minutes old
			{Pair: "a", Time: midnight + 1_800_000, Value: dec(3)},
		}
		m.apply(t, p, &Batch{PastInterests: []PastInterest{past}}, time.UnixMilli(midnight))
		want := map[int64]int64{300_000: 11, 600_000: 12, 1_800_000: 23}
		for offset, sum := range want {
			row := m.rows[pairseries.CoinInterest.At(past.Key, pairseries.Tiers[0], midnight+offset)]
			pack := must.Get(pairseries.CoinInterest.Decode(row.Body))(t)
			if got := pack[midnight+offset]; !got.Close.Equal(dec(sum)) {
				t.Errorf("after %d ms it is %s, %d wanted", offset, got.Close, sum)
			}
		}
		if row, ok := m.rows[pairseries.CoinInterest.At(past.Key, pairseries.Tiers[0], midnight+1_500_000)]; ok {
			pack, err := pairseries.CoinInterest.Decode(row.Body)
			if bar, known := pack[midnight+1_500_000]; err != nil || known {
				t.Errorf("while one is too old it is %+v, %v", bar, err)
			}
		}
	})
}

func TestTheFundingRateOfACoinIsWeightedByVolumeAndForEightHours(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := perpetual("BTC", "binance", false), perpetual("BTC", "bybit", false)
		m := newMemory()
		m.listed(a, b)
		p := m.restored(t, newFundings())
		events := func(ms int64, e market.PairEvents) { m.apply(t, p, &Batch{PairEvents: e}, time.UnixMilli(ms)) }
		at := midnight + 1000
		events(at, market.PairEvents{
			Tickers:  []market.PairTicker{{Pair: a.Key, Time: at, Amount: dec(300)}, {Pair: b.Key, Time: at, Amount: dec(100)}, {Pair: "ethusdt:binance", Time: at, Amount: dec(9)}},
			Fundings: []market.PairFunding{{Pair: a.Key, Time: at, Rate: dec(8), Period: 8 * 3_600_000}, {Pair: b.Key, Time: at, Rate: dec(2), Period: 4 * 3_600_000}},
		})
		events(at+60_000, market.PairEvents{Fundings: []market.PairFunding{{Pair: a.Key, Time: at + 60_000, Rate: dec(1)}}})
		row := m.rows[pairseries.CoinFunding.At("btc", pairseries.Tiers[0], at)]
		pack := must.Get(pairseries.CoinFunding.Decode(row.Body))(t)
		// (8 x 300 + 2 x 8h/4h x 100) / 400
		if got := pack[midnight]; !got.Close.Equal(dec(7)) {
			t.Errorf("the rate is %s, 7 wanted", got.Close)
		}
		v := must.Get(pairseries.Funding.Decode(m.rows[pairseries.Funding.At(a.Key, pairseries.Tiers[1], at)].Body))(t)
		want := market.Bar{Time: midnight, Open: dec(8), High: dec(8), Low: dec(1), Close: dec(1), First: at, Last: at + 60_000}
		if diff := cmp.Diff(want, v[midnight], equalDecimals); diff != "" {
			t.Errorf("the hour of a pair (-want +got):\n%s", diff)
		}
	})
}

func TestTheViewOfContractsHasTheNewestOfEach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := perpetual("BTC", "binance", false), perpetual("BTC", "bybit", false)
		m := newMemory()
		m.listed(a, b)
		p := m.restored(t, newLatest())
		at := midnight
		m.apply(t, p, &Batch{PairEvents: market.PairEvents{
			Fundings: []market.PairFunding{
				{Pair: a.Key, Time: at + 2, Rate: dec(2)}, {Pair: a.Key, Time: at + 1, Rate: dec(1)},
				{Pair: a.Key, Time: at + 3, Rate: dec(9), Paid: true}, {Pair: "ethswapusdt:binance", Time: at, Rate: dec(1)},
			},
			Interests: []market.PairInterest{{Pair: b.Key, Time: at + 5, Size: dec(3), Value: dec(4)}},
		}}, time.UnixMilli(at))
		want := contracts.View{Time: at + 5, Contracts: []contracts.Contract{
			{Pair: a, Rate: dec(2), RateTime: at + 2}, {Pair: b, Size: dec(3), Value: dec(4), InterestTime: at + 5},
		}}
		read := func() contracts.View {
			return must.Get(contracts.Published.Decode(m.views[contracts.Name]))(t)
		}
		if diff := cmp.Diff(want, read(), equalDecimals); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		// After a restart a pair that is followed no more leaves it.
		p = m.restored(t, newLatest())
		m.apply(t, p, &Batch{Listings: []Listing{{Platform: "bybit", Swap: true}}}, time.UnixMilli(at+60_000))
		want.Contracts = want.Contracts[:1]
		if diff := cmp.Diff(want, read(), equalDecimals); diff != "" {
			t.Errorf("after a delisting (-want +got):\n%s", diff)
		}
	})
}
