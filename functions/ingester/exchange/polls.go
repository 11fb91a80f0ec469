package exchange

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

const (
	tickersEvery   = 10 * time.Second
	interestsEvery = time.Minute
)

// polls asks a venue for what it does not push: the last 24 hours of all its pairs, and
// the open interest of the followed ones.
type polls struct {
	venue venue
	lists *lister
	stats *source.Stats
	now   func() time.Time
	sink  engine.Sink[*Batch]
}

// follow emits until ctx ends or the sink fails.
func (p *polls) follow(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
	p.sink = sink
	group, ctx := guard.WithContext(ctx)
	if of, ok := p.venue.Venue.(Tickers); ok {
		p.every(ctx, group, tickersEvery, "tickers", p.lists.all, func(ctx context.Context, pairs []market.Pair) (e market.PairEvents, err error) {
			e.Tickers, err = of.Tickers(ctx, pairs)
			return e, err
		})
	}
	if of, ok := p.venue.Venue.(Contracts); ok {
		p.every(ctx, group, interestsEvery, "open interest", p.lists.followed, func(ctx context.Context, pairs []market.Pair) (e market.PairEvents, err error) {
			e.Interests, err = of.Interests(ctx, pairs)
			return e, err
		})
	}
	group.Go(func() error { // a venue that pushes all of it
		<-ctx.Done()
		return context.Cause(ctx)
	})
	return group.Wait()
}

// every asks for something of pairs again and again, and emits what has come: of an answer
// with an error too, as the rest of it may be right.
func (p *polls) every(ctx context.Context, group *guard.Group, every time.Duration, what string,
	list func(context.Context) ([]market.Pair, error), ask func(context.Context, []market.Pair) (market.PairEvents, error),
) {
	group.Go(func() error {
		return source.Poll(ctx, every, source.Watched(p.venue.Log, p.stats), what, func(ctx context.Context) error {
			pairs, err := list(ctx)
			if err != nil {
				return err
			}
			events, failed := ask(ctx, pairs)
			if ahead := events.DropAfter(p.now().Add(source.MostAhead).UnixMilli()); ahead > 0 {
				failed = errors.Join(failed, fmt.Errorf("%d of them are of the future: the venue's clock is ahead of ours", ahead))
			}
			if failed != nil {
				p.stats.Malformed.Add(1)
			}
			if events.Len() == 0 {
				return failed
			}
			p.stats.Lines.Add(1)
			p.stats.Seen(p.now(), events.Newest())
			if err := p.sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{PairEvents: events}}); err != nil {
				return source.OfSink(err)
			}
			return failed
		})
	})
}
