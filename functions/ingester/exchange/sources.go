package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/engine"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/source"
)

// sources are those of a venue: what it pushes of the followed pairs, what it is asked for
// all the time, and in the background its own K-lines.
func (c Config) sources(v venue, lists *lister, wanted *wantedPairs) []engine.Source[*Batch] {
	polled := &polls{venue: v, lists: lists, stats: new(source.Stats), now: time.Now}
	asked := "" // the group of what is asked for again and again
	if _, ok := v.Venue.(Tickers); ok {
		asked = v.Name + " polls"
	}
	past := &history{venue: v, config: c, lists: lists, wanted: wanted, stats: new(source.Stats), now: time.Now, sleep: backoff.Sleep}
	return []engine.Source[*Batch]{
		{Name: v.Name, Group: v.Name, Stats: v.Stats, NoCheckpoint: true, Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
			return c.followPushed(ctx, v, lists, sink)
		}},
		{Name: v.Name + " polls", Group: asked, Stats: polled.stats, NoCheckpoint: true, Follow: polled.follow},
		{Name: v.Name + " history", Stats: past.stats, Background: true, Follow: past.follow},
	}
}

// pauses are those between tries of what an exchange refuses for good reasons or none.
var pauses = backoff.Backoff{Min: time.Second, Max: time.Minute}

// followPushed delivers what a venue pushes of the followed pairs. They are listed again
// once in a while, and after a pause where there are none, or where the venue does not let
// one of them be followed: the trades of a pair come from when it is listed until it is not.
func (c Config) followPushed(ctx context.Context, v venue, lists *lister, sink engine.Sink[*Batch]) error {
	for try := 0; ; {
		followed, err := lists.followed(ctx)
		if err != nil {
			return err
		}
		if len(followed) == 0 {
			v.Log.Warn("no pair of the configured coins trades here; listing again", "coins", c.Coins)
			if err := backoff.Sleep(ctx, min(pauses.Delay(try), c.listEvery())); err != nil {
				return err
			}
			try++
			continue
		}
		began := time.Now()
		err = c.followPairs(ctx, v, lists, followed, sink)
		if time.Since(began) > time.Minute {
			try = 0 // it worked for a while: this is a new trouble
		}
		switch {
		case errors.Is(err, errOthers):
			try = 0
			v.Log.Info("other pairs trade; connecting again")
		case errors.Is(err, source.ErrSubscription):
			v.Log.Warn("a pair may trade no more; listing again", "error", fmt.Sprintf("%.200s", err))
			if err := pauses.Wait(ctx, try); err != nil {
				return err
			}
			try++
			if err := lists.forget(ctx); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// followPairs delivers what a venue pushes of pairs until others are to be followed.
func (c Config) followPairs(ctx context.Context, v venue, lists *lister, pairs []market.Pair, sink engine.Sink[*Batch]) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return v.Follow(ctx, pairs, func(ctx context.Context, events *market.PairEvents) error {
			return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{PairEvents: *events}})
		})
	})
	group.Go(func() error { return c.awaitOthers(ctx, lists, pairs) })
	return group.Wait()
}

// errOthers is why a venue is followed anew.
var errOthers = errors.New("other pairs trade")

// awaitOthers returns [errOthers] when others than these pairs are to be followed.
func (c Config) awaitOthers(ctx context.Context, lists *lister, pairs []market.Pair) error {
	for {
		if err := backoff.Sleep(ctx, c.listEvery()); err != nil {
			return err
		}
		now, err := lists.followed(ctx)
		if err != nil {
			return err
		}
		if !slices.Equal(now, pairs) {
			return errOthers
		}
	}
}
