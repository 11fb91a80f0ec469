package binance_test

import (
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/binance"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/testclock"
)

func TestBooksAreThoseOfTheExchange(t *testing.T) {
	t.Parallel()
	for i, keys := range [][]string{
		{"btcusdt:binance", "ethbtc:binance"}, {"btcswapusdt:binance", "1000pepeswapusdt:binance"}, {"btcswapusd:binance", "ethswapusd:binance"},
	} {
		x, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 60)})
		of := all[i]
		t.Run(of.Name, func(t *testing.T) {
			t.Parallel()
			pairs := map[*trading.Market]market.Pair{}
			for _, key := range keys {
				pair := sourcetest.Find(t, of, key)
				pairs[x.Market(pair.Symbol, pair.Swap)] = pair
			}
			sourcetest.AreBooks(t, of, x, pairs)
			if lines := of.Stats.Lines.Load(); lines != 0 {
				t.Errorf("%d frames are counted with the trades", lines)
			}
		})
	}
}

func TestMoreLevelsThanAreKnownAreAnError(t *testing.T) {
	t.Parallel()
	_, spot, _ := open(t, simulated.Config{})
	if err := spot.FollowBooks(t.Context(), nil, source.Books{Levels: 1001}, new(source.Stats), nil); err == nil || t.Context().Err() != nil {
		t.Error(err)
	}
}
