package market

import "strings"

// CoinKind is the kind of market in which a coin of the venue is traded.
type CoinKind uint8

// The kinds of market. In a perpetual accounts hold leveraged positions; what they buy
// in the others is fully paid and lies in their spot part, as tokens.
const (
	MainPerpetual CoinKind = iota // of the main dex: BTC
	DexPerpetual                  // of a builder's dex: xyz:GOLD
	SpotPair                      // @107 or PURR/USDC
	OutcomeToken                  // one side of a question: #441
)

// KindOf tells the kind of a coin's market from its name, which says it alone.
func KindOf(coin string) CoinKind {
	switch {
	case strings.HasPrefix(coin, "#"):
		return OutcomeToken
	case strings.HasPrefix(coin, "@"):
		return SpotPair
	case strings.Contains(coin, ":"):
		return DexPerpetual
	case strings.Contains(coin, "/"):
		return SpotPair
	}
	return MainPerpetual
}

// IsSpot reports whether what is bought in the market of a coin lies in the spot part of
// accounts: then nobody holds a position in it.
func IsSpot(coin string) bool {
	kind := KindOf(coin)
	return kind == SpotPair || kind == OutcomeToken
}

// DexOf is the dex of a perpetual, which is the part of its name before a colon: "" is
// the main one.
func DexOf(coin string) string {
	if KindOf(coin) != DexPerpetual {
		return ""
	}
	dex, _, _ := strings.Cut(coin, ":")
	return dex
}

// tokenOfOutcome is the token that is traded in the market of an outcome: +441 in #441.
func tokenOfOutcome(coin string) string { return "+" + strings.TrimPrefix(coin, "#") }

// coinOfOutcome is the coin of the market in which an outcome's token is traded; ok is
// false of every other token.
func coinOfOutcome(token string) (coin string, ok bool) {
	number, ok := strings.CutPrefix(token, "+")
	return "#" + number, ok
}
