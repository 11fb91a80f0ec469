package feeds

import (
	"context"
	"sync/atomic"
	"time"

	liquidated "quotary/shared/data/liquidations"
	"quotary/shared/market"
	"quotary/shared/store"
)

// pastLiquidations are what was liquidated, as it was read lately, newest first. All of it lies in one
// partition, and whoever wants but what is worth a million has all looked through. The zero value has
// read nothing.
type pastLiquidations struct {
	readLately[market.LiquidationEvent]

	cut atomic.Int64 // the time of the oldest of the list, ms, where others behind it were left out; else 0
}

const (
	// pastShort is how far back is read at least, and where that is not far enough all of it: so
	// there are no more than two reads in a while, whoever wants what.
	pastShort = time.Hour
	// pastEvents is how many events are read at most.
	pastEvents = 5 * liquidationsKept
)

// since are the events from a time on, newest first, with others before. Callers must not change them.
func (p *pastLiquidations) since(ctx context.Context, series *store.Series, from, now time.Time) ([]market.LiquidationEvent, error) {
	return p.readLately.since(from, now, func() (begin time.Time, list []market.LiquidationEvent, all bool, err error) {
		if begin = now.Add(-pastShort); from.Before(begin) {
			begin = now.Add(-liquidationsBack - readFor)
		}
		cut := int64(0)
		for e, err := range liquidated.Newest(ctx, series, begin) {
			if err != nil {
				return begin, nil, false, err
			}
			if len(list) == pastEvents {
				cut = list[len(list)-1].Time
				break
			}
			list = append(list, e)
		}
		p.cut.Store(cut)
		return begin, list, cut == 0, nil
	})
}
