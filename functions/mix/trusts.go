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

// degreePlaces and partPlaces are how exact a change in percent is, and a part of something.
const (
	degreePlaces = 4
	partPlaces   = 8
)

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
		day, ok := share.Newest(api.Now(ctx))
		if !ok {
			continue
		}
		out.Detail = append(out.Detail, catalog.TrustProduct{
			Key: key, Show: byKey[key].Ticker, Name: byKey[key].Name, Last: day.Close, Open: day.Open, High: day.High, Low: day.Low, Degree24h: degree(share.Days),
		})
	}
	return out, nil
}

// degree is the change of the last two days in percent, empty where it is not known.
func degree(days indices.Days) string {
	if len(days) < 2 {
		return ""
	}
	before, after := days[len(days)-2].Close, days[len(days)-1].Close
	from, errFrom := market.ParseDecimal(before)
	to, errTo := market.ParseDecimal(after)
	if errFrom != nil || errTo != nil {
		return ""
	}
	return market.Quotient(to.Sub(from).Mul(market.DecimalFromInt(100)).String(), before, degreePlaces)
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
	for i := range days.Indices {
		one := &days.Indices[i]
		day, ok := one.Newest(api.Now(ctx))
		parts := strings.Split(one.Key, ":")
		if !ok || day.Unit != "" || len(parts) < 3 {
			continue
		}
		show := strings.ToUpper(parts[1])
		item := catalog.NavigationItem{Key: one.Key, KeyType: "3", CoinShow: show, Last: day.Close, CoinName: show, MarketName: parts[2]}
		for _, d := range one.Days {
			item.Trades = append(item.Trades, d.Close)
		}
		list = append(list, item)
	}
	return list, nil
}
