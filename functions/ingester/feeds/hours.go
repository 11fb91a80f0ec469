package feeds

import (
	"context"
	"fmt"

	"quotary/shared/data/fills"
	"quotary/shared/data/ledgers"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Hour takes events of an hour that the venue has published an hour or two late, before they are stored. Most of its
// fills were there as provisional ones: these keep their places, and are not published again. What only
// the hour has arrives now, as late, for all who follow it; of an old hour nothing does. It tries until ctx ends.
func (f *Feeds) Hour(ctx context.Context, e *market.Events, old bool) error {
	if len(e.Fills)+len(e.Ledgers)+len(e.Payments) == 0 {
		return nil
	}
	if old {
		f.arriving.mu.Lock()
		defer f.arriving.mu.Unlock()
		f.replace(e.Fills)
		f.liquidations.oldHour(e.Fills)
		f.ledgerUpdates.keep(e.Ledgers)
		f.userFundings.keep(e.Payments)
		return nil
	}
	f.awaitConnections(ctx)
	var had storedBefore
	if err := f.untilKnown(ctx, func() (err error) {
		had, err = f.storedOf(ctx, e)
		return err
	}); err != nil {
		return err
	}
	late, liquidated := f.place(e, &had)
	return f.noteLate(ctx, func() error { return f.arriving.noteHour(ctx, late, liquidated) })
}

// storedBefore says of the events of an hour which are stored, and where they arrived.
type storedBefore struct{ fills, ledgers []store.StoredArrival }

// storedOf looks for the events of an hour. What is liquidated is known once the last events are read.
func (f *Feeds) storedOf(ctx context.Context, e *market.Events) (had storedBefore, err error) {
	if had.fills, err = fills.Arrivals(ctx, f.Log, e.Fills); err != nil {
		return had, err
	}
	if had.ledgers, err = ledgers.Arrivals(ctx, f.Log, e.Ledgers); err != nil {
		return had, err
	}
	if liquidates(e.Fills) {
		err = f.liquidations.load(ctx)
	}
	return had, err
}

func (f *Feeds) untilKnown(ctx context.Context, look func() error) error {
	for try := 0; ; try++ {
		err := look()
		if err == nil || ctx.Err() != nil {
			return err
		}
		f.Logger.Warn("cannot look what of an hour is stored; trying again", "error", err.Error())
		if err := claims.Wait(ctx, try); err != nil {
			return fmt.Errorf("look what of an hour is stored: %w", err)
		}
	}
}

// place gives the events of an hour their places, and publishes and returns those that are new.
func (f *Feeds) place(e *market.Events, had *storedBefore) (late market.Events, liquidated []market.LiquidationEvent) {
	f.arriving.mu.Lock()
	defer f.arriving.mu.Unlock()
	now := f.Now()
	for i := range e.Fills {
		one := &e.Fills[i]
		if had.fills[i].Stored {
			one.Arrived = market.Arrived{At: market.Arrival(had.fills[i].Arrival)}
		} else if arriveOnce(f.arriving, &f.arriving.fills, keyOf(one), fillsSeen, one.Time, true, &one.Arrived) {
			f.arriving.recentFills.add(now, *one)
			late.Fills = append(late.Fills, *one)
		}
	}
	for i := range e.Ledgers {
		one := &e.Ledgers[i]
		if had.ledgers[i].Stored {
			one.Arrived = market.Arrived{At: market.Arrival(had.ledgers[i].Arrival)}
		} else if arriveOnce(f.arriving, &f.arriving.ledgers, keyOfLedger(one), ledgersSeen, one.Time, true, &one.Arrived) {
			f.arriving.recentLedgers.add(now, *one)
			late.Ledgers = append(late.Ledgers, *one)
		}
	}
	late.Payments = e.Payments
	liquidated = f.liquidations.hour(e.Fills)
	f.replace(e.Fills)
	f.keepLate(&late)
	for _, c := range f.hourly {
		c.consumeHour(&late)
	}
	return late, liquidated
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
