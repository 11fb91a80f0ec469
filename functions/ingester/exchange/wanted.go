package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairpast"
	"quotary/shared/market"
)

const (
	wantedEvery = 2 * time.Second // between two looks at what clients want
	mostWanted  = 200             // pairs of a venue: each costs a request a minute
)

// wantedPairs are the pairs whose K-lines clients ask for, besides those that are followed.
// All venues share what one of them has read.
type wantedPairs struct {
	all *followrequests.Store
	log *slog.Logger
	now func() time.Time

	turn  chan struct{}               // holds a token while somebody reads
	pairs followrequests.List[string] // belongs to who has the turn, as does
	read  time.Time                   // when they were read
}

// wanted returns nil where there are no documents: then nothing is wanted.
func (c Config) wanted() *wantedPairs {
	if c.Wanted == nil {
		return nil
	}
	return &wantedPairs{all: c.Wanted, log: c.Logger, now: time.Now, turn: make(chan struct{}, 1)}
}

// list returns what is wanted of all venues, as it was [wantedEvery] ago at most. Where it
// cannot be read it is what it was.
func (w *wantedPairs) list(ctx context.Context) (followrequests.List[string], error) {
	if w == nil {
		return nil, nil
	}
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-w.turn }()
	now := w.now()
	if now.Sub(w.read) < wantedEvery {
		return w.pairs, nil
	}
	w.read = now
	pairs, err := w.all.List(ctx, now)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		w.log.Warn("not all pairs that clients want can be read; those of before stay", "error", fmt.Sprintf("%.200s", err))
	}
	w.pairs = pairs
	return w.pairs, nil
}

// of are the wanted pairs of a venue, which is asked what trades there.
func (w *wantedPairs) of(ctx context.Context, lists *lister) ([]market.Pair, error) {
	pairs, _, err := w.dealt(ctx, lists)
	return pairs, err
}

// lines are likewise those that each distributor wants, in the order in which it asked for them.
func (w *wantedPairs) lines(ctx context.Context, lists *lister) (lines followrequests.List[market.Pair], err error) {
	pairs, list, err := w.dealt(ctx, lists)
	return linesOfWanted(list, pairs), err
}

// linesOfWanted are those of the pairs that each distributor of a list wants.
func linesOfWanted(list followrequests.List[string], pairs []market.Pair) (lines followrequests.List[market.Pair]) {
	byKey := make(map[string]market.Pair, len(pairs))
	for _, pair := range pairs {
		byKey[pair.Key] = pair
	}
	for _, of := range list {
		line := followrequests.OfDistributor[market.Pair]{Distributor: of.Distributor}
		for _, key := range of.Things {
			if pair, ok := byKey[key]; ok {
				line.Things = append(line.Things, pair)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func (w *wantedPairs) dealt(ctx context.Context, lists *lister) ([]market.Pair, followrequests.List[string], error) {
	list, err := w.list(ctx)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	all, err := lists.all(ctx)
	if err != nil {
		return nil, nil, err
	}
	pairs, _ := dealt(list, othersOf(lists.config.Coins, all))
	return pairs, list, nil
}

// dealt are the pairs of a list that are followed, of those that trade, by key, and how many
// are left.
func dealt(list followrequests.List[string], others map[string]market.Pair) (pairs []market.Pair, left int) {
	keys, left := list.Deal(mostWanted, func(key string) bool { _, listed := others[key]; return listed })
	pairs = make([]market.Pair, len(keys))
	for i, key := range keys {
		pairs[i] = others[key]
	}
	return pairs, left
}

// othersOf are the pairs that trade and are none of those of coins, by key.
func othersOf(coins []string, all []market.Pair) map[string]market.Pair {
	others := make(map[string]market.Pair, len(all))
	for _, p := range all {
		others[p.Key] = p
	}
	for _, p := range pairsOf(coins, all) {
		delete(others, p.Key)
	}
	return others
}

// wantedFeed is what a venue pushes of the pairs that clients want. Where there are others,
// they are followed again before those of before are let go: what comes twice is dropped by
// its number.
type wantedFeed struct {
	venue  venue
	lists  *lister
	wanted *wantedPairs
	stats  *source.Stats
}

// feedOverlap is for how long both are followed, and after what time of a connection what it
// pushes counts as followed. Others are followed anew no sooner than that.
const feedOverlap = 10 * time.Second

// follow delivers until ctx ends or the sink fails.
func (f wantedFeed) follow(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error {
		var followed []market.Pair
		var heard atomic.Int64                                   // when the venue pushed something last, ms
		since, said := map[string]time.Time{}, map[string]bool{} // by pair: when it began to be followed, and whether that was said
		lost := f.stats.Reconnects.Load()
		var changed time.Time // when others were followed
		leave := func() {}
		defer func() { leave() }()
		for {
			pairs, err := f.wanted.of(ctx, f.lists)
			if err != nil {
				return err
			}
			slices.SortFunc(pairs, func(a, b market.Pair) int { return cmp.Compare(a.Key, b.Key) })
			now := time.Now()
			if !slices.Equal(pairs, followed) && now.Sub(changed) >= feedOverlap {
				within, stop := context.WithCancel(ctx)
				time.AfterFunc(feedOverlap, leave)
				followed, leave, changed = pairs, stop, now
				group.Go(func() error { return f.followPairs(within, pairs, &heard, sink) })
			}
			if n := f.stats.Reconnects.Load(); n != lost {
				lost = n
				unfollow(since, said)
			}
			if b := sayFollowed(followed, since, said, heard.Load(), now); b.Len() > 0 {
				if err := sink(ctx, engine.Delivery[*Batch]{Batch: b}); err != nil {
					return source.OfSink(err)
				}
			}
			if err := backoff.Sleep(ctx, wantedEvery); err != nil {
				return err
			}
		}
	})
	return group.Wait()
}

// sayFollowed says of pairs that have been followed for long enough that they are, once the
// venue has pushed something since, and that they are not of those that no longer are, and at
// first: nobody knows what came between two terms.
func sayFollowed(pairs []market.Pair, since map[string]time.Time, said map[string]bool, heard int64, now time.Time) *Batch {
	b := new(Batch)
	now = now.Truncate(time.Millisecond)
	is := map[string]bool{}
	for _, p := range pairs {
		is[p.Key] = true
		if since[p.Key].IsZero() {
			since[p.Key] = now
			b.Stored = append(b.Stored, Stored{Pair: p.Key, What: pairpast.Trades, Past: pairpast.Nothing})
		}
		if !said[p.Key] && now.Sub(since[p.Key]) >= feedOverlap && heard >= since[p.Key].UnixMilli() {
			said[p.Key] = true
			ms := now.UnixMilli()
			b.Stored = append(b.Stored, Stored{Pair: p.Key, What: pairpast.Trades, Past: pairpast.Past{Minutes: ms, Hours: ms, FourHours: ms, Days: ms}, Awaited: true})
		}
	}
	for key := range since {
		if !is[key] {
			delete(since, key)
			delete(said, key)
			b.Stored = append(b.Stored, Stored{Pair: key, What: pairpast.Trades, Past: pairpast.Nothing})
		}
	}
	return b
}

// unfollow has pairs begin to be followed once more: a connection was lost, and nobody knows what
// came in the meantime.
func unfollow(since map[string]time.Time, said map[string]bool) {
	for key := range since {
		since[key] = time.Time{}
	}
	clear(said)
}

// followPairs delivers what the venue pushes of pairs until ctx ends, which is no error, or
// the sink fails. It notes when it has heard of the venue, ms.
func (f wantedFeed) followPairs(ctx context.Context, pairs []market.Pair, heard *atomic.Int64, sink engine.Sink[*Batch]) error {
	if len(pairs) == 0 {
		return nil
	}
	for try := 0; ; try++ {
		err := f.venue.Follow(ctx, pairs, f.stats, func(ctx context.Context, events *market.PairEvents) error {
			heard.Store(time.Now().UnixMilli())
			return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{PairEvents: *events}})
		})
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was to end
		}
		if !errors.Is(err, source.ErrSubscription) {
			return err
		}
		f.venue.Log.Warn("a pair that clients want may trade no more; following again", "error", fmt.Sprintf("%.200s", err))
		_ = pauses.Wait(ctx, try) // the next turn sees that ctx has ended
	}
}

// want takes over which pairs of the venue are wanted. What is known of one that no longer is, is
// forgotten: when it is wanted again it is filled back again.
func (h *history) want(ctx context.Context) error {
	list, err := h.wanted.list(ctx)
	if err != nil {
		return err
	}
	pairs, left := dealt(list, h.others)
	h.stats.Dropped.Store(int64(left))
	h.wants = linesOfWanted(list, pairs)
	kept := make(map[string]bool, len(pairs)+len(h.pairs))
	for _, pair := range slices.Concat(pairs, h.pairs) {
		kept[pair.Key] = true
	}
	for key := range h.filled { // what is no longer listed either: the checkpoint does not grow
		if !kept[key] {
			delete(h.filled, key)
			delete(h.folded, key)
			delete(h.asked, key)
			if err := h.say(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}
