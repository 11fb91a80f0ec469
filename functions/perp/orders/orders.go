package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/arrivals"
	"quotary/shared/data/openorders"
	"quotary/shared/data/orders"
	"quotary/shared/data/tickers"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader answers what became of orders.
type reader struct {
	log     *store.Log
	series  *store.Series
	top     *store.View[openorders.Top]
	values  *store.View[openorders.Values]
	tickers *store.View[tickers.View]
}

func newReader(log *store.Log, series *store.Series, views *store.Views, clock func() time.Time) *reader {
	return &reader{log: log, series: series, top: openorders.PublishedTop.Open(views, clock), values: openorders.OpenValues(views, clock), tickers: tickers.Published.Open(views, clock)}
}

// byAddress returns the newest orders of an account, or those before a cursor, each with its
// newest status. An order that came to it behind the cursor is on an earlier page.
func (r *reader) byAddress(ctx context.Context, in catalog.OrdersByAddressIn) ([]catalog.OrderWrapper, error) {
	after, forward, err := arrivalCursor(in.Cursor, channel.PageOrders, in.Address, in.Coin)
	if err != nil {
		return nil, err
	}
	if forward {
		return r.arrived(ctx, string(in.Address), string(in.Coin), after, int(in.Limit), orders.FilledName, orders.OtherName)
	}
	of, rows := orders.OfAccount(string(in.Address), string(in.Coin)), in.Cursor.Rows()
	list, err := newest(ctx, rows, orders.Before(ctx, r.log, of, api.Since(rows), int(in.Limit)), in.Limit)
	if err == nil && in.Cursor != "" {
		list, err = orders.Current(ctx, r.log, list)
	}
	if err == nil {
		err = orders.Resting(ctx, r.log, list)
	}
	return wrapped(list, err)
}

// filledByAddress returns the orders of an account that were filled last, or before a cursor.
func (r *reader) filledByAddress(ctx context.Context, in catalog.FilledOrdersByAddressIn) ([]catalog.OrderWrapper, error) {
	after, forward, err := arrivalCursor(in.Cursor, channel.PageFilledOrders, in.Address, in.Coin)
	if err != nil {
		return nil, err
	}
	if forward {
		return r.arrived(ctx, string(in.Address), string(in.Coin), after, int(in.Limit), orders.FilledName)
	}
	of, rows := orders.OfAccount(string(in.Address), string(in.Coin)), in.Cursor.Rows()
	return wrapped(newest(ctx, rows, orders.FilledBefore(ctx, r.log, of, api.Since(rows), int(in.Limit)+1), in.Limit))
}

// arrivalCursor reads a cursor of arrival of a page, see [api.ArrivalCursor].
func arrivalCursor(c catalog.EventCursor, list string, address catalog.Address, coin catalog.Coin) (after market.ArrivalCursor, forward bool, err error) {
	return api.ArrivalCursor(c, channel.Page(list, string(address), string(coin)), channel.FeedFilledOrders.EventsOf())
}

// arrived returns each status of an account's orders that arrived behind a cursor.
func (r *reader) arrived(ctx context.Context, address, coin string, after market.ArrivalCursor, limit int, names ...string) ([]catalog.OrderWrapper, error) {
	page, next, err := arrivals.Page(ctx, r.series, orders.OtherName, after, limit, func(from time.Time) iter.Seq2[market.OrderStatus, error] {
		return orders.From(ctx, r.log, names, address, coin, from)
	}, func(s *market.OrderStatus) (market.Arrival, int64) { return s.Arrived.At, s.Time })
	if err != nil {
		return nil, err
	}
	api.SetNextArrival(ctx, next.Text())
	return wrapped(page, nil)
}

// newest takes the first status of each order from a list of the newest statuses.
func newest(ctx context.Context, from catalog.Cursor, list iter.Seq2[market.OrderStatus, error], limit int64) (found []market.OrderStatus, err error) {
	seen := map[int64]bool{}
	err = api.Page(ctx, from, list, func(s *market.OrderStatus) int64 { return s.Time }, orders.LookThrough(int(limit)), func(s *market.OrderStatus) bool {
		if !seen[s.Oid] {
			seen[s.Oid], found = true, append(found, *s)
		}
		return int64(len(found)) == limit
	})
	return found, err
}

// byOid returns an order with its newest status, or null.
func (r *reader) byOid(ctx context.Context, in catalog.OrderByOidIn) (*catalog.OrderWrapper, error) {
	return first(wrapped(orders.Latest(ctx, r.log, orders.OfOrder(in.Oid), 1)))
}

// filledByOid returns an order that was filled, or null.
func (r *reader) filledByOid(ctx context.Context, in catalog.OrderByOidIn) (*catalog.OrderWrapper, error) {
	return first(wrapped(orders.Filled(ctx, r.log, orders.OfOrder(in.Oid), 1)))
}

func first(list []catalog.OrderWrapper, err error) (*catalog.OrderWrapper, error) {
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// wrapped returns orders in the shape of the endpoints.
func wrapped(list []market.OrderStatus, err error) ([]catalog.OrderWrapper, error) {
	if err != nil {
		return nil, err
	}
	shaped := make([]catalog.OrderWrapper, len(list))
	for i := range list {
		if shaped[i], err = wrap(&list[i]); err != nil {
			return nil, err
		}
	}
	return shaped, nil
}

func wrap(s *market.OrderStatus) (catalog.OrderWrapper, error) {
	children := []json.RawMessage{}
	if len(s.Children) > 0 {
		if err := json.Unmarshal(s.Children, &children); err != nil {
			return catalog.OrderWrapper{}, fmt.Errorf("children of order %d: %w", s.Oid, err)
		}
	}
	return catalog.OrderWrapper{
		Order: catalog.VenueOrder{
			Children: children, Cloid: catalog.OrNull(s.Cloid), Coin: s.Coin, IsPositionTpsl: s.IsPositionTpsl, IsTrigger: s.IsTrigger,
			LimitPx: s.LimitPx, Oid: s.Oid, OrderType: s.OrderType, OrigSz: s.OrigSz, ReduceOnly: s.ReduceOnly, Side: s.Side, Sz: s.Sz,
			Tif: catalog.OrNull(s.Tif), Timestamp: s.Timestamp, TriggerCondition: s.TriggerCondition, TriggerPx: s.TriggerPx,
		},
		Status: s.Status, StatusTimestamp: s.Time,
	}, nil
}
