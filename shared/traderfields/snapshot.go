package traderfields

import "quotary/shared/market"

type holds = market.AccountSummary

// snapshotFields are about what an account holds now, as traders/accounts has it.
var snapshotFields = group("account snapshot", nil, func(t *Trader, _ Period) *holds { return t.Holds },
	row[holds]{"snapTotalValue", Money, Latest, "snapPerpValue + snapSpotValue, in US dollars.", func(s *holds) (decimal, bool) { return s.Total() }},
	row[holds]{"snapPerpValue", Money, Latest, "What the perpetuals of the account are worth, unrealized PnL included, in US dollars.", func(s *holds) (decimal, bool) { return s.Perp, s.PerpKnown }},
	row[holds]{"snapSpotValue", Money, Latest, "What those tokens of the account are worth that are behind no positions, in US dollars.", func(s *holds) (decimal, bool) { return s.Spot, s.SpotKnown }},
	row[holds]{"snapUsdc", Money, Latest, "The balance of USDC, in US dollars.", func(s *holds) (decimal, bool) { return s.USDC, s.BalancesKnown }},
	row[holds]{"snapEntryNtl", Money, Latest, "What was paid for the balances of other tokens, entryNtl of each, in US dollars.", func(s *holds) (decimal, bool) { return s.SpotCost, s.SpotCostKnown }},
	row[holds]{"snapPositionCount", Count, Latest, "Number of open positions.", func(s *holds) (decimal, bool) { return number(s.Long.Count + s.Short.Count) }},
	row[holds]{"snapLongPositionCount", Count, Latest, "Number of open long positions.", func(s *holds) (decimal, bool) { return number(s.Long.Count) }},
	row[holds]{"snapShortPositionCount", Count, Latest, "Number of open short positions.", func(s *holds) (decimal, bool) { return number(s.Short.Count) }},
	row[holds]{"snapPositionValue", Money, Latest, "Value of the open positions at their marks, in US dollars; not known while what one of them is settled in has no mark.", func(s *holds) (decimal, bool) { return s.Value(), s.Marked }},
	row[holds]{"snapLongPositionValue", Money, Latest, "snapPositionValue of long positions, in US dollars.", func(s *holds) (decimal, bool) { return s.Long.Value, s.Marked }},
	row[holds]{"snapShortPositionValue", Money, Latest, "snapPositionValue of short positions, in US dollars.", func(s *holds) (decimal, bool) { return s.Short.Value, s.Marked }},
	row[holds]{"snapLongShortPvDiff", Money, Latest, "snapLongPositionValue - snapShortPositionValue, in US dollars.", func(s *holds) (decimal, bool) { return s.Long.Value.Sub(s.Short.Value), s.Marked }},
	row[holds]{"snapUnrealizedPnl", Money, Latest, "Unrealized PnL of the open positions, in US dollars.", func(s *holds) (decimal, bool) { return s.UnrealizedPnl, s.CostsKnown }},
	row[holds]{"snapTotalMarginUsed", Money, Latest, "Margin of the open positions, in US dollars.", func(s *holds) (decimal, bool) { return s.MarginUsed, s.MarginKnown }},
	row[holds]{"snapEffLeverage", Ratio, Latest, "snapPositionValue / snapPerpValue, 0 without a position; not known where nothing is left.", func(s *holds) (decimal, bool) { return s.EffLeverage() }},
	row[holds]{"snapMarginUsageRate", Ratio, Latest, "snapTotalMarginUsed / snapPerpValue, a fraction, 0 where none is used; not known where nothing is left.", func(s *holds) (decimal, bool) { return s.MarginUsage() }},
)
