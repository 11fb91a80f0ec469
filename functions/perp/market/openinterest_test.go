package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/bookdepth"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/openinterest"
	"quotary/shared/store/storetest"
)

// someInterest has ETH as the most valuable; GOLD traded two days ago, OLD a
// month ago.
func (w *world) someInterest(t *testing.T) {
	t.Helper()
	ago := func(d time.Duration) int64 { return apitest.Start.Add(-d).UnixMilli() }
	view := openinterest.View{Time: 1, Coins: []openinterest.Coin{
		{Coin: "BTC", PositionCount: 3, LongPv: "201.5", ShortPv: "201.5", TotalPv: "403.0", AvgPv: "134.333333", Traded: ago(time.Second)},
		{Coin: "ETH", PositionCount: 2, LongPv: "1000.000001", ShortPv: "999.999999", TotalPv: "2000.0", AvgPv: "1000.0", Traded: ago(15 * time.Minute)},
		{Coin: "OLD", PositionCount: 1, LongPv: "0.0", ShortPv: "9000.0", TotalPv: "9000.0", AvgPv: "9000.0", Traded: ago(30 * 24 * time.Hour)},
		{Coin: "xyz:GOLD", PositionCount: 1, LongPv: "1.0", ShortPv: "0.0", TotalPv: "1.0", AvgPv: "1.0", Traded: ago(48 * time.Hour)},
	}}
	storetest.Publish(t, w.views, openinterest.Published, view)
}

func TestTheSummaryOfOpenInterest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/open-interest/summary", "/open-interest/top-coins"} {
		w.Get(t, w.SubKey, root+path).Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	}
	w.Move(time.Minute)
	w.someInterest(t)
	w.golden(t, "open-interest-summary", "/open-interest/summary")
}

// What the venue says of one side is half of the positions.
func TestOpenInterestSaysHowMuchItCovers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someInterest(t)
	target := func(path string) string {
		return w.Get(t, w.SubKey, root+"/open-interest/"+path).Header[catalog.HeaderDataCoverage]
	}
	if got := target("summary"); got != "" {
		t.Errorf("where the venue says nothing it is %s", got)
	}
	w.Move(time.Minute)
	storetest.Publish(t, w.views, contexts.Published, contexts.View{Time: 1, Marks: map[string]string{"BTC": "100.0", "ETH": "10.0"}, Interests: map[string]string{"BTC": "4.03", "ETH": "80.0"}})
	for path, want := range map[string]string{"summary": "0.9987", "top-coins": "0.9987", "history/BTC": "0.5", "history/ETH": "1", "history/DOGE": ""} {
		if got := target(path); got != want {
			t.Errorf("%s covers %q, want %q", path, got, want)
		}
	}
}

func TestTheTopCoinsOfOpenInterestTradedInTheWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someInterest(t)
	w.golden(t, "open-interest-top-coins", "/open-interest/top-coins?limit=2&interval=180d")
	for query, want := range map[string]string{
		"":                       "ETH BTC xyz:GOLD", // of three days
		"?limit=1":               "ETH",
		"?interval=15m":          "ETH BTC",
		"?interval=2d":           "ETH BTC xyz:GOLD",
		"?interval=180d":         "OLD ETH BTC xyz:GOLD",
		"?interval=30d&limit=50": "OLD ETH BTC xyz:GOLD",
	} {
		var got []string
		for _, c := range apitest.Data[[]catalog.OpenInterestCoin](t, w.Get(t, w.SubKey, root+"/open-interest/top-coins"+query)) {
			got = append(got, c.Coin)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

// samples are taken every minute of the last 25, two seconds after it
// began.
func samples[T any](sample func(at time.Time) T) (list []T) {
	for back := 25; back > 0; back-- {
		list = append(list, sample(apitest.Start.Add(-time.Duration(back)*time.Minute+2*time.Second)))
	}
	return list
}

func TestTheHistoryOfOpenInterest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	datatest.PutOpenInterest(t, w.series, samples(func(at time.Time) openinterest.Sample {
		return openinterest.Sample{Time: at.UnixMilli(), Coin: "xyz:GOLD", PositionCount: int64(at.Minute()), LongCount: 2, LongPv: "10.5", TotalPv: "21.0", AvgPv: "5.25"}
	})...)
	w.golden(t, "open-interest-history", "/open-interest/history/xyz:GOLD")
	list := apitest.Data[[]catalog.OpenInterestPoint](t, w.Get(t, w.SubKey, root+"/open-interest/history/xyz:GOLD?interval=15m"))
	if len(list) != 15 || list[0].Time != apitest.Start.Add(-15*time.Minute+2*time.Second).UnixMilli() || list[14].PositionCount != 59 {
		t.Errorf("of 15m it is %+v", list)
	}
	if got := w.Get(t, w.SubKey, root+"/open-interest/history/NONE"); string(got.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("of a coin without any it is %s", got.Body)
	}
}

func TestTheSummariesOfABook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	datatest.PutBookDepth(t, w.series, samples(func(at time.Time) bookdepth.Sample {
		return bookdepth.Sample{Time: at.Unix(), Coin: "@107", BidVolume: fmt.Sprintf("%d.5", at.Minute()), AskVolume: "0.25"}
	})...)
	w.golden(t, "orderbook-summaries", "/orderbooks/history-summaries/@107")
	list := apitest.Data[[]catalog.BookSummary](t, w.Get(t, w.SubKey, root+"/orderbooks/history-summaries/@107?interval=1h"))
	if len(list) != 25 || list[24].Time != apitest.Start.Add(-time.Minute+2*time.Second).Unix() {
		t.Errorf("of an hour it is %+v", list)
	}
}
