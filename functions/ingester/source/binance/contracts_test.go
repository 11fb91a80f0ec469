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
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestOpenInterestOfWhatThereIsNone(t *testing.T) {
	t.Parallel()
	m := binance.Open(sourcetest.Serve(t, simulated.New(simulated.Config{})), slog.New(slog.DiscardHandler))[1]
	if _, err := m.Interests(t.Context(), []market.Pair{{Key: "nobody", Symbol: "NOBODY"}}); err == nil {
		t.Error("an unknown symbol is no error")
	}
	// What lies before the exchange's memory is not asked for.
	now := time.Now().UnixMilli()
	if past, err := m.PastInterests(t.Context(), market.Pair{Symbol: "SOLUSDT", Swap: true}, now-60*24*hour, now-40*24*hour); err != nil || len(past) != 0 {
		t.Errorf("of two months ago there are %d, %v", len(past), err)
	}
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
	base := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC).UnixMilli()
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
