package exchange

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"quotary/shared/data/wants"
	"quotary/shared/market"
)

const (
	wantedEvery = 2 * time.Second // between two looks at what clients want
	mostWanted  = 200             // pairs of a venue: each costs a request a minute
)

// wantedPairs are the pairs whose K-lines clients ask for, besides those that are followed.
// All venues share what one of them has read.
type wantedPairs struct {
	of  *wants.Store
	log *slog.Logger
	now func() time.Time

	turn  chan struct{} // holds a token while somebody reads
	pairs wants.List    // belongs to who has the turn, as does
	read  time.Time     // when they were read
}

// wanted returns nil where there are no documents: then nothing is wanted.
func (c Config) wanted() *wantedPairs {
	if c.Wanted == nil {
		return nil
	}
	return &wantedPairs{of: c.Wanted, log: c.Logger, now: time.Now, turn: make(chan struct{}, 1)}
}

// list returns what is wanted of all venues, as it was [wantedEvery] ago at most. Where it
// cannot be read it is what it was.
func (w *wantedPairs) list(ctx context.Context) (wants.List, error) {
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
	pairs, err := w.of.List(ctx, now)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		w.log.Warn("not all pairs that clients want can be read; those of before stay", "error", fmt.Sprintf("%.200s", err))
	}
	w.pairs = pairs
	return w.pairs, nil
}

// want takes over which pairs of the venue are wanted. The minutes of one that is new are
// asked for at once; what is known of one that no longer is, is forgotten: when it is wanted
// again it is filled back again.
func (h *history) want(ctx context.Context) error {
	list, err := h.wanted.list(ctx)
	if err != nil {
		return err
	}
	keys, left := list.Deal(mostWanted, func(key string) bool { _, listed := h.others[key]; return listed })
	h.stats.Dropped.Store(int64(left))
	wanted := map[string]bool{}
	var pairs, fresh []market.Pair
	for _, key := range keys {
		pair := h.others[key]
		wanted[pair.Key] = true
		pairs = append(pairs, pair)
		if !h.wants[pair.Key] {
			fresh = append(fresh, pair)
		}
	}
	for key, p := range h.filled {
		if p.Wanted && !wanted[key] {
			delete(h.filled, key)
			delete(h.folded, key)
		}
	}
	h.wants = wanted
	h.pairs = append(h.pairs[:h.followed:h.followed], pairs...)
	for _, pair := range fresh {
		if err := h.try(ctx, pair, h.confirm); err != nil {
			return err
		}
	}
	return nil
}
