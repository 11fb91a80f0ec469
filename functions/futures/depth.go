package main

import (
	"context"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/pairbooks"
	"quotary/shared/market"
)

// historicalDepth returns samples of a book, oldest first.
func (r *reader) historicalDepth(ctx context.Context, in catalog.HistoricalDepthIn) ([]catalog.Depth, error) {
	books, err := pairbooks.Samples(ctx, r.series, pairKey(in.Key), in.StartTime.Time(), in.EndTime.Time(), int(in.Limit), in.StartTime != nil)
	list := make([]catalog.Depth, len(books))
	for i := range books {
		list[i] = depth(&books[i])
	}
	return list, err
}

// latestDepth returns the best levels of a book.
func (r *reader) latestDepth(ctx context.Context, in catalog.LatestDepthIn) (catalog.Depth, error) {
	b, err := r.book(ctx, in.DBKey)
	b.Bids, b.Asks = b.Bids[:min(len(b.Bids), int(in.Size))], b.Asks[:min(len(b.Asks), int(in.Size))]
	return depth(&b), err
}

// fullDepth returns all levels of a book that are known.
func (r *reader) fullDepth(ctx context.Context, in catalog.FullDepthIn) (catalog.Depth, error) {
	b, err := r.book(ctx, in.DBKey)
	return depth(&b), err
}

// groupedDepth returns a book summed up by price.
func (r *reader) groupedDepth(ctx context.Context, in catalog.GroupedDepthIn) (catalog.Depth, error) {
	if !in.GroupSize.IsPos() {
		return catalog.Depth{}, api.BadParameter("groupSize must be above 0: it is the width of a group as a difference of prices, for example 100")
	}
	b, err := r.book(ctx, in.DBKey)
	if err != nil {
		return catalog.Depth{}, err
	}
	if b.Bids, err = grouped(b.Bids, in.GroupSize.Decimal, false); err == nil {
		b.Asks, err = grouped(b.Asks, in.GroupSize.Decimal, true)
	}
	return depth(&b), err
}

// lostAgain is when it is worth asking again for a book that is lost: in most cases it has come
// by then.
const lostAgain = 3 * time.Second

// noDepth is what clients look for in the answer for a pair without a book.
const noDepth = "Invalid dbKey: depth data not found"

// book is that of a pair as it is now.
func (r *reader) book(ctx context.Context, key catalog.PairKey) (market.PairBook, error) {
	b, followed, err := r.lastBook(ctx, pairKey(key))
	switch {
	case err != nil:
		return market.PairBook{}, err
	case !followed:
		return market.PairBook{}, api.BadParameter(noDepth)
	case b.Lost:
		return market.PairBook{}, api.NotReady(lostAgain, "the order book of %s is not known at the moment, as changes of it are missing, and is being read again from its exchange: ask again in %.0f seconds", b.Pair, lostAgain.Seconds())
	}
	return b, nil
}

// lastBook is the book of a pair, Lost where it is not known; false for a pair whose book is not
// followed.
func (r *reader) lastBook(ctx context.Context, key string) (market.PairBook, bool, error) {
	if isPerp(key) {
		return r.perpBook(ctx, key)
	}
	v, err := r.books.Get(ctx)
	if err != nil {
		return market.PairBook{}, false, err
	}
	return v.Lookup(key, api.Now(ctx))
}

// grouped sums up levels, the best first, whose prices lie between two multiples of a width: what
// they are rounded to, down or up.
func grouped(levels []market.PairLevel, width market.Decimal, up bool) (groups []market.PairLevel, err error) {
	for _, l := range levels {
		past, err := l.Px.Mod(width)
		if err != nil {
			return nil, err
		}
		px := l.Px.Sub(past)
		if up && !past.IsZero() {
			px = px.Add(width)
		}
		if n := len(groups); n > 0 && groups[n-1].Px.Equal(px) {
			groups[n-1].Sz = groups[n-1].Sz.Add(l.Sz)
			continue
		}
		groups = append(groups, market.PairLevel{Px: px, Sz: l.Sz})
	}
	return groups, nil
}

func depth(b *market.PairBook) catalog.Depth {
	return catalog.Depth{Time: b.Time, Bids: depthLevels(b.Bids), Asks: depthLevels(b.Asks)}
}

func depthLevels(side []market.PairLevel) []catalog.DepthLevel {
	levels := make([]catalog.DepthLevel, len(side))
	for i := range side {
		levels[i] = catalog.DepthLevel{side[i].Px.String(), side[i].Sz.String()}
	}
	return levels
}
