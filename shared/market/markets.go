package market

import "strings"

// Markets is what a venue describes of its markets, as far as accounts need it. It is
// read only, and may be shared.
type Markets struct {
	Perps     map[string]PerpMarket // by coin
	Spot      map[string]SpotMarket // by coin
	Tokens    map[string]int64      // numbers of the spot tokens by name
	SpotCoins map[string]string     // coin of the spot market that values a token in USDC, by token

	Collaterals map[string]string // by dex: the token in which its cash, PnL, fees and funding are
}

// PerpMarket describes a perpetual.
type PerpMarket struct {
	Index        int   // its place in the venue's list
	SzDecimals   uint8 // decimal places of sizes; prices have 6 less these
	MaxLeverage  int64
	OnlyIsolated bool
	Tiers        MarginTiers
}

// SpotMarket describes a spot market by the names of its tokens.
type SpotMarket struct{ Base, Quote string }

// USDC is the token that perps are settled in and that spot tokens are valued in.
const USDC = "USDC"

// Marks are the mark prices by coin, quote units per base unit.
type Marks map[string]Decimal

// collateral is the token in which the cash, PnL, fees and funding of a dex are. That of
// the main one is USDC where nothing else is said.
func (m *Markets) collateral(dex string) (token string, ok bool) {
	if m != nil {
		token, ok = m.Collaterals[dex]
	}
	if !ok && dex == "" {
		return USDC, true
	}
	return token, ok
}

// HasDex reports whether a dex is described, or none is yet. The main one always is.
func (m *Markets) HasDex(name string) bool {
	if m == nil || len(m.Collaterals) == 0 || name == "" {
		return true
	}
	if _, has := m.Collaterals[name]; has {
		return true
	}
	for coin := range m.Perps { // its collateral may be a token that is not described yet
		if DexOf(coin) == name {
			return true
		}
	}
	return false
}

// Worth is what an amount of a token is worth at marks, USDC, cut to a millionth. It is
// false where the token has no mark.
func (m *Markets) Worth(token string, amount Decimal, marks Marks) (worth Decimal, ok bool) {
	if token == USDC || amount.IsZero() {
		return amount.Trunc(usdPlaces), true
	}
	if m == nil {
		return Decimal{}, false
	}
	mark, ok := marks[m.SpotCoins[token]]
	return amount.Mul(mark).Trunc(usdPlaces), ok
}

// spot is the spot market of a name. One like PURR/USDC or #441 says its tokens itself;
// outcomes are paid in USDC where nothing else is said.
func (m *Markets) spot(coin string) (SpotMarket, bool) {
	if m != nil {
		if s, ok := m.Spot[coin]; ok {
			return s, true
		}
	}
	if KindOf(coin) == OutcomeToken {
		return SpotMarket{tokenOfOutcome(coin), USDC}, true
	}
	base, quote, ok := strings.Cut(coin, "/")
	return SpotMarket{base, quote}, ok
}

// Usd is what an amount in the collateral of a perpetual's dex is worth at marks, USDC. It is
// false where the collateral is not known, or has no mark.
func (m *Markets) Usd(coin string, amount Decimal, marks Marks) (worth Decimal, ok bool) {
	token, ok := m.collateral(DexOf(coin))
	if !ok {
		return Decimal{}, false
	}
	return m.Worth(token, amount, marks)
}

// tokenNumber is the number of a token, -1 where it is not known.
func (m *Markets) tokenNumber(name string) int64 {
	if m != nil {
		if n, ok := m.Tokens[name]; ok {
			return n
		}
	}
	return -1
}

// EntryPx is the price at which a position of a size was entered that cost so much, rounded as the
// venue rounds it.
func (p *PerpMarket) EntryPx(cost, size Decimal) Decimal {
	return cost.Abs().MustDiv(size.Abs()).RoundHAZ(p.pricePlaces())
}

// pricePlaces is the decimal places of the market's prices.
func (p *PerpMarket) pricePlaces() uint8 { return usdPlaces - min(p.SzDecimals, usdPlaces) }
