package main

import (
	"context"
	"encoding/json"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
)

// staleAfter is how old a book may be before it says so. The venue sends a book
// several times in ten seconds, also one that does not change.
const staleAfter = 15 * time.Second

// l2Book is the last book of a coin, however old it is, as deep as the venue's
// feed shows it: 20 prices a side. Groups are made of those, where the venue makes
// 20 groups of its complete book.
func (i *info) l2Book(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	grouping, err := market.NewGrouping(small(in.NSigFigs), small(in.Mantissa))
	if err != nil {
		return nil, api.BadParameter("invalid grouping: %v", err)
	}
	v, err := i.books.Get(ctx)
	if err != nil {
		return nil, err
	}
	book, ok, err := v.Lookup(string(*in.Coin))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, api.BadParameter("unknown coin %s: no book of it has arrived", *in.Coin)
	}
	book = book.Group(grouping)
	stale := api.Now(ctx).Sub(time.UnixMilli(book.Time)) > staleAfter
	return book.AppendJSON(nil, stale), nil
}

// small is an optional number as an int; nil stays nil. Numbers beyond the range
// of an int are none that a grouping accepts, and stay so.
func small(n *catalog.Int) *int {
	if n == nil {
		return nil
	}
	i := int(max(-1, min(1000, *n)))
	return &i
}
