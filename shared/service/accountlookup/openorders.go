package accountlookup

import (
	"context"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/store"
)

// listedFor is for how long the venue's list of an account's orders is good enough where no
// status of any order has come since: then nobody may read what orders come to.
const listedFor = time.Minute

// OpenOrders are the open orders of an account in a dex, those of spot markets being in the main
// one, the newest first: those that rest and those that wait for a price. They are kept of the
// accounts that somebody asks for, so that asking begins it; until the venue has listed them
// they are an error. No answer waits for that.
func (r *Accounts) OpenOrders(ctx context.Context, address catalog.Address, dex string) ([]market.OrderStatus, error) {
	v := Valuation{now: api.Now(ctx)}
	var err error
	if v.Markets, err = r.Markets(ctx); err != nil {
		return nil, err
	}
	if err := v.HasDex(dex); err != nil {
		return nil, err
	}
	r.want(ctx, &v, []string{string(address)})
	part, err := store.OrZero(r.lists[openorders.Part(string(address))].Get(ctx))
	if err != nil {
		return nil, err
	}
	of, _, err := part.Orders(string(address))
	if err != nil {
		return nil, err
	}
	listed := of.Listed[dex]
	switch {
	case listed > 0 && (part.Newest >= listed || v.now.Sub(time.UnixMilli(listed)) < listedFor):
		return of.InDex(dex), nil
	case v.refused[string(address)]:
		return nil, r.exhausted(address)
	}
	return nil, api.NotReady(askAgain, "the open orders of the account %s are being asked for at the exchange: ask again in %.0f seconds", address, askAgain.Seconds())
}
