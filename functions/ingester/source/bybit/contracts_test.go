package bybit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/bybit"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/testclock"
)

var elevenForty = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

const hour = int64(3_600_000) // ms

func TestWhatIsAskedOfPerpetualsIsTheTruthOfTheExchange(t *testing.T) {
	t.Parallel()
	clock := testclock.At(elevenForty)
	x, all := openAll(t, simulated.Config{Clock: clock.Now})
	for _, c := range []struct {
		of       *Market
		key      string
		payments int
		period   int64
	}{
		{all[1], "solswapusdt:bybit", 30, 4 * hour},
		{all[1], "btcswapusdt:bybit", 15, 8 * hour},
		{all[2], "btcswapusd:bybit", 15, 8 * hour},
	} {
		t.Run(c.key, func(t *testing.T) {
			pair := sourcetest.Find(t, c.of, c.key)
			m, now := x.Market(c.of.category, pair.Symbol), elevenForty.UnixMilli()
			sourcetest.IsNow(t, c.of, m, pair, now, func(day *trading.Kline) int64 { return day.Quote })
			from := now - 5*24*hour
			fundings, err := c.of.PastFundings(t.Context(), pair, from, now)
			if err != nil || len(fundings) != c.payments {
				t.Fatalf("%d payments in five days, %v", len(fundings), err)
			}
			sourcetest.ArePayments(t, m, pair, from, c.period, fundings)
			// More than a page.
			past, err := c.of.PastInterests(t.Context(), pair, now-24*hour, now)
			if err != nil || len(past) != 288 {
				t.Fatalf("%d points in a day, %v", len(past), err)
			}
			sourcetest.AreInterests(t, m, pair, now-24*hour, past)
			ratios, err := c.of.PastRatios(t.Context(), pair, now-2*24*hour, now)
			if err != nil || len(ratios) != 2*288 {
				t.Fatalf("%d ratios in two days, %v", len(ratios), err)
			}
			for _, r := range ratios {
				if !r.Long.Equal(sourcetest.Decimal(t, trading.Decimal(m.Longs(r.Time), 4))) {
					t.Errorf("a ratio is %+v", r)
				}
			}
		})
	}
	btc := sourcetest.Find(t, all[0], "btcusdt:bybit")
	interests, err := all[0].Interests(t.Context(), []market.Pair{btc})
	fundings, err2 := all[0].PastFundings(t.Context(), btc, 0, hour)
	past, err3 := all[0].PastInterests(t.Context(), btc, 0, hour)
	ratios, err4 := all[0].PastRatios(t.Context(), btc, 0, hour)
	if err := errors.Join(err, err2, err3, err4); err != nil || interests != nil || fundings != nil || past != nil || ratios != nil {
		t.Errorf("spot has %v, %v, %v and %v, %v", interests, fundings, past, ratios, err)
	}
	if list, err := all[0].Tickers(t.Context(), []market.Pair{btc}); err != nil || len(list) != 1 {
		t.Errorf("tickers of spot are %v, %v", list, err)
	} else if m := x.Market("spot", "BTCUSDT"); !list[0].Amount.Equal(sourcetest.Decimal(t, m.Amount(m.Day(list[0].Time).Quote))) {
		t.Errorf("%+v is not what was paid", list[0])
	}
}

// What is pushed of perpetuals is the exchange's own; trades are in coins, and follow each
// other.
func TestWhatIsPushedIsTheTruthOfTheExchange(t *testing.T) {
	t.Parallel()
	x, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 20)})
	for _, c := range []struct {
		of  *Market
		key string
	}{{all[1], "ethswapusdt:bybit"}, {all[2], "btcswapusd:bybit"}} {
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			pair := sourcetest.Find(t, c.of, c.key)
			m := x.Market(c.of.category, pair.Symbol)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			began := c.of.Now().UnixMilli()
			var got market.PairEvents
			err := c.of.Follow(ctx, []market.Pair{pair}, c.of.Stats, func(_ context.Context, e *market.PairEvents) error {
				if got.Merge(e); len(got.Fundings) > 2 && len(got.Liquidations) > 1 && len(got.Trades) > 5 {
					cancel()
				}
				return nil
			})
			if len(got.Fundings) < 3 || len(got.Liquidations) < 2 || len(got.Trades) < 6 || c.of.Stats.Malformed.Load() > 0 {
				t.Fatalf("%d rates, %d liquidations and %d trades came: %v", len(got.Fundings), len(got.Liquidations), len(got.Trades), err)
			}
			sourcetest.AreRates(t, m, pair, got.Fundings)
			now := c.of.Now().UnixMilli()
			sourcetest.AreLiquidations(t, m, pair, got.Liquidations, m.Liquidations(began-5000, now))
			truth := m.Trades(began-5000, now)
			for truth[0].Time < got.Trades[0].Time {
				truth = truth[1:]
			}
			for i, trade := range got.Trades {
				sourcetest.IsTrade(t, m, pair, trade, truth[i])
				if i > 0 && trade.Prev != got.Trades[i-1].ID {
					t.Errorf("%+v does not follow the one before", trade)
				}
			}
		})
	}
}

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
		if list, err := listing(t, "/v5/market/account-ratio", row).PastRatios(t.Context(), pair, from, to); err == nil {
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
