package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue"
)

// maxTwaps is how many statuses one answer holds.
const maxTwaps = 2000

// twapHistory is what the TWAPs of an account came to, newest first. Where no node is followed
// the venue is asked.
func (i *info) twapHistory(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	if _, err := i.twaps.Get(ctx); errors.Is(err, store.ErrNoView) {
		return i.relayed(ctx, &catalog.Variant{Name: in.Type, Weight: weighsUsual, Needs: []string{"user"}}, in)
	}
	list := []catalog.InfoTwap{}
	for s, err := range twaps.Newest(ctx, i.log, string(*in.User), "", maxTwaps) {
		if err != nil {
			return nil, err
		}
		list = append(list, catalog.InfoTwap{Time: s.Time / 1000, State: venue.TwapState(&s), Status: catalog.InfoTwapStatus{Status: s.Status, Description: s.Error}, TwapID: s.TwapID})
	}
	return api.Encode(list)
}

// twapStates are the TWAPs of an account that run; nil while they are not known: where no node
// is followed, and until what it has told reaches back as far as one that runs may have begun.
func (i *info) twapStates(ctx context.Context, address string) (*[]catalog.InfoTwapState, error) {
	running, err := store.OrZero(i.twaps.Get(ctx))
	if err != nil || running.Since == 0 || api.Now(ctx).Sub(time.UnixMilli(running.Since)) < market.LongestTwap {
		return nil, err
	}
	list := []catalog.InfoTwapState{}
	for _, s := range running.Of(address) {
		list = append(list, catalog.InfoTwapState{*s.TwapID, venue.TwapState(&s)})
	}
	return &list, nil
}
