package exchange

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"quotary/shared/market"
)

// lister lists the pairs of a venue for all of its sources: whoever asks first asks the
// venue, and the others take its answer. That of an exchange may have ten megabytes.
type lister struct {
	venue  venue
	config Config
	log    *slog.Logger
	now    func() time.Time

	turn   chan struct{} // holds a token while somebody asks
	pairs  []market.Pair // belongs to who has the turn, as does
	listed time.Time     // when they were asked for

	known atomic.Pointer[[]market.Pair] // pairs, for who does not wait for the venue
	first chan struct{}                 // closed when there are some
}

func (c Config) lister(v venue) *lister {
	return &lister{venue: v, config: c, log: v.Log, now: time.Now, turn: make(chan struct{}, 1), first: make(chan struct{})}
}

// errNoPairs is an answer that cannot be true: it delists nothing.
var errNoPairs = errors.New("the list of pairs is empty")

// all are the pairs that trade, as they were listed half the time between two lists ago at
// most. It asks the venue until it answers.
func (l *lister) all(ctx context.Context) ([]market.Pair, error) {
	if err := l.await(ctx); err != nil {
		return nil, err
	}
	defer l.leave()
	if l.pairs != nil && l.now().Sub(l.listed) < l.config.listEvery()/2 {
		return l.pairs, nil
	}
	for try := 0; ; try++ {
		pairs, err := within(ctx, l.venue.Pairs)
		if err == nil && len(pairs) == 0 {
			err = errNoPairs
		}
		if err == nil {
			l.pairs, l.listed = pairs, l.now()
			if l.known.Swap(&pairs) == nil {
				close(l.first)
			}
			return pairs, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		l.log.Warn("the venue does not list its pairs; asking again", "error", fmt.Sprintf("%.200s", err))
		if err := pauses.Wait(ctx, try); err != nil {
			return nil, err
		}
	}
}

// await waits for the turn, which leave gives back.
func (l *lister) await(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *lister) leave() { <-l.turn }

// forget has the next who asks be told what trades by then: what was listed has turned out
// to be old.
func (l *lister) forget(ctx context.Context) error {
	if err := l.await(ctx); err != nil {
		return err
	}
	defer l.leave()
	l.listed = time.Time{}
	return nil
}

// lastFollowed are those of the followed pairs that traded when they were last listed, as
// somebody else asked for; none before [lister.first].
func (l *lister) lastFollowed() []market.Pair {
	if known := l.known.Load(); known != nil {
		return pairsOf(l.config.Coins, *known)
	}
	return nil
}

// followed are the pairs that are to be followed, by key.
func (l *lister) followed(ctx context.Context) ([]market.Pair, error) {
	return l.of(ctx, l.config.Coins)
}

// of are the pairs of coins, by key.
func (l *lister) of(ctx context.Context, coins []string) ([]market.Pair, error) {
	all, err := l.all(ctx)
	if err != nil {
		return nil, err
	}
	pairs := pairsOf(coins, all)
	slices.SortFunc(pairs, func(a, b market.Pair) int { return strings.Compare(a.Key, b.Key) })
	return pairs, nil
}
