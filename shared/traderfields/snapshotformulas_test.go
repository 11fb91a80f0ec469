package traderfields_test

import (
	"math/big"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

// markets have two dexes, of which one counts in a token whose mark may be missing.
var (
	markets = &market.Markets{
		Perps:       map[string]market.PerpMarket{"BTC": {MaxLeverage: 40, SzDecimals: 5}, "xyz:GOLD": {MaxLeverage: 20, SzDecimals: 2}},
		Spot:        map[string]market.SpotMarket{"@107": {Base: "HYPE", Quote: market.USDC}, "@230": {Base: "USDH", Quote: market.USDC}},
		SpotCoins:   map[string]string{"HYPE": "@107", "USDH": "@230"},
		Collaterals: map[string]string{"": market.USDC, "xyz": "USDH"},
	}
	allMarks = market.Marks{"BTC": market.DecimalFromInt(61_234), "@107": market.DecimalFromInt(21), "@230": market.DecimalFromInt(1).MustDiv(market.DecimalFromInt(4))}
)

// account draws an account of amounts of which each figure has less than 18 digits; one in two has
// all that it follows from.
func account() *rapid.Generator[market.Account] {
	return rapid.Custom(func(t *rapid.T) market.Account {
		a := markettest.Account().Draw(t, "account")
		for i := range a.Dexes {
			a.Dexes[i].Posted = nil
		}
		if whole := rapid.Bool().Draw(t, "whole"); !whole {
			return a
		}
		a.SpotTime, a.Anchored, a.Lost = now-hour, now-hour, 0
		if a.Mode == market.ModeUnknown || a.Mode == market.ModeOther {
			a.Mode = market.ModeStandard
		}
		for i := range a.Dexes {
			a.Dexes[i].Anchored = now - hour
		}
		for i := range a.Holdings {
			if open := a.Holdings[i].Open; open != nil {
				open.NoCost = false
			}
		}
		return a
	})
}

// positions are those that the venue would show, dex by dex.
func (e *events) positions() (list []market.PositionState) {
	for _, d := range e.holds.Dexes {
		list = append(list, e.holds.State(d.Dex, markets, e.marks, now).Positions...)
	}
	return list
}

// usd is an amount of a position's dex in US dollars, cut to a millionth as values of tokens are.
func usd(coin string, amount market.Decimal) *big.Rat {
	x := of(amount)
	if coin == "xyz:GOLD" {
		x = mul(x, big.NewRat(1, 4))
	}
	cut := mul(x, big.NewRat(1_000_000, 1))
	return new(big.Rat).SetFrac(new(big.Int).Quo(cut.Num(), cut.Denom()), big.NewInt(1_000_000))
}

// marked reports whether what a position comes to can be said in US dollars.
func (e *events) marked(p *market.PositionState) bool {
	_, token := e.marks["@230"]
	return token || p.Coin != "xyz:GOLD" || p.PositionValue.IsZero() && p.MarginUsed.IsZero() && p.UnrealizedPnl.IsZero()
}

// held is a figure of the positions summed up; it is not known where that of one is not.
func held(value func(*market.PositionState) (*big.Rat, bool)) formula {
	return func(e *events) (*big.Rat, bool) {
		sum := new(big.Rat)
		for _, p := range e.positions() {
			x, known := value(&p)
			if !known || !e.marked(&p) {
				return nil, false
			}
			sum.Add(sum, x)
		}
		return sum, true
	}
}

// heldValue is what positions are worth, by what a long and a short one count.
func heldValue(long, short int64) formula {
	return held(func(p *market.PositionState) (*big.Rat, bool) {
		times := long
		if p.Szi.IsNeg() {
			times = short
		}
		return mul(usd(p.Coin, p.PositionValue), new(big.Rat).SetInt64(times)), true
	})
}

func heldCount(long, short int) formula {
	return func(e *events) (*big.Rat, bool) {
		n := 0
		for _, p := range e.positions() {
			if p.Szi.IsNeg() {
				n += short
			} else {
				n += long
			}
		}
		return whole(n), true
	}
}

func perpWorth(e *events) (*big.Rat, bool) {
	d, known := e.holds.PerpValue(markets, e.marks)
	return of(d), known
}

func spotWorth(e *events) (*big.Rat, bool) {
	d, known := e.holds.SpotValue(markets, e.marks)
	return of(d), known
}

// marginUsed is known where the mode says what it is, and no isolated position was opened unseen.
func marginUsed(e *events) (*big.Rat, bool) {
	if e.holds.Mode != market.ModeStandard && e.holds.Mode != market.ModeUnified && e.holds.Mode != market.ModePortfolio {
		return nil, false
	}
	return held(func(p *market.PositionState) (*big.Rat, bool) {
		return usd(p.Coin, p.MarginUsed), !p.Leverage.Isolated || !p.Unseen
	})(e)
}

// overPerps is a part of what the perpetuals are worth.
func overPerps(of formula) formula {
	return func(e *events) (*big.Rat, bool) {
		part, known := of(e)
		whole, valued := perpWorth(e)
		switch {
		case !known || !valued:
			return nil, false
		case part.Sign() == 0:
			return part, true
		case whole.Sign() <= 0:
			return nil, false
		}
		return quotient(part, whole)
	}
}

// balances sums up a figure of the account's tokens.
func balances(value func(*market.SpotBalance) (*big.Rat, bool)) formula {
	return func(e *events) (*big.Rat, bool) {
		list, known := e.holds.Balances(markets, e.marks, nil)
		sum := new(big.Rat)
		for i := range list {
			x, ok := value(&list[i])
			if known = known && ok; known {
				sum.Add(sum, x)
			}
		}
		return sum, known
	}
}

func snapshotFormulas() map[string]formula {
	return map[string]formula{
		"snapPerpValue": perpWorth,
		"snapSpotValue": spotWorth,
		"snapTotalValue": func(e *events) (*big.Rat, bool) {
			perp, a := perpWorth(e)
			spot, b := spotWorth(e)
			return new(big.Rat).Add(perp, spot), a && b
		},
		"snapUsdc": balances(func(b *market.SpotBalance) (*big.Rat, bool) {
			if b.Coin != "USDC" {
				return new(big.Rat), true
			}
			return of(b.Total), true
		}),
		"snapEntryNtl": balances(func(b *market.SpotBalance) (*big.Rat, bool) {
			if b.Coin == "USDC" {
				return new(big.Rat), true
			}
			return of(b.EntryNtl), !b.NoCost
		}),
		"snapPositionCount":      heldCount(1, 1),
		"snapLongPositionCount":  heldCount(1, 0),
		"snapShortPositionCount": heldCount(0, 1),
		"snapPositionValue":      heldValue(1, 1),
		"snapLongPositionValue":  heldValue(1, 0),
		"snapShortPositionValue": heldValue(0, 1),
		"snapLongShortPvDiff":    heldValue(1, -1),
		"snapUnrealizedPnl":      held(func(p *market.PositionState) (*big.Rat, bool) { return usd(p.Coin, p.UnrealizedPnl), !p.NoCost }),
		"snapTotalMarginUsed":    marginUsed,
		"snapEffLeverage":        overPerps(heldValue(1, 1)),
		"snapMarginUsageRate":    overPerps(marginUsed),
	}
}
