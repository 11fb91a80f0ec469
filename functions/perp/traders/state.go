package main

import (
	"context"

	"quotary/shared/catalog"
)

// clearinghouseStates are the perp sides of accounts in a dex, at the mark prices that
// are known.
func (r *reader) clearinghouseStates(ctx context.Context, in catalog.ClearinghouseStatesIn) ([]catalog.AddressState, error) {
	v, err := r.accounts.Value(ctx, in.Addresses)
	if err == nil {
		err = v.HasDex(in.Dex)
	}
	if err != nil {
		return nil, err
	}
	list := []catalog.AddressState{}
	for address, account := range v.Each() {
		row := catalog.AddressState{Address: address}
		if account != nil {
			row.State = new(v.Perps(account, in.Dex))
		}
		list = append(list, row)
	}
	return list, nil
}

// spotStates are the spot balances of accounts, with what their open orders reserve.
func (r *reader) spotStates(ctx context.Context, in catalog.SpotStatesIn) ([]catalog.AddressSpotState, error) {
	v, err := r.accounts.Value(ctx, in.Addresses)
	if err != nil {
		return nil, err
	}
	orders, err := r.accounts.Reserves(ctx)
	if err != nil {
		return nil, err
	}
	list := []catalog.AddressSpotState{}
	for address, account := range v.Each() {
		row := catalog.AddressSpotState{Address: address}
		if account != nil {
			if row.SpotState, err = v.Spot(account, &orders); err != nil {
				return nil, err
			}
		}
		list = append(list, row)
	}
	return list, nil
}
