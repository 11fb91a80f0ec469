package binance_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	simulated "quotary/localstack/binance"
	"quotary/localstack/trading"
	"quotary/shared/market"
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
	x, spot, usdm := open(t, simulated.Config{Clock: clock.Now})
	pair := find(t, usdm, "solswapusdt:binance") // four hours
	m := x.Market("SOLUSDT", true)
	now := elevenForty.UnixMilli()

	interests, err := usdm.Interests(t.Context(), []market.Pair{pair, {Key: "nobody", Symbol: "NOBODY"}})
	if err == nil {
		t.Error("an unknown symbol is no error")
	}
	lots := m.Interest(now)
	if len(interests) != 1 || !interests[0].Size.Equal(parse(t, m.Lots(lots))) || !interests[0].Value.Equal(parse(t, m.Amount(lots*m.Mark(now)))) || interests[0].Time != now {
		t.Errorf("open interest is %+v", interests)
	}
	if list, err := spot.Interests(t.Context(), []market.Pair{find(t, spot, "btcusdt:binance")}); err != nil || list != nil {
		t.Errorf("spot has open interest %v, %v", list, err)
	}

	tickers, err := usdm.Tickers(t.Context(), []market.Pair{pair})
	day := m.Day(now)
	if err != nil || len(tickers) != 1 || !tickers[0].Last.Equal(parse(t, m.Price(day.Last))) || !tickers[0].Amount.Equal(parse(t, m.Amount(day.Quote))) || !tickers[0].High.Equal(parse(t, m.Price(day.High))) {
		t.Errorf("tickers are %+v, %v", tickers, err)
	}

	from := elevenForty.Add(-5 * 24 * time.Hour).UnixMilli()
	fundings, err := usdm.PastFundings(t.Context(), pair, from, now)
	if err != nil || len(fundings) != 30 {
		t.Fatalf("%d payments in five days, %v", len(fundings), err)
	}
	for _, f := range fundings {
		if !f.Paid || f.Period != 4*3_600_000 || !f.Rate.Equal(rate(t, m.Paid(f.Time))) {
			t.Errorf("a payment is %+v", f)
		}
	}
	past, err := usdm.PastInterests(t.Context(), pair, from, now)
	if err != nil || len(past) != 5*288 {
		t.Fatalf("%d points in five days, %v", len(past), err)
	}
	for i, p := range past {
		if lots := m.Interest(p.Time); !p.Value.Equal(parse(t, m.Amount(lots*m.Mark(p.Time)))) || p.Time < from || i > 0 && p.Time != past[i-1].Time+300_000 {
			t.Fatalf("point %d is %+v", i, p)
		}
	}
	ratios, err := usdm.PastRatios(t.Context(), pair, now-3_600_000, now)
	if err != nil || len(ratios) != 12 || !ratios[0].Long.Equal(parse(t, trading.Decimal(m.Longs(ratios[0].Time), 4))) {
		t.Errorf("ratios are %+v, %v", ratios, err)
	}
	// What lies before the exchange's memory is not asked for.
	if past, err = usdm.PastInterests(t.Context(), pair, now-60*24*3_600_000, now-40*24*3_600_000); err != nil || len(past) != 0 {
		t.Errorf("of two months ago there are %d, %v", len(past), err)
	}
}

func TestFundingAndLiquidationsArePushed(t *testing.T) {
	t.Parallel()
	x, _, usdm := open(t, simulated.Config{})
	pair := find(t, usdm, "btcswapusdt:binance")
	m := x.Market("BTCUSDT", true)
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
				found = l.Long == one.Long && l.Sz.Equal(parse(t, m.Lots(one.Size))) && l.Px.Equal(parse(t, m.Price(one.Price))) && l.Value.Equal(parse(t, m.Amount(one.Size*one.Price)))
			}
		}
		if !found || l.Pair != pair.Key {
			t.Errorf("%+v is not among %+v", l, truth)
		}
	}
}
