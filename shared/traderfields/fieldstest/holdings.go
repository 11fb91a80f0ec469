package fieldstest

import (
	"math/big"

	"quotary/shared/market"
)

// Held is what an account holds. Amounts are US dollars, nil where they are not known.
type Held struct {
	Perp, Spot *big.Rat // what its parts are worth
	USDC, Paid *big.Rat // its balance, and what was paid for its other tokens
	Margins    bool     // how the account is run tells what margin its positions use
	Positions  []Position
}

// Position is an open one. Value, Pnl and Margin are nil where they are not known.
type Position struct {
	Short              bool
	Value, Pnl, Margin *big.Rat
}

// HeldBy is what an account holds by what it says of itself at marks of a time, ms.
func HeldBy(a *market.Account, markets *market.Markets, marks market.Marks, ms int64) *Held {
	h := &Held{Margins: a.Mode == market.ModeStandard || a.Mode == market.ModeUnified || a.Mode == market.ModePortfolio}
	if worth, known := a.PerpValue(markets, marks); known {
		h.Perp = of(worth)
	}
	if worth, known := a.SpotValue(markets, marks); known {
		h.Spot = of(worth)
	}
	if balances, known := a.Balances(markets, marks, nil); known {
		h.Balances(balances)
	}
	for _, d := range a.Dexes {
		for _, p := range a.State(d.Dex, markets, marks, ms).Positions {
			h.Positions = append(h.Positions, PositionOf(&p, markets, marks))
		}
	}
	return h
}

// Balances sets what the account has of tokens.
func (h *Held) Balances(list []market.SpotBalance) {
	h.USDC, h.Paid = new(big.Rat), new(big.Rat)
	for i := range list {
		switch b := &list[i]; {
		case b.Coin == market.USDC:
			h.USDC.Add(h.USDC, of(b.Total))
		case b.NoCost:
			h.Paid = nil
		case h.Paid != nil:
			h.Paid.Add(h.Paid, of(b.EntryNtl))
		}
	}
}

// PositionOf is a position in US dollars, cut to millionths. A dex may count in another token, which is
// worth its mark.
func PositionOf(p *market.PositionState, markets *market.Markets, marks market.Marks) Position {
	token := markets.Collaterals[market.DexOf(p.Coin)]
	mark, marked := marks[markets.SpotCoins[token]]
	if token == market.USDC {
		mark, marked = market.DecimalFromInt(1), true
	}
	usd := func(amount market.Decimal, known bool) *big.Rat {
		if !known {
			return nil
		}
		cut := mul(mul(of(amount), of(mark)), big.NewRat(1_000_000, 1))
		return new(big.Rat).SetFrac(new(big.Int).Quo(cut.Num(), cut.Denom()), big.NewInt(1_000_000))
	}
	one := Position{Short: p.Szi.IsNeg(), Value: usd(p.PositionValue, true), Pnl: usd(p.UnrealizedPnl, !p.NoCost), Margin: usd(p.MarginUsed, !p.Leverage.Isolated || !p.Unseen)}
	if !marked && (!p.PositionValue.IsZero() || !p.UnrealizedPnl.IsZero() || !p.MarginUsed.IsZero()) {
		return Position{Short: one.Short} // of which nothing is known while it cannot be said in US dollars
	}
	return one
}

// held is a figure of what is held.
func held(value func(*Held) *big.Rat) formula {
	return func(e *Events) (*big.Rat, bool) {
		if e.Holds == nil {
			return nil, false
		}
		x := value(e.Holds)
		return x, x != nil
	}
}

// positions is a figure of positions summed up; nil where that of one is not known.
func (h *Held) positions(value func(*Position) *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i := range h.Positions {
		x := value(&h.Positions[i])
		if x == nil {
			return nil
		}
		sum.Add(sum, x)
	}
	return sum
}

// count counts positions, by what a long and a short one count.
func count(long, short int) func(*Held) *big.Rat {
	return func(h *Held) *big.Rat {
		n := 0
		for i := range h.Positions {
			if h.Positions[i].Short {
				n += short
			} else {
				n += long
			}
		}
		return whole(n)
	}
}

// valueOf is what positions are worth, by what a long and a short one count.
func valueOf(long, short int) func(*Held) *big.Rat {
	return func(h *Held) *big.Rat {
		return h.positions(func(p *Position) *big.Rat {
			times := long
			if p.Short {
				times = short
			}
			if p.Value == nil {
				return nil
			}
			return mul(p.Value, whole(times))
		})
	}
}

// marginUsed is known where all positions have a value, too.
func marginUsed(h *Held) *big.Rat {
	if !h.Margins || valueOf(1, 1)(h) == nil {
		return nil
	}
	return h.positions(func(p *Position) *big.Rat { return p.Margin })
}

// overPerps is a part of what the perpetuals are worth.
func overPerps(of func(*Held) *big.Rat) func(*Held) *big.Rat {
	return func(h *Held) *big.Rat {
		part := of(h)
		switch {
		case part == nil || h.Perp == nil:
			return nil
		case part.Sign() == 0:
			return part
		case h.Perp.Sign() <= 0:
			return nil
		}
		return new(big.Rat).Quo(part, h.Perp)
	}
}

func snapshotFormulas() map[string]formula {
	all := map[string]func(*Held) *big.Rat{
		"snapPerpValue": func(h *Held) *big.Rat { return h.Perp },
		"snapSpotValue": func(h *Held) *big.Rat { return h.Spot },
		"snapTotalValue": func(h *Held) *big.Rat {
			if h.Perp == nil || h.Spot == nil {
				return nil
			}
			return new(big.Rat).Add(h.Perp, h.Spot)
		},
		"snapUsdc":               func(h *Held) *big.Rat { return h.USDC },
		"snapEntryNtl":           func(h *Held) *big.Rat { return h.Paid },
		"snapPositionCount":      count(1, 1),
		"snapLongPositionCount":  count(1, 0),
		"snapShortPositionCount": count(0, 1),
		"snapPositionValue":      valueOf(1, 1),
		"snapLongPositionValue":  valueOf(1, 0),
		"snapShortPositionValue": valueOf(0, 1),
		"snapLongShortPvDiff":    valueOf(1, -1),
		"snapUnrealizedPnl":      func(h *Held) *big.Rat { return h.positions(func(p *Position) *big.Rat { return p.Pnl }) },
		"snapTotalMarginUsed":    marginUsed,
		"snapEffLeverage":        overPerps(valueOf(1, 1)),
		"snapMarginUsageRate":    overPerps(marginUsed),
	}
	formulas := map[string]formula{}
	for name, value := range all {
		formulas[name] = held(value)
	}
	return formulas
}
