package market

import "slices"

// MarginTiers are the tiers of a market, by rising LowerBound: the larger a position,
// the more margin it needs.
type MarginTiers []MarginTier

// MarginTier is where a notional needs a margin.
type MarginTier struct {
	LowerBound  Decimal // notional from which on it counts, quote units
	MaxLeverage int64   // notional over initial margin at most

	// Deduction keeps the maintenance margin continuous from tier to tier, quote units;
	// [NewMarginTiers] computes it.
	Deduction Decimal
}

// usdPlaces is the decimal places of perp amounts: cash, margins and costs are whole
// millionths of a USDC.
const usdPlaces = 6

// NewMarginTiers returns tiers with their deductions: that of a tier is the one of the
// tier before, plus its lower bound times what the maintenance rate grows by. The rate
// of a tier is 1 / (2 x MaxLeverage), and its product with a bound is cut to a millionth.
//
// Formula: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margin-tiers
func NewMarginTiers(tiers ...MarginTier) MarginTiers {
	tiers = slices.Clone(tiers)
	slices.SortStableFunc(tiers, func(a, b MarginTier) int { return a.LowerBound.Cmp(b.LowerBound) })
	for i := 1; i < len(tiers); i++ {
		bound, before := tiers[i].LowerBound, &tiers[i-1]
		grown := halfOver(bound, tiers[i].MaxLeverage).Trunc(usdPlaces).Sub(halfOver(bound, before.MaxLeverage).Trunc(usdPlaces))
		tiers[i].Deduction = before.Deduction.Add(grown)
	}
	return tiers
}

// Tier is the tier of a notional; ok is false without tiers.
func (t MarginTiers) Tier(notional Decimal) (tier MarginTier, ok bool) {
	for _, next := range t {
		if ok && notional.Cmp(next.LowerBound) < 0 {
			break
		}
		tier, ok = next, true
	}
	return tier, ok
}

// Maintenance is the margin that a position of a notional must keep, quote units: half
// of what its tier demands at first, rounded up to a millionth, less the tier's
// deduction. It is 0 without tiers.
func (t MarginTiers) Maintenance(notional Decimal) Decimal {
	tier, ok := t.Tier(notional)
	if !ok {
		return Decimal{}
	}
	return halfOver(notional, tier.MaxLeverage).RoundAwayFromZero(usdPlaces).Sub(tier.Deduction)
}

// initialMargin is notional over leverage, rounded up to a millionth.
func initialMargin(notional Decimal, leverage int64) Decimal {
	return over(notional, leverage).RoundAwayFromZero(usdPlaces)
}

func halfOver(d Decimal, leverage int64) Decimal { return over(d, 2*leverage) }

// over is d / n, cut to 19 decimal places; n is positive.
func over(d Decimal, n int64) Decimal {
	quotient, err := d.Div64(uint64(max(n, 1))) //nolint:gosec // it is positive
	if err != nil {
		panic("market: divide by zero")
	}
	return quotient
}
