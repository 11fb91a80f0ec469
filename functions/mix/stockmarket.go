package main

import (
	"context"
	"encoding/json"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/indices"
	"quotary/shared/store"
)

// stockIndexes are those that are shown.
var stockIndexes = [...]string{indices.Shanghai, indices.Nasdaq, indices.Dow, indices.SP500}

// stockMarket returns what they closed at.
func (r *reader) stockMarket(ctx context.Context, _ catalog.StockMarketIn) (catalog.StockIndexList, error) {
	v, err := store.OrZero(r.indices.Get(ctx))
	if err != nil {
		return catalog.StockIndexList{}, err
	}
	list := catalog.StockIndexList{Detail: make([]catalog.StockIndex, len(stockIndexes))}
	for i, key := range stockIndexes {
		about, _ := indices.AboutOf(key)
		list.Detail[i] = catalog.StockIndex{Key: key, Name: about.Name.EN}
		index, _ := v.Lookup(key)
		last, before, ok := index.Last(api.Now(ctx))
		if !ok {
			continue
		}
		list.Detail[i].Last = &last.Close
		if _, percent := last.Change(before); percent != "" {
			list.Detail[i].Degree = new(json.Number(percent))
		}
	}
	return list, nil
}
