package main

import (
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
)

func TestTradersAreFoundInAWindowOfThePast(t *testing.T) {
	t.Parallel()
	w := published(t, 60)
	w.mark(t)
	answer := w.post(t, history, body{
		"pageSize": 3, "time2": "-30m", "period": 7, "sort": body{"field": "totalPnl"},
		"selects":  []string{"totalPnl", "winRate", "snapTotalValue", "foLastOrderAt", "acPerpValueF", "acPerpPnl", "acTotalVlm", "sharpe"},
		"filters":  []body{{"field": "positionCount", "val": "5"}, {"field": "snapPerpValue", "op": ">", "val": "1000.5"}, {"field": "foLastOrderAt", "op": "exist"}},
		"anyCoins": []string{"BTC", "ETH"}, "loadTags": true, "lang": "fr", "tags": []string{"Genius"},
	})
	answer.Golden(t, "discover-history")
	if at, covered, since := answer.Header[catalog.HeaderDataVersion], answer.Header[catalog.HeaderDataCoverage], answer.Header[catalog.HeaderDataSince]; at != "2026-11-21T10:00:00Z" || covered != "0.25" || since == "" {
		t.Errorf("it is of %q, covers %q and is since %q", at, covered, since)
	}
}

func TestWindowsAreAskedForInManyWays(t *testing.T) {
	t.Parallel()
	w := published(t, 30)
	now := w.Now()
	first := now.Truncate(time.Hour).Add(-2 * time.Hour)
	count := func(in body) int64 {
		in["filters"] = []body{{"field": "trFills", "op": ">", "val": 0}}
		in["countOnly"] = true
		return apitest.Data[page](t, w.post(t, history, in)).Total
	}
	all := count(body{})
	if all == 0 {
		t.Fatal("nobody did anything")
	}
	for name, c := range map[string]struct {
		in   body
		want int64
	}{
		"all of the history":              {body{"period": 0}, all},
		"both hours by their times":       {body{"startTime": first.UnixMilli(), "time": first.Add(2 * time.Hour).UnixMilli()}, all},
		"the cut-off in an ISO time":      {body{"time2": first.Add(2 * time.Hour).Format(time.RFC3339), "period": "1d"}, all},
		"before the first hour":           {body{"startTime": 0, "time": first.UnixMilli()}, 0},
		"behind the last hour":            {body{"startTime": first.Add(2 * time.Hour).UnixMilli()}, 0},
		"a window that ends at its start": {body{"startTime": now.UnixMilli(), "time": now.UnixMilli()}, 0},
		"time goes before time2":          {body{"startTime": 0, "time": first.UnixMilli(), "time2": "-1s"}, 0},
		"days that the venue never heard": {body{"period": 365}, all},
	} {
		if got := count(c.in); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if p := apitest.Data[page](t, w.post(t, history, `{}`)); p.Total != 30 || len(p.List) != 20 || len(p.List[0]) != 13 {
		t.Errorf("an empty body has %d rows of %d, the first %v", len(p.List), p.Total, p.List[0])
	}
}

func TestWhatAWindowHasNotIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for in, want := range map[string]string{
		`{"selects":["nfNetPerpIn"]}`:                                "nfNetPerpIn is of the group net flows, of which nothing is known of the past",
		`{"selects":["oaLastOrderAt"]}`:                              "oaLastOrderAt is of the group all orders",
		`{"selects":["vtName"]}`:                                     "vtName is of the group vault",
		`{"sort":{"field":"ddDrawdown"}}`:                            "invalid sort.field: ddDrawdown is of the group max drawdown",
		`{"filters":[{"field":"totalPnl7d","val":1}]}`:               "invalid filters[0].field: totalPnl is asked for of the window: it is accepted without 7d",
		`{"filters":[{"field":"totalPnl","val":1,"period":7}]}`:      "invalid filters[0].period: no filter has a period of its own here, as totalPnl",
		`{"selects":["adFirstTradeAt"]}`:                             "is not open to callers",
		`{"period":366}`:                                             "invalid period: must be a number of days from 0 to 365",
		`{"time2":"yesterday"}`:                                      "invalid time2: must be an ISO 8601 date",
		`{"time2":"-99999w"}`:                                        "invalid time2: must be an ISO 8601 date",
		`{"time":"soon"}`:                                            "invalid time: must be a time in milliseconds",
		`{"startTime":1793000000000,"time":1792000000000}`:           "the end of the time range lies before its start: time, now where it is absent, must not be before startTime",
		`{"startTime":1793000000000,"time2":"2020-01-01T00:00:00Z"}`: "time2, now where it is absent, must not be before startTime",
		`{"filters":[{"field":"snapPerpValue","op":"~","val":1}]}`:   "invalid filters[0].op: must be one of",
	} {
		w.post(t, history, in).Refused(t, http.StatusBadRequest, want)
	}
}
