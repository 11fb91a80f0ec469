package bybit

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/testclock"
)

var elevenForty = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

// Prices of a day and open interest come in one answer, which is good for both for some
// seconds.
func TestOpenInterestComesWithTickers(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	clock := testclock.At(elevenForty)
	m := serve(t, map[string]http.HandlerFunc{"GET /v5/market/tickers": func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprintf(w, `{"retCode":0,"result":{"category":"linear","list":[
			{"symbol":"BTCUSDT","lastPrice":"100","prevPrice24h":"90","highPrice24h":"110","lowPrice24h":"80","volume24h":"7","turnover24h":"650","markPrice":"101","openInterest":"40","singleOpenInterest":"20.5"},
			{"symbol":"ETHUSDT","lastPrice":"10","prevPrice24h":"9","highPrice24h":"11","lowPrice24h":"8","volume24h":"7","turnover24h":"65","markPrice":"10","openInterest":"5"},
			{"symbol":"OLDUSDT","lastPrice":"x","markPrice":"1","singleOpenInterest":""}]},"time":%d}`, clock.Now().UnixMilli())
	}})
	m.Now = clock.Now
	pair := func(coin string) market.Pair { return market.Pair{Key: coin, Symbol: coin + "USDT", Swap: true} }
	pairs := []market.Pair{pair("BTC"), pair("ETH")}
	at := elevenForty.UnixMilli()
	tickers, err := m.Tickers(t.Context(), pairs)
	if got, want := fmt.Sprint(tickers), fmt.Sprintf("[{BTC %d 100 90 110 80 7 650} {ETH %d 10 9 11 8 7 65}]", at, at); err != nil || got != want {
		t.Errorf("tickers are %s, %v, want %s", got, err, want)
	}
	interests, err := m.Interests(t.Context(), pairs) // of ETH only the sum of both sides is told
	if got, want := fmt.Sprint(interests), fmt.Sprintf("[{BTC %d 20.5 2070.5} {ETH %d 2.5 25}]", at, at); err != nil || got != want {
		t.Errorf("open interest is %s, %v, want %s", got, err, want)
	}
	if asked.Load() != 1 {
		t.Errorf("it asked %d times", asked.Load())
	}
	clock.Move(tickersFor)
	if interests, err := m.Interests(t.Context(), pairs); err != nil || asked.Load() != 2 || interests[0].Time != at+tickersFor.Milliseconds() {
		t.Errorf("after a while it asked %d times: %v, %v", asked.Load(), interests, err)
	}
	// One that cannot be read leaves the others.
	all := append(pairs, pair("OLD"))
	if list, err := m.Tickers(t.Context(), all); err == nil || len(list) != 2 {
		t.Errorf("tickers of which one cannot be read: %v, %v", list, err)
	}
	if list, err := m.Interests(t.Context(), all); err == nil || len(list) != 2 || asked.Load() != 3 {
		t.Errorf("open interest of which one cannot be read: %v, %v", list, err)
	}
}

// listing serves one list to any question.
func listing(t *testing.T, path, list string) *Market {
	t.Helper()
	return serve(t, map[string]http.HandlerFunc{"GET " + path: func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"retCode":0,"result":{"list":[%s]},"time":1790000000000}`, list)
	}})
}

func TestSpotPairsHaveNoFunding(t *testing.T) {
	t.Parallel()
	if list, err := Open("", slog.New(slog.DiscardHandler))[0].PastFundings(t.Context(), market.Pair{Symbol: "BTCUSDT"}, 0, 3_600_000); err != nil || list != nil {
		t.Errorf("%v, %v", list, err)
	}
}

func TestWhatIsNoPastIsRefused(t *testing.T) {
	t.Parallel()
	pair := market.Pair{Key: "btcswapusdt:bybit", Symbol: "BTCUSDT", Swap: true}
	const from, to = 1_790_006_500_000, 1_790_028_900_000
	for name, row := range map[string]string{
		"out of the time":  `{"fundingRate":"0.1","fundingRateTimestamp":"1790028900000"}`,
		"no rate":          `{"fundingRate":"","fundingRateTimestamp":"1790010000000"}`,
		"no time":          `{"fundingRate":"0.1","fundingRateTimestamp":""}`,
		"twice":            `{"fundingRate":"0.1","fundingRateTimestamp":"1790010000000"},{"fundingRate":"0.1","fundingRateTimestamp":"1790010000000"}`,
		"not newest first": `{"fundingRate":"0.1","fundingRateTimestamp":"1790008000000"},{"fundingRate":"0.1","fundingRateTimestamp":"1790010000000"}`,
	} {
		if list, err := listing(t, "/v5/market/funding/history", row).PastFundings(t.Context(), pair, from, to); err == nil {
			t.Errorf("funding, %s: %+v", name, list)
		}
	}
	for name, row := range map[string]string{
		"out of the time":    `{"buyRatio":"0.5","timestamp":"1790028900000"}`,
		"no share":           `{"buyRatio":"","timestamp":"1790010000000"}`,
		"a share below zero": `{"buyRatio":"-0.5","timestamp":"1790010000000"}`,
		"no time":            `{"buyRatio":"0.5"}`,
		"twice":              `{"buyRatio":"0.5","timestamp":"1790010000000"},{"buyRatio":"0.5","timestamp":"1790010000000"}`,
	} {
		if list, err := listing(t, "/v5/market/account-ratio", row).PastRatios(t.Context(), market.LongAccounts, pair, from, to); err == nil {
			t.Errorf("accounts, %s: %+v", name, list)
		}
	}
	for name, c := range map[string][2]string{
		"no size":          {`{"openInterest":"","timestamp":"1790010000000"}`, `["1790010000000","1"]`},
		"no mark price":    {`{"openInterest":"1","timestamp":"1790010000000"}`, `["1790010000000","x"]`},
		"no time of marks": {`{"openInterest":"1","timestamp":"1790010000000"}`, `["","1"]`},
		"too few fields":   {`{"openInterest":"1","timestamp":"1790010000000"}`, `["1790010000000"]`},
	} {
		m := serve(t, map[string]http.HandlerFunc{"GET /v5/market/": func(w http.ResponseWriter, r *http.Request) {
			list := c[0]
			if strings.HasSuffix(r.URL.Path, "kline") {
				list = c[1]
			}
			fmt.Fprintf(w, `{"retCode":0,"result":{"list":[%s]},"time":1790000000000}`, list)
		}})
		if list, err := m.PastInterests(t.Context(), pair, from, to); err == nil {
			t.Errorf("open interest, %s: %+v", name, list)
		}
	}
}
