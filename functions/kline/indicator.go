package main

import (
	"context"

	"quotary/shared/catalog"
	"quotary/shared/data/pairs"
	"quotary/shared/store"
)

// indicatorPairs returns the keys of the followed pairs of a coin that an indicator covers.
func (r *reader) indicatorPairs(ctx context.Context, in catalog.IndicatorPairsIn) (catalog.IndicatorPairList, error) {
	list := catalog.IndicatorPairList{List: []string{}}
	known, err := store.OrZero(r.coins.Get(ctx))
	if err != nil {
		return list, err
	}
	all, err := r.pairs.Get(ctx)
	if err != nil {
		return list, err
	}
	coin := known.ShortName(string(in.CoinType))
	for i := range all.Pairs {
		if p := &all.Pairs[i]; p.Followed && p.Coin() == coin && pairs.Covers(in.IndicatorKey, &p.Pair) {
			list.List = append(list.List, p.Key)
		}
	}
	return list, nil
}
