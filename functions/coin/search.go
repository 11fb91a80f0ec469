package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/market"
	"quotary/shared/service/coinprices"
)

// search returns a page of the coins that are called so.
func (r *reader) search(ctx context.Context, in catalog.CoinSearchIn) (catalog.CoinSearchPage, error) {
	now, err := r.prices.Now(ctx)
	if err != nil {
		return catalog.CoinSearchPage{}, err
	}
	found := now.Named(in.Search)
	if in.Market != "" || in.TradeType != "" {
		found = slices.DeleteFunc(found, func(c *coins.Coin) bool { return len(pairsOf(now, c, in)) == 0 })
	}
	page := catalog.CoinSearchPage{Count: int64(len(found)), List: []catalog.CoinFound{}}
	if in.Page-1 > int64(len(found))/in.PageSize {
		return page, nil
	}
	from := min((in.Page-1)*in.PageSize, page.Count)
	for _, c := range found[from:min(from+in.PageSize, page.Count)] {
		trading := pairsOf(now, c, in)
		t, _ := now.Ticker(c.Key)
		row := catalog.CoinFound{
			CoinKey: c.Key, CoinName: cmp.Or(c.ENName(), c.Show()), CoinShow: c.Show(), DBKeys: strings.Join(trading, ","),
			Degree24H: t.Degree24hCNY, Logo: c.Logo(), Market: platformOf(mainPair(now, c, trading)), Price: t.PriceCNY, Trade24H: t.Trade24hCNY,
		}
		if rank := c.Rank(); rank > 0 {
			row.Rank = strconv.FormatInt(rank, 10)
		}
		page.List = append(page.List, row)
	}
	return page, nil
}

// pairsOf are the keys of those pairs of a coin that are asked for.
func pairsOf(now *coinprices.Snapshot, c *coins.Coin, in catalog.CoinSearchIn) (keys []string) {
	platform := strings.ToLower(string(in.Market)) // some clients pass on what their user typed
	wants := func(p *market.Pair) bool {
		return (platform == "" || p.Platform == platform) && (in.TradeType == "" || p.Swap == (in.TradeType != "spot"))
	}
	for _, p := range now.Pairs(c) {
		if wants(&p) {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// mainPair is the pair by which a coin is priced where it is among some, else the first of them.
func mainPair(now *coinprices.Snapshot, c *coins.Coin, among []string) string {
	if key := now.PricedBy(c); slices.Contains(among, key) {
		return key
	}
	if len(among) == 0 {
		return ""
	}
	return among[0]
}

// platformOf is the platform in the key of a pair.
func platformOf(pair string) string {
	_, platform, _ := strings.Cut(pair, ":")
	return platform
}

// configs returns what is known of coins, in the order of the request, each once.
func (r *reader) configs(ctx context.Context, in catalog.CoinConfigsIn) ([]catalog.CoinConfig, error) {
	now, err := r.prices.Now(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]catalog.CoinConfig, 0, len(in.CoinList))
	for _, key := range in.CoinList {
		c, known := now.Coin(string(key))
		if !known {
			continue
		}
		said := c.Described()
		config := catalog.CoinConfig{
			CoinKey: c.Key, Show: c.Show(), CNName: c.CNName(), ENName: c.ENName(), Describe: said.Describe, WhitePaper: said.WhitePaper,
			OfficialURL: said.OfficialURL, PublishAmount: c.Issued(), Telegram: said.Telegram, Logo: c.Logo(), Algorithm: said.Algorithm,
			Consensus: said.Consensus, PublishPrice: said.PublishPrice, SupplyValue: c.Supply(),
			DBKey: mainPair(now, c, pairsOf(now, c, catalog.CoinSearchIn{})), Distribution: []catalog.CoinPart{},
		}
		if at, err := time.Parse(time.DateOnly, said.PublishDate); err == nil {
			config.PublishTime = strconv.FormatInt(at.Unix(), 10)
		}
		if said.ICO != "" || said.Foundation != "" {
			config.Distribution = append(config.Distribution, catalog.CoinPart{ICO: said.ICO, Foundation: said.Foundation})
		}
		list = append(list, config)
	}
	return list, nil
}
