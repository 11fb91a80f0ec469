package main

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/fills"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader holds what the handlers read.
type reader struct {
	log    *store.Log
	series *store.Series
}

// byAddress returns the newest fills of an account, oldest first.
func (r *reader) byAddress(ctx context.Context, in catalog.FillsByAddressIn) ([]catalog.Fill, error) {
	list, err := all(fills.Newest(ctx, r.log, string(in.Address), string(in.Coin), int(in.Limit)), fill)
	slices.Reverse(list)
	return list, err
}

// byOid returns all fills of an order in the order of execution, or null when
// there are none.
func (r *reader) byOid(ctx context.Context, in catalog.FillsByOidIn) (*[]catalog.Fill, error) {
	list, err := all(fills.ByOrder(ctx, r.log, in.Oid), fill)
	if len(list) == 0 {
		return nil, err
	}
	return &list, err
}

// byTwap returns all fills of a TWAP order in the order of execution.
func (r *reader) byTwap(ctx context.Context, in catalog.FillsByTwapIn) ([]catalog.TwapFill, error) {
	return all(fills.ByTwap(ctx, r.log, in.TwapID), func(f *market.Fill) catalog.TwapFill {
		return catalog.TwapFill{Coin: f.Coin, Side: f.Side.String(), Px: f.Px, Sz: f.Sz, Time: f.Time, TwapID: in.TwapID}
	})
}

// builderReach is how many of a builder's newest fills are looked through for
// those of a coin or of a value: what is asked for may be rare or absent, and a
// busy builder's log is long.
const builderReach = 20_000

// byBuilder returns the newest fills that a builder routed, newest first.
func (r *reader) byBuilder(ctx context.Context, in catalog.FillsByBuilderIn) ([]catalog.BuilderFill, error) {
	least, err := market.ParseDecimal(strconv.FormatInt(in.MinVal, 10))
	if err != nil {
		return nil, err
	}
	reach := int(in.Limit)
	if in.Coin != "" || in.MinVal > 0 {
		reach = builderReach
	}
	var list []catalog.BuilderFill
	for f, err := range fills.ByBuilder(ctx, r.log, string(in.Builder), reach) {
		if err != nil {
			return nil, err
		}
		if in.Coin != "" && f.Coin != string(in.Coin) || f.Notional().Cmp(least) < 0 {
			continue
		}
		if list = append(list, builderFill(&f)); int64(len(list)) == in.Limit {
			break
		}
	}
	return list, nil
}

// topTrades returns the largest fills of a coin in a window that ends now,
// largest first.
func (r *reader) topTrades(ctx context.Context, in catalog.TopTradesIn) ([]catalog.TopFill, error) {
	now := api.Now(ctx)
	top, err := topfills.Window(ctx, r.series, string(in.Coin), now.Add(-in.Interval.Duration()).UnixMilli(), now.UnixMilli(), int(in.Limit))
	if err != nil {
		return nil, err
	}
	list := make([]catalog.TopFill, len(top))
	for i, f := range top {
		list[i] = catalog.TopFill{
			Time: f.Time, Address: f.Address, Coin: f.Coin, Side: f.Side.String(), Oid: f.Oid, IsTaker: f.IsTaker,
			Px: f.Px, Sz: f.Sz, Val: market.Text(f.Val), EndPosition: market.Text(f.EndPosition),
		}
	}
	return list, nil
}

// all returns each fill of a sequence in the shape of an endpoint.
func all[T any](list iter.Seq2[market.Fill, error], shape func(*market.Fill) T) ([]T, error) {
	var shaped []T
	for f, err := range list {
		if err != nil {
			return nil, err
		}
		shaped = append(shaped, shape(&f))
	}
	return shaped, nil
}

func fill(f *market.Fill) catalog.Fill {
	return catalog.Fill{
		Cloid: catalog.OrNull(f.Cloid), ClosedPnl: f.ClosedPnl, Coin: f.Coin, Crossed: f.Crossed, Dir: f.Dir,
		Fee: f.Fee, FeeToken: f.FeeToken, Hash: f.Hash, Oid: f.Oid, Px: f.Px, Side: f.Side.String(),
		StartPosition: f.StartPosition, Sz: f.Sz, Tid: f.Tid, Time: f.Time, TwapID: f.TwapID,
	}
}

func builderFill(f *market.Fill) catalog.BuilderFill {
	return catalog.BuilderFill{
		Coin: f.Coin, Side: f.Side.String(), Px: f.Px, Sz: f.Sz, Time: f.Time, Hash: f.Hash, Oid: f.Oid,
		BuilderFee: catalog.OrNull(f.BuilderFee), Fee: f.Fee, FeeToken: f.FeeToken, Dir: f.Dir, Crossed: f.Crossed,
		ClosedPnl: f.ClosedPnl, StartPosition: f.StartPosition,
	}
}
