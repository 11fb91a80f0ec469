package main

import (
	"context"

	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// clearinghouseStates are the perp sides of accounts in a dex, at the mark prices that
// are known.
func (r *reader) clearinghouseStates(ctx context.Context, in catalog.ClearinghouseStatesIn) ([]catalog.AddressState, error) {
	v, err := r.accounts.value(ctx, in.Addresses)
	list := []catalog.AddressState{}
	for address, account := range v.each(in.Addresses) {
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
	for address, account := range v.each(in.Addresses) {
		if account == nil {
			list = append(list, catalog.AddressSpotState{Address: address})
			continue
		}
		reserves, err := orders.Of(account.Address)
		if err != nil {
			return nil, err
		}
		state := catalog.SpotState{Balances: []catalog.SpotBalance{}}
		for _, b := range account.Balances(v.markets, reserves) {
			state.Balances = append(state.Balances, catalog.SpotBalance{
				Coin: b.Coin, Token: b.Token, Total: market.Text(b.Total), Hold: market.Text(b.Hold), EntryNtl: market.Text(b.EntryNtl),
			})
		}
		list = append(list, catalog.AddressSpotState{Address: address, SpotState: &state})
	}
	return list, nil
}

func clearinghouseState(s *market.AccountState) catalog.ClearinghouseState {
	state := catalog.ClearinghouseState{
		MarginSummary: marginSummary(&s.Margin), CrossMarginSummary: marginSummary(&s.CrossMargin),
		CrossMaintenanceMarginUsed: market.Text(s.CrossMaintenance), Withdrawable: market.Text(s.Withdrawable),
		AssetPositions: []catalog.AssetPosition{}, Time: s.Time,
	}
	for i := range s.Positions {
		state.AssetPositions = append(state.AssetPositions, catalog.AssetPosition{Type: "oneWay", Position: positionState(&s.Positions[i])})
	}
	return state
}

func marginSummary(m *market.MarginSummary) catalog.MarginSummary {
	return catalog.MarginSummary{
		AccountValue: market.Text(m.AccountValue), TotalNtlPos: market.Text(m.TotalNtlPos),
		TotalRawUsd: market.Text(m.TotalRawUsd), TotalMarginUsed: market.Text(m.TotalMarginUsed),
	}
}

func positionState(p *market.PositionState) catalog.PositionState {
	state := catalog.PositionState{
		Coin: p.Coin, Szi: market.Text(p.Szi), Leverage: catalog.PositionLeverage{Type: "cross", Value: p.Leverage.Value, Assumed: p.Assumed},
		EntryPx: known(!p.NoCost, p.EntryPx), PositionValue: market.Text(p.PositionValue), UnrealizedPnl: known(!p.NoCost, p.UnrealizedPnl),
		ReturnOnEquity: known(!p.NoCost, p.ReturnOnEquity), LiquidationPx: known(!p.LiquidationPx.IsZero(), p.LiquidationPx),
		MarginUsed: market.Text(p.MarginUsed), MaxLeverage: p.MaxLeverage,
		CumFunding: catalog.CumFunding{AllTime: market.Text(p.FundingAllTime), SinceOpen: market.Text(p.FundingSinceOpen), SinceChange: market.Text(p.FundingSinceChange)},
	}
	if p.Leverage.Isolated {
		raw := market.Text(p.RawUsd)
		state.Leverage.Type, state.Leverage.RawUsd = "isolated", &raw
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
