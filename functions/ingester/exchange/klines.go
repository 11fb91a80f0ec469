package exchange

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairpast"
	"quotary/shared/market"
	"quotary/shared/store"
)

// klines keeps the series of K-lines of pairs; see [market.PairCandles] for how they
// are folded. Rows of what has ended are written at once, those of open buckets once in
// a while. A pair of which nothing comes any more, as nobody wants it, is forgotten.
type klines struct {
	engine.Defaults[*Batch]
	refresh time.Duration

	pairs   map[string]*pairFold
	touched map[string]bool   // pairs with trades that are not written
	written time.Time         // when rows of open buckets were last written
	swept   time.Time         // when pairs were last forgotten
	rows    []store.SeriesRow // to be written; of those of one bucket the last one stays
	stored  []store.SeriesRow // to be written behind them
	urgent  bool              // somebody may wait for these
}

// pairFold is what is folded of a pair.
type pairFold struct {
	market.PairCandles
	last time.Time // when something of it came
}

// pairFor is for how long nothing may come of a pair before it is forgotten. A pair whose
// minutes come again after [foldedFor], which is less, begins again.
const pairFor = 26 * time.Hour

func newKlines(refresh time.Duration) *klines {
	return &klines{refresh: refresh, pairs: map[string]*pairFold{}, touched: map[string]bool{}}
}

// Name is that of the series.
func (k *klines) Name() string { return pairklines.Name }

// Apply takes runs before trades: these are for the minutes after.
func (k *klines) Apply(b *Batch, _ *engine.Reads, now time.Time) error {
	for i := range b.Runs {
		run := &b.Runs[i]
		changed := k.of(run.Pair, now).Confirm(&run.CandleRun)
		if !run.Stored {
			k.append(run.Pair, changed)
		}
		k.touched[run.Pair] = true
	}
	for i := range b.Past {
		k.append(b.Past[i].Pair, b.Past[i].Tiers())
	}
	for i := range b.Trades {
		t := &b.Trades[i]
		k.of(t.Pair, now).Add(t)
		k.touched[t.Pair] = true
	}
	for i := range b.Stored {
		one := &b.Stored[i]
		k.stored = append(k.stored, pairpast.Row(one.Pair, one.What, one.Past))
		k.urgent = k.urgent || one.Awaited
	}
	return nil
}

// Urgent reports that a part of the past has come for which somebody may wait.
func (k *klines) Urgent() bool { return k.urgent }

func (k *klines) of(pair string, now time.Time) *pairFold {
	p := k.pairs[pair]
	if p == nil {
		p = new(pairFold)
		k.pairs[pair] = p
	}
	p.last = now
	return p
}

// Changes returns the rows of what has ended and, when it is time, those of what is
// open, and behind them how much is stored. Nothing is held: what trades make is confirmed
// later.
func (k *klines) Changes(now time.Time, settle bool) (c engine.Changes) {
	if settle || k.urgent || now.Sub(k.written) >= k.refresh {
		k.written, k.urgent = now, false
		c.Fine, k.stored = k.stored, nil
		for pair := range k.touched {
			k.append(pair, k.pairs[pair].Changed())
		}
		clear(k.touched)
	}
	if now.Sub(k.swept) >= time.Hour {
		k.swept = now
		maps.DeleteFunc(k.pairs, func(pair string, p *pairFold) bool { return now.Sub(p.last) >= pairFor && !k.touched[pair] })
	}
	c.Coarse, k.rows = k.rows, nil
	return c
}

// append adds the rows of candles, by tier. The newest come first, as past days do: who reads
// in the meantime finds K-lines that begin later, and hardly any with a hole.
func (k *klines) append(pair string, tiers [len(market.PairTiers)][]market.Candle) {
	for tier, candles := range tiers {
		for i := range slices.Backward(candles) {
			k.rows = append(k.rows, pairklines.Row(pair, market.PairTiers[tier], &candles[i]))
		}
	}
}
