package accountlookup

import (
	"quotary/shared/catalog"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/service/clearinghouse"
)

// Perps writes the perp side of an account in a dex as the venue does, at the mark prices
// that are known.
func (v *Valuation) Perps(a *market.Account, dex string) catalog.ClearinghouseState {
	state := v.State(a, dex)
	return clearinghouse.Perps(&state)
}

// Spot writes the spot balances of an account as the venue does, with what its open orders
// reserve; nil where they are not known.
func (v *Valuation) Spot(a *market.Account, orders *openorders.Reserves) (*catalog.SpotState, error) {
	reserves, err := orders.Reserved(a.Address)
	if err != nil {
		return nil, err
	}
	balances, ok := a.Balances(v.Markets, v.Marks.Px, reserves)
	if !ok {
		return nil, nil //nolint:nilnil // nothing is known of them
	}
	return new(clearinghouse.Spot(a.Mode, balances, orders.Time > 0)), nil
}
