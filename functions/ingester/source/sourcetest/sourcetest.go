// Package sourcetest holds what is read of exchanges against the books of simulated ones.
package sourcetest

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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

// Sizes are what the exchange's own books say of a size and of what was paid for it, base
// coins and quote units. Product is the sum of lots times prices.
func Sizes(t testing.TB, m *trading.Market, lots, coins, product int64) (size, amount market.Decimal) {
	t.Helper()
	if m.Dollars > 0 {
		return Decimal(t, trading.Coins(coins)), Decimal(t, trading.Decimal(lots*m.Dollars, 0))
	}
	return Decimal(t, m.Lots(lots)), Decimal(t, m.Amount(product))
}

// Interest is the open interest of a perpetual at a time, ms: base coins and quote units.
func Interest(t testing.TB, m *trading.Market, at int64) (size, value market.Decimal) {
	t.Helper()
	n := m.Interest(at)
	return Sizes(t, m, n, m.CoinsOf(n, m.Mark(at)), n*m.Mark(at))
}

// IsCandle holds a candle to the one that opens at a time, ms.
func IsCandle(t testing.TB, m *trading.Market, got *market.Candle, open int64, want *trading.Kline) {
	t.Helper()
	size, amount := Sizes(t, m, want.Size, want.Coins, want.Quote)
	if got.OpenTime != open || !got.Open.Equal(Decimal(t, m.Price(want.First))) || !got.High.Equal(Decimal(t, m.Price(want.High))) ||
		!got.Low.Equal(Decimal(t, m.Price(want.Low))) || !got.Close.Equal(Decimal(t, m.Price(want.Last))) || !got.Size.Equal(size) || !got.Amount.Equal(amount) {
		t.Fatalf("%s: %+v, want %+v", m.Symbol, got, want)
	}
}

// Klines is a kind of markets of an exchange, as the product reads its candles.
type Klines interface {
	KlinesMost() int
	Klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error)
}

// AreKlines pages through the candles of a pair from a time (ms) until the open one at
// another, and holds them to those of a market that began to trade at since, ms.
func AreKlines(t testing.TB, of Klines, m *trading.Market, pair market.Pair, i market.Interval, since, from int64, now time.Time) {
	t.Helper()
	var got []market.Candle
	var run market.CandleRun
	for at := from; ; at = run.To {
		var err error
		if run, err = of.Klines(t.Context(), pair, i, at, of.KlinesMost()); err != nil {
			t.Fatal(err)
		}
		if run.From != at || len(run.Candles) > of.KlinesMost() {
			t.Fatalf("%s: a run from %d with %d candles, asked for %d", pair.Key, run.From, len(run.Candles), at)
		}
		got = append(got, run.Candles...)
		if run.To == at {
			break
		}
	}
	if open := i.StartMs(now.UnixMilli()); run.To != open || run.Open.OpenTime != open {
		t.Errorf("%s: it ends at %d with %+v, want %d", pair.Key, run.To, run.Open, open)
	}
	at := 0
	for open := max(since, from); open < run.To; open = i.NextMs(open) {
		want := m.Kline(open, i.NextMs(open), now)
		if want.Fills == 0 {
			continue // has no candle
		}
		if at == len(got) {
			t.Fatalf("%s: %d candles, more are wanted", pair.Key, at)
		}
		IsCandle(t, m, &got[at], open, &want)
		at++
	}
	if at != len(got) {
		t.Errorf("%s: %d candles, want %d", pair.Key, len(got), at)
	}
}

// AreInterests holds the open interest of a perpetual at every five minutes since a time, ms,
// to the truth.
func AreInterests(t testing.TB, m *trading.Market, pair market.Pair, since int64, got []market.PairInterest) {
	t.Helper()
	for i, p := range got {
		if size, value := Interest(t, m, p.Time); p.Pair != pair.Key || p.Time < since || !p.Size.Equal(size) || !p.Value.Equal(value) || i > 0 && p.Time != got[i-1].Time+300_000 {
			t.Fatalf("point %d is %+v, want %s worth %s", i, p, size, value)
		}
	}
}

// ArePayments holds the rates that were paid of a perpetual since a time, each for so long a
// period (ms), to the truth.
func ArePayments(t testing.TB, m *trading.Market, pair market.Pair, since, period int64, got []market.PairFunding) {
	t.Helper()
	for i, f := range got {
		if f.Pair != pair.Key || !f.Paid || f.Period != period || f.Time < since || i > 0 && f.Time != got[i-1].Time+period || !f.Rate.Equal(Decimal(t, trading.Rate(m.Paid(f.Time)))) {
			t.Errorf("a payment is %+v", f)
		}
	}
}

// AreRates holds rates that are expected of a perpetual to the truth.
func AreRates(t testing.TB, m *trading.Market, pair market.Pair, got []market.PairFunding) {
	t.Helper()
	for _, f := range got {
		if f.Pair != pair.Key || f.Paid || f.Period != m.Period() || f.Due != m.Due(f.Time) || !f.Rate.Equal(Decimal(t, trading.Rate(m.Funding(f.Time)))) {
			t.Errorf("a rate is %+v", f)
		}
	}
}

// AreLiquidations holds positions that were closed by force to the truth, in which there are
// more of them.
func AreLiquidations(t testing.TB, m *trading.Market, pair market.Pair, got []market.PairLiquidation, truth []trading.Liquidation) {
	t.Helper()
	byTime := map[int64]trading.Liquidation{}
	for _, one := range truth {
		byTime[one.Time] = one
	}
	for _, l := range got {
		one := byTime[l.Time]
		size, value := Sizes(t, m, one.Size, m.CoinsOf(one.Size, max(1, one.Price)), one.Size*one.Price)
		if l.Pair != pair.Key || l.Long != one.Long || !l.Px.Equal(Decimal(t, m.Price(one.Price))) || !l.Sz.Equal(size) || !l.Value.Equal(value) {
			t.Errorf("%+v is not %+v", l, one)
		}
	}
}

// Contracts are the markets of an exchange, as the product reads what they are now.
type Contracts interface {
	Interests(context.Context, []market.Pair) ([]market.PairInterest, error)
	Tickers(context.Context, []market.Pair) ([]market.PairTicker, error)
}

// IsNow holds the ticker and the open interest of a perpetual at a time, ms, to the truth,
// where so much was paid for what was traded in a day.
func IsNow(t testing.TB, of Contracts, m *trading.Market, pair market.Pair, now int64, paid func(*trading.Kline) int64) {
	t.Helper()
	interests, err := of.Interests(t.Context(), []market.Pair{pair})
	if size, value := Interest(t, m, now); err != nil || len(interests) != 1 || !interests[0].Size.Equal(size) || !interests[0].Value.Equal(value) || interests[0].Time != now {
		t.Errorf("open interest is %+v, %v, want %s worth %s", interests, err, size, value)
	}
	tickers, err := of.Tickers(t.Context(), []market.Pair{pair})
	day := m.Day(now)
	size, amount := Sizes(t, m, day.Size, day.Coins, paid(&day))
	if err != nil || len(tickers) != 1 || !tickers[0].Last.Equal(Decimal(t, m.Price(day.Last))) || !tickers[0].High.Equal(Decimal(t, m.Price(day.High))) ||
		!tickers[0].Size.Equal(size) || !tickers[0].Amount.Equal(amount) {
		t.Errorf("tickers are %+v, %v", tickers, err)
	}
}

// IsTrade holds a trade to the truth, but for its numbers.
func IsTrade(t testing.TB, m *trading.Market, pair market.Pair, got market.PairTrade, want trading.Trade) {
	t.Helper()
	size, value := Sizes(t, m, want.Size, want.Coins, want.Size*want.Price)
	if got.Pair != pair.Key || got.Time != want.Time || (got.Side == market.Sell) != want.BuyerMaker ||
		!got.Px.Equal(Decimal(t, m.Price(want.Price))) || !got.Sz.Equal(size) || !got.Value().Equal(value) {
		t.Errorf("%+v is not %+v", got, want)
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
			size, _ := Sizes(t, m, w.Size, m.CoinsOf(w.Size, w.Price), w.Size*w.Price)
			if px := Decimal(t, m.Price(w.Price)); !got.Px.Equal(px) || !got.Sz.Equal(size) {
				t.Fatalf("%s at %d: number %d of the %s is %s at %s, want %s at %s", pair.Key, book.Time, i, side.name, got.Sz, got.Px, size, px)
			}
		}
	}
}

// Listing is a market whose list a test serves.
type Listing interface {
	Pairs(context.Context) ([]market.Pair, error)
	UnknownMarkets() int64
}

// Lists holds what a market makes of a list, asked for twice, to the keys of pairs that are
// wanted and to how many markets are left out as something of them is not known. Each such thing
// is in the log once.
func Lists(t testing.TB, of Listing, log *bytes.Buffer, keys []string, unknown int64, said ...string) {
	t.Helper()
	for range 2 {
		pairs, err := of.Pairs(t.Context())
		var got []string
		for _, p := range pairs {
			got = append(got, p.Key)
		}
		if err != nil || !slices.Equal(got, keys) || of.UnknownMarkets() != unknown {
			t.Errorf("%v, %v with %d unknown, want %v with %d", err, got, of.UnknownMarkets(), keys, unknown)
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != len(said) {
		t.Errorf("%d lines, want %d: %s", lines, len(said), log)
	}
	for _, text := range said {
		if !strings.Contains(log.String(), text) {
			t.Errorf("%q is not in %s", text, log)
		}
	}
}
