package exchange

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/engine"
	"quotary/shared/backoff"
	"quotary/shared/data/datatest"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/strategysignals"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// strategyWorld is a world with 25 days of hours of three perpetuals, which wander.
func strategyWorld(t *testing.T) (w *world, hours map[string][]market.Candle) {
	t.Helper()
	w = newWorld(t)
	random := rand.New(rand.NewPCG(7, 7))
	hours = map[string][]market.Candle{}
	listed := pairs.View{}
	first := market.Hour1.Start(noon).Add(-25 * day)
	for _, coin := range []string{"AAA", "BBB", "CCC"} {
		key := market.PairKey(coin, "USDT", "binance", true)
		listed.Pairs = append(listed.Pairs, pairs.Pair{Pair: market.Pair{Key: key, Platform: "binance", Base: coin, Quote: "USDT", Swap: true}, Followed: true})
		px, long := int64(100_000), int64(50)
		var shares []market.Bar
		for n := range 25*24 + 12 {
			c := market.Candle{OpenTime: first.Add(time.Duration(n) * time.Hour).UnixMilli(), Trades: 10, Open: dec(px), Amount: dec(1)}
			px += random.Int64N(1601) - 800
			c.Close, c.Size = dec(px), dec(50+random.Int64N(100))
			c.SizeBuyer = c.Size.Mul(dec(30 + random.Int64N(40))).MustDiv(dec(100))
			c.High, c.Low = dec(px+random.Int64N(600)), dec(px-random.Int64N(600))
			hours[key] = append(hours[key], c)
			long = min(max(long+random.Int64N(7)-3, 35), 65)
			bar := market.Bar{Time: c.OpenTime}
			bar.Add(c.OpenTime+1, dec(long).MustDiv(dec(100)))
			shares = append(shares, bar)
		}
		datatest.PutPairKlines(t, w.config.Stores.Series, key, market.Hour1, hours[key]...)
		must.Do(t, pairseries.Ratios.Put(t.Context(), w.config.Stores.Series, key, pairseries.Tiers[1], shares...))
		for _, what := range []string{pairpast.Klines, pairpast.Contracts} {
			storetest.PutSeries(t, w.config.Stores.Series, pairpast.Row(key, what, pairpast.AllStored))
		}
	}
	storetest.Publish(t, w.config.Stores.Views, pairs.Published, listed)
	return w, hours
}

// strategies is a process that has strategies look at the hours.
func (w *world) strategies() (*strategyWatch, []engine.Source[*Batch]) {
	watch := w.config.strategyWatch()
	watch.now = w.clock.Now
	watch.sleep = func(ctx context.Context, _ time.Duration) error { return backoff.Sleep(ctx, time.Millisecond) }
	return watch, []engine.Source[*Batch]{{Name: "strategies", Stats: watch.stats, Follow: watch.follow}}
}

func (w *world) signals(t *testing.T) map[string][]strategysignals.Signal {
	t.Helper()
	all := map[string][]strategysignals.Signal{}
	for _, s := range market.Strategies {
		all[s.Key] = must.Get(strategysignals.All(t.Context(), w.config.Stores.Log, s.Key))(t)
	}
	return all
}

// lookedAt reports whether the hour that closed last has been looked at, by the checkpoint.
func (w *world) lookedAt(t *testing.T) bool {
	t.Helper()
	var p strategyPosition
	position := must.Get(w.config.Stores.Series.Checkpoint(t.Context(), engine.Checkpoint(Name, "strategies", "")))(t)
	must.Do(t, engine.Position(position).Decode(&p))
	return p.Closed == market.Hour1.StartMs(w.clock.Now().Add(-strategiesLag).UnixMilli())
}

// Each strategy has signals of the fortnight before the first start. What became of each is what
// its hours say, its history is a replay of the signals that are kept, and a process that ends and
// begins again makes the same ones.
func TestStrategiesAreJudgedByTheSignalsThatAreKept(t *testing.T) {
	t.Parallel()
	w, hours := strategyWorld(t)
	_, sources := w.strategies()
	w.run(t, sources, func() bool { return w.lookedAt(t) })
	for range 5 { // hours close, one process after another looks at them
		w.clock.Move(time.Hour)
		_, sources = w.strategies()
		w.run(t, sources, func() bool { return w.lookedAt(t) })
	}
	kept := w.signals(t)
	for strategy, signals := range kept {
		if len(signals) < 5 {
			t.Errorf("%s has %d signals of a fortnight of three perpetuals", strategy, len(signals))
		}
		for _, s := range signals {
			want := s
			want.State, want.Ended = market.SignalOpen, 0
			want.Follow(until(hours[s.Pair], market.Hour1.StartMs(w.clock.Now().Add(-strategiesLag).UnixMilli())))
			want.Won, want.Lost = 0, 0
			for _, before := range signals {
				if before.Ended == 0 || before.Ended > s.Time {
					continue
				}
				switch before.State {
				case market.SignalWon:
					want.Won++
				case market.SignalLost:
					want.Lost++
				}
			}
			if diff := gocmp.Diff(want, s, gocmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })); diff != "" {
				t.Fatalf("a signal of %s (-replayed +kept):\n%s", strategy, diff)
			}
		}
	}
	// Another world, whose process never ends, has the same.
	other, _ := strategyWorld(t)
	other.clock.Move(5 * time.Hour)
	begun := must.Get(engine.PositionOf(strategyPosition{Closed: market.Hour1.StartMs(noon.Add(-strategiesLag).UnixMilli()) - strategiesPast*time.Hour.Milliseconds()}))(t)
	must.Do(t, other.config.Stores.Series.SaveCheckpoint(t.Context(), engine.Checkpoint(Name, "strategies", ""), begun))
	_, sources = other.strategies()
	other.run(t, sources, func() bool { return other.lookedAt(t) })
	if diff := gocmp.Diff(other.signals(t), kept, gocmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })); diff != "" {
		t.Errorf("signals differ (-at once +one after another):\n%s", diff)
	}
}

// While the past of a perpetual is being read its signals would be of a part of it.
func TestStrategiesWaitForThePast(t *testing.T) {
	t.Parallel()
	w, _ := strategyWorld(t)
	storetest.PutSeries(t, w.config.Stores.Series, pairpast.Row("bbbswapusdt:binance", pairpast.Contracts, pairpast.Nothing))
	watch, _ := w.strategies()
	watch.began = w.clock.Now()
	watch.at.Ended = map[string]endedSignals{}
	sink := func(context.Context, engine.Delivery[*Batch]) error {
		t.Error("it has said something")
		return nil
	}
	if more, err := watch.look(t.Context(), sink); more || err != nil {
		t.Errorf("there is more %t, %v", more, err)
	}
	w.clock.Move(strategiesWait)
	said := 0
	if _, err := watch.look(t.Context(), func(context.Context, engine.Delivery[*Batch]) error { said++; return nil }); err != nil || said != 1 {
		t.Errorf("after an hour it has said something %d times, %v", said, err)
	}
}

// They look at a fortnight, and at the hours before each of its own: what is older may still be read.
func TestStrategiesBeginWhenTheHoursThatTheyLookAtAreStored(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]int{20: 0, 21: 1} {
		w, _ := strategyWorld(t)
		from := noon.AddDate(0, 0, -days).UnixMilli()
		storetest.PutSeries(t, w.config.Stores.Series, pairpast.Row("bbbswapusdt:binance", pairpast.Klines, pairpast.Past{Minutes: from, Hours: from, FourHours: from, Days: from}))
		watch, _ := w.strategies()
		watch.began = w.clock.Now()
		watch.at.Ended = map[string]endedSignals{}
		said := 0
		if _, err := watch.look(t.Context(), func(context.Context, engine.Delivery[*Batch]) error { said++; return nil }); err != nil || said != want {
			t.Errorf("with %d days stored it has said something %d times, want %d (%v)", days, said, want, err)
		}
	}
}
