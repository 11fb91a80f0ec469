package binance_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	simulated "quotary/localstack/binance"
	"quotary/localstack/trading"
	"quotary/shared/market"
	"quotary/shared/source/binance"
	"quotary/shared/testclock"
)

// parse reads a decimal that the simulator writes.
func parse(t *testing.T, text string) market.Decimal {
	t.Helper()
	d, err := market.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rate is a funding rate in hundred-millionths.
func rate(t *testing.T, n int64) market.Decimal {
	t.Helper()
	d := parse(t, strconv.FormatInt(n, 10))
	return d.MustDiv(parse(t, "100000000"))
}

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
		t.Run(c.key, func(t *testing.T) { perpetual(t, c.of, c.m, find(t, c.of, c.key), c.payments, c.period) })
	}
	if list, err := all[0].Interests(t.Context(), []market.Pair{find(t, all[0], "btcusdt:binance")}); err != nil || list != nil {
		t.Errorf("spot has open interest %v, %v", list, err)
	}
	// What lies before the exchange's memory is not asked for.
	if past, err := all[1].PastInterests(t.Context(), find(t, all[1], "solswapusdt:binance"), now-60*24*3_600_000, now-40*24*3_600_000); err != nil || len(past) != 0 {
		t.Errorf("of two months ago there are %d, %v", len(past), err)
	}
}

// perpetual holds what is asked of a perpetual at elevenForty to its truth.
func perpetual(t *testing.T, usdm *binance.Market, m *simulated.Market, pair market.Pair, payments int, period int64) {
	now := elevenForty.UnixMilli()
	interest := func(at int64) (size, value market.Decimal) {
		n := m.Interest(at)
		return parse(t, lots(m, n, m.CoinsOf(n, m.Mark(at)))), parse(t, amount(m, n, n*m.Mark(at)))
	}
	interests, err := usdm.Interests(t.Context(), []market.Pair{pair, {Key: "nobody", Symbol: "NOBODY"}})
	if err == nil {
		t.Error("an unknown symbol is no error")
	}
	if size, value := interest(now); len(interests) != 1 || !interests[0].Size.Equal(size) || !interests[0].Value.Equal(value) || interests[0].Time != now {
		t.Errorf("open interest is %+v, want %s of %s", interests, size, value)
	}

	tickers, err := usdm.Tickers(t.Context(), []market.Pair{pair})
	day := m.Day(now)
	if err != nil || len(tickers) != 1 || !tickers[0].Last.Equal(parse(t, m.Price(day.Last))) || !tickers[0].Size.Equal(parse(t, lots(m, day.Size, day.Coins))) ||
		!tickers[0].Amount.Equal(parse(t, amount(m, day.Size, day.Quote))) || !tickers[0].High.Equal(parse(t, m.Price(day.High))) {
		t.Errorf("tickers are %+v, %v", tickers, err)
	}

	from := elevenForty.Add(-5 * 24 * time.Hour).UnixMilli()
	fundings, err := usdm.PastFundings(t.Context(), pair, from, now)
	if err != nil || len(fundings) != payments {
		t.Fatalf("%d payments in five days, %v", len(fundings), err)
	}
	for _, f := range fundings {
		if !f.Paid || f.Period != period || !f.Rate.Equal(rate(t, m.Paid(f.Time))) {
			t.Errorf("a payment is %+v", f)
		}
	}
	past, err := usdm.PastInterests(t.Context(), pair, from, now)
	if err != nil || len(past) != 5*288 {
		t.Fatalf("%d points in five days, %v", len(past), err)
	}
	for i, p := range past {
		if size, value := interest(p.Time); !p.Size.Equal(size) || !p.Value.Equal(value) || p.Time < from || i > 0 && p.Time != past[i-1].Time+300_000 {
			t.Fatalf("point %d is %+v", i, p)
		}
	}
	ratios, err := usdm.PastRatios(t.Context(), pair, now-3_600_000, now)
	if err != nil || len(ratios) != 12 || !ratios[0].Long.Equal(parse(t, trading.Decimal(m.Longs(ratios[0].Time), 4))) {
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
			pushed(t, c.of, c.m, find(t, c.of, c.key))
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
	for _, f := range fundings {
		if f.Pair != pair.Key || f.Paid || f.Period != 8*3_600_000 || f.Due != m.Due(f.Time) || !f.Rate.Equal(rate(t, m.Funding(f.Time))) {
			t.Errorf("a rate is %+v", f)
		}
	}
	truth := m.Liquidations(began-1000, time.Now().UnixMilli())
	for _, l := range liquidations {
		found := false
		for _, one := range truth {
			if one.Time == l.Time {
				found = l.Long == one.Long && l.Px.Equal(parse(t, m.Price(one.Price))) &&
					l.Sz.Equal(parse(t, lots(m, one.Size, m.CoinsOf(one.Size, one.Price)))) && l.Value.Equal(parse(t, amount(m, one.Size, one.Size*one.Price)))
			}
		}
		if !found || l.Pair != pair.Key {
			t.Errorf("%+v is not among %+v", l, truth)
		}
	}
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
		pair := find(t, m, "solswapusdt:binance")
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
