package exchange

import (
	"quotary/shared/data/alerts"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/strategysignals"
	"quotary/shared/market"
)

// Batch is what the domain's sources emit. It belongs to one goroutine at a time.
type Batch struct {
	market.PairEvents

	Runs     []Run              // of a pair each continues the one before
	Past     []market.CandleRun // whole UTC days of the past, in any of market.PairTiers
	Listings []Listing

	PastInterests []PastInterest
	PastRates     []PastRate

	Stored []Stored

	Fired      []alerts.Fired
	Strategies []strategysignals.Signal
}

// Stored is how much of what a pair was like is delivered: all of it is in this batch or in
// those before.
type Stored struct {
	Pair, What string // what: [pairpast.Klines] or the other
	Past       pairpast.Past
	Awaited    bool // somebody may wait for it
}

// PastInterest is open interest in the past: of pairs for themselves, or of all pairs that a sum
// of pairseries.CoinInterest covers, for that alone, in a time in which none of them is missing.
type PastInterest struct {
	Key       string // of the sum; empty without one
	Interests []market.PairInterest
}

// Run is a run of minutes that have ended.
type Run struct {
	market.CandleRun
	Stored bool // its rows were written before
}

// Listing is the pairs of one market of an exchange.
type Listing struct {
	Time     int64 // ms
	Platform string
	Swap     bool
	Inverse  bool
	Pairs    []market.Pair
	Followed map[string]bool // keys
}

// NewBatch returns an empty batch.
func NewBatch() *Batch { return new(Batch) }

// Merge appends a batch that came later, and may keep what that holds. Nil is no
// events.
func (b *Batch) Merge(later *Batch) {
	if later == nil {
		return
	}
	b.PairEvents.Merge(&later.PairEvents)
	b.Runs = append(b.Runs, later.Runs...)
	b.Past = append(b.Past, later.Past...)
	b.Listings = append(b.Listings, later.Listings...)
	b.PastInterests = append(b.PastInterests, later.PastInterests...)
	b.PastRates = append(b.PastRates, later.PastRates...)
	b.Stored = append(b.Stored, later.Stored...)
	b.Fired = append(b.Fired, later.Fired...)
	b.Strategies = append(b.Strategies, later.Strategies...)
}

// Len is the number of events, candles and pairs.
func (b *Batch) Len() int {
	n := b.PairEvents.Len() + len(b.PastRates) + len(b.Stored) + len(b.Fired) + len(b.Strategies)
	for i := range b.Runs {
		n += len(b.Runs[i].Candles)
	}
	for i := range b.Past {
		n += len(b.Past[i].Candles)
	}
	for i := range b.Listings {
		n += len(b.Listings[i].Pairs)
	}
	for i := range b.PastInterests {
		n += len(b.PastInterests[i].Interests)
	}
	return n
}
