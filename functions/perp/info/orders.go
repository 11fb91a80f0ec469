package main

import (
	"context"
	"encoding/json"
	"strconv"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/orders"
)

// maxStatuses is how many entries one answer of historicalOrders holds.
const maxStatuses = 2000

// historicalOrders is what the orders of an account came to, newest first. As at
// the venue, an order has an entry for each of its statuses.
func (i *info) historicalOrders(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	if in.User == nil {
		return nil, errNoUser
	}
	b := []byte{'['}
	n := 0
	for row, err := range orders.Statuses(ctx, i.log, orders.Of{Subject: string(*in.User)}, pageSize) {
		if err != nil {
			return nil, err
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		if b = append(b, row.Body...); n == maxStatuses {
			break
		}
	}
	return append(b, ']'), nil
}

// statusPage is how many statuses of one order a request to the log reads: few
// orders have as many.
const statusPage = 10

// orderStatus is how an order of an account stands, which is named by the
// venue's id or by the client's; null where nothing is known of it. The venue's
// own answer wraps the same once more, in {"status":"order","order":...}.
func (i *info) orderStatus(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	if in.User == nil {
		return nil, errNoUser
	}
	user := string(*in.User)
	of, err := orderOf(user, in.Oid)
	if err != nil {
		return nil, err
	}
	for row, err := range orders.Statuses(ctx, i.log, of, statusPage) {
		if err != nil {
			return nil, err
		}
		if row.Subject != user {
			continue
		}
		return row.Body, nil
	}
	return json.RawMessage("null"), nil
}

// orderOf names an order of an account.
func orderOf(user, oid string) (orders.Of, error) {
	const accepted = "an order id, a whole number, or a client order id: 0x followed by 32 hexadecimal digits"
	if oid == "" {
		return orders.Of{}, api.BadRequest("missing oid: it must be %s", accepted)
	}
	if cloid, ok := market.ParseCloid(oid); ok {
		return orders.Of{Subject: user + "/" + cloid, Index: store.C}, nil
	}
	number, err := strconv.ParseUint(oid, 10, 64)
	if err != nil {
		return orders.Of{}, api.BadRequest("invalid oid: it must be %s", accepted)
	}
	return orders.Of{Subject: strconv.FormatUint(number, 10), Index: store.B}, nil
}
