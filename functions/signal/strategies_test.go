package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/strategysignals"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// signalHours has 45 hours with a signal each of three pairs of two coins.
func (w *world) signalHours(t *testing.T) (list []strategysignals.Signal) {
	t.Helper()
	for n := range 45 {
		for i, key := range []string{pair, "btcswapusdt:binance", "ethswapusdt:binance"} {
			s := strategysignals.Signal{Coin: key[:3], StrategySignal: market.StrategySignal{
				Strategy: "td_buy_one", Pair: key, Time: apitest.Start.Add(-time.Duration(n) * time.Hour).UnixMilli(), Side: market.Buy,
				Px: must.Get(market.ParseDecimal(fmt.Sprintf("%d.5", 100+i)))(t), Won: int64(60 - n), Lost: 20,
			}}
			if n > 0 {
				s.State, s.Ended = market.SignalState(1+n%3), s.Time+1000
			}
			list = append(list, s)
		}
	}
	must.Do(t, w.log.Put(t.Context(), strategysignals.Name, strategysignals.AppendRows(nil, list)))
	return list
}

// A page ends with all of its last hour, so that the next one begins with another.
func TestSignalsArePagedByTheirTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := w.signalHours(t)
	w.Get(t, w.SubKey, base+"strategySignal?signal_key=td_buy_one&coin_type=eth&latest_time="+strconv.FormatInt(apitest.Start.Add(-43*time.Hour).UnixMilli()+1, 10)).Golden(t, "strategy")
	for coin, pages := range map[string][]int{"": {102, 33}, "btc": {90}, "eth": {45}} {
		seen, query := map[string]bool{}, base+"strategySignal?signal_key=td_buy_one&coin_type="+coin
		if coin == "" {
			query = base + "strategySignal?signal_key=td_buy_one"
		}
		next := ""
		for i, want := range pages {
			page := apitest.Data[catalog.StrategySignalList](t, w.Get(t, w.SubKey, query+next))
			if len(page.List) != want || (page.LatestTime == nil) != (i == len(pages)-1) {
				t.Fatalf("page %d of %q has %d signals, want %d, and goes on from %v", i, coin, len(page.List), want, page.LatestTime)
			}
			for _, row := range page.List {
				if len(row) != len(page.Mapping) || seen[row[0]] {
					t.Errorf("a row is %v", row)
				}
				seen[row[0]] = true
			}
			if page.LatestTime != nil {
				next = "&latest_time=" + strconv.FormatInt(*page.LatestTime, 10)
			}
		}
		if coin == "" && len(seen) != len(all) {
			t.Errorf("%d of %d signals are listed", len(seen), len(all))
		}
	}
	if got := apitest.Data[catalog.StrategySignalList](t, w.Get(t, w.SubKey, base+"strategySignal")); len(got.List) != 0 || len(got.SupportList) == 0 {
		t.Errorf("by default %+v", got)
	}
	w.Get(t, w.SubKey, base+"strategySignal?signal_key=moon").Refused(t, http.StatusBadRequest, "signal_key", "depth_win_one", "lsur_one")
	w.Get(t, w.SubKey, base+"strategySignal?latest_time=now").Refused(t, http.StatusBadRequest, "latest_time")
}

// The page of strategies has their rules as the code has them.
func TestTheGuideHasTheRulesOfTheStrategies(t *testing.T) {
	t.Parallel()
	guide := string(must.Get(os.ReadFile("../../docs/strategies.md"))(t))
	for _, s := range market.Strategies {
		if row := fmt.Sprintf("| `%s` | %s | %s | %s |", s.Key, s.About, s.WinRate, s.LossRate); !strings.Contains(guide, row) {
			t.Errorf("docs/strategies.md lacks the row\n%s", row)
		}
	}
}
