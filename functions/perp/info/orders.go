package main

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/orders"
	"quotary/shared/market"
)

// maxStatuses is how many entries one answer of historicalOrders holds.
const maxStatuses = 2000

// historicalOrders is what the orders of an account came to, newest first. As at
// the venue, an order has an entry for each of its statuses.
func (i *info) historicalOrders(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	b := []byte{'['}
	for status, err := range orders.Statuses(ctx, i.log, orders.OfAccount(string(*in.User), ""), maxStatuses) {
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = status.AppendJSON(b)
	}
	return append(b, ']'), nil
}

// orderStatus is the newest status of an order of an account, which is named by
// the venue's id or by the client's; null where nothing is known of it. The venue's
// own answer wraps the same once more, in {"status":"order","order":...}.
func (i *info) orderStatus(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	of, err := orderOf(string(*in.User), in.Oid)
	if err != nil {
		return nil, err
	}
	found, err := orders.Latest(ctx, i.log, of, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].Address != string(*in.User) {
		return json.RawMessage("null"), nil
	}
	return found[0].AppendJSON(nil), nil
}

// orderOf names an order of an account.
func orderOf(account, id string) (orders.Selection, error) {
	if cloid, ok := market.ParseCloid(id); ok {
		return orders.OfClientID(account, cloid), nil
	}
	number, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return orders.Selection{}, api.BadParameter("invalid oid: it must be %s", members["oid"].kind)
	}
	return orders.OfOrder(int64(min(number, math.MaxInt64))), nil // the venue's ids are far smaller
}
