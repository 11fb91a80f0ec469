package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// fills holds what the handlers read.
type fills struct {
	log    *store.Log
	series *store.Series
}

// byAddress returns the newest fills of an account, oldest first.
func (f *fills) byAddress(ctx context.Context, in catalog.FillsByAddressIn) ([]catalog.Fill, error) {
	q := store.Query{Subject: string(in.Address), Newest: true, PageSize: pageFor(in.Limit)}
	if in.Coin != "" {
		q.Subject, q.Index = string(in.Address)+"/"+string(in.Coin), store.A
	}
	list, err := read[catalog.Fill](ctx, f.log, q, in.Limit)
	slices.Reverse(list)
	return list, err
}

// byOid returns all fills of an order in the order of execution, or null when
// there are none.
func (f *fills) byOid(ctx context.Context, in catalog.FillsByOidIn) (*[]catalog.Fill, error) {
	q := store.Query{Subject: strconv.FormatInt(in.Oid, 10), Index: store.B, PageSize: maxPage}
	list, err := read[catalog.Fill](ctx, f.log, q, 0)
	if len(list) == 0 {
		return nil, err
	}
	return &list, err
}

// byTwap returns all fills of a TWAP order in the order of execution.
func (f *fills) byTwap(ctx context.Context, in catalog.FillsByTwapIn) ([]catalog.TwapFill, error) {
	q := store.Query{Subject: strconv.FormatInt(in.TwapID, 10), Index: store.C, PageSize: maxPage}
	return read[catalog.TwapFill](ctx, f.log, q, 0)
}

// builderReach is how many of a builder's newest fills are looked through for
// those of a coin or of a value: what is asked for may be rare or absent, and a
// busy builder's log is long.
const builderReach = 20_000

// byBuilder returns the newest fills that a builder routed, newest first.
func (f *fills) byBuilder(ctx context.Context, in catalog.FillsByBuilderIn) ([]catalog.BuilderFill, error) {
	q := store.Query{Dataset: store.FillDataset, Subject: string(in.Builder), Index: store.D, Newest: true, PageSize: pageFor(in.Limit)}
	if in.Coin != "" || in.MinVal > 0 {
		q.PageSize = maxPage
	}
	least, err := market.ParseDecimal(strconv.FormatInt(in.MinVal, 10))
	if err != nil {
		return nil, err
	}
	var list []catalog.BuilderFill
	seen := 0
	for row, err := range f.log.Rows(ctx, q) {
		if err != nil {
			return nil, err
		}
		fill, err := decode[catalog.BuilderFill](row)
		if err != nil {
			return nil, err
		}
		wanted, err := selects(&fill, in.Coin, least)
		if err != nil {
			return nil, fmt.Errorf("fill %s of %s: %w", row.ID, row.Subject, err)
		}
		if wanted {
			list = append(list, fill)
		}
		if seen++; int64(len(list)) == in.Limit || seen == builderReach {
			break
		}
	}
	return list, nil
}

// selects tells whether a fill is of the coin, if one is asked for, and worth
// at least so much.
func selects(fill *catalog.BuilderFill, coin catalog.Coin, least market.Decimal) (bool, error) {
	if coin != "" && fill.Coin != string(coin) {
		return false, nil
	}
	if least.IsZero() {
		return true, nil
	}
	px, err := market.ParseDecimal(fill.Px)
	if err != nil {
		return false, fmt.Errorf("px %w", err)
	}
	sz, err := market.ParseDecimal(fill.Sz)
	if err != nil {
		return false, fmt.Errorf("sz %w", err)
	}
	return market.Notional(px, sz).Cmp(least) >= 0, nil
}

// maxPage is how many fills one request to the log reads at most: about half of
// the megabyte that DynamoDB puts into a page.
const maxPage = 1000

// pageFor is one more than is asked for: the last millisecond of a page is
// known to be whole only when the page goes beyond it.
func pageFor(limit int64) int { return int(min(limit+1, maxPage)) }

// read returns the first limit fills of a query, or all when limit is 0.
func read[T any](ctx context.Context, log *store.Log, q store.Query, limit int64) ([]T, error) {
	q.Dataset = store.FillDataset
	var list []T
	for row, err := range log.Rows(ctx, q) {
		if err != nil {
			return nil, err
		}
		fill, err := decode[T](row)
		if err != nil {
			return nil, err
		}
		if list = append(list, fill); int64(len(list)) == limit {
			break
		}
	}
	return list, nil
}

// decode reads those members of a stored fill that T has.
func decode[T any](row store.Row) (fill T, err error) {
	if err := json.Unmarshal(row.Body, &fill); err != nil {
		return fill, fmt.Errorf("read fill %s of %s: %w", row.ID, row.Subject, err)
	}
	return fill, nil
}
