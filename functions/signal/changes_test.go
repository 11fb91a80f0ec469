package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/pairchanges"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func dec(t *testing.T, s string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(s))(t)
}

func TestChangesAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := func(back time.Duration) int64 { return apitest.Start.Add(-back).UnixMilli() }
	put := func(list ...market.PairChange) {
		must.Do(t, w.log.Put(t.Context(), pairchanges.Name, pairchanges.AppendRows(nil, list)))
	}
	put(
		market.PairChange{Pair: pair, Kind: market.NewHigh, Time: at(time.Minute), Px: dec(t, "61000.5")},
		market.PairChange{Pair: pair, Kind: market.NewHigh, Time: at(time.Minute), Px: dec(t, "61000.5")}, // again
		market.PairChange{Pair: "ethusdt:binance", Kind: market.LargeBuy, Of: "17", Time: at(2 * time.Minute), Px: dec(t, "2000")},
		market.PairChange{Pair: "goneusdt:binance", Kind: market.NewLow, Time: at(3 * time.Minute), Px: dec(t, "2")},
		market.PairChange{Pair: pair, Kind: market.NewHigh, Time: at(8 * 24 * time.Hour), Px: dec(t, "1")},
	)
	storetest.Publish(t, w.views, pairtickers.Published, pairtickers.View{Tickers: []pairtickers.Ticker{
		{Pair: pair, Last: dec(t, "61000.5"), Open: dec(t, "60000"), Amount: dec(t, "1500000.25")},
	}})
	w.Get(t, w.SubKey, base+"changeSignal?currency=usd").Golden(t, "changes")
	list := func(query string) []catalog.ChangeSignal {
		return apitest.Data[catalog.ChangeSignalList](t, w.Get(t, w.SubKey, base+"changeSignal"+query)).List
	}
	if got := list("?type=11"); len(got) != 1 || got[0].Key != "ethusdt:binance" || got[0].Type != "11" || got[0].Trade != "" || got[0].Degree24h != "" {
		t.Errorf("of kind 11 %+v", got)
	}
	if got := list("?type=24"); got == nil || len(got) != 0 {
		t.Errorf("of kind 24 %+v", got)
	}
	storetest.Publish(t, w.views, rates.Published, rates.View{Days: []rates.Day{{Date: "2026-01-01", USD: "1", CNY: "7"}}})
	if got := list("?currency=cny"); got[0].Price != "427003.5" || got[0].Trade != "10500001.75" {
		t.Errorf("in yuan %+v", got[0])
	}
	for n := range 120 {
		put(market.PairChange{Pair: pair, Kind: market.LargeSell, Of: fmt.Sprint(n), Time: at(time.Hour), Px: dec(t, "60000")})
	}
	if got := list(""); len(got) != 100 || got[0].Type != "7" {
		t.Errorf("%d are listed, the first %+v", len(got), got[0])
	}
	for query, parts := range map[string][]string{"?type=13": {"type", "12, 17"}, "?type=up": {"type"}, "?currency=eur": {"currency", "cny, usd"}} {
		w.Get(t, w.SubKey, base+"changeSignal"+query).Refused(t, http.StatusBadRequest, parts...)
	}
}

// In yuan nothing is priced while no rate is known.
func TestChangesWithoutARateHaveNoPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := market.PairChange{Pair: pair, Kind: market.Pump, Time: apitest.Start.UnixMilli(), Px: dec(t, "61000.5")}
	must.Do(t, w.log.Put(t.Context(), pairchanges.Name, pairchanges.AppendRows(nil, []market.PairChange{c})))
	got := apitest.Data[catalog.ChangeSignalList](t, w.Get(t, w.SubKey, base+"changeSignal?currency=cny")).List
	if len(got) != 1 || got[0].Price != "" || got[0].Trade != "" || got[0].CurrencyStr != "cny" || got[0].Show != "BTC/USDT" {
		t.Errorf("%+v", got)
	}
}

// The page of changes has their rules as the code has them, and callers may ask for each.
func TestTheGuideHasTheRulesOfChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	guide := string(must.Get(os.ReadFile("../../docs/changes.md"))(t))
	for _, r := range market.ChangeRules {
		if row := fmt.Sprintf("| %d | %s | %s |", r.Kind, r.Name, r.About); !strings.Contains(guide, row) {
			t.Errorf("docs/changes.md lacks the row\n%s", row)
		}
		apitest.Data[catalog.ChangeSignalList](t, w.Get(t, w.SubKey, fmt.Sprint(base, "changeSignal?type=", int(r.Kind))))
	}
}
