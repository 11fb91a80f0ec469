package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// someInterest has ETH as the most valuable; GOLD traded two days ago, OLD a
// month ago.
func (w *world) someInterest(t *testing.T) {
	t.Helper()
	const body = `{"coins":[
		{"coin":"BTC","positionCount":3,"longPv":"201.5","shortPv":"201.5","totalPv":"403.0","avgPv":"134.333333","traded":%d},
		{"coin":"ETH","positionCount":2,"longPv":"1000.000001","shortPv":"999.999999","totalPv":"2000.0","avgPv":"1000.0","traded":%d},
		{"coin":"OLD","positionCount":1,"longPv":"0.0","shortPv":"9000.0","totalPv":"9000.0","avgPv":"9000.0","traded":%d},
		{"coin":"xyz:GOLD","positionCount":1,"longPv":"1.0","shortPv":"0.0","totalPv":"1.0","avgPv":"1.0","traded":%d}],"time":1}`
	ago := func(d time.Duration) int64 { return apitest.Start.Add(-d).UnixMilli() }
	view := fmt.Sprintf(body, ago(time.Second), ago(15*time.Minute), ago(30*24*time.Hour), ago(48*time.Hour))
	if err := w.views.Publish(t.Context(), store.OpenInterestView, []byte(view)); err != nil {
		t.Fatal(err)
	}
}

func (w *world) golden(t *testing.T, name, target string) {
	t.Helper()
	answer := w.Get(t, w.SubKey, root+target)
	if answer.Status != http.StatusOK {
		t.Fatalf("%s answers %d: %s", target, answer.Status, answer.Body)
	}
	apitest.Golden(t, *update, name, answer.Body)
}

func TestTheSummaryOfOpenInterest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := catalog.OpenInterestTotal{LongPv: "0.0", ShortPv: "0.0", TotalPv: "0.0", AvgPv: "0.0"}
	if got := apitest.Data[catalog.OpenInterestTotal](t, w.Get(t, w.SubKey, root+"/open-interest/summary")); got != none {
		t.Errorf("before any position it is %+v", got)
	}
	if got := w.Get(t, w.SubKey, root+"/open-interest/top-coins"); string(got.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("before any position the coins are %s", got.Body)
	}
	w.Move(time.Minute)
	w.someInterest(t)
	w.golden(t, "open-interest-summary", "/open-interest/summary")
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

// sample stores a sample of a coin every minute in every tier, as the ingester
// does, up to now; body writes it.
func (w *world) sample(t *testing.T, name, coin string, back time.Duration, body func(at time.Time) string) {
	t.Helper()
	var rows []store.SeriesRow
	for _, tier := range market.SampleTiers {
		for at := tier.Next(apitest.Start.Add(-back)); at.Before(apitest.Start); at = tier.Next(at) {
			rows = append(rows, store.SeriesRow{SeriesKey: store.SeriesKey{Name: name, Key: coin, Interval: tier.String()},
				Point: store.Point{Time: at, Body: []byte(body(at.Add(2 * time.Second)))}})
		}
	}
	if err := w.series.Put(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}

func TestTheHistoryOfOpenInterest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sample(t, store.OpenInterestSeries, "xyz:GOLD", 30*time.Minute, func(at time.Time) string {
		return fmt.Sprintf(`{"time":%d,"coin":"xyz:GOLD","positionCount":%d,"longCount":2,"longPv":"10.5","totalPv":"21.0","avgPv":"5.25"}`, at.UnixMilli(), at.Minute())
	})
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
	w.sample(t, store.DepthSeries, "@107", 30*time.Minute, func(at time.Time) string {
		return fmt.Sprintf(`{"time":%d,"coin":"@107","bidVolume":"%d.5","askVolume":"0.25"}`, at.Unix(), at.Minute())
	})
	w.golden(t, "orderbook-summaries", "/orderbooks/history-summaries/@107")
	list := apitest.Data[[]catalog.BookSummary](t, w.Get(t, w.SubKey, root+"/orderbooks/history-summaries/@107?interval=1h"))
	if len(list) != 29 || list[28].Time != apitest.Start.Add(-time.Minute+2*time.Second).Unix() {
		t.Errorf("of an hour it is %+v", list)
	}
}

func TestLongWindowsAreSampledMoreCoarsely(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, window := range []time.Duration{15 * time.Minute, time.Hour, 16 * time.Hour, 24 * time.Hour, 72 * time.Hour, 240 * time.Hour, 960 * time.Hour, 4320 * time.Hour} {
		tier := sampleTier(window)
		got[window.String()] = tier.String()
		if n := int64(window/time.Millisecond) / (tier.NextMs(0) - tier.StartMs(0)); n > 1080 {
			t.Errorf("%s has %d samples", window, n)
		}
	}
	want := map[string]string{"15m0s": "1m", "1h0m0s": "1m", "16h0m0s": "1m", "24h0m0s": "5m", "72h0m0s": "5m", "240h0m0s": "15m", "960h0m0s": "1h", "4320h0m0s": "4h"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWindowsOfHistoriesAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for target, want := range map[string]string{
		"/open-interest/history/BTC?interval=14m":           "400 invalid interval",
		"/open-interest/history/BTC?interval=181d":          "400 invalid interval",
		"/open-interest/top-coins?limit=51":                 "400 invalid limit: must be a whole number from 1 to 50",
		"/open-interest/top-coins?interval=1m":              "400 invalid interval",
		"/orderbooks/history-summaries/BTC?interval=59m":    "400 invalid interval",
		"/orderbooks/history-summaries/BTC?interval=181d":   "400 invalid interval",
		"/orderbooks/history-summaries/B%20C?interval=1h":   "400 invalid coin",
		"/orderbooks/history-summaries/BTC?interval=1month": "400 invalid interval",
	} {
		answer := w.Get(t, w.SubKey, root+target)
		if got := fmt.Sprint(answer.Status, " ", apitest.Message(t, answer)); !strings.HasPrefix(got, want) {
			t.Errorf("%s answers %q, want %q", target, got, want)
		}
	}
}

func TestABrokenViewOfOpenInterestIsAnInternalError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.views.Publish(t.Context(), store.OpenInterestView, []byte(`{"coins":[{"coin":"BTC","longPv":"x"}]}`)); err != nil {
		t.Fatal(err)
	}
	answer := w.Get(t, w.SubKey, root+"/open-interest/summary")
	if answer.Status != http.StatusInternalServerError || apitest.Message(t, answer) != "internal error" {
		t.Errorf("status %d: %s", answer.Status, answer.Body)
	}
}
