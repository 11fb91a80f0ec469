package binance_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	simulated "quotary/localstack/binance"
	"quotary/localstack/trading"
	"quotary/shared/market"
	"quotary/shared/source/binance"
	"quotary/shared/source/sourcetest"
	"quotary/shared/testclock"
)

var elevenForty = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

func TestWhatIsAskedOfPerpetualsIsTheTruthOfTheExchange(t *testing.T) {
	t.Parallel()
	clock := testclock.At(elevenForty)
	x, all := openAll(t, simulated.Config{Clock: clock.Now})
	now := elevenForty.UnixMilli()
	for _, c := range []struct {
		of       *binance.Market
		m        *simulated.Market
		key      string
		payments int
		period   int64
	}{
		{all[1], x.Market("SOLUSDT", true), "solswapusdt:binance", 30, 4 * 3_600_000},
		{all[2], x.Market("BTCUSD_PERP", true), "btcswapusd:binance", 15, 8 * 3_600_000},
	} {
		t.Run(c.key, func(t *testing.T) { perpetual(t, c.of, c.m, sourcetest.Find(t, c.of, c.key), c.payments, c.period) })
	}
	if list, err := all[0].Interests(t.Context(), []market.Pair{sourcetest.Find(t, all[0], "btcusdt:binance")}); err != nil || list != nil {
		t.Errorf("spot has open interest %v, %v", list, err)
	}
	// What lies before the exchange's memory is not asked for.
	if past, err := all[1].PastInterests(t.Context(), sourcetest.Find(t, all[1], "solswapusdt:binance"), now-60*24*3_600_000, now-40*24*3_600_000); err != nil || len(past) != 0 {
		t.Errorf("of two months ago there are %d, %v", len(past), err)
	}
}

// perpetual holds what is asked of a perpetual at elevenForty to its truth.
func perpetual(t *testing.T, usdm *binance.Market, m *simulated.Market, pair market.Pair, payments int, period int64) {
	now := elevenForty.UnixMilli()
	if _, err := usdm.Interests(t.Context(), []market.Pair{{Key: "nobody", Symbol: "NOBODY"}}); err == nil {
		t.Error("an unknown symbol is no error")
	}
	sourcetest.IsNow(t, usdm, m, pair, now, func(day *trading.Kline) int64 { return day.Quote })
	from := elevenForty.Add(-5 * 24 * time.Hour).UnixMilli()
	fundings, err := usdm.PastFundings(t.Context(), pair, from, now)
	if err != nil || len(fundings) != payments {
		t.Fatalf("%d payments in five days, %v", len(fundings), err)
	}
	sourcetest.ArePayments(t, m, pair, from, period, fundings)
	past, err := usdm.PastInterests(t.Context(), pair, from, now)
	if err != nil || len(past) != 5*288 {
		t.Fatalf("%d points in five days, %v", len(past), err)
	}
	sourcetest.AreInterests(t, m, pair, from, past)
	ratios, err := usdm.PastRatios(t.Context(), pair, now-3_600_000, now)
	if err != nil || len(ratios) != 12 || !ratios[0].Long.Equal(sourcetest.Decimal(t, trading.Decimal(m.Longs(ratios[0].Time), 4))) {
		t.Errorf("ratios are %+v, %v", ratios, err)
	}
}

func TestFundingAndLiquidationsArePushed(t *testing.T) {
	t.Parallel()
	x, all := openAll(t, simulated.Config{})
	for _, c := range []struct {
		of  *binance.Market
		m   *simulated.Market
		key string
	}{{all[1], x.Market("BTCUSDT", true), "btcswapusdt:binance"}, {all[2], x.Market("ETHUSD_PERP", true), "ethswapusd:binance"}} {
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			pushed(t, c.of, c.m, sourcetest.Find(t, c.of, c.key))
		})
	}
}

// pushed follows a perpetual until it has seen a position that was closed by force.
func pushed(t *testing.T, usdm *binance.Market, m *simulated.Market, pair market.Pair) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	began := time.Now().UnixMilli()
	var fundings []market.PairFunding
	var liquidations []market.PairLiquidation
	err := usdm.Follow(ctx, []market.Pair{pair}, func(_ context.Context, e *market.PairEvents) error {
		fundings, liquidations = append(fundings, e.Fundings...), append(liquidations, e.Liquidations...)
		if len(fundings) > 2 && len(liquidations) > 0 {
			cancel()
		}
		return nil
	})
	if len(fundings) < 3 || len(liquidations) == 0 {
		t.Fatalf("%d rates and %d liquidations came: %v", len(fundings), len(liquidations), err)
	}
	sourcetest.AreRates(t, m, pair, fundings)
	sourcetest.AreLiquidations(t, m, pair, liquidations, m.Liquidations(began-1000, time.Now().UnixMilli()))
}

// A funding period that an exchange gives under another name is counted, and the one that is
// known stays: a rate of four hours is none of eight.
func TestAFundingPeriodThatCannotBeReadIsTheOneBefore(t *testing.T) {
	t.Parallel()
	x := simulated.New(simulated.Config{})
	var changed atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		x.Handler().ServeHTTP(answer, r)
		body := answer.Body.String()
		if changed.Load() {
			body = strings.ReplaceAll(body, "fundingIntervalHours", "intervalHours")
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	m := binance.Open(server.URL, slog.New(slog.DiscardHandler))[1]
	for _, malformed := range []int64{0, 1} {
		pair := sourcetest.Find(t, m, "solswapusdt:binance")
		now := time.Now().UnixMilli()
		list, err := m.PastFundings(t.Context(), pair, now-24*3_600_000, now)
		if err != nil || len(list) == 0 || list[0].Period != 4*3_600_000 {
			t.Fatalf("%+v, %v", list, err)
		}
		if got := m.Stats.Malformed.Load(); min(got, 1) != malformed {
			t.Errorf("%d periods were counted, want %d", got, malformed)
		}
		changed.Store(true)
	}
}
