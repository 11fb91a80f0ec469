package exchange

import (
	"context"
	"fmt"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/source"
)

// sources are the two of a venue: its trades, and in the background its own K-lines.
func (c Config) sources(v listed) []engine.Source[*Batch] {
	past := &history{venue: v, config: c, stats: new(source.Stats), now: time.Now, sleep: backoff.Sleep}
	return []engine.Source[*Batch]{
		{Name: v.Name(), Group: v.Name(), Stats: v.stats, NoCheckpoint: true, Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
			return c.followTrades(ctx, v, sink)
		}},
		{Name: v.Name() + " history", Stats: past.stats, Background: true, Follow: past.follow},
	}
}

// pauses are those between tries of what an exchange refuses for good reasons or none.
var pauses = backoff.Backoff{Min: time.Second, Max: time.Minute}

// followTrades delivers the trades of the followed pairs.
func (c Config) followTrades(ctx context.Context, v listed, sink engine.Sink[*Batch]) error {
	pairs, err := c.pairs(ctx, v)
	if err != nil {
		return err
	}
	followed := c.follow(pairs)
	if len(followed) == 0 {
		v.log.Warn("no pair of the configured coins trades here", "coins", c.Coins)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return v.Trades(ctx, followed, func(ctx context.Context, trades []market.PairTrade) error {
		return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Trades: trades}})
	})
}

// pairs asks for the pairs of a venue until it answers.
func (c Config) pairs(ctx context.Context, v listed) ([]market.Pair, error) {
	for try := 0; ; try++ {
		pairs, err := v.Pairs(ctx)
		if err == nil {
			return pairs, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		v.log.Warn("the venue does not list its pairs; asking again", "error", fmt.Sprintf("%.200s", err))
		if err := pauses.Wait(ctx, try); err != nil {
			return nil, err
		}
	}
}
