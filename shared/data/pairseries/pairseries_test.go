package pairseries_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

var equalDecimals = cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })

func open(t *testing.T) *store.Series {
	return storetest.Open(t).Series
}

func dec(n int64) market.Decimal {
	d, err := market.ParseDecimal(fmt.Sprint(n))
	if err != nil {
		panic(err)
	}
	return d
}

// widths are those that clients ask for.
var widths = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

func TestBucketsOfEveryWidthAreThoseOfAllPoints(t *testing.T) {
	t.Parallel()
	series := open(t)
	const base = int64(1_790_000_000_000) / 86_400_000 * 86_400_000
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		key := fmt.Sprint("pair", n)
		spread := rapid.SampledFrom([]int64{20, 300, 5000}).Draw(t, "spread") // minutes
		type point struct{ ms, value int64 }
		var points []point
		tiers := map[pairseries.Tier]map[int64]market.Bar{}
		for range rapid.IntRange(0, 60).Draw(t, "points") {
			p := point{base + rapid.Int64Range(1, spread*60_000).Draw(t, "ms"), rapid.Int64Range(-50, 50).Draw(t, "value")}
			points = append(points, p)
			for _, tier := range pairseries.Tiers {
				if tiers[tier] == nil {
					tiers[tier] = map[int64]market.Bar{}
				}
				start := tier.Part.StartMs(p.ms)
				bar := tiers[tier][start]
				bar.Time = start
				bar.Add(p.ms, dec(p.value))
				bar.Add(p.ms, dec(p.value)) // twice
				tiers[tier][start] = bar
			}
		}
		for tier, bars := range tiers {
			var list []market.Bar
			for _, bar := range bars {
				list = append(list, bar)
			}
			must.Do(t, pairseries.Funding.Put(t.Context(), series, key, tier, list...))
		}
		width := rapid.SampledFrom(widths).Draw(t, "width")
		w := pairseries.Window{Limit: rapid.IntRange(1, 40).Draw(t, "limit"), Oldest: rapid.Bool().Draw(t, "oldest")}
		ms := width.Milliseconds()
		from, to := int64(0), int64(1)<<60
		if rapid.Bool().Draw(t, "has from") {
			from = base + rapid.Int64Range(0, spread*60_000).Draw(t, "from")
			w.From = time.UnixMilli(from)
		}
		if rapid.Bool().Draw(t, "has to") {
			to = base + rapid.Int64Range(0, spread*60_000).Draw(t, "to")
			w.To = time.UnixMilli(to)
		}
		var want []market.Bar
		for start := base - 86_400_000; start <= base+spread*60_000; start += ms {
			bar := market.Bar{Time: start}
			for _, p := range points {
				if p.ms >= start && p.ms < start+ms && start >= from && start <= to {
					bar.Add(p.ms, dec(p.value))
				}
			}
			if !bar.Empty() {
				want = append(want, bar)
			}
		}
		if len(want) > w.Limit {
			if w.Oldest {
				want = want[:w.Limit]
			} else {
				want = want[len(want)-w.Limit:]
			}
		}
		got := must.Get(pairseries.Funding.Read(t.Context(), series, key, width, w))(t)
		if diff := cmp.Diff(want, got, equalDecimals); diff != "" {
			t.Fatalf("buckets of %s, %+v (-want +got):\n%s", width, w, diff)
		}
	})
}

// The periods of K-lines open where these do: what is counted here is every part by itself.
func TestTheNewestBucketsOfAPeriodAreThoseOfItsParts(t *testing.T) {
	t.Parallel()
	series := open(t)
	const base = int64(1_790_000_000_000) / 86_400_000 * 86_400_000
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		key := fmt.Sprint("pair", n)
		seconds := rapid.SampledFrom([]int64{60, 180, 900, 1800, 3600, 21600, 43200, 86400, 3 * 86400, 7 * 86400, 30 * 86400}).Draw(t, "period")
		p := must.Get(market.NewPeriod(seconds, rapid.SampledFrom([]market.DayOpen{0, 8}).Draw(t, "open_time")))(t)
		tier := pairseries.Tiers[1]
		if seconds < 3600 {
			tier = pairseries.Tiers[0]
		}
		parts, buckets := map[int64]market.Bar{}, map[int64]market.Bar{}
		until := base + rapid.Int64Range(0, 8*seconds*1000).Draw(t, "until")
		for range rapid.IntRange(0, 40).Draw(t, "points") {
			ms, value := base+rapid.Int64Range(1, 8*seconds*1000).Draw(t, "ms"), dec(rapid.Int64Range(-50, 50).Draw(t, "value"))
			add := func(to map[int64]market.Bar, start int64) {
				bar := to[start]
				bar.Time = start
				bar.Add(ms, value)
				to[start] = bar
			}
			add(parts, tier.Part.StartMs(ms))
			if p.StartMs(ms) <= until {
				add(buckets, p.StartMs(ms))
			}
		}
		must.Do(t, pairseries.Interest.Put(t.Context(), series, key, tier, slices.Collect(maps.Values(parts))...))
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		var want []market.Bar
		for _, start := range slices.Sorted(maps.Keys(buckets)) {
			want = append(want, buckets[start])
		}
		want = want[max(0, len(want)-limit):]
		got := must.Get(pairseries.Interest.Newest(t.Context(), series, key, p, time.UnixMilli(until), limit))(t)
		if diff := cmp.Diff(want, got, equalDecimals, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestAnOrderCountsOnce(t *testing.T) {
	t.Parallel()
	orders := pairseries.Orders{}
	one := market.PairLiquidation{Pair: "btcswapusdt:binance", Time: 1_790_000_000_123, Long: true, Px: dec(100), Sz: dec(2), Value: dec(200)}
	other := one
	other.Long = false
	later := one
	later.Time++
	later.Of = "0x1 7"
	for i, test := range []struct {
		order market.PairLiquidation
		added bool
	}{{one, true}, {one, false}, {other, true}, {later, true}, {later, false}} {
		if got := orders.Add(&test.order); got != test.added {
			t.Errorf("order %d: added %t", i, got)
		}
	}
	at := pairseries.OrdersAt(one.Pair, one.Time)
	read := must.Get(pairseries.DecodeOrders(one.Pair, pairseries.OrdersRow(at, orders).Body))(t)
	if diff := cmp.Diff(orders, read, equalDecimals); diff != "" {
		t.Errorf("a row differs (-written +read):\n%s", diff)
	}
}

func TestSumsOfBuckets(t *testing.T) {
	t.Parallel()
	series := open(t)
	const base = int64(1_790_000_000_000) / 86_400_000 * 86_400_000
	part := func(minute, long, short int64) market.Liquidated {
		return market.Liquidated{Time: base + minute*60_000, Long: dec(long), Short: dec(short), Count: 2, Largest: dec(max(long, short))}
	}
	must.Do(t, pairseries.Liquidations.Put(t.Context(), series, "p", pairseries.Tiers[0], part(0, 1, 2), part(14, 3, 0), part(15, 5, 7), part(31, 1, 1)))
	got := must.Get(pairseries.Liquidations.Read(t.Context(), series, "p", 30*time.Minute, pairseries.Window{Limit: 10}))(t)
	want := []market.Liquidated{
		{Time: base, Long: dec(9), Short: dec(9), Count: 6, Largest: dec(7)},
		{Time: base + 30*60_000, Long: dec(1), Short: dec(1), Count: 2, Largest: dec(1)},
	}
	if diff := cmp.Diff(want, got, equalDecimals); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestABodyThatIsNoPackIsRefused(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`[]`, `{"x":[]}`, `{"0":["1","1","1","1","0"]}`, `{"0":["1","1","1","x","0","0"]}`, `{"0":["1","1","2","1","1","1"]}`, `{"60000":["1","1","1","1","5","1"]}`,
	} {
		if pack, err := pairseries.Funding.Decode([]byte(body)); err == nil {
			t.Errorf("%s gives %v", body, pack)
		}
	}
	for _, body := range []string{`{"0":["1","1","0","1"]}`, `{"0":["-1","1","1","1"]}`, `{"0":["1","1","1"]}`, `{"0":["1","x","1","1"]}`} {
		if pack, err := pairseries.Liquidations.Decode([]byte(body)); err == nil {
			t.Errorf("%s gives %v", body, pack)
		}
	}
}
