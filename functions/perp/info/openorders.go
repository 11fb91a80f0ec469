package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
)

// orderForm appends an open order in a form: all that is known of it, or the venue's short one.
type orderForm = func(*market.OrderStatus, []byte) []byte

// openOrders answers with the open orders of an account in a dex.
func openOrders(form orderForm) func(*info, context.Context, *catalog.InfoIn) (json.RawMessage, error) {
	return func(i *info, ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
		list, err := i.accounts.OpenOrders(ctx, *in.User, in.Dex)
		if err != nil {
			return i.ordersAtVenue(ctx, in, err)
		}
		return ordersIn(form, list), nil
	}
}

// ordersAtVenue are those of a dex that the venue has not listed, as it does for dexes that an account
// uses alone: it is asked for them. Where it does not answer, the reason is that why they are not
// known.
func (i *info) ordersAtVenue(ctx context.Context, in *catalog.InfoIn, why error) (json.RawMessage, error) {
	var refused *api.Error
	if in.Dex == "" || !errors.As(why, &refused) || refused.Reason != catalog.ReasonNotReady {
		return nil, why
	}
	kind, err := kindOf(in)
	if err != nil {
		return nil, err
	}
	answer, err := i.relay.Ask(ctx, weighsUsual, question(kind, in))
	if err != nil {
		return nil, why
	}
	return answer, nil
}

func ordersIn(form orderForm, list []market.OrderStatus) json.RawMessage {
	b := []byte{'['}
	for n := range list {
		if n > 0 {
			b = append(b, ',')
		}
		b = form(&list[n], b)
	}
	return append(b, ']')
}

// webData is what the venue's own page shows of an account on the main dex.
func (i *info) webData(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	v, account, err := i.accounts.Known(ctx, *in.User)
	if err != nil {
		return nil, err
	}
	of := catalog.InfoWebData{User: account.Address, ServerTime: api.Now(ctx).UnixMilli(), ClearinghouseState: v.Perps(account, "")}
	orders, err := i.accounts.OpenOrders(ctx, *in.User, "")
	if err != nil {
		return nil, err
	}
	of.OpenOrders = ordersIn((*market.OrderStatus).AppendOrder, orders)
	reserves, err := i.accounts.Reserves(ctx)
	if err != nil {
		return nil, err
	}
	if of.SpotState, err = v.Spot(account, &reserves); err != nil {
		return nil, err
	}
	if of.TwapStates, err = i.twapStates(ctx, account.Address); err != nil {
		return nil, err
	}
	figures, err := i.contexts.Get(ctx)
	if err != nil {
		return nil, err
	}
	perps, err := ofDex(ctx, i, figures.Perps, "")
	if err != nil {
		return nil, err
	}
	if of.Meta, of.AssetCtxs, err = halves(perps); err != nil {
		return nil, err
	}
	if _, of.SpotAssetCtxs, err = halves(figures.Spot); err != nil {
		return nil, err
	}
	return api.Encode(of)
}

// halves are what a list of two describes and the figures of it, nil for no list.
func halves(both json.RawMessage) (described, figures json.RawMessage, err error) {
	if len(both) == 0 {
		return nil, nil, nil
	}
	var list [2]json.RawMessage
	if err := json.Unmarshal(both, &list); err != nil {
		return nil, nil, fmt.Errorf("read a description and its figures: %w", err)
	}
	return list[0], list[1], nil
}
