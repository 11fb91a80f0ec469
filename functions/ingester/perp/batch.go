package perp

import "quotary/shared/market"

// Batch is what the domain's sources emit. It belongs to one goroutine at a time.
type Batch struct {
	market.Events

	// Stored reports that the events were read from the logs: they are of any age, and
	// of every account each fill is there.
	Stored bool

	// Past reports that the events happened before others that have come already, or may
	// have: an event that seems to be there already may be one that was missing.
	Past bool

	// Hourly reports that its fills are of an hour that the venue has published some time later, all of it in order:
	// what is sampled by the clock elsewhere is sampled by their times.
	Hourly bool

	// Until says up to when, ms, the events of all accounts have come, where they come some time later; 0 where it
	// says nothing.
	Until int64

	trades []market.Trade // behind the fills, and those of sources without fills; nil until asked for
}

// NewBatch returns an empty batch.
func NewBatch() *Batch { return new(Batch) }

// Merge appends a batch that came later, and may keep what that holds. Nil is no
// events.
func (b *Batch) Merge(later *Batch) {
	if later == nil {
		return
	}
	b.Events.Merge(&later.Events)
	b.Stored = b.Stored || later.Stored
	b.Past = b.Past || later.Past
	b.Hourly = b.Hourly || later.Hourly
	b.Until = max(b.Until, later.Until)
	b.trades = nil
}

// AllTrades returns every trade of the batch: those behind its fills, then those
// of sources that know no fills. The caller does not change them, and nobody adds
// to the batch afterwards but by Merge.
func (b *Batch) AllTrades() []market.Trade {
	if b.trades == nil && len(b.Fills)+len(b.Trades) > 0 {
		b.trades = make([]market.Trade, 0, len(b.Fills)/2+len(b.Trades)+1)
		b.trades = append(market.AppendTrades(b.trades, b.Fills), b.Trades...)
	}
	return b.trades
}
