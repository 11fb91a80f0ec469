package main

import (
	"context"

	"quotary/shared/catalog"
)

// themeCoins returns the coins of a theme with their prices.
func (r *reader) themeCoins(ctx context.Context, in catalog.ThemeCoinsIn) (catalog.ThemeCoinList, error) {
	now, err := r.prices.Now(ctx)
	if err != nil {
		return catalog.ThemeCoinList{}, err
	}
	list := catalog.ThemeCoinList{List: []catalog.ThemeCoin{}}
	for _, c := range now.Coins.OfTheme(string(in.Key)) {
		t, _ := now.Ticker(c.Key)
		price, traded, degree := t.PriceCNY, t.Trade24hCNY, t.Degree24hCNY
		if in.Currency == "usd" {
			price, traded, degree = t.PriceUSD, t.Trade24hUSD, t.Degree24hUSD
		}
		list.List = append(list.List, catalog.ThemeCoin{
			Key: c.Key, Logo: c.Logo(), Show: c.Show(), CNName: c.CNName(), ENName: c.ENName(),
			Price: known(price), Vol24H: known(t.Vol24h), Trade24H: known(traded), Degree24H: known(degree),
		})
	}
	return list, nil
}

// known is a text, nil for none.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
