package liquidations_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/datatest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/data/liquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

var now = time.Date(2026, 11, 21, 10, 20, 30, 456_000_000, time.UTC)

// someFills draws fills that liquidate, at times of all distances, some of one order.
func someFills(t *rapid.T) (fills []market.Fill) {
	for i := range rapid.IntRange(1, 40).Draw(t, "fills") {
		back := rapid.SampledFrom([]int{100, 60_000, 3_600_000, 86_400_000, 60 * 86_400_000}).Draw(t, "reach")
		f := market.Fill{
			Address: fmt.Sprintf("0x%040d", rapid.IntRange(0, 4).Draw(t, "address")), Coin: rapid.SampledFrom([]string{"BTC", "xyz:GOLD"}).Draw(t, "coin"),
			Px: strconv.Itoa(rapid.IntRange(1, 4).Draw(t, "px")) + ".25", Sz: strconv.Itoa(rapid.IntRange(1, 5).Draw(t, "sz")) + ".5",
			Side: rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(t, "side"), Time: now.UnixMilli() - int64(rapid.IntRange(0, back).Draw(t, "back")),
			StartPosition: "9.0", ClosedPnl: strconv.Itoa(rapid.IntRange(-3, 3).Draw(t, "pnl")) + ".5", Oid: int64(i), Tid: int64(1000 + i), Crossed: true,
		}
		f.Liquidation = &market.Liquidation{LiquidatedUser: f.Address, MarkPx: "2.5", Method: "market"}
		fills = append(fills, f)
		if rapid.Bool().Draw(t, "meets another") {
			f.Tid += 500
			fills = append(fills, f)
		}
	}
	return fills
}

// bruteForce sums up the fills from a time on, each order once.
func bruteForce(fills []market.Fill, coin string, from, to int64) string {
	var values [4]market.Decimal // long and short: value, pnl
	orders, addresses := [2]map[int64]bool{{}, {}}, map[string]bool{}
	for i := range fills {
		f := &fills[i]
		if f.Time < from || f.Time >= to || coin != liquidations.All && f.Coin != coin {
			continue
		}
		side := 0
		if f.Side == market.Buy {
			side = 1
		}
		pnl, _ := market.ParseDecimal(f.ClosedPnl)
		values[side], values[2+side] = values[side].Add(f.Notional()), values[2+side].Add(pnl)
		orders[side][f.Oid], addresses[f.Address] = true, true
	}
	return fmt.Sprint(len(orders[0]), len(orders[1]), values, len(addresses))
}

func shown(s *market.LiquidationStats) string {
	return fmt.Sprint(s.Longs, s.Shorts, [...]market.Decimal{s.LongValue, s.ShortValue, s.LongPnl, s.ShortPnl}, len(s.Addresses))
}

func TestAWindowIsTheSumOfItsFillsWhereverItBegins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		fills := someFills(rt)
		series := storetest.Open(t).Series
		datatest.PutLiquidations(t, series, fills...)
		for range 5 {
			back := rapid.SampledFrom([]int{1, 1000, 60_000, 3_600_000, 86_400_000, 60 * 86_400_000}).Draw(rt, "window")
			from := now.Add(-time.Duration(rapid.IntRange(0, back).Draw(rt, "back")) * time.Millisecond)
			until := now.UnixMilli() + 1
			for _, coin := range []string{"BTC", liquidations.All} {
				sum := must.Get(liquidations.Window(t.Context(), series, coin, from))(rt)
				if got, want := shown(&sum), bruteForce(fills, coin, from.UnixMilli(), until); got != want {
					rt.Fatalf("%s from %s: %s, want %s", coin, from, got, want)
				}
			}
			for _, one := range must.Get(liquidations.ByCoin(t.Context(), series, from))(rt) {
				if got, want := shown(&one.LiquidationStats), bruteForce(fills, one.Coin, from.UnixMilli(), until); got != want || one.Liquidations() == 0 {
					rt.Fatalf("%s from %s: %s, want %s", one.Coin, from, got, want)
				}
			}
			wantTop(t, rt, fills, from, must.Get(liquidations.Top(t.Context(), series, "BTC", from, 5))(rt))
		}
		for _, width := range []time.Duration{time.Minute, 7 * time.Minute, 90 * time.Minute, time.Hour, 36 * time.Hour, 60 * 24 * time.Hour} {
			list := must.Get(liquidations.History(t.Context(), series, "BTC", width, now, 20))(rt)
			for i := range list {
				if got, want := shown(&list[i]), bruteForce(fills, "BTC", list[i].Time, list[i].Time+width.Milliseconds()); got != want {
					rt.Fatalf("%s from %d: %s, want %s", width, list[i].Time, got, want)
				}
			}
			if n := len(list); n > 0 && (list[n-1].Time > now.UnixMilli() || list[n-1].Time+width.Milliseconds() <= now.UnixMilli()) {
				rt.Fatalf("%s: the last begins at %d", width, list[n-1].Time)
			}
		}
	})
}

// wantTop wants the largest values of the orders of BTC.
func wantTop(t *testing.T, rt *rapid.T, fills []market.Fill, from time.Time, top market.TopLiquidations) {
	t.Helper()
	orders := map[int64]market.Decimal{}
	for i := range fills {
		if f := &fills[i]; f.Coin == "BTC" && f.Time >= from.UnixMilli() {
			orders[f.Oid] = orders[f.Oid].Add(f.Notional())
		}
	}
	var want, got []string
	for _, value := range orders {
		want = append(want, value.String())
	}
	slices.SortFunc(want, func(a, b string) int {
		return cmp.Or(must.Get(market.ParseDecimal(b))(t).Cmp(must.Get(market.ParseDecimal(a))(t)), strings.Compare(a, b))
	})
	for i := range top {
		got = append(got, top[i].Value.String())
	}
	if diff := gocmp.Diff(want[:min(len(want), 5)], got); diff != "" {
		rt.Fatalf("from %s (-want +got):\n%s", from, diff)
	}
}

func TestTheNewestEventsAreReadBackwards(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	var fills []market.Fill
	for i := range int64(450) { // several pages
		f := market.Fill{Address: fmt.Sprintf("0x%040d", i), Coin: "BTC", Px: "1.5", Sz: "2.0", Side: market.Sell, Time: now.UnixMilli() - i*700, StartPosition: "3.0", ClosedPnl: "0.0", Oid: i, Tid: i + 1}
		f.Liquidation = &market.Liquidation{LiquidatedUser: f.Address}
		fills = append(fills, f)
	}
	datatest.PutLiquidations(t, series, fills...)
	n := int64(0)
	for e, err := range liquidations.Newest(t.Context(), series, now.Add(-400*700*time.Millisecond)) {
		if err != nil || e.Oid != n {
			t.Fatalf("number %d is %d: %v", n, e.Oid, err)
		}
		n++
	}
	if n != 401 {
		t.Errorf("%d events, want 401", n)
	}
}

func TestStoredEvents(t *testing.T) {
	datasettest.Codec[[]market.LiquidationEvent]{
		Values: rapid.Custom(func(t *rapid.T) (list []market.LiquidationEvent) {
			for _, f := range someFills(t) {
				e, _ := market.LiquidationOf(&f)
				e.Arrival = market.Arrival(rapid.Int64Range(0, 1<<50).Draw(t, "arrival"))
				list = append(list, e)
			}
			return list
		}),
		Encode: func(list []market.LiquidationEvent) []byte {
			return liquidations.TopRow(liquidations.TopAt("BTC", market.Hour1, now.UnixMilli()), list).Body
		},
		Decode: liquidations.DecodeEvents,
		Use: func(list []market.LiquidationEvent) {
			for i := range list {
				_, _ = list[i].Px(), list[i].Direction()
			}
		},
	}.Test(t)
}

func TestStoredSums(t *testing.T) {
	datasettest.Codec[pairseries.Pack[market.LiquidationStats]]{
		Values: rapid.Custom(func(t *rapid.T) pairseries.Pack[market.LiquidationStats] {
			pack := pairseries.Pack[market.LiquidationStats]{}
			for _, f := range someFills(t) {
				e, _ := market.LiquidationOf(&f)
				start := market.Minute1.StartMs(e.Time)
				before := pack[start]
				var sum market.LiquidationSum
				sum.Merge(&before)
				sum.Add(&e)
				sum.Coin(e.Coin)
				pack[start] = sum.Stats(start)
			}
			return pack
		}),
		Encode: func(pack pairseries.Pack[market.LiquidationStats]) []byte {
			return liquidations.Stats.Row(liquidations.Stats.At("BTC", pairseries.Tiers[0], 0), pack).Body
		},
		Decode: liquidations.Stats.Decode,
	}.Test(t)
}

// A day on which more accounts are liquidated than a row takes has its sums whole, and the
// addresses of its other hours.
func TestARowOfTooManyAddressesKeepsItsSums(t *testing.T) {
	t.Parallel()
	pack := pairseries.Pack[market.LiquidationStats]{}
	for hour, addresses := range []int{30_000, 20_000, 10} {
		sum := market.LiquidationStats{Time: int64(hour) * 3_600_000, Longs: int64(addresses)}
		for i := range addresses {
			sum.Addresses = append(sum.Addresses, market.DigestOf(strconv.Itoa(i)))
		}
		pack[sum.Time] = sum
	}
	row := liquidations.Stats.Row(liquidations.Stats.At("BTC", pairseries.Tiers[1], 0), pack)
	read := must.Get(liquidations.Stats.Decode(row.Body))(t)
	if len(row.Body) > liquidations.MostBytes || read[0].Longs != 30_000 || len(read[0].Addresses) != 0 || len(read[3_600_000].Addresses) != 20_000 || len(read[7_200_000].Addresses) != 10 {
		t.Errorf("%d bytes: %d, %d and %d addresses", len(row.Body), len(read[0].Addresses), len(read[3_600_000].Addresses), len(read[7_200_000].Addresses))
	}
	if len(pack[0].Addresses) != 30_000 {
		t.Error("the pack itself was changed")
	}
}
