package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/meta"
	"quotary/shared/data/openpositions"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// hold publishes cross positions in BTC of "size cost cash", each of an account of its own, at a mark
// of 100.
func (w *world) hold(t *testing.T, positions ...string) {
	t.Helper()
	described := datatest.TwoPerps(1, 50, 50)
	p := new(market.Positions)
	for i, text := range positions {
		part := strings.Fields(text)
		num := func(n int) market.Decimal { return must.Get(market.ParseDecimal(part[n]))(t) }
		p.SetAccount(&market.Account{Address: fmt.Sprintf("0x%040x", i+1), Mode: market.ModeStandard, Anchored: 1, Dexes: []market.DexFunds{{Anchored: 1, Cash: num(2)}},
			Holdings: []market.Holding{{Coin: "BTC", Leverage: market.Leverage{Value: 5}, Last: market.Order{Time: 1}, Open: &market.OpenPosition{Size: num(0), Cost: num(1)}}}}, described.Markets())
	}
	now := w.Now().UnixMilli()
	storetest.Publish(t, w.views, openpositions.Published, p.Table(now))
	storetest.Publish(t, w.views, meta.Published, described)
	storetest.Publish(t, w.views, contexts.Published, contexts.View{Time: now, Marks: map[string]string{"BTC": "100.0"}, Interests: map[string]string{"BTC": "10.0"}})
}

func (w *world) heatmap(t *testing.T, query string) catalog.MarketLiquidationHeatmap {
	t.Helper()
	return apitest.Data[catalog.MarketLiquidationHeatmap](t, w.Get(t, w.SubKey, root+"/market-heatmap"+query))
}

func TestTheHeatmapOfTheMarket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, root+"/market-heatmap").Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	w.Move(time.Minute)
	// By mark - side x room / size / (1 - side x 0.01): 90.90909, 85.85859, 100.0 is never reached by
	// the third, and 108.91089 of the short.
	w.hold(t, "1 100 10", "2 200 30", "1 100 1000", "-4 -400 40")
	answer := w.Get(t, w.SubKey, root+"/market-heatmap?include_meta=1")
	answer.Golden(t, "market-heatmap")
	if got := answer.Header[catalog.HeaderDataCoverage]; got != "0.4" { // 8 of 20
		t.Errorf("it covers %q", got)
	}
	for query, want := range map[string]string{
		"":                "80.0 110.0 long 80.0 90.0 short 100.0",
		"?bucketSize=0.5": "85.5 109.0 long 85.5 90.5 short 108.5",
		"?bucket_size=5&lower_px=86&upper_px=108": "86.0 108.0 long 90.0 short",
		"?upperPx=108.91089&bucket_size=20":       "80.0 108.91089 long 80.0 short",
		"?upperPx=108.910891&bucket_size=20":      "80.0 108.910891 long 80.0 short 100.0",
		"?coin=ETH":                               "  long short",
		"?lower_px=500":                           "500.0 500.0 long short",
		"?upper_px=1":                             "1.0 1.0 long short",
	} {
		h := w.heatmap(t, query)
		got := h.Window.LowerPx + " " + h.Window.UpperPx + " long"
		for _, b := range h.LongLiquidations {
			got += " " + b.LowerPx
		}
		got += " short"
		for _, b := range h.ShortLiquidations {
			got += " " + b.LowerPx
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

func TestAHeatmapIsNarrowedAroundTheMark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var positions []string
	for i := range mostBuckets + 1000 {
		positions = append(positions, fmt.Sprintf("1 100 %d.%03d", 1+i/1000, i%1000)) // each liquidated a little lower
	}
	w.hold(t, positions...)
	h := w.heatmap(t, "?bucket_size=0.001&include_meta=true")
	if n := len(h.LongLiquidations); n > mostBuckets || n < mostBuckets-10 {
		t.Fatalf("it has %d buckets", n)
	}
	if nearest := h.LongLiquidations[len(h.LongLiquidations)-1].LowerPx; nearest != "100.0" || h.Window.LowerPx != h.LongLiquidations[0].LowerPx {
		t.Errorf("the nearest is %s, the window %+v", nearest, h.Window)
	}
	w.Get(t, w.SubKey, root+"/market-heatmap?bucket_size=0.001&lower_px=1").Refused(t, http.StatusBadRequest, "or take a bucket_size of at least 0.002")
}

func TestBadParametersOfTheHeatmapOfTheMarket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, want := range map[string]string{
		"bucket_size=0":         "invalid bucket_size: ",
		"bucketSize=-1":         "invalid bucket_size: ",
		"bucket_size=wide":      "invalid bucket_size: ",
		"lower_px=5&upper_px=5": "invalid upper_px: it must be above 0 and above lower_px",
		"lower_px=low":          "invalid lower_px: ",
		"upperPx=-1":            "invalid upper_px: ",
		"include_meta=yes":      "invalid include_meta: ",
		"coin=B%20C":            "invalid coin: ",
	} {
		w.Get(t, w.SubKey, root+"/market-heatmap?"+query).Refused(t, http.StatusBadRequest, want)
	}
}
