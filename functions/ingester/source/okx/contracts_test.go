package okx

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/okx"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/testclock"
)

var elevenForty = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

const hour = int64(3_600_000) // ms

func TestWhatIsAskedOfSwapsIsTheTruthOfTheExchange(t *testing.T) {
	t.Parallel()
	clock := testclock.At(elevenForty)
	x, all := openAll(t, simulated.Config{Clock: clock.Now})
	for _, c := range []struct {
		of       *Market
		key      string
		payments int
		period   int64
		accounts int
	}{
		{all[1], "solswapusdt:okcoinfutures", 30, 4 * hour, 12},
		{all[2], "btcswapusd:okcoinfutures", 15, 8 * hour, 0}, // accounts are those of linear swaps
	} {
		t.Run(c.key, func(t *testing.T) {
			pair := sourcetest.Find(t, c.of, c.key)
			m, now := x.Market(pair.Symbol), elevenForty.UnixMilli()
			// At the last price, as the exchange does not say what was paid.
			sourcetest.IsNow(t, c.of, m, pair, now, func(day *trading.Kline) int64 { return day.Size * day.Last })
			from := now - 5*24*hour
			fundings, err := c.of.PastFundings(t.Context(), pair, from, now)
			if err != nil || len(fundings) != c.payments {
				t.Fatalf("%d payments in five days, %v", len(fundings), err)
			}
			sourcetest.ArePayments(t, m, pair, from, c.period, fundings)
			// The exchange has three days of open interest.
			past, err := c.of.PastInterests(t.Context(), pair, from, now)
			if err != nil || len(past) != 3*288 {
				t.Fatalf("%d points in five days, %v", len(past), err)
			}
			sourcetest.AreInterests(t, m, pair, from, past)
			ratios, err := c.of.PastRatios(t.Context(), pair, now-hour, now)
			if err != nil || len(ratios) != c.accounts {
				t.Fatalf("%d ratios, %v", len(ratios), err)
			}
			for _, r := range ratios {
				ratio := sourcetest.Decimal(t, simulated.Ratio(m, r.Time))
				if back := r.Long.MustDiv(market.DecimalFromInt(1).Sub(r.Long)); back.Sub(ratio).Abs().Cmp(sourcetest.Decimal(t, "0.00001")) > 0 {
					t.Errorf("%s is long of %s", r.Long, ratio)
				}
			}
		})
	}
	if list, err := all[0].Interests(t.Context(), []market.Pair{sourcetest.Find(t, all[0], "btcusdt:okex")}); err != nil || list != nil {
		t.Errorf("spot has open interest %v, %v", list, err)
	}
	if list, err := all[0].Tickers(t.Context(), []market.Pair{sourcetest.Find(t, all[0], "btcusdt:okex")}); err != nil || len(list) != 1 {
		t.Errorf("tickers of spot are %v, %v", list, err)
	} else if m := x.Market("BTC-USDT"); !list[0].Amount.Equal(sourcetest.Decimal(t, m.Amount(m.Day(list[0].Time).Quote))) {
		t.Errorf("%+v is not what was paid", list[0])
	}
}

func TestFundingAndLiquidationsArePushed(t *testing.T) {
	t.Parallel()
	x, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 20)})
	for _, c := range []struct {
		of  *Market
		key string
	}{{all[1], "ethswapusdt:okcoinfutures"}, {all[2], "btcswapusd:okcoinfutures"}} {
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			pair := sourcetest.Find(t, c.of, c.key)
			m := x.Market(pair.Symbol)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			began := c.of.Now().UnixMilli()
			var fundings []market.PairFunding
			var liquidations []market.PairLiquidation
			err := c.of.Follow(ctx, []market.Pair{pair}, c.of.Stats, func(_ context.Context, e *market.PairEvents) error {
				fundings, liquidations = append(fundings, e.Fundings...), append(liquidations, e.Liquidations...)
				if len(fundings) > 1 && len(liquidations) > 0 {
					cancel()
				}
				return nil
			})
			if len(fundings) < 2 || len(liquidations) == 0 || c.of.Stats.Malformed.Load() > 0 {
				t.Fatalf("%d rates and %d liquidations came: %v", len(fundings), len(liquidations), err)
			}
			sourcetest.AreRates(t, m, pair, fundings)
			sourcetest.AreLiquidations(t, m, pair, liquidations, m.Liquidations(began-5000, c.of.Now().UnixMilli()))
		})
	}
}

func TestFramesOfSwapsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"x","fundingTime":"1790000000000","nextFundingTime":"1790028800000","ts":"1790000000000"}]}`,
		`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"0.1","fundingTime":"1790000000000","nextFundingTime":"1790000000000","ts":"1790000000000"}]}`,
		`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"0.1","fundingTime":"1790000000000","nextFundingTime":"1790028800000"}]}`,
		`{"arg":{"channel":"liquidation-orders"},"data":[{"instId":"A","details":[{"posSide":"both","side":"sell","bkPx":"1","sz":"1","ts":"1790000000000"}]}]}`,
		`{"arg":{"channel":"liquidation-orders"},"data":[{"instId":"A","details":[{"posSide":"long","side":"sell","bkPx":"0","sz":"1","ts":"1790000000000"}]}]}`,
		`{"arg":{"channel":"liquidation-orders"},"data":[{"details":[{"posSide":"long","side":"sell","bkPx":"1","sz":"1","ts":"1790000000000"}]}]}`,
	} {
		if f, err := parsed(line); err == nil && (f.Bad == 0 || f.Events.Len() > 0) {
			t.Errorf("%s is %+v", line, f.Events)
		}
	}
	f, err := parsed(`{"arg":{"channel":"liquidation-orders","instType":"SWAP"},"data":[{"instId":"A","details":[{"posSide":"net","side":"sell","bkPx":"1.5","sz":"2","ts":"1790000000000"},{"posSide":"net","side":"buy","bkPx":"1.5","sz":"2","ts":"1790000000001"}]}]}`)
	if l := f.Events.Liquidations; err != nil || len(l) != 2 || !l[0].Long || l[1].Long || l[1].Pair != "A" {
		t.Errorf("positions that are netted: %+v, %v", l, err)
	}
}

func TestARateThatIsExpectedIsOfThePeriodThatEnds(t *testing.T) {
	t.Parallel()
	const due = int64(1_790_000_000_000)
	for _, c := range []struct {
		name, prev, next string
		hours            int64
	}{
		{"ahead of a change", strconv.FormatInt(due-8*hour, 10), strconv.FormatInt(due+hour, 10), 8},
		{"no period before", "", strconv.FormatInt(due+4*hour, 10), 4},
		{"no next period", strconv.FormatInt(due-2*hour, 10), "", 2},
		{"neither", "", "", 0},
	} {
		line := fmt.Sprintf(`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"0.0008","prevFundingTime":%q,"fundingTime":"%d","nextFundingTime":%q,"ts":"%d"}]}`, c.prev, due, c.next, due-1000)
		if f, err := parsed(line); err != nil || len(f.Events.Fundings) != 1 || f.Events.Fundings[0].Period != c.hours*hour {
			t.Errorf("%s: %+v, %v, want %d hours", c.name, f.Events.Fundings, err, c.hours)
		}
	}
	null, err := parsed(`{"arg":{"channel":"funding-rate"},"data":[{"instId":"A","fundingRate":"0.0008","prevFundingTime":null,"fundingTime":"1790000000000","ts":"1789999999000"}]}`)
	if err != nil || len(null.Events.Fundings) != 1 {
		t.Errorf("without what may be left out: %+v, %v", null.Events, err)
	}
}

// The rate that was paid at the end of a page, where the question ends too, has its period from
// the page behind it.
func TestPaidRatesHaveTheirPeriodsAcrossPages(t *testing.T) {
	t.Parallel()
	base := elevenForty.Truncate(8 * time.Hour).UnixMilli()
	var times []int64 // newest first: a hundred of an hour each, and before that of four
	for h := range int64(100) {
		times = append(times, base+(100-h)*hour)
	}
	times = append(times, base-3*hour, base-7*hour, base-11*hour)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64)
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		rows := []string{}
		for _, at := range times {
			if at < after && len(rows) < limit {
				rows = append(rows, fmt.Sprintf(`{"fundingTime":"%d","realizedRate":"0.0001"}`, at))
			}
		}
		fmt.Fprintf(w, `{"code":"0","data":[%s]}`, strings.Join(rows, ","))
	}))
	t.Cleanup(server.Close)
	m := Open(server.URL, slog.New(slog.DiscardHandler))[1]
	list, err := m.PastFundings(t.Context(), market.Pair{Symbol: "A-USDT-SWAP"}, base+hour, base+200*hour)
	if err != nil || len(list) != 100 || list[0].Period != 4*hour || list[1].Period != hour || list[99].Period != hour {
		t.Errorf("%d rates, %v: %+v", len(list), err, list[:min(2, len(list))])
	}
}
