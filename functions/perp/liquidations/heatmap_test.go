package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// trade has the coin trade once a minute at a price that rises by one, 2.0 of it, until now, and
// its open interest grow by ten dollars a minute from one of the minutes until before another.
func (w *world) trade(t *testing.T, coin, pair string, minutes, interestFrom, interestTo int) {
	t.Helper()
	var trades []market.Trade
	packs := map[pairseries.Tier][]market.Bar{}
	for i := range minutes {
		at := apitest.Start.Add(time.Duration(i-minutes) * time.Minute)
		px, value := market.DecimalFromInt(int64(1000+i)), market.DecimalFromInt(int64(5000+10*i))
		trades = append(trades, market.Trade{Coin: coin, Side: market.Buy, Px: px, Sz: market.DecimalFromInt(2), Time: at.UnixMilli(), Tid: int64(i + 1)})
		if i < interestFrom || i >= interestTo {
			continue
		}
		for _, tier := range pairseries.Tiers {
			start := tier.Part.StartMs(at.UnixMilli())
			if n := len(packs[tier]); n == 0 || packs[tier][n-1].Time != start {
				packs[tier] = append(packs[tier], market.Bar{Time: start})
			}
			packs[tier][len(packs[tier])-1].Add(at.UnixMilli(), value)
		}
	}
	datatest.PutKlines(t, w.series, coin, trades...)
	for tier, bars := range packs {
		must.Do(t, pairseries.Interest.Put(t.Context(), w.series, pair, tier, bars...))
	}
}

func sumOf(t *testing.T, list []catalog.EstimatedHeatmapBucket) (sum market.Decimal) {
	t.Helper()
	for _, b := range list {
		sum = sum.Add(must.Get(market.ParseDecimal(b.TotalNotional))(t))
	}
	return sum
}

func TestTheEstimatedHeatmap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, "BTC", "btcswapusdc:hyperliquid", 30, 10, 30)
	w.Get(t, w.SubKey, root+"/estimated-heatmap?interval=5m&limit=2").Golden(t, "estimated-heatmap")

	get := func(query string) catalog.EstimatedLiquidationHeatmap {
		t.Helper()
		return apitest.Data[catalog.EstimatedLiquidationHeatmap](t, w.Get(t, w.SubKey, root+"/estimated-heatmap?interval=1m"+query))
	}
	all := get("&coin=BTC")
	if len(all.TimePoints) != 30 || all.Meta.RowCount != 30 || all.TimePoints[9].LongLiquidations != nil || all.TimePoints[10].LongLiquidations == nil || all.Meta.Coverage == nil {
		t.Fatalf("%d times, the open interest is known from the eleventh on: %+v", len(all.TimePoints), all.Meta)
	}
	buckets := 0
	last := all.TimePoints[29]
	for _, p := range all.TimePoints {
		buckets += len(p.LongLiquidations) + len(p.ShortLiquidations)
	}
	if int64(buckets) != all.Meta.BucketCount || buckets == 0 {
		t.Errorf("%d buckets, bucket_count %d", buckets, all.Meta.BucketCount)
	}
	sum := sumOf(t, last.LongLiquidations)
	// The classes together are all of it.
	classes := market.Decimal{}
	for _, leverage := range []int{10, 25, 50, 100} {
		one := get(fmt.Sprint("&limit=2&leverage=", leverage))
		classes = classes.Add(sumOf(t, one.TimePoints[0].LongLiquidations))
		if one.Window.EndTime-one.Window.StartTime != 60_000 || *one.Meta.Coverage != *all.Meta.Coverage {
			t.Errorf("leverage %d: %+v, coverage %s", leverage, one.Window, *one.Meta.Coverage)
		}
	}
	if !sum.Equal(classes) || !sum.IsPos() {
		t.Errorf("all %s, by leverage %s", sum, classes)
	}
	between := get(fmt.Sprintf("&startTime=%d&endTime=%d", apitest.Start.Add(-10*time.Minute).UnixMilli()+1, apitest.Start.Add(-5*time.Minute).UnixMilli()+1))
	if n := len(between.TimePoints); n != 5 || between.Window.StartTime != between.TimePoints[0].TimeMs || between.Window.EndTime != between.TimePoints[4].TimeMs {
		t.Errorf("between two times: %d, %+v", n, between.Window)
	}
}

// Outside of the main dex no open interest is kept over time, so that nothing is estimated.
func TestWithoutOpenInterestNothingIsEstimated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, "xyz:GOLD", "", 5, 5, 5)
	for coin, times := range map[string]int{"xyz:GOLD": 5, "NONE": 0} {
		h := apitest.Data[catalog.EstimatedLiquidationHeatmap](t, w.Get(t, w.SubKey, root+"/estimated-heatmap?interval=1m&coin="+coin))
		if len(h.TimePoints) != times || h.Meta.Coverage != nil || h.Meta.BucketCount != 0 {
			t.Errorf("%s: %+v", coin, h)
		}
		for _, p := range h.TimePoints {
			if p.LongLiquidations != nil || p.ShortLiquidations != nil {
				t.Errorf("%s: %+v", coin, p)
			}
		}
	}
}

// The open interest of an interval comes behind it: until then its estimate is that of before, less
// what the price has reached. What has been unknown for long is null.
func TestTheNewestEstimateIsOfWhatIsKnownSoFar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, "BTC", "btcswapusdc:hyperliquid", 30, 0, 27) // of the last minute but two it is over since two
	points := apitest.Data[catalog.EstimatedLiquidationHeatmap](t, w.Get(t, w.SubKey, root+"/estimated-heatmap?interval=1m&limit=5")).TimePoints
	if len(points) != 4 { // nothing was traded in the minute that runs
		t.Fatalf("%d times", len(points))
	}
	before, over, late, newest := points[0], points[1], points[2], points[3]
	if over.LongLiquidations != nil || late.LongLiquidations != nil || newest.ShortLiquidations != nil || before.LongLiquidations == nil {
		t.Errorf("of what has been unknown for long there is an estimate, or behind it: %+v", points)
	}

	w = newWorld(t)
	w.trade(t, "BTC", "btcswapusdc:hyperliquid", 30, 0, 28)
	points = apitest.Data[catalog.EstimatedLiquidationHeatmap](t, w.Get(t, w.SubKey, root+"/estimated-heatmap?interval=1m&limit=5")).TimePoints
	before, newest = points[1], points[3]
	if diff := cmp.Diff(before.LongLiquidations, newest.LongLiquidations); diff != "" || len(newest.LongLiquidations) == 0 {
		t.Errorf("longs, which no price has reached since (-before +newest):\n%s", diff)
	}
	if len(newest.ShortLiquidations) == 0 || sumOf(t, newest.ShortLiquidations).Cmp(sumOf(t, before.ShortLiquidations)) >= 0 {
		t.Errorf("shorts, of which the price has reached some: %v, before %v", newest.ShortLiquidations, before.ShortLiquidations)
	}
}

// A coin is named as the venue writes it, as everywhere.
func TestACoinInLowerCaseHasNoEstimates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, "BTC", "btcswapusdc:hyperliquid", 30, 10, 30)
	h := apitest.Data[catalog.EstimatedLiquidationHeatmap](t, w.Get(t, w.SubKey, root+"/estimated-heatmap?interval=1m&coin=btc"))
	if h.Coin != "btc" || len(h.TimePoints) != 0 || h.Meta.Coverage != nil || h.Meta.RowCount != 0 {
		t.Errorf("%+v", h)
	}
}

// The dearest question takes no longer than somebody waits.
func BenchmarkEstimatedHeatmap(b *testing.B) {
	in := market.LiquidationModel{Window: 360 * 60_000}
	for b.Loop() {
		model := in
		for i := range int64(1360) {
			px := market.DecimalFromInt(90_000 + i*7919%900)
			model.Add(&market.LiquidationBucket{Time: i * 60_000, High: px, Low: px, Average: px, Turnover: market.DecimalFromInt(1_000_000), Interest: market.DecimalFromInt(100_000_000 + i*i*7919%90_000)})
			if i >= 360 {
				estimate(&model, i, market.DecimalFromInt(500), "", true)
			}
		}
	}
}
