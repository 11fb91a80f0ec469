package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/engine"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/source"
)

// sources are the two of a venue: its trades, and in the background its own K-lines.
func (c Config) sources(v venue) []engine.Source[*Batch] {
	past := &history{venue: v, config: c, stats: new(source.Stats), now: time.Now, sleep: backoff.Sleep}
	return []engine.Source[*Batch]{
		{Name: v.Name, Group: v.Name, Stats: v.Stats, NoCheckpoint: true, Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
			return c.followTrades(ctx, v, sink)
		}},
		{Name: v.Name + " history", Stats: past.stats, Background: true, Follow: past.follow},
	}
}

// pauses are those between tries of what an exchange refuses for good reasons or none.
var pauses = backoff.Backoff{Min: time.Second, Max: time.Minute}

// followTrades delivers the trades of the followed pairs. They are listed again once in a
// while, and after a pause where there are none: the trades of a pair come from when it is
// listed until it is not.
func (c Config) followTrades(ctx context.Context, v venue, sink engine.Sink[*Batch]) error {
	for try := 0; ; {
		followed, err := c.followed(ctx, v)
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
		try = 0
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error {
			return v.Follow(ctx, followed, func(ctx context.Context, events *market.PairEvents) error {
				return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{PairEvents: *events}})
			})
		})
		group.Go(func() error { return c.awaitOthers(ctx, v, followed) })
		if err := group.Wait(); !errors.Is(err, errOthers) {
			return err
		}
		v.Log.Info("other pairs trade; connecting again")
	}
}

// errOthers is why trades are followed anew.
var errOthers = errors.New("other pairs trade")

// awaitOthers returns [errOthers] when others than these pairs are to be followed.
func (c Config) awaitOthers(ctx context.Context, v venue, pairs []market.Pair) error {
	for {
		if err := backoff.Sleep(ctx, c.listEvery()); err != nil {
			return err
		}
		now, err := c.followed(ctx, v)
		if err != nil {
			return err
		}
		if !slices.Equal(now, pairs) {
			return errOthers
		}
	}
}

// followed are the pairs of a venue that are to be followed, by key.
func (c Config) followed(ctx context.Context, v venue) ([]market.Pair, error) {
	all, err := c.pairs(ctx, v)
	if err != nil {
		return nil, err
	}
	pairs := c.follow(all)
	slices.SortFunc(pairs, func(a, b market.Pair) int { return strings.Compare(a.Key, b.Key) })
	return pairs, nil
}

// errNoPairs is an answer that cannot be true: it delists nothing.
var errNoPairs = errors.New("the list of pairs is empty")

// pairs asks for the pairs of a venue until it answers.
func (c Config) pairs(ctx context.Context, v venue) ([]market.Pair, error) {
	for try := 0; ; try++ {
		pairs, err := v.Pairs(ctx)
		if err == nil && len(pairs) == 0 {
			err = errNoPairs
		}
		if err == nil {
			return pairs, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		v.Log.Warn("the venue does not list its pairs; asking again", "error", fmt.Sprintf("%.200s", err))
		if err := pauses.Wait(ctx, try); err != nil {
			return nil, err
		}
	}
}
