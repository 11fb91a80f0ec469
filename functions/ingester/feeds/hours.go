package feeds

import (
	"context"
	"fmt"

	"quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Hour takes events of an hour that the venue has published an hour or two late, before they are stored. Most of its
// fills were there as provisional ones: these keep their places, and are not published again. What only
// the hour has arrives now, as late, for all who follow it; of an old hour nothing does. It tries until ctx ends.
func (f *Feeds) Hour(ctx context.Context, e *market.Events, old bool) error {
	if len(e.Fills) == 0 {
		return nil
	}
	if old {
		f.arriving.mu.Lock()
		defer f.arriving.mu.Unlock()
		f.replace(e.Fills)
		return nil
	}
	f.awaitConnections(ctx)
	stored, err := f.storedFills(ctx, e.Fills)
	if err != nil {
		return err
	}
	late := f.place(e, stored)
	return f.noteLate(ctx, func() error { return f.arriving.noteHour(ctx, late) })
}

func (f *Feeds) storedFills(ctx context.Context, list []market.Fill) ([]store.StoredArrival, error) {
	for try := 0; ; try++ {
		stored, err := fills.Arrivals(ctx, f.Log, list)
		if err == nil || ctx.Err() != nil {
			return stored, err
		}
		f.Logger.Warn("cannot look which fills of an hour are stored; trying again", "error", err.Error())
		if err := claims.Wait(ctx, try); err != nil {
			return nil, fmt.Errorf("look which fills of an hour are stored: %w", err)
		}
	}
}

// place gives the fills of an hour their places, and publishes and returns those that are new.
func (f *Feeds) place(e *market.Events, stored []store.StoredArrival) []market.Fill {
	f.arriving.mu.Lock()
	defer f.arriving.mu.Unlock()
	var late market.Events
	for i := range e.Fills {
		one := &e.Fills[i]
		if stored[i].Stored {
			one.Arrived = market.Arrived{At: market.Arrival(stored[i].Arrival)}
			continue
		}
		if arriveOnce(f.arriving, &f.arriving.fills, keyOf(one), fillsSeen, one.Time, true, &one.Arrived) {
			f.arriving.recentFills.add(f.Now(), *one)
			late.Fills = append(late.Fills, *one)
		}
	}
	f.replace(e.Fills)
	f.keepLate(&late)
	for _, c := range f.late {
		if all, ok := c.(*fillFeed); ok {
			all.consumeHour(&late)
		} else {
			c.consumeLate(&late, false)
		}
	}
	return late.Fills
}

// replace puts the fills of an hour in the place of provisional ones that are kept, or are being read. The caller holds
// the lock of arriving.
func (f *Feeds) replace(list []market.Fill) {
	now := f.Now()
	f.arriving.recentHour.forget(now)
	for i := range list {
		f.arriving.recentHour.add(now, list[i])
	}
	f.userFills.replace(list)
}
