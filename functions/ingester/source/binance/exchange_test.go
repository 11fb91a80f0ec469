package binance_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/source/binance"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/binance"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
)

// open runs a simulated exchange and returns its kinds of markets as the product sees
// them.
func open(t *testing.T, c simulated.Config) (x *simulated.Exchange, spot, usdm *binance.Market) {
	t.Helper()
	x, all := openAll(t, c)
	return x, all[0], all[1]
}

func openAll(t *testing.T, c simulated.Config) (*simulated.Exchange, []*binance.Market) {
	t.Helper()
	x := simulated.New(c)
	all := binance.Open(sourcetest.Serve(t, x), slog.New(slog.DiscardHandler))
	for _, m := range all {
		if c.Clock != nil {
			m.Now = c.Clock
		}
	}
	return x, all
}

func TestPairsAreThoseThatTrade(t *testing.T) {
	t.Parallel()
	_, spot, usdm := open(t, simulated.Config{})
	for _, c := range []struct {
		of   *binance.Market
		want []string
	}{
		{spot, []string{"btcusdt:binance", "ethusdt:binance", "solusdt:binance", "ethbtc:binance"}},
		{usdm, []string{"btcswapusdt:binance", "ethswapusdt:binance", "solswapusdt:binance", "1000pepeswapusdt:binance"}},
	} {
		pairs := must.Get(c.of.Pairs(t.Context()))(t)
		if len(pairs) != len(c.want) {
			t.Fatalf("%s: %v", c.of.Name, pairs)
		}
		for i, p := range pairs {
			if p.Key != c.want[i] || p.Platform != binance.Platform || p.Swap != (c.of == usdm) {
				t.Errorf("pair %d of %s is %+v, want %s", i, c.of.Name, p, c.want[i])
			}
		}
	}
}

func TestKlinesAreGivenOutWhenTheyHaveEnded(t *testing.T) {
	t.Parallel()
	clock := testclock.At(time.Date(2026, 11, 20, 10, 30, 20, 0, time.UTC))
	x, all := openAll(t, simulated.Config{Clock: clock.Now})
	from := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).UnixMilli()
	for _, c := range []struct {
		of        *binance.Market
		simulated *simulated.Market
		key       string
	}{{all[0], x.Market("BTCUSDT", false), "btcusdt:binance"}, {all[1], x.Market("SOLUSDT", true), "solswapusdt:binance"}, {all[2], x.Market("BTCUSD_PERP", true), "btcswapusd:binance"}} {
		pair := sourcetest.Find(t, c.of, c.key)
		run := must.Get(c.of.Klines(t.Context(), pair, market.Minute1, from, 100))(t)
		if run.From != from || run.To != from+30*60_000 {
			t.Errorf("%s: from %d to %d, want the 30 minutes that have ended", c.key, run.From, run.To)
		}
		at := 0
		for open := from; open < run.To; open += 60_000 {
			want := c.simulated.Kline(open, open+60_000, clock.Now())
			if want.Fills == 0 {
				continue // has no candle
			}
			got := run.Candles[at]
			at++
			sourcetest.IsCandle(t, c.simulated, &got, open, &want)
			size, amount := sourcetest.Sizes(t, c.simulated, want.SizeBought, want.CoinsBought, want.QuoteBought)
			if got.Trades != want.Fills || !got.SizeBuyer.Equal(size) || !got.AmountBuyer.Equal(amount) {
				t.Errorf("%s: %+v, want %+v", c.key, got, want)
			}
		}
		if want := c.simulated.Kline(run.To, run.To+60_000, clock.Now()); run.Open.OpenTime != run.To || run.Open.Trades != want.Fills {
			t.Errorf("%s: the open minute is %+v, want %+v", c.key, run.Open, want)
		}
		if at != len(run.Candles) {
			t.Errorf("%s: %d candles, want %d", c.key, len(run.Candles), at)
		}
		// One that asks for less than there is goes on where it stopped.
		first, err := c.of.Klines(t.Context(), pair, market.Minute1, from, 10)
		if err != nil || first.To != from+10*60_000 {
			t.Errorf("%s: a page ends at %d, %v", c.key, first.To, err)
		}
		if last, err := c.of.Klines(t.Context(), pair, market.Minute1, run.To, 10); err != nil || last.To != run.To || len(last.Candles) > 0 {
			t.Errorf("%s: the open minute is given out: %+v, %v", c.key, last, err)
		}
	}
}

func TestABanIsObeyed(t *testing.T) {
	t.Parallel()
	x, spot, _ := open(t, simulated.Config{})
	pair := sourcetest.Find(t, spot, "btcusdt:binance")
	x.Ban(http.StatusTeapot, 1500*time.Millisecond)
	began := time.Now()
	if _, err := spot.Klines(t.Context(), pair, market.Minute1, time.Now().Add(-time.Hour).UnixMilli(), 10); err != nil || time.Since(began) < 1500*time.Millisecond {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// received collects trades, and when asked what is wrong with them.
type received struct {
	mu     sync.Mutex
	trades map[string][]market.PairTrade
}

func (r *received) sink(_ context.Context, events *market.PairEvents) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, trade := range events.Trades {
		r.trades[trade.Pair] = append(r.trades[trade.Pair], trade)
	}
	return nil
}

func (r *received) of(pair string) []market.PairTrade {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]market.PairTrade(nil), r.trades[pair]...)
}

// follow runs until the test ends.
func follow(t *testing.T, m *binance.Market, pairs ...market.Pair) *received {
	t.Helper()
	r := &received{trades: map[string][]market.PairTrade{}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Follow(ctx, pairs, m.Stats, r.sink) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
	return r
}

func TestTradesAreThoseOfTheExchange(t *testing.T) {
	t.Parallel()
	x, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 60)})
	for _, c := range []struct {
		of        *binance.Market
		simulated *simulated.Market
		key       string
	}{{all[0], x.Market("ETHUSDT", false), "ethusdt:binance"}, {all[1], x.Market("1000PEPEUSDT", true), "1000pepeswapusdt:binance"}, {all[2], x.Market("ETHUSD_PERP", true), "ethswapusd:binance"}} {
		pair := sourcetest.Find(t, c.of, c.key)
		r := follow(t, c.of, pair)
		testenv.Until(t, "trades have come", func() bool { return len(r.of(c.key)) > 8 })
		got := r.of(c.key)
		want := c.simulated.Trades(got[0].Time, got[len(got)-1].Time+1)
		if len(got) != len(want) {
			t.Fatalf("%s: %d trades, want %d", c.key, len(got), len(want))
		}
		for i, trade := range got {
			w := want[i]
			sourcetest.IsTrade(t, c.simulated, pair, trade, w)
			if trade.ID != w.ID || trade.Count != w.Last-w.First+1 {
				t.Errorf("%s: %+v, want %+v", c.key, trade, w)
			}
		}
		if c.of.Stats.Malformed.Load() != 0 || c.of.Stats.Gaps.Load() != 0 {
			t.Errorf("%s: %d frames could not be read, %d trades are missing", c.key, c.of.Stats.Malformed.Load(), c.of.Stats.Gaps.Load())
		}
	}
}

func TestALostConnectionIsMadeAnewAndWhatIsMissingIsCounted(t *testing.T) {
	t.Parallel()
	x, spot, _ := open(t, simulated.Config{Clock: testclock.Running(time.Now(), 60)})
	r := follow(t, spot, sourcetest.Find(t, spot, "btcusdt:binance"))
	count := func() int { return len(r.of("btcusdt:binance")) }
	testenv.Until(t, "trades have come", func() bool { return count() > 5 })
	x.Disconnect()
	testenv.Until(t, "it has connected again", func() bool { return spot.Stats.Reconnects.Load() == 1 })
	had := count()
	testenv.Until(t, "trades come again", func() bool { return count() > had+5 })
	if spot.Stats.Gaps.Load() == 0 {
		t.Error("nothing is missing")
	}

	before := spot.Stats.Gaps.Load()
	x.Lose(3)
	testenv.Until(t, "three trades are missing", func() bool { return spot.Stats.Gaps.Load() == before+3 })

	x.Repeat(true)
	had = count()
	testenv.Until(t, "trades come twice", func() bool { return count() > had+10 })
	if spot.Stats.Gaps.Load() != before+3 || spot.Stats.Malformed.Load() != 0 {
		t.Errorf("%d trades are missing, %d frames could not be read", spot.Stats.Gaps.Load(), spot.Stats.Malformed.Load())
	}
}
