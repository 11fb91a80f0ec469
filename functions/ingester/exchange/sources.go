package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/catalog"
	"quotary/shared/data/pairbooks"
	"quotary/shared/market"
)

// sources are those of a venue: what it pushes of the followed pairs, what it is asked for
// all the time, in the background its own K-lines, and order books where some are followed.
func (c Config) sources(v venue, lists *lister, wanted *wantedPairs) []engine.Source[*Batch] {
	polled := &polls{venue: v, lists: lists, stats: new(source.Stats), now: time.Now}
	lists.log = source.Watched(v.Log, polled.stats)
	asked := "" // the group of what is asked for again and again
	if _, ok := v.Venue.(Tickers); ok {
		asked = v.Name + " polls"
	}
	past := &history{venue: venue{patient(v, nil), v.MarketInfo}, config: c, lists: lists, wanted: wanted, stats: new(source.Stats), now: time.Now, sleep: backoff.Sleep}
	all := []engine.Source[*Batch]{
		{Name: v.Name, Group: v.Name, Stats: v.Stats, NoCheckpoint: true, Follow: pushes{c, v, lists, c.Coins, v.stream}.follow, Brings: v.pushed(), Awaited: true},
		{Name: v.Name + " polls", Group: asked, Stats: polled.stats, NoCheckpoint: true, Follow: polled.follow, Brings: v.polled(), Awaited: asked != ""},
		{Name: v.Name + " history", Stats: past.stats, Background: true, Follow: past.follow, Brings: v.brings(catalog.ExchangePairs, catalog.ExchangeKlines)},
	}
	if wanted != nil {
		stats := new(source.Stats)
		all = append(all, engine.Source[*Batch]{Name: v.Name + " wanted", Stats: stats, NoCheckpoint: true, Follow: wantedFeed{v, lists, wanted, stats}.follow})
	}
	if of, ok := v.Venue.(Books); ok && len(c.Books) > 0 {
		stats := new(source.Stats)
		stream := func(ctx context.Context, pairs []market.Pair, sink source.EventSink) error {
			return of.FollowBooks(ctx, pairs, source.Books{Levels: leastLevels, Most: pairbooks.MaxLevels, Every: booksEvery, LargeFrom: largeFrom}, stats, sink)
		}
		all = append(all, engine.Source[*Batch]{
			Name: v.Name + booksSource, Stats: stats, NoCheckpoint: true, Follow: pushes{c, v, lists, c.Books, stream}.follow,
			Brings: v.brings(catalog.ExchangeBooks),
		})
	}
	return all
}

// booksSource is how the names of the sources of books end.
const booksSource = " books"

// largeFrom is from which value a level of a pair is large.
func largeFrom(pair market.Pair) market.Decimal { return market.LargeFrom(pair.Coin()) }

// pauses are those between tries of what an exchange refuses for good reasons or none.
var pauses = backoff.Backoff{Min: time.Second, Max: time.Minute}

// pushes is what a venue pushes of the pairs of some coins.
type pushes struct {
	config Config
	venue  venue
	lists  *lister
	coins  []string
	stream func(ctx context.Context, pairs []market.Pair, sink source.EventSink) error
}

// follow delivers it until ctx ends or the sink fails. Pairs are listed again once in a
// while, and after a pause where there are none, or where the venue does not let one of them
// be followed: what is pushed of a pair comes from when it is listed until it is not.
func (p pushes) follow(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
	for try := 0; ; {
		pairs, err := p.lists.of(ctx, p.coins)
		if err != nil {
			return err
		}
		if len(pairs) == 0 {
			p.venue.Log.Warn("no pair of the configured coins trades here; listing again", "coins", p.coins)
			if err := backoff.Sleep(ctx, min(pauses.Delay(try), p.config.listEvery())); err != nil {
				return err
			}
			try++
			continue
		}
		began := time.Now()
		err = p.followPairs(ctx, pairs, sink)
		if time.Since(began) > time.Minute {
			try = 0 // it worked for a while: this is a new trouble
		}
		switch {
		case errors.Is(err, errOthers):
			try = 0
			p.venue.Log.Info("other pairs trade; connecting again")
		case errors.Is(err, source.ErrSubscription):
			p.venue.Log.Warn("a pair may trade no more; listing again", "error", fmt.Sprintf("%.200s", err))
			if err := pauses.Wait(ctx, try); err != nil {
				return err
			}
			try++
			if err := p.lists.forget(ctx); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// followPairs delivers what the venue pushes of pairs until others are to be followed.
func (p pushes) followPairs(ctx context.Context, pairs []market.Pair, sink engine.Sink[*Batch]) error {
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error {
		return p.stream(ctx, pairs, func(ctx context.Context, events *market.PairEvents) error {
			return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{PairEvents: *events}})
		})
	})
	group.Go(func() error { return p.awaitOthers(ctx, pairs) })
	return group.Wait()
}

// errOthers is why a venue is followed again.
var errOthers = errors.New("other pairs trade")

// awaitOthers returns [errOthers] when others than these pairs are to be followed.
func (p pushes) awaitOthers(ctx context.Context, pairs []market.Pair) error {
	for {
		if err := backoff.Sleep(ctx, p.config.listEvery()); err != nil {
			return err
		}
		now, err := p.lists.of(ctx, p.coins)
		if err != nil {
			return err
		}
		if !slices.Equal(now, pairs) {
			return errOthers
		}
	}
}
