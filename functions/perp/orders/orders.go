package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"quotary/shared/catalog"
	"quotary/shared/store"
	"quotary/shared/store/orders"
)

// book answers what became of orders.
type book struct {
	log *store.Log
}

// byAddress returns the newest orders of an account, each as it stands.
func (b *book) byAddress(ctx context.Context, in catalog.OrdersByAddressIn) ([]catalog.OrderWrapper, error) {
	rows, err := orders.Latest(ctx, b.log, ofAccount(in.Address, in.Coin), int(in.Limit))
	if err != nil {
		return nil, err
	}
	return decodeAll(rows)
}

// filledByAddress returns the orders of an account that were filled last.
func (b *book) filledByAddress(ctx context.Context, in catalog.FilledOrdersByAddressIn) ([]catalog.OrderWrapper, error) {
	rows, err := orders.Filled(ctx, b.log, ofAccount(in.Address, in.Coin), int(in.Limit))
	if err != nil {
		return nil, err
	}
	return decodeAll(rows)
}

// byOid returns an order as it stands, or null.
func (b *book) byOid(ctx context.Context, in catalog.OrderByOidIn) (*catalog.OrderWrapper, error) {
	rows, err := orders.Latest(ctx, b.log, ofOid(in.Oid), 1)
	return newest(rows, err)
}

// filledByOid returns an order that was filled, or null.
func (b *book) filledByOid(ctx context.Context, in catalog.OrderByOidIn) (*catalog.OrderWrapper, error) {
	rows, err := orders.Filled(ctx, b.log, ofOid(in.Oid), 1)
	return newest(rows, err)
}

func ofAccount(address catalog.Address, coin catalog.Coin) orders.Of {
	if coin == "" {
		return orders.Of{Subject: string(address), Index: store.Main}
	}
	return orders.Of{Subject: string(address) + "/" + string(coin), Index: store.A}
}

func ofOid(oid int64) orders.Of {
	return orders.Of{Subject: strconv.FormatInt(oid, 10), Index: store.B}
}

func newest(rows []store.Row, err error) (*catalog.OrderWrapper, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	order, err := decode(rows[0])
	return &order, err
}

func decodeAll(rows []store.Row) ([]catalog.OrderWrapper, error) {
	list := make([]catalog.OrderWrapper, len(rows))
	for i, row := range rows {
		var err error
		if list[i], err = decode(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func decode(row store.Row) (order catalog.OrderWrapper, err error) {
	if err := json.Unmarshal(row.Body, &order); err != nil {
		return order, fmt.Errorf("read order %s of %s: %w", row.ID, row.Subject, err)
	}
	return order, nil
}
