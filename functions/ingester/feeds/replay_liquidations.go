package feeds

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	liquidated "quotary/shared/data/liquidations"
	"quotary/shared/market"
	"quotary/shared/store"
)

// pastLiquidations are what was liquidated, as it was read lately. All of it lies in one partition,
// and whoever wants but what is worth a million has all looked through: clients that come back
// together, or again and again, share what is read. The zero value has read nothing.
type pastLiquidations struct {
	mu   sync.Mutex // is held while they are read
	from time.Time
	at   time.Time
	list []market.LiquidationEvent // newest first

	cut atomic.Int64 // the time of the oldest of the list, ms, where others behind it were left out; else 0
}

const (
	// pastFor is for how long events that were read are shown: what arrived since is among what
	// arrived lately.
	pastFor = tradesKept
	// pastShort is how far back is read at least, and where that is not far enough all of it: so
	// there are no more than two reads in a while, whoever wants what.
	pastShort = time.Hour
	// pastEvents is how many events are read at most.
	pastEvents = 5 * liquidationsKept
)

// since are the events from a time on, newest first, with others before. Callers must not change them.
func (p *pastLiquidations) since(ctx context.Context, series *store.Series, from, now time.Time) ([]market.LiquidationEvent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.at) <= pastFor && !from.Before(p.from) {
		return p.list, nil
	}
	begin := now.Add(-pastShort)
	if from.Before(begin) {
		begin = now.Add(-liquidationsBack - pastFor)
	}
	var list []market.LiquidationEvent
	cut := int64(0)
	for e, err := range liquidated.Newest(ctx, series, begin) {
		if err != nil {
			return nil, err
		}
		if len(list) == pastEvents {
			cut = list[len(list)-1].Time
			break
		}
		list = append(list, e)
	}
	p.cut.Store(cut)
	p.from, p.at, p.list = begin, now, list
	return list, nil
}

// forget lets go of what is not shown any more, unless it is being read.
func (p *pastLiquidations) forget(now time.Time) {
	if !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	if now.Sub(p.at) > pastFor {
		p.list, p.at = nil, time.Time{}
	}
}
