package binance_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/source/binance"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/binance"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
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
	x, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 20)})
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
	began := usdm.Now().UnixMilli()
	var fundings []market.PairFunding
	var liquidations []market.PairLiquidation
	err := usdm.Follow(ctx, []market.Pair{pair}, usdm.Stats, func(_ context.Context, e *market.PairEvents) error {
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
	sourcetest.AreLiquidations(t, m, pair, liquidations, m.Liquidations(began-1000, usdm.Now().UnixMilli()))
}

// A funding period that an exchange gives under another name is counted, and the one that is
// known stays: a rate of four hours is none of eight.
func TestAFundingPeriodThatCannotBeReadIsTheOneBefore(t *testing.T) {
	t.Parallel()
	x := simulated.New(simulated.Config{})
	var changed atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !changed.Load() || !strings.HasSuffix(r.URL.Path, "/fundingInfo") {
			x.Handler().ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		x.Handler().ServeHTTP(answer, r)
		_, _ = io.WriteString(w, strings.ReplaceAll(answer.Body.String(), "fundingIntervalHours", "intervalHours"))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(x.Disconnect)
	m := binance.Open(server.URL, slog.New(slog.DiscardHandler))[1]
	for _, malformed := range []int64{0, 1} {
		pair := sourcetest.Find(t, m, "solswapusdt:binance")
		if f := nextRate(t, m, pair); f.Period != 4*hour {
			t.Fatalf("%+v", f)
		}
		if got := m.Stats.Malformed.Load(); min(got, 1) != malformed {
			t.Errorf("%d periods were counted, want %d", got, malformed)
		}
		changed.Store(true)
	}
}

const hour = int64(3_600_000) // ms

// nextRate is a funding rate of a pair that is pushed.
func nextRate(t *testing.T, m *binance.Market, pair market.Pair) (f market.PairFunding) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := m.Follow(ctx, []market.Pair{pair}, m.Stats, func(_ context.Context, e *market.PairEvents) error {
		for _, f = range e.Fundings {
			cancel()
		}
		return nil
	})
	if f.Pair == "" {
		t.Fatal(err)
	}
	return f
}

// paid is a row of what was paid, so many hours from a time on.
type paid struct {
	hour int64
	rate string
	kind string // "" is none, as of rows of before there were any
}

// The period of a rate that was paid is the time since the one before it, whatever it is today,
// also where that is on another page or before what is asked for.
func TestPaidRatesHaveThePeriodsOfTheirTime(t *testing.T) {
	t.Parallel()
	base := elevenForty.Truncate(8 * time.Hour).UnixMilli()
	long := []paid{{-16, "0.0008", "Regular"}, {-8, "0.0008", "Regular"}}
	for h := range int64(1500) {
		long = append(long, paid{h, "0.0001", "Regular"})
	}
	periods := func(n int, first ...int64) []int64 {
		for len(first) < n {
			first = append(first, 1)
		}
		return first
	}
	for _, c := range []struct {
		name    string
		rows    []paid
		from    int64 // hour
		periods []int64
	}{
		{"before and behind a change", []paid{{-16, "0.0008", ""}, {-8, "0.0008", "Regular"}, {0, "0.0001", "Regular"}, {1, "0.0001", "Regular"}}, -20, []int64{8, 8, 8, 1}},
		{"a special one", []paid{{-8, "0.0001", "Regular"}, {-7, "-0.0125", "Special"}, {0, "0.0001", "Regular"}}, -20, []int64{8, 8}},
		{"a special one before what is asked for", []paid{{-8, "0.0001", "Regular"}, {-1, "-0.0125", "Special"}, {0, "0.0001", "Regular"}}, -1, []int64{8}},
		{"more than a page", long, -8, periods(1501, 8, 8)},
		{"from the end of a page", long, 998, periods(502)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				from, _ := strconv.ParseInt(r.FormValue("startTime"), 10, 64)
				to, _ := strconv.ParseInt(r.FormValue("endTime"), 10, 64)
				rows := []any{}
				for i, row := range c.rows {
					at := base + row.hour*hour + int64(i%7)
					if limit, _ := strconv.Atoi(r.FormValue("limit")); at < from || at > to || len(rows) == limit {
						continue
					}
					rows = append(rows, map[string]any{"symbol": "XUSDT", "fundingTime": at, "fundingRate": row.rate, "markPrice": "", "rateType": row.kind})
				}
				_ = json.NewEncoder(w).Encode(rows)
			}))
			t.Cleanup(server.Close)
			m := binance.Open(server.URL, slog.New(slog.DiscardHandler))[1]
			list := must.Get(m.PastFundings(t.Context(), market.Pair{Key: "xswapusdt:binance", Symbol: "XUSDT", Swap: true}, base+c.from*hour, base+5000*hour))(t)
			var got []int64
			for _, f := range list {
				got = append(got, f.Period/hour)
				if f.Rate.String() == "-0.0125" || f.Time < base+c.from*hour {
					t.Errorf("%+v", f)
				}
			}
			check.Equalf(t, c.periods, got, "periods")
		})
	}
}
