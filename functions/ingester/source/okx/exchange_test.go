package okx

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/okx"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
)

// open runs a simulated exchange and returns its kinds of markets as the product sees
// them, on its clock.
func open(t *testing.T, c simulated.Config) (x *simulated.Exchange, spot, swap *Market) {
	t.Helper()
	x, all := openAll(t, c)
	return x, all[0], all[1]
}

func openAll(t *testing.T, c simulated.Config) (*simulated.Exchange, []*Market) {
	t.Helper()
	x := simulated.New(c)
	all := Open(sourcetest.Serve(t, x), slog.New(slog.DiscardHandler))
	for _, m := range all {
		if c.Clock != nil {
			m.Now = c.Clock
		}
	}
	return x, all
}

// Pages of candles and of history, from before the exchange began to trade until the open
// candle, are the exchange's own, in coins.
func TestKlinesArePagedThroughUntilTheOpenOne(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 30, 20, 0, time.UTC)
	x, all := openAll(t, simulated.Config{Clock: func() time.Time { return now }, Since: now.Add(-3 * 24 * time.Hour)})
	spot, swap, inverse := all[0], all[1], all[2]
	for _, c := range []struct {
		of   *Market
		key  string
		i    market.Interval
		from time.Time
	}{
		{spot, "solusdt:okex", market.Minute1, now.Truncate(24 * time.Hour)},
		{swap, "btcswapusdt:okcoinfutures", market.Minute1, now.Add(-28 * time.Hour).Truncate(time.Hour)}, // first of history
		{swap, "solswapusdt:okcoinfutures", market.Hour4, x.Since()},
		{spot, "btcusdt:okex", market.Day1, time.UnixMilli(0)},
		{inverse, "btcswapusd:okcoinfutures", market.Minute15, now.Truncate(24 * time.Hour)},
	} {
		pair := sourcetest.Find(t, c.of, c.key)
		m := x.Market(pair.Symbol)
		sourcetest.AreKlines(t, c.of, m, pair, c.i, x.Since().UnixMilli(), c.from.UnixMilli(), now)
	}
}

func TestTooManyRequestsAreTriedAgain(t *testing.T) {
	t.Parallel()
	x, spot, _ := open(t, simulated.Config{})
	x.Refuse(1)
	began := time.Now()
	if _, err := spot.Pairs(t.Context()); err != nil || time.Since(began) < tooManyPause {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	var refused *source.RefusedError
	if _, err := spot.Klines(t.Context(), market.Pair{Symbol: "NO-SUCH"}, market.Minute1, time.Now().UnixMilli(), 10); !errors.As(err, &refused) || refused.Status != 400 {
		t.Errorf("an unknown instrument: %v", err)
	}
}

// Trades are in coins, each names the one before it, and what is lost is counted.
func TestTradesAreThoseOfTheExchange(t *testing.T) {
	t.Parallel()
	x, _, swap := open(t, simulated.Config{Clock: testclock.Running(time.Now(), 60)})
	pair := sourcetest.Find(t, swap, "btcswapusdt:okcoinfutures")
	m := x.Market(pair.Symbol)
	var mu sync.Mutex
	var got []market.PairTrade
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(got)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- swap.Follow(ctx, []market.Pair{pair}, swap.Stats, func(_ context.Context, events *market.PairEvents) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, events.Trades...)
			return nil
		})
	}()
	testenv.Until(t, "trades have come", func() bool { return count() > 20 })
	x.Lose(1)
	testenv.Until(t, "a trade is missing", func() bool { return swap.Stats.Gaps.Load() > 0 })
	x.Disconnect()
	testenv.Until(t, "it has connected again", func() bool { return swap.Stats.Reconnects.Load() == 1 })
	had := count()
	testenv.Until(t, "trades come again", func() bool { return count() > had+5 })
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	want := map[int64]trading.Trade{}
	for _, trade := range m.Trades(got[0].Time, got[len(got)-1].Time+1) {
		want[trade.Last] = trade
	}
	for _, trade := range got[1:] {
		w := want[trade.ID]
		sourcetest.IsTrade(t, m, pair, trade, w)
		if trade.Prev != w.First-1 || trade.Count != w.Last-w.First+1 {
			t.Fatalf("%+v, want %+v", trade, w)
		}
	}
	if swap.Stats.Malformed.Load() != 0 {
		t.Errorf("%d frames could not be read", swap.Stats.Malformed.Load())
	}
}

// A pair that REST lists and the WebSocket does not costs itself alone.
func TestAPairThatCannotBeFollowedLeavesTheOthers(t *testing.T) {
	t.Parallel()
	_, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 60)})
	pairs := []market.Pair{sourcetest.Find(t, all[1], "btcswapusdt:okcoinfutures"), {Key: "oldswapusdt:okcoinfutures", Symbol: "OLD-USDT-SWAP", Swap: true}, sourcetest.Find(t, all[1], "ethswapusdt:okcoinfutures")}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	seen := map[string]bool{}
	err := all[1].Follow(ctx, pairs, all[1].Stats, func(_ context.Context, e *market.PairEvents) error {
		for _, trade := range e.Trades {
			seen[trade.Pair] = true
		}
		for _, l := range e.Liquidations {
			seen["liquidation of "+l.Pair] = true
		}
		if len(seen) > 3 && all[1].Stats.Dropped.Load() == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || all[1].Stats.Dropped.Load() != 2 || all[1].Stats.Reconnects.Load() != 0 {
		t.Errorf("%v, %d refused, %d connections, of %v", err, all[1].Stats.Dropped.Load(), all[1].Stats.Reconnects.Load(), seen)
	}
}
