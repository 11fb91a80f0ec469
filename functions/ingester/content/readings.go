package content

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"quotary/functions/ingester/guard"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/catalog"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairs"
	"quotary/shared/data/readings"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue"
)

const (
	readingsEvery = time.Minute      // between two looks
	readingsLag   = time.Minute      // after a candle has closed, until it is read: its row is the exchange's own by then
	readingsRetry = 10 * time.Minute // between two tries to read a coin that has no reading of the last candle
	readingsWait  = time.Hour        // for the first readings: at each look, as the past of pairs is filled back
	readingsLost  = 5                // coins of which nothing can be read that are named, at most
	readingsMost  = 2000             // coins
	readingsSide  = 8                // that are read at a time
)

// readingWatch is the source of what the indicators say of each coin: once a candle of four hours
// has closed, of every coin that has K-lines. It reads what the domains of exchanges and of
// perpetuals have written, where these run.
type readingWatch struct {
	config Config
	stats  *source.Stats
	now    func() time.Time

	pairs *store.View[pairs.View]
	perps *store.View[market.Contexts]

	began time.Time
	said  bool                 // that all was read
	read  map[string]int64     // by coin: when the candle closed of which its reading is, ms
	tried map[string]time.Time // by coin
}

func (c Config) readings() engine.Source[*Batch] {
	w := &readingWatch{config: c, stats: new(source.Stats), now: time.Now}
	s := engine.Source[*Batch]{Name: "readings", Stats: w.stats, NoCheckpoint: true, Background: true, Follow: w.follow}
	if c.Exchanges || c.Venue {
		s.Brings = catalog.AllOf(catalog.ContentReadings)
	}
	return s
}

// follow emits readings until ctx ends or the sink fails.
func (w *readingWatch) follow(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
	w.pairs, w.perps = pairs.Published.Open(w.config.Stores.Views, w.now), venue.PerpContexts.Open(w.config.Stores.Views, w.now)
	w.began, w.said = w.now(), false
	w.read, w.tried = map[string]int64{}, map[string]time.Time{}
	return source.Poll(ctx, readingsEvery, w.config.Logger.With("source", "readings"), "the K-lines of coins", func(ctx context.Context) error {
		return w.look(ctx, sink)
	})
}

// fourHours are the candles that are read.
var fourHours = market.AlertPeriod(240)

// look emits the readings of the coins that have none of the candle that closed last. What cannot
// be read of one keeps up no other.
func (w *readingWatch) look(ctx context.Context, sink engine.Sink[*Batch]) error {
	now := w.now()
	closed := fourHours.StartMs(now.Add(-readingsLag).UnixMilli())
	coins, err := w.coins(ctx)
	if err != nil {
		return err
	}
	waiting := now.Sub(w.began) < readingsWait
	maps.DeleteFunc(w.tried, func(_ string, at time.Time) bool { return waiting || now.Sub(at) >= readingsRetry })
	maps.DeleteFunc(w.read, func(_ string, of int64) bool { return of < closed })
	b := NewBatch()
	var mu sync.Mutex
	var failed []error
	var group guard.Group
	group.SetLimit(readingsSide)
	for _, p := range coins {
		coin := p.Coin()
		if w.read[coin] == closed || !w.tried[coin].IsZero() {
			continue
		}
		w.tried[coin] = now
		group.Go(func() error {
			r, ok, err := w.reading(ctx, &p, closed)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", p.Key, err))
			}
			if ok {
				b.Readings = append(b.Readings, r)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil { // a crash: other failures are in failed
		failed = append(failed, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.stats.Malformed.Add(int64(len(failed)))
	w.stats.Lines.Add(int64(len(b.Readings)))
	if all := len(coins) > 0 && !waiting; len(b.Readings) > 0 || all && !w.said {
		w.said = w.said || all
		w.stats.Seen(now, closed)
		if err := sink(ctx, engine.Delivery[*Batch]{Batch: b, Spoken: all}); err != nil {
			return source.OfSink(err)
		}
	}
	for i := range b.Readings {
		w.read[b.Readings[i].Coin] = closed
	}
	return errors.Join(failed[:min(len(failed), readingsLost)]...)
}

// coins are the pairs of which a coin's candles are read, one of each: its spot pair with USDT on
// the first of the exchanges that follows one, else its perpetual there, else that of the
// perpetual exchange.
func (w *readingWatch) coins(ctx context.Context) (list []market.Pair, err error) {
	v, err := store.OrZero(w.pairs.Get(ctx))
	if err != nil {
		return nil, err
	}
	perps, err := store.OrZero(w.perps.Get(ctx))
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	take := func(p market.Pair) {
		if coin := p.Coin(); !known[coin] && len(list) < readingsMost {
			known[coin], list = true, append(list, p)
		}
	}
	for _, swap := range []bool{false, true} {
		for _, platforms := range [][]string{{"binance"}, {"okex", "okcoinfutures"}, {"bybit"}} {
			for i := range v.Pairs {
				if p := &v.Pairs[i]; p.Followed && p.Swap == swap && p.Quote == "USDT" && slices.Contains(platforms, p.Platform) {
					take(p.Pair)
				}
			}
		}
	}
	for i := range perps.Coins {
		if p, ok := pairs.Perp(perps.Coins[i].Coin); ok && perps.Coins[i].Mark.IsPos() {
			take(p)
		}
	}
	return list, nil
}

// reading reads the candles of a pair; ok is false where there are too few, and where nothing was
// traded in the one that closed at a time, ms.
func (w *readingWatch) reading(ctx context.Context, p *market.Pair, closed int64) (r readings.Reading, ok bool, err error) {
	read, key := pairklines.Newest, p.Key
	if p.Platform == pairs.Hyperliquid {
		read, key = pairklines.NewestOfPerp, p.Symbol
	}
	candles, err := read(ctx, w.config.Stores.Series, key, fourHours, time.UnixMilli(closed-1).UTC(), market.ReadingCandles)
	if err != nil || len(candles) == 0 || fourHours.Next(time.UnixMilli(candles[len(candles)-1].OpenTime)).UnixMilli() != closed {
		return r, false, err
	}
	of, ok := market.NewReading(candles)
	return readings.Reading{Coin: p.Coin(), Pair: *p, Closed: closed, Reading: of}, ok, nil
}

// newestReadings keeps the view of the newest reading of each coin.
type newestReadings struct {
	of map[string]readings.Reading // by coin
}

func newReadings() Projection {
	return engine.KeepView(readings.Published, func() *newestReadings { return &newestReadings{map[string]readings.Reading{}} })
}

// Restore takes them.
func (p *newestReadings) Restore(v readings.View) error {
	for _, r := range v.Readings {
		p.of[r.Coin] = r
	}
	return nil
}

// Apply takes readings that are not older than those that are known.
func (p *newestReadings) Apply(b *Batch, _ time.Time) (changed bool) {
	for _, r := range b.Readings {
		if have, ok := p.of[r.Coin]; !ok || r.Closed >= have.Closed && r != have {
			p.of[r.Coin], changed = r, true
		}
	}
	return changed
}

// View has those that say something of now; others are forgotten.
func (p *newestReadings) View(time.Time) (v readings.View) {
	var newest int64
	for _, r := range p.of {
		newest = max(newest, r.Closed)
	}
	for coin, r := range p.of {
		if newest-r.Closed > readings.MaxAge.Milliseconds() {
			delete(p.of, coin)
			continue
		}
		v.Readings = append(v.Readings, r)
	}
	return v
}
