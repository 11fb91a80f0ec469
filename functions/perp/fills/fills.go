package main

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/arrivals"
	"quotary/shared/data/fills"
	"quotary/shared/data/topfills"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader holds what the handlers read.
type reader struct {
	log    *store.Log
	series *store.Series
}

// byAddress returns the newest fills of an account, or those before a cursor, oldest first; or
// what arrived behind the cursor of a frame.
func (r *reader) byAddress(ctx context.Context, in catalog.FillsByAddressIn) ([]catalog.Fill, error) {
	page := channel.Page(channel.PageFills, string(in.Address), string(in.Coin))
	after, forward, err := api.ArrivalCursor(in.Cursor, page, channel.FeedFills.EventsOf(), (&channel.Subscription{Type: channel.UserFills, User: string(in.Address)}).EventsOf())
	if err != nil {
		return nil, err
	}
	if forward {
		return r.arrived(ctx, &in, after)
	}
	list := []catalog.Fill{}
	rows := in.Cursor.Rows()
	newest := fills.Before(ctx, r.log, string(in.Address), string(in.Coin), api.Since(rows), int(in.Limit)+1)
	err = read(ctx, rows, newest, func(f *market.Fill) bool {
		list = append(list, fill(f))
		return int64(len(list)) == in.Limit
	})
	slices.Reverse(list)
	return list, err
}

// arrived returns the fills of an account that arrived behind a cursor.
func (r *reader) arrived(ctx context.Context, in *catalog.FillsByAddressIn, after market.ArrivalCursor) ([]catalog.Fill, error) {
	page, next, err := arrivals.Page(ctx, r.series, fills.Name, after, int(in.Limit), func(from time.Time) iter.Seq2[market.Fill, error] {
		return fills.From(ctx, r.log, string(in.Address), string(in.Coin), from)
	}, func(f *market.Fill) (market.Arrival, int64) { return f.Arrived.At, f.Time })
	if err != nil {
		return nil, err
	}
	list := make([]catalog.Fill, len(page))
	for i := range page {
		list[i] = fill(&page[i])
	}
	api.SetNextArrival(ctx, next.Text())
	return list, nil
}

// byOid returns the fills of an order in the order of execution, nil where there is none.
func (r *reader) byOid(ctx context.Context, in catalog.FillsByOidIn) (*[]catalog.Fill, error) {
	list := []catalog.Fill{}
	err := read(ctx, in.Cursor, fills.ByOrder(ctx, r.log, in.Oid, api.Since(in.Cursor)), func(f *market.Fill) bool {
		list = append(list, fill(f))
		return false
	})
	if err != nil || len(list) == 0 && in.Cursor == "" {
		return nil, err
	}
	return &list, nil
}

// byTwap returns the fills of a TWAP order in the order of execution.
func (r *reader) byTwap(ctx context.Context, in catalog.FillsByTwapIn) (list []catalog.TwapFill, err error) {
	err = read(ctx, in.Cursor, fills.ByTwap(ctx, r.log, in.TwapID, api.Since(in.Cursor)), func(f *market.Fill) bool {
		list = append(list, catalog.TwapFill{Coin: f.Coin, Side: f.Side.String(), Px: f.Px, Sz: f.Sz, Time: f.Time, TwapID: in.TwapID})
		return false
	})
	return list, err
}

// byBuilder returns the newest fills that a builder routed, newest first: those of a
// coin or of a value may be rare among them.
func (r *reader) byBuilder(ctx context.Context, in catalog.FillsByBuilderIn) (list []catalog.BuilderFill, err error) {
	least, err := market.ParseDecimal(strconv.FormatInt(in.MinVal, 10))
	if err != nil {
		return nil, err
	}
	expect := int(in.Limit)
	if in.Coin != "" || in.MinVal > 0 {
		expect = readAtMost
	}
	err = read(ctx, in.Cursor, fills.ByBuilder(ctx, r.log, string(in.Builder), api.Since(in.Cursor), expect), func(f *market.Fill) bool {
		if (in.Coin == "" || f.Coin == string(in.Coin)) && f.Notional().Cmp(least) >= 0 {
			list = append(list, builderFill(f))
		}
		return int64(len(list)) == in.Limit
	})
	return list, err
}

// readAtMost is how many fills one request reads of an order, a TWAP or a builder, of
// which there may be any number: ten pages, and well below what an answer may hold.
const readAtMost = 10_000

// read gives the fills of a page to take, of at most readAtMost fills.
func read(ctx context.Context, from catalog.Cursor, list iter.Seq2[market.Fill, error], take func(*market.Fill) (enough bool)) error {
	return api.Page(ctx, from, list, func(f *market.Fill) int64 { return f.Time }, readAtMost, take)
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

func fill(f *market.Fill) catalog.Fill {
	return catalog.Fill{
		Cloid: catalog.OrNull(f.Cloid), ClosedPnl: catalog.Unless(f.Provisional, f.ClosedPnl), Coin: f.Coin, Crossed: f.Crossed, Dir: catalog.Unless(f.Provisional, f.Dir),
		Fee: catalog.Unless(f.Provisional, f.Fee), FeeToken: catalog.Unless(f.Provisional, f.FeeToken), Hash: f.Hash, Oid: catalog.Unless(f.Provisional, f.Oid), Provisional: f.Provisional,
		Px: f.Px, Side: f.Side.String(), StartPosition: catalog.Unless(f.Provisional, f.StartPosition), Sz: f.Sz, Tid: f.Tid, Time: f.Time, TwapID: f.TwapID,
	}
}

func builderFill(f *market.Fill) catalog.BuilderFill {
	return catalog.BuilderFill{
		Coin: f.Coin, Side: f.Side.String(), Px: f.Px, Sz: f.Sz, Time: f.Time, Hash: f.Hash, Oid: f.Oid,
		BuilderFee: catalog.OrNull(f.BuilderFee), Fee: f.Fee, FeeToken: f.FeeToken, Dir: f.Dir, Crossed: f.Crossed,
		ClosedPnl: f.ClosedPnl, StartPosition: f.StartPosition,
	}
}
