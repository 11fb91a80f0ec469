package main

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/indices"
	"quotary/shared/data/pairs"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// partPlaces is how exact a part of what trusts hold is.
const partPlaces = 8

// trusts returns the last prices of the shares of trusts.
func (r *reader) trusts(ctx context.Context, _ catalog.TrustProductsIn) (catalog.TrustProductList, error) {
	out := catalog.TrustProductList{Detail: []catalog.TrustProduct{}}
	h, err := r.holdings.Get(ctx)
	if err != nil {
		return out, err
	}
	shares, err := store.OrZero(r.indices.Get(ctx))
	if err != nil {
		return out, err
	}
	byKey := map[string]*treasuries.Holder{}
	for i := range h.Holders {
		if holder := &h.Holders[i]; holder.Type == treasuries.TypeTrusts && holder.Key != "" {
			byKey[holder.Key] = holder
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		share, _ := shares.Lookup(key)
		day, before, ok := share.Last(api.Now(ctx))
		if !ok {
			continue
		}
		_, degree := day.Change(before)
		out.Detail = append(out.Detail, catalog.TrustProduct{
			Key: key, Show: byKey[key].Ticker, Name: byKey[key].Name, Last: day.Close, Open: day.Open, High: day.High, Low: day.Low, Degree24h: degree,
		})
	}
	return out, nil
}

// trustHoldings adds up what trusts hold of coins.
func (r *reader) trustHoldings(ctx context.Context, in catalog.TrustHoldingsIn) (catalog.TrustHoldingList, error) {
	out := catalog.TrustHoldingList{Detail: map[string]catalog.TrustHolding{}}
	h, err := r.holdings.Get(ctx)
	if err != nil {
		return out, err
	}
	names, err := store.OrZero(r.coins.Get(ctx))
	if err != nil {
		return out, err
	}
	since := market.Day1.StartMs(api.Now(ctx).UnixMilli())
	since = market.Day1.StartMs(since - 1)
	total, change := map[string]market.Decimal{}, map[string]market.Decimal{} // by coin, in lower case
	for i := range h.Holders {
		holder := &h.Holders[i]
		if holder.Type != treasuries.TypeTrusts {
			continue
		}
		coin := strings.ToLower(holder.Coin)
		total[coin] = total[coin].Add(holder.Amount)
		for j := range holder.Changes {
			if holder.Changes[j].Day >= since {
				change[coin] = change[coin].Add(holder.Changes[j].Change)
			}
		}
	}
	asked := map[string]string{} // coins by how they were asked for
	for _, key := range in.Coins {
		coin := strings.ToLower(string(key))
		if _, held := total[coin]; !held {
			coin = names.ShortName(string(key))
		}
		asked[string(key)] = coin
	}
	if len(in.Coins) == 0 {
		for coin := range total {
			asked[coin] = coin
		}
	}
	for name, coin := range asked {
		if sum, held := total[coin]; held {
			before := sum.Sub(change[coin])
			out.Detail[name] = catalog.TrustHolding{Total: json.Number(sum.String()), DayChange: change[coin].String(), Percent: market.Quotient(change[coin].String(), before.String(), partPlaces)}
		}
	}
	return out, nil
}

// majors are the coins of the navigation bar, and markets the exchanges that are asked for their
// prices, the first that has one.
var (
	majors  = [...]string{"btc", "eth", "sol", "bnb", "xrp", "doge"}
	markets = [...]string{"binance", "okex", "bybit"}
)

// navigation returns pairs of major coins, and all indexes.
func (r *reader) navigation(ctx context.Context, in catalog.NavigationIn) ([]catalog.NavigationItem, error) {
	tickers, err := r.pairs.Get(ctx)
	if err != nil {
		return nil, err
	}
	names, err := store.OrZero(r.coins.Get(ctx))
	if err != nil {
		return nil, err
	}
	days, err := store.OrZero(r.indices.Get(ctx))
	if err != nil {
		return nil, err
	}
	list := []catalog.NavigationItem{}
	for _, coin := range majors {
		for _, platform := range markets {
			t, ok := tickers.Lookup(market.PairKey(coin, "usdt", platform, false))
			if !ok || !t.Last.IsPos() {
				continue
			}
			show := strings.ToUpper(coin)
			known, _ := names.ByShow(coin)
			name := known.CNName()
			if in.Lan == "en" {
				name = known.ENName()
			}
			list = append(list, catalog.NavigationItem{
				Key: t.Pair, KeyType: "1", CoinShow: show, Last: t.Last.String(), CoinName: cmp.Or(name, show), MarketName: pairs.PlatformName(platform, in.Lan), CurrencyStr: "USDT",
				Trades: []string{t.Open.String(), t.Last.String()},
			})
			break
		}
	}
	for _, one := range days.Listed() {
		day, before, ok := one.Last(api.Now(ctx))
		if !ok {
			continue
		}
		about, _ := indices.AboutOf(one.Key)
		item := catalog.NavigationItem{
			Key: one.Key, KeyType: "3", CoinShow: about.Show, Last: day.Close, CoinName: about.Name.In(in.Lan), MarketName: one.Key[strings.LastIndex(one.Key, ":")+1:], CurrencyStr: day.Unit,
			Trades: []string{day.Close},
		}
		if before != nil {
			item.Trades = []string{before.Close, day.Close}
		}
		list = append(list, item)
	}
	return list, nil
}
