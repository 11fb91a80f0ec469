package main

import (
	"context"
	"encoding/json"
	"iter"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/fills"
	"quotary/shared/data/meta"
	"quotary/shared/market"
	"quotary/shared/store"
)

const (
	// maxFills is how many fills one answer holds.
	maxFills = 2000

	// twapDepth is in how many of the newest fills of an account those of its TWAPs are looked
	// for, which have no index of their own.
	twapDepth = 10_000
)

// userFills returns the newest fills of an account, newest first.
func (i *info) userFills(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	return i.listFills(ctx, fills.Newest(ctx, i.log, string(*in.User), "", 0), in.AggregateByTime, true)
}

// userFillsByTime returns the fills of an account between startTime and endTime
// (both inclusive), oldest first; of more than fit into an answer the oldest,
// so that the next question begins where this answer ends.
func (i *info) userFillsByTime(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	return i.listFills(ctx, fills.Window(ctx, i.log, string(*in.User), in.StartTime.Time(), in.EndTime.Time()), in.AggregateByTime, false)
}

// twapFills returns the newest fills that the TWAPs of an account have made, newest first.
func (i *info) twapFills(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	list := []catalog.InfoTwapFill{}
	for f, err := range fills.Confirmed(fills.Newest(ctx, i.log, string(*in.User), "", 0), twapDepth) {
		if err != nil {
			return nil, err
		}
		if f.TwapID == nil {
			continue
		}
		id := *f.TwapID
		if list = append(list, catalog.InfoTwapFill{Fill: infoFill(&f), TwapID: id}); len(list) == maxFills {
			break
		}
	}
	return api.Encode(list)
}

// listFills lists up to maxFills fills, and combines those of one crossing order
// when asked to; the order at the end is then read to its end. newest means that
// the newest fill comes first.
func (i *info) listFills(ctx context.Context, stored iter.Seq2[market.Fill, error], combine, newest bool) (json.RawMessage, error) {
	var markets meta.View
	places := map[string]uint8{} // of prices, by coin
	if combine {
		var err error
		if markets, err = store.OrZero(i.meta.Get(ctx)); err != nil {
			return nil, err
		}
	}
	list := []catalog.InfoFill{} // [] on the wire when empty
	var last market.Combined
	n := 0
	for f, err := range stored {
		if err != nil {
			return nil, err
		}
		if combine && n > 0 && !f.Provisional && last.Takes(&f) {
			if err := last.Add(&f, newest); err != nil {
				return nil, err
			}
			list[len(list)-1] = infoFill(last.Fill())
			n++
			continue
		}
		if n >= maxFills {
			break
		}
		n++
		list = append(list, infoFill(&f))
		last = market.Combined{}
		if combine && !f.Provisional { // whose orders are known
			if _, known := places[f.Coin]; !known {
				places[f.Coin] = markets.PricePlaces(f.Coin)
			}
			last = market.Combine(&f, places[f.Coin])
		}
	}
	return api.Encode(list)
}

func infoFill(f *market.Fill) catalog.InfoFill {
	shaped := catalog.InfoFill{
		Coin: f.Coin, Px: f.Px, Sz: f.Sz, Side: f.Side.String(), Time: f.Time, StartPosition: catalog.Unless(f.Provisional, f.StartPosition), Dir: catalog.Unless(f.Provisional, f.Dir),
		ClosedPnl: catalog.Unless(f.Provisional, f.ClosedPnl), Hash: f.Hash, Oid: catalog.Unless(f.Provisional, f.Oid), Crossed: f.Crossed, Fee: catalog.Unless(f.Provisional, f.Fee), BuilderFee: catalog.OrNull(f.BuilderFee),
		Tid: f.Tid, Cloid: catalog.OrNull(f.Cloid), FeeToken: catalog.Unless(f.Provisional, f.FeeToken), TwapID: f.TwapID,
	}
	if l := f.Liquidation; l != nil {
		shaped.Liquidation = &catalog.InfoLiquidation{LiquidatedUser: l.LiquidatedUser, MarkPx: l.MarkPx, Method: l.Method}
	}
	return shaped
}
