package pairs

import (
	"slices"
	"strings"

	"quotary/shared/data/tickers"
	"quotary/shared/market"
)

// Hyperliquid is the platform of the perpetual exchange, whose pairs are not in the view:
// they are those of package tickers.
const Hyperliquid = "hyperliquid"

// Perps are the pairs of the perpetual exchange: the perpetuals of its main venue that have
// traded, by key. Their symbols are the coins of the perpetual family.
func Perps(v tickers.View) (list []market.Pair) {
	for i := range v.Tickers {
		if coin := v.Tickers[i].Coin; !strings.ContainsAny(coin, "@:/#") {
			list = append(list, market.Pair{
				Key: market.PairKey(coin, "USDC", Hyperliquid, true), Platform: Hyperliquid, Base: coin, Quote: "USDC", Symbol: coin, Swap: true,
			})
		}
	}
	slices.SortFunc(list, func(a, b market.Pair) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// Show is the short name of a pair.
func Show(p *market.Pair) string { return p.Base + "/" + p.Quote }

// NameOf is what a pair is called in a language, cn or en.
func NameOf(p *market.Pair, language string) string {
	kind := map[bool]map[string]string{true: {"en": " inverse perpetual", "cn": " 币本位永续"}, false: {"en": " perpetual", "cn": " 永续"}}
	if !p.Swap {
		return Show(p)
	}
	return Show(p) + kind[p.Inverse][language]
}
