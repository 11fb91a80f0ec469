package main

import (
	"context"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// clearinghouseStates are the perp sides of accounts in a dex, at the mark prices that
// are known.
func (r *reader) clearinghouseStates(ctx context.Context, in catalog.ClearinghouseStatesIn) ([]catalog.AddressState, error) {
	v, err := r.accounts.value(ctx, in.Addresses)
	if err == nil && !v.markets.HasDex(in.Dex) {
		return nil, api.BadParameter("unknown dex %q: it must be the name of a perpetual dex, or absent for the main one", in.Dex)
	}
	list := []catalog.AddressState{}
	for address, account := range v.each() {
		row := catalog.AddressState{Address: address}
		if account != nil {
			state := v.state(account, in.Dex)
			row.State = new(clearinghouseState(&state))
		}
		list = append(list, row)
	}
	return list, err
}

// spotStates are the spot balances of accounts, with what their open orders reserve.
func (r *reader) spotStates(ctx context.Context, in catalog.SpotStatesIn) ([]catalog.AddressSpotState, error) {
	v, err := r.accounts.value(ctx, in.Addresses)
	if err != nil {
		return nil, err
	}
	orders, err := store.OrZero(r.accounts.orders.Get(ctx))
	if err != nil {
		return nil, err
	}
	list := []catalog.AddressSpotState{}
	for address, account := range v.each() {
		row := catalog.AddressSpotState{Address: address}
		if account != nil {
			reserves, err := orders.Reserved(account.Address)
			if err != nil {
				return nil, err
			}
			if balances, ok := account.Balances(v.markets, v.marks.Px, reserves); ok {
				row.SpotState = new(spotState(account.Mode, balances, orders.Time > 0))
			}
		}
		list = append(list, row)
	}
	return list, nil
}

// spotState writes balances as the venue does in a mode. Held says that open orders are known.
func spotState(mode market.Mode, balances []market.SpotBalance, held bool) catalog.SpotState {
	state := catalog.SpotState{Balances: []catalog.SpotBalance{}, PortfolioMarginEnabled: mode == market.ModePortfolio}
	for _, b := range balances {
		balance := catalog.SpotBalance{Coin: b.Coin, Total: market.Text(b.Total), Hold: known(held, b.Hold), EntryNtl: known(!b.NoCost, b.EntryNtl)}
		if b.Token >= 0 {
			balance.Token = &b.Token
		}
		if mode == market.ModePortfolio { // hold is then net of what could be borrowed, which nobody tells
			balance.Hold, balance.SpotHold = nil, balance.Hold
			balance.Supplied, balance.Borrowed = known(b.Lent.IsPos(), b.Lent), known(b.Lent.IsNeg(), b.Lent.Neg())
		}
		if mode.Joint() && b.Backs && b.Token >= 0 {
			state.TokenToAvailableAfterMaintenance = append(state.TokenToAvailableAfterMaintenance, catalog.TokenAvailable{b.Token, market.Text(b.AfterMaintenance)})
		}
		state.Balances = append(state.Balances, balance)
	}
	return state
}

func clearinghouseState(s *market.AccountState) catalog.ClearinghouseState {
	state := catalog.ClearinghouseState{
		MarginSummary: marginSummary(s, &s.Margin), CrossMarginSummary: marginSummary(s, &s.CrossMargin),
		CrossMaintenanceMarginUsed: known(s.Mode.Explained(), s.CrossMaintenance), Withdrawable: known(!s.Unvalued, s.Withdrawable),
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
		AccountValue: known(!s.Unvalued, m.AccountValue), TotalNtlPos: market.Text(m.TotalNtlPos),
		TotalRawUsd: known(!s.Unvalued, m.TotalRawUsd), TotalMarginUsed: known(s.Mode.Explained(), m.TotalMarginUsed),
	}
}

// hasMargin reports whether the margin of a position is known.
func hasMargin(p *market.PositionState) bool { return !p.Leverage.Isolated || !p.Unseen }

func positionState(p *market.PositionState) catalog.PositionState {
	state := catalog.PositionState{
		Coin: p.Coin, Szi: market.Text(p.Szi), Leverage: catalog.PositionLeverage{Type: "cross", Value: p.Leverage.Value, Assumed: p.Assumed},
		EntryPx: known(!p.NoCost, p.EntryPx), PositionValue: market.Text(p.PositionValue), UnrealizedPnl: known(!p.NoCost, p.UnrealizedPnl),
		ReturnOnEquity: known(!p.NoCost, p.ReturnOnEquity), LiquidationPx: known(hasMargin(p) && !p.LiquidationPx.IsZero(), p.LiquidationPx),
		MarginUsed: known(hasMargin(p), p.MarginUsed),
		CumFunding: catalog.CumFunding{AllTime: new(market.Text(p.FundingAllTime)), SinceOpen: known(!p.Unseen, p.FundingSinceOpen), SinceChange: known(!p.Unseen, p.FundingSinceChange)},
	}
	if p.MaxLeverage > 0 {
		state.MaxLeverage = &p.MaxLeverage
	}
	if p.Leverage.Isolated {
		state.Leverage.Type, state.Leverage.RawUsd = "isolated", known(hasMargin(p) && !p.NoCost, p.RawUsd)
	}
	return state
}

// known is the text of a decimal, nil where it is not known.
func known(ok bool, d market.Decimal) *string {
	if !ok {
		return nil
	}
	text := market.Text(d)
	return &text
}
