package traderfields_test

import (
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
