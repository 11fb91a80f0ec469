package exchange

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"quotary/functions/ingester/engine"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// Whatever a source remembers, its checkpoint can be stored: here of as many pairs as may be,
// of the longest names and with times that have nothing in common.
func TestWhatSourcesRememberFitsIntoACheckpoint(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const now, minute = int64(1_795_000_000_000), int64(60_000)
	name := func() string {
		b := make([]byte, market.MaxName)
		for i := range b {
			b[i] = byte('!' + random.IntN('~'-'!'))
		}
		return strings.ReplaceAll(string(b), ":", ";")
	}
	h := &history{filled: map[string]progress{}, folded: map[string]int64{}}
	var all []market.Pair
	for range 5 * mostFollowed { // of one coin, in coins that there are not
		quote := name()
		all = append(all, market.Pair{Key: market.PairKey("BTC", quote, "okcoinfutures", true), Base: "BTC", Quote: quote, Swap: true, Inverse: true})
	}
	h.pairs = pairsOf([]string{"BTC"}, all)
	fill := func(key string) {
		h.filled[key] = progress{
			Since: now - random.Int64N(1000)*86_400_000, Until: now - random.Int64N(1000)*minute, Back: now - random.Int64N(9000)*60*minute,
			First: now - random.Int64N(4000)*86_400_000, Wanted: random.IntN(2) == 0,
		}
	}
	delivered := map[string]span{}
	contract := func(key string) {
		for _, kind := range []string{"funding", "interest", "accounts", "rates"} {
			delivered[kind+" "+key] = span{now - random.Int64N(9000)*60*minute, now - random.Int64N(10)*5*minute}
		}
	}
	for _, pair := range h.pairs {
		fill(pair.Key)
		contract(pair.Key)
	}
	for n := range 5 * mostResting {
		key := market.PairKey(name(), name(), "okcoinfutures", true)
		fill(key)
		if n < mostWanted {
			contract(key)
		}
	}
	newest := market.PairKey(name(), name(), "okcoinfutures", true)
	h.filled[newest] = progress{Until: now}
	h.forget()
	if _, ok := h.filled[newest]; !ok || len(h.filled) != mostFollowed+mostResting {
		t.Errorf("%d pairs are remembered, the newest %t", len(h.filled), ok)
	}
	series := storetest.Open(t).Series
	for name, remembered := range map[string]any{"history": h.filled, "contractsPast": pastPosition{delivered}, "strategies": everTurning(t, name)} {
		position := must.Get(engine.PositionOf(remembered))(t)
		t.Logf("%s takes %d bytes", name, len(position))
		if err := series.SaveCheckpoint(t.Context(), name, position); err != nil {
			t.Errorf("%s, %d bytes: %v", name, len(position), err)
		}
	}
}

// everTurning is what is remembered of strategies where all platforms list many pairs, of the longest
// names, whose closes cross their averages every hour and go nowhere.
func everTurning(t *testing.T, name func() string) strategyPosition {
	t.Helper()
	const hour = 3_600_000
	const first, looked = int64(1_795_000_000_000) / hour * hour, 4
	var hours []market.Candle
	longs := map[int64]market.Decimal{}
	for n := range market.StrategyHoursBack + looked {
		px := market.DecimalFromInt(int64(100_000 + n%2))
		c := market.Candle{OpenTime: first + int64(n)*hour, Open: px, High: px, Low: px, Close: px, Size: market.DecimalFromInt(1), Trades: 1}
		hours = append(hours, c)
		longs[c.OpenTime] = market.DecimalFromInt(int64(n % 2))
	}
	var all []hourlyPair
	platforms := []string{"binance", "okex", "okcoinfutures", "bybit"}
	for _, platform := range platforms {
		for range strategyPairs {
			p := market.Pair{Base: name(), Quote: name(), Platform: platform, Swap: true}
			p.Key = market.PairKey(p.Base, p.Quote, platform, true)
			all = append(all, hourlyPair{Pair: p, hours: hours, longs: longs})
		}
	}
	w := Config{Logger: slog.New(slog.DiscardHandler)}.strategyWatch()
	w.at.Ended = map[string]endedSignals{}
	for n := market.StrategyHoursBack; n < len(hours); n++ {
		w.hour(all, hours[n].OpenTime+hour)
	}
	if n := len(w.at.Open); n != len(platforms)*strategyOpen || w.stats.Malformed.Load() == 0 {
		t.Errorf("%d signals are open, %d were left out", n, w.stats.Malformed.Load())
	}
	return w.at
}
