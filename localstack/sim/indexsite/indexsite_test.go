package indexsite_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quotary/localstack/sim"
	"quotary/localstack/sim/indexsite"
	"quotary/localstack/sim/simtest"
)

func TestAnswersAreWrittenAsTheUpstreamsWriteThem(t *testing.T) {
	t.Parallel()
	site := indexsite.New(sim.Config{Seed: 7, Now: func() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }}) // a Monday
	server := httptest.NewServer(site.Handler())
	defer server.Close()
	for path, want := range map[string]struct {
		begins string
		lines  int
	}{
		indexsite.FearGreedPath + "/?limit=3":             {`{"data":[{"value":"`, 1},
		indexsite.VIXPath + "/VIX_History.csv":            {"DATE,OPEN,HIGH,LOW,CLOSE\n10/20/2025,", 286},
		indexsite.StooqPath + "/?s=mstr.us&i=d":           {"Date,Open,High,Low,Close,Volume\n2025-10-20,", 286},
		indexsite.StooqPath + "/?s=nothing&i=d":           {"No data", 0},
		indexsite.StooqPath + "/?s=mstr.us&i=w":           {"No data", 0},
		indexsite.FearGreedPath + "/?limit=0&format=json": {`{"data":[{"value":"`, 1},
	} {
		_, body := simtest.Get(t, server.URL+path)
		if !strings.HasPrefix(string(body), want.begins) || strings.Count(string(body), "\n") != want.lines {
			t.Errorf("%s: %d lines, %.60q", path, strings.Count(string(body), "\n"), body)
		}
	}
	if days := site.Days(indexsite.VIX); days[len(days)-1].Date != "2026-11-20" {
		t.Errorf("the last day is %+v", days[len(days)-1])
	}
	if days := site.Days(indexsite.FearGreed); days[len(days)-1].Date != "2026-11-23" || len(days) != 401 {
		t.Errorf("%d days until %+v", len(days), days[len(days)-1])
	}
}

func TestHoldingsAreAHistoryUntilYesterday(t *testing.T) {
	t.Parallel()
	site := indexsite.New(sim.Config{Seed: 7, Now: func() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }})
	kinds, coins := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(site.Treasuries())) {
		var l struct{ Coin, Name, Date, Type, Amount string }
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Date >= "2026-11-23" || l.Date < "2025-09-01" || l.Name == "" || l.Amount == "" {
			t.Fatalf("%s: %v", line, err)
		}
		kinds[l.Type]++
		coins[l.Coin]++
	}
	if kinds["buy"] < 20 || kinds["sell"] < 3 || kinds["holding"] != 90 || coins["BTC"] == 0 || coins["ETH"] == 0 {
		t.Errorf("%v of %v", kinds, coins)
	}
}
