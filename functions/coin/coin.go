package main

import (
	"context"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/service/coinprices"
	"quotary/shared/store"
)

// reader holds what the handlers read.
type reader struct {
	coins  *store.View[coins.View]
	prices *coinprices.Prices
}

func newReader(views *store.Views, clock func() time.Time) *reader {
	return &reader{coins: coins.Published.Open(views, clock), prices: coinprices.Open(views, clock)}
}

// list returns a page of all coins.
func (r *reader) list(ctx context.Context, in catalog.CoinListIn) (catalog.Paged[catalog.CoinName], error) {
	out := catalog.Paged[catalog.CoinName]{Paging: catalog.Paging{Page: in.Page, PageSize: in.PageSize}}
	v, err := r.coins.Get(ctx)
	if err != nil {
		return out, err
	}
	page, total := v.Page(int(in.Page), int(in.PageSize))
	out.Total, out.Data = int64(total), make([]catalog.CoinName, len(page))
	for i := range page {
		c := &page[i]
		out.Data[i] = catalog.CoinName{CoinKey: c.Key, HashKey: coins.HashKey(c.Key), Show: c.Show(), CNName: c.CNName(), ENName: c.ENName()}
	}
	return out, nil
}

// tickers returns the tickers of coins, in the order of the request, each once.
func (r *reader) tickers(ctx context.Context, in catalog.CoinTickersIn) ([]catalog.CoinTicker, error) {
	now, err := r.prices.Now(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]catalog.CoinTicker, 0, len(in.CoinList))
	for _, key := range in.CoinList {
		t, known := now.Ticker(string(key))
		if !known {
			continue
		}
		list = append(list, catalog.CoinTicker{
			CoinKey: t.Key, PriceCNY: t.PriceCNY, PriceUSD: t.PriceUSD, Degree24hCNY: t.Degree24hCNY, Degree24hUSD: t.Degree24hUSD,
			Degree7dayCNY: t.Degree7dCNY, Degree7dayUSD: t.Degree7dUSD, SupplyCNY: t.SupplyCNY, SupplyUSD: t.SupplyUSD,
			Trade24hCNY: t.Trade24hCNY, Trade24hUSD: t.Trade24hUSD, Vol24h: t.Vol24h,
		})
	}
	return list, nil
}
