package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// figures is the view of all coins' figures: pairs of a description and a list,
// each as the venue wrote it.
type figures struct {
	Perps map[string]json.RawMessage `json:"perps"` // by dex
	Spot  json.RawMessage            `json:"spot"`
}

// perpContexts is the description of a dex's perpetuals and their figures.
func (i *info) perpContexts(ctx context.Context, dex string) (json.RawMessage, error) {
	f, err := i.contexts.Get(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	return ofDex(f.Perps, dex)
}

// spotContexts is the description of the spot markets and their figures.
func (i *info) spotContexts(ctx context.Context) (json.RawMessage, error) {
	f, err := i.contexts.Get(ctx)
	if err == nil && (len(f.Spot) == 0 || string(f.Spot) == "null") {
		err = store.ErrNoView
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return f.Spot, nil
}

// perpDexs lists the names of the dexs that perpetuals are traded on, the main
// one, which is "", first and the others sorted. The venue itself describes each
// at length; names are what the service promises.
func (i *info) perpDexs(ctx context.Context) (json.RawMessage, error) {
	meta, err := i.meta.Get(ctx)
	if err == nil && len(meta.Perps) == 0 {
		err = store.ErrNoView
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return encode(slices.Sorted(maps.Keys(meta.Perps)))
}

// staleAfter is how old a book may be before it says so. The venue tells a book
// several times in ten seconds, also one that does not change.
const staleAfter = 15 * time.Second

// l2Book is the last book of a coin, however old it is, as deep as the venue's
// feed shows it: 20 prices a side. Groups are made of those, where the venue makes
// 20 groups of its whole book.
func (i *info) l2Book(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	if in.Coin == nil {
		return nil, api.BadRequest("missing coin: it must be a coin name")
	}
	grouping, err := market.NewGrouping(whole(in.NSigFigs), whole(in.Mantissa))
	if err != nil {
		return nil, api.BadRequest("invalid grouping: %v", err)
	}
	books, err := i.books.Get(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	body, ok := books[string(*in.Coin)]
	if !ok {
		return nil, api.BadRequest("unknown coin %s: no book of it has been told", *in.Coin)
	}
	book, err := market.ParseBook(body)
	if err != nil {
		return nil, fmt.Errorf("book of %s in view %s: %w", *in.Coin, store.BooksView, err)
	}
	book = book.Group(grouping)
	stale := api.Now(ctx).Sub(time.UnixMilli(book.Time)) > staleAfter
	return book.AppendJSON(nil, stale), nil
}

// whole is an optional number as an int; nil stays nil. Numbers beyond the range
// of an int are none that a grouping accepts, and stay so.
func whole(n *catalog.Int) *int {
	if n == nil {
		return nil
	}
	i := int(max(-1, min(1000, *n)))
	return &i
}

// maxFunding is how many hours one answer of fundingHistory holds, as at the
// venue.
const maxFunding = 500

// fundingHistory is the hourly funding of a coin between two times, both
// inclusive, oldest first; of more than fit into an answer the oldest, so that a
// caller goes on from the last time. The newest hour may be the rate that the
// coin's figures showed before it, until the venue has told what it paid.
func (i *info) fundingHistory(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	switch {
	case in.Coin == nil:
		return nil, api.BadRequest("missing coin: it must be a coin name")
	case in.StartTime == nil:
		return nil, api.BadRequest("missing startTime: it must be a time in milliseconds since 1970 UTC")
	}
	first, last := int64(*in.StartTime), api.Now(ctx).UnixMilli()
	if in.EndTime != nil {
		last = int64(*in.EndTime)
	}
	// The row of an hour opens with it; what was paid, a moment later. One row
	// more is read, as the first may have been paid before startTime.
	key := store.SeriesKey{Name: store.FundingSeries, Key: string(*in.Coin), Interval: market.Hour1.String()}
	points, err := i.series.Range(ctx, key, market.Hour1.Start(in.StartTime.Time()), time.UnixMilli(last+1), maxFunding+1, false)
	if err != nil {
		return nil, err
	}
	out := make([]catalog.FundingRate, 0, len(points))
	for _, p := range points {
		var one catalog.FundingRate
		if err := json.Unmarshal(p.Body, &one); err != nil {
			return nil, fmt.Errorf("%s at %s: %w", key, p.Time.Format(time.RFC3339), err)
		}
		if one.Time >= first && one.Time <= last && len(out) < maxFunding {
			out = append(out, one)
		}
	}
	return encode(out)
}
