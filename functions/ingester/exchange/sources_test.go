package exchange

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	simulated "quotary/localstack/sim/binance"
	"quotary/shared/testing/must"
)

// Nothing that is followed trades at first; then SOL is listed, and BTC in its place.
func TestTradesComeFromWhenAPairIsListedUntilItIsNot(t *testing.T) {
	t.Parallel()
	began := time.Now()
	w := newWorld(t)
	clock := func() time.Time { return noon.Add(60 * time.Since(began)) }
	w.Exchange = simulated.New(simulated.Config{Clock: clock})
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(w.Disconnect)
	w.config.URLs, w.config.Coins, w.config.ListEvery = map[string]string{"binance": server.URL}, []string{"BTC", "SOL"}, 200*time.Millisecond
	btc, sol := w.Market("BTCUSDT", true), w.Market("SOLUSDT", true)
	w.Halt(btc, true)
	w.Halt(sol, true)
	venues := must.Get(w.config.venues())(t)
	trades, resumed := make(chan string), time.AfterFunc(500*time.Millisecond, func() { w.Halt(sol, false) })
	defer resumed.Stop()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		v := onClock(venues[1], clock)
		ended <- pushes{w.config, v, w.config.lister(venues[1]), w.config.Coins, v.stream}.follow(ctx, nil, func(ctx context.Context, d engine.Delivery[*Batch]) error {
			for _, trade := range d.Batch.Trades {
				select {
				case trades <- trade.Pair:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			return nil
		})
	}()
	if pair := <-trades; pair != "solswapusdt:binance" {
		t.Errorf("the first trade is of %s", pair)
	}
	w.Halt(sol, true)
	w.Halt(btc, false)
	for pair := range trades {
		if pair == "btcswapusdt:binance" {
			break
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
