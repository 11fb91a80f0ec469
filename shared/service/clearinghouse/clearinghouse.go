// Package clearinghouse writes what accounts are as the venue does: one place for what
// functions answer and feeds show. What an account's mode does not let anyone know is null.
package clearinghouse

import (
	"quotary/shared/catalog"
	"quotary/shared/market"
)

// Spot writes balances as the venue does in a mode. Held says that open orders are known.
func Spot(mode market.Mode, balances []market.SpotBalance, held bool) catalog.SpotState {
	state := catalog.SpotState{Balances: []catalog.SpotBalance{}, PortfolioMarginEnabled: mode == market.ModePortfolio}
	for _, b := range balances {
		balance := catalog.SpotBalance{Coin: b.Coin, Total: market.Text(b.Total), Hold: market.TextOrNull(held, b.Hold), EntryNtl: market.TextOrNull(!b.NoCost, b.EntryNtl)}
		if b.Token >= 0 {
			balance.Token = &b.Token
		}
		if mode == market.ModePortfolio { // hold is then net of what could be borrowed, which nobody tells
			balance.Hold, balance.SpotHold = nil, balance.Hold
			balance.Supplied, balance.Borrowed = market.TextOrNull(b.Lent.IsPos(), b.Lent), market.TextOrNull(b.Lent.IsNeg(), b.Lent.Neg())
		}
		if mode.Joint() && b.Backs && b.Token >= 0 {
			state.TokenToAvailableAfterMaintenance = append(state.TokenToAvailableAfterMaintenance, catalog.TokenAvailable{b.Token, market.Text(b.AfterMaintenance)})
		}
		state.Balances = append(state.Balances, balance)
	}
	return state
}

// Perps writes the perp side of an account in a dex.
func Perps(s *market.AccountState) catalog.ClearinghouseState {
	state := catalog.ClearinghouseState{
		MarginSummary: marginSummary(s, &s.Margin), CrossMarginSummary: marginSummary(s, &s.CrossMargin),
		CrossMaintenanceMarginUsed: market.TextOrNull(s.Mode.Explained(), s.CrossMaintenance), Withdrawable: market.TextOrNull(!s.Unvalued, s.Withdrawable),
		AssetPositions: []catalog.AssetPosition{}, Time: s.Time,
	}
	for i := range s.Positions {
		p := positionState(&s.Positions[i])
		if s.Unfunded {
			p.CumFunding.AllTime = nil
		}
		if p.MarginUsed == nil {
			state.MarginSummary.TotalMarginUsed = nil
		}
		state.AssetPositions = append(state.AssetPositions, catalog.AssetPosition{Type: "oneWay", Position: p})
	}
	return state
}

// marginSummary writes a summary of a state, as far as it is known.
func marginSummary(s *market.AccountState, m *market.MarginSummary) catalog.MarginSummary {
	return catalog.MarginSummary{
		AccountValue: market.TextOrNull(!s.Unvalued, m.AccountValue), TotalNtlPos: market.Text(m.TotalNtlPos),
		TotalRawUsd: market.TextOrNull(!s.Unvalued, m.TotalRawUsd), TotalMarginUsed: market.TextOrNull(s.Mode.Explained(), m.TotalMarginUsed),
	}
}

func positionState(p *market.PositionState) catalog.PositionState {
	state := catalog.PositionState{
		Coin: p.Coin, Szi: market.Text(p.Szi), Leverage: catalog.PositionLeverage{Type: market.MarginMode(p.Leverage.Isolated), Value: p.Leverage.Value, Assumed: p.Assumed},
		EntryPx: market.TextOrNull(!p.NoCost, p.EntryPx), PositionValue: market.Text(p.PositionValue), UnrealizedPnl: market.TextOrNull(!p.NoCost, p.UnrealizedPnl),
		ReturnOnEquity: market.TextOrNull(!p.NoCost, p.ReturnOnEquity), LiquidationPx: market.TextOrNull(p.MarginKnown() && !p.LiquidationPx.IsZero(), p.LiquidationPx),
		MarginUsed: market.TextOrNull(p.MarginKnown(), p.MarginUsed),
		CumFunding: catalog.CumFunding{AllTime: new(market.Text(p.FundingAllTime)), SinceOpen: market.TextOrNull(!p.Unseen, p.FundingSinceOpen), SinceChange: market.TextOrNull(!p.Unseen, p.FundingSinceChange)},
	}
	if p.MaxLeverage > 0 {
		state.MaxLeverage = &p.MaxLeverage
	}
	if p.Leverage.Isolated {
		state.Leverage.RawUsd = market.TextOrNull(p.MarginKnown() && !p.NoCost, p.RawUsd)
	}
	return state
}
