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

// PerpQuote is the coin in which its prices are.
const PerpQuote = "USDC"

// Perp is the pair of a perpetual of the main venue of the perpetual exchange, whose symbol
// is the coin of the perpetual family; false for a coin of another kind.
func Perp(coin string) (market.Pair, bool) {
	if coin == "" || market.KindOf(coin) != market.MainPerpetual {
		return market.Pair{}, false
	}
	return market.Pair{
		Key: market.PairKey(coin, PerpQuote, Hyperliquid, true), Platform: Hyperliquid, Base: coin, Quote: PerpQuote, Symbol: coin, Swap: true,
	}, true
}

// PerpCoinKey is the key under which the open interest of a coin is that the perpetual exchange
// has a pair of, under whatever name. It is the pair's own key, unless a thousand of the coin is
// traded as one.
func PerpCoinKey(coin string) string { return market.PairKey(coin, PerpQuote, Hyperliquid, true) }

// PerpKey is the pair of a perpetual of the perpetual exchange that has a key; false for any
// other key. The coin of it is in lower case, whatever the exchange calls it.
func PerpKey(key string) (market.Pair, bool) {
	base, ok := strings.CutSuffix(key, market.PairKey("", PerpQuote, Hyperliquid, true))
	if !ok {
		return market.Pair{}, false
	}
	return Perp(base)
}

// Perps are the pairs of the perpetual exchange that have traded, by key.
func Perps(v tickers.View) (list []market.Pair) {
	for i := range v.Tickers {
		if p, ok := Perp(v.Tickers[i].Coin); ok {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b market.Pair) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// PerpOf is the pair of the perpetual exchange that has a key, and its last trade; false
// for any other key, and for a pair that has not traded.
func PerpOf(v tickers.View, key string) (market.Pair, tickers.Ticker, bool) {
	lower, ok := PerpKey(key)
	if !ok {
		return market.Pair{}, tickers.Ticker{}, false
	}
	for i := range v.Tickers {
		if coin := v.Tickers[i].Coin; strings.EqualFold(coin, lower.Base) {
			p, ok := Perp(coin)
			return p, v.Tickers[i], ok
		}
	}
	return market.Pair{}, tickers.Ticker{}, false
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
