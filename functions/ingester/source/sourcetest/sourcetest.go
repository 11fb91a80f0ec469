// Package sourcetest states once what the adapters of all exchanges guarantee, and holds them to
// it: [Adapter] to the books of a simulated exchange, [Frames] to frames as an exchange writes
// them.
package sourcetest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// Decimal reads a decimal that a simulator writes.
func Decimal(t testing.TB, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

// Serve serves a simulated exchange until the test ends, and returns its address.
func Serve(t testing.TB, x interface {
	Handler() http.Handler
	Disconnect()
}) (url string) {
	t.Helper()
	server := httptest.NewServer(x.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(x.Disconnect)
	return server.URL
}

// Find returns a pair of a market by its key.
func Find(t testing.TB, m interface {
	Pairs(context.Context) ([]market.Pair, error)
}, key string) market.Pair {
	t.Helper()
	pairs := must.Get(m.Pairs(t.Context()))(t)
	for _, p := range pairs {
		if p.Key == key {
			return p
		}
	}
	t.Fatalf("%s is not among %v", key, pairs)
	return market.Pair{}
}

// sizes are what the exchange's own books say of a size and of what was paid for it, base
// coins and quote units. Product is the sum of lots times prices.
func sizes(t testing.TB, m *trading.Market, lots, coins, product int64) (size, amount market.Decimal) {
	t.Helper()
	if m.Dollars > 0 {
		return Decimal(t, trading.Coins(coins)), Decimal(t, trading.Decimal(lots*m.Dollars, 0))
	}
	return Decimal(t, m.Lots(lots)), Decimal(t, m.Amount(product))
}

// interestOf is the open interest of a perpetual at a time, ms: base coins and quote units.
func interestOf(t testing.TB, m *trading.Market, at int64) (size, value market.Decimal) {
	t.Helper()
	n := m.Interest(at)
	return sizes(t, m, n, m.CoinsOf(n, m.Mark(at)), n*m.Mark(at))
}

// isCandle holds a candle to the one that opens at a time, ms; takers says whether it has counts
// of trades, and what takers bought.
func isCandle(t *testing.T, m *trading.Market, got *market.Candle, open int64, want *trading.Kline, takers bool) {
	t.Helper()
	size, amount := sizes(t, m, want.Size, want.Coins, want.Quote)
	if got.OpenTime != open || !got.Open.Equal(Decimal(t, m.Price(want.First))) || !got.High.Equal(Decimal(t, m.Price(want.High))) ||
		!got.Low.Equal(Decimal(t, m.Price(want.Low))) || !got.Close.Equal(Decimal(t, m.Price(want.Last))) || !got.Size.Equal(size) || !got.Amount.Equal(amount) {
		t.Fatalf("%s: %+v, want %+v", m.Symbol, got, want)
	}
	size, amount = sizes(t, m, want.SizeBought, want.CoinsBought, want.QuoteBought)
	if takers && (got.Trades != want.Fills || !got.SizeBuyer.Equal(size) || !got.AmountBuyer.Equal(amount)) {
		t.Fatalf("%s: %+v, want %+v", m.Symbol, got, want)
	}
}

// areCandles pages through the candles of a pair from a time (ms) until the open one at
// another, and holds them to those of a market that began to trade at since, ms.
func areCandles(t *testing.T, of Market, m *trading.Market, pair market.Pair, i market.Interval, since, from int64, now time.Time, takers bool) {
	t.Helper()
	var got []market.Candle
	var run market.CandleRun
	for at := from; ; at = run.To {
		run = must.Get(of.Klines(t.Context(), pair, i, at, of.KlinesMost()))(t)
		if run.From != at || len(run.Candles) > of.KlinesMost() {
			t.Fatalf("%s: a run from %d with %d candles, asked for %d", pair.Key, run.From, len(run.Candles), at)
		}
		got = append(got, run.Candles...)
		if run.To == at {
			break
		}
	}
	open := i.StartMs(now.UnixMilli())
	if run.To != open || len(run.Candles) > 0 {
		t.Errorf("%s: it ends at %d with %+v, want %d", pair.Key, run.To, run.Candles, open)
	}
	want := m.Kline(open, i.NextMs(open), now)
	isCandle(t, m, &run.Open, open, &want, takers)
	at := 0
	for open := max(since, from); open < run.To; open = i.NextMs(open) {
		want := m.Kline(open, i.NextMs(open), now)
		if want.Fills == 0 {
			continue // has no candle
		}
		if at == len(got) {
			t.Fatalf("%s: %d candles, more are wanted", pair.Key, at)
		}
		isCandle(t, m, &got[at], open, &want, takers)
		at++
	}
	if at != len(got) {
		t.Errorf("%s: %d candles, want %d", pair.Key, len(got), at)
	}
	if from < since {
		return
	}
	// One that asks for less than there is goes on where it stopped.
	end := from
	for range 10 {
		end = i.NextMs(end)
	}
	if few, err := of.Klines(t.Context(), pair, i, from, 10); err != nil || few.To != end {
		t.Errorf("%s: a run of ten ends at %d, %v, want %d", pair.Key, few.To, err, end)
	}
}

// areInterests holds the open interest of a perpetual at every five minutes since a time, ms,
// to the truth.
func areInterests(t testing.TB, m *trading.Market, pair market.Pair, since int64, got []market.PairInterest) {
	t.Helper()
	for i, p := range got {
		if size, value := interestOf(t, m, p.Time); p.Pair != pair.Key || p.Time < since || !p.Size.Equal(size) || !p.Value.Equal(value) || i > 0 && p.Time != got[i-1].Time+300_000 {
			t.Fatalf("point %d is %+v, want %s worth %s", i, p, size, value)
		}
	}
}

// arePayments holds the rates that were paid of a perpetual since a time, each for so long a
// period (ms), to the truth.
func arePayments(t testing.TB, m *trading.Market, pair market.Pair, since, period int64, got []market.PairFunding) {
	t.Helper()
	for i, f := range got {
		if f.Pair != pair.Key || !f.Paid || f.Period != period || f.Time < since || i > 0 && f.Time != got[i-1].Time+period || !f.Rate.Equal(Decimal(t, trading.Rate(m.Paid(f.Time)))) {
			t.Errorf("a payment is %+v", f)
		}
	}
}

// areRates holds rates that are expected of a perpetual to the truth.
func areRates(t testing.TB, m *trading.Market, pair market.Pair, got []market.PairFunding) {
	t.Helper()
	for _, f := range got {
		if f.Pair != pair.Key || f.Paid || f.Period != m.Period() || f.Due != m.Due(f.Time) || !f.Rate.Equal(Decimal(t, trading.Rate(m.Funding(f.Time)))) {
			t.Errorf("a rate is %+v", f)
		}
	}
}

// areLiquidations holds positions that were closed by force to the truth, in which there are
// more of them.
func areLiquidations(t testing.TB, m *trading.Market, pair market.Pair, got []market.PairLiquidation, truth []trading.Liquidation) {
	t.Helper()
	byTime := map[int64]trading.Liquidation{}
	for _, one := range truth {
		byTime[one.Time] = one
	}
	for _, l := range got {
		one := byTime[l.Time]
		size, value := sizes(t, m, one.Size, m.CoinsOf(one.Size, max(1, one.Price)), one.Size*one.Price)
		if l.Pair != pair.Key || l.Long != one.Long || !l.Px.Equal(Decimal(t, m.Price(one.Price))) || !l.Sz.Equal(size) || !l.Value.Equal(value) {
			t.Errorf("%+v is not %+v", l, one)
		}
	}
}

// isTicker holds the ticker of a pair at a time, ms, to the truth, where a ticker makes something
// of what was paid in the day; nil where it is all of it.
func isTicker(t *testing.T, of Market, m *trading.Market, pair market.Pair, now int64, paid func(*trading.Kline) int64) {
	t.Helper()
	tickers, err := of.Tickers(t.Context(), []market.Pair{pair})
	day := m.Day(now)
	product := day.Quote
	if paid != nil {
		product = paid(&day)
	}
	size, amount := sizes(t, m, day.Size, day.Coins, product)
	if err != nil || len(tickers) != 1 || !tickers[0].Last.Equal(Decimal(t, m.Price(day.Last))) || !tickers[0].High.Equal(Decimal(t, m.Price(day.High))) ||
		!tickers[0].Size.Equal(size) || !tickers[0].Amount.Equal(amount) {
		t.Errorf("tickers are %+v, %v", tickers, err)
	}
}

// IsBook holds the best levels of a pair's book, at most so many of a side, to those of a
// market at the time of the book.
func IsBook(t testing.TB, m *trading.Market, pair market.Pair, book market.PairBook, levels int) {
	t.Helper()
	if book.Pair != pair.Key {
		t.Fatalf("a book of %s, want %s", book.Pair, pair.Key)
	}
	bids, asks := m.Book(book.Time)
	for _, side := range []struct {
		name string
		got  []market.PairLevel
		want []trading.Level
	}{{"bids", book.Bids, bids}, {"asks", book.Asks, asks}} {
		want := side.want[:min(levels, len(side.want))]
		if len(side.got) != len(want) {
			t.Fatalf("%s at %d: %d %s, want %d", pair.Key, book.Time, len(side.got), side.name, len(want))
		}
		for i, w := range want {
			got := side.got[i]
			size, _ := sizes(t, m, w.Size, m.CoinsOf(w.Size, w.Price), w.Size*w.Price)
			if px := Decimal(t, m.Price(w.Price)); !got.Px.Equal(px) || !got.Sz.Equal(size) {
				t.Fatalf("%s at %d: number %d of the %s is %s at %s, want %s at %s", pair.Key, book.Time, i, side.name, got.Sz, got.Px, size, px)
			}
		}
	}
}
