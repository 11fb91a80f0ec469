package main

import (
	"context"
	"encoding/json"

	"github.com/quagmt/udecimal"

	"quotary/shared/catalog"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/store"
)

// distPlaces is the decimal places of a distance.
const distPlaces = 4

// topOpen returns the largest orders that rest in the books.
func (r *reader) topOpen(ctx context.Context, in catalog.TopOpenOrdersIn) ([]catalog.TopOpenOrder, error) {
	v, err := r.top.Get(ctx)
	if err != nil {
		return nil, err
	}
	orders, err := v.Orders(string(in.Coin))
	if err != nil {
		return nil, err
	}
	last, err := store.OrZero(r.tickers.Get(ctx))
	if err != nil {
		return nil, err
	}
	list := []catalog.TopOpenOrder{}
	for i := range orders {
		o := &orders[i]
		val := o.Value()
		if len(list) == int(in.Limit) || val.LessThan(in.MinVal.Decimal) {
			break // the largest come first
		}
		list = append(list, catalog.TopOpenOrder{Time: o.Placed, Address: o.Address(), Oid: o.Oid, Coin: o.Coin, Side: o.Side.String(),
			Sz: market.Text(o.Sz.Decimal()), OrigSz: market.Text(o.OrigSz.Decimal()), LimitPx: market.Text(o.Px.Decimal()), Val: market.Text(val),
			ReduceOnly: o.ReduceOnly, Tif: catalog.OrNull(o.Tif)})
		if t, ok := last.Lookup(o.Coin); ok {
			if list[len(list)-1].DistPct, err = distance(o.Px.Decimal(), t.Price); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

var hundred = udecimal.MustFromInt64(100, 0)

// distance is how far a price is from the last one, percent; nil where that is 0.
func distance(px market.Decimal, last string) (*json.Number, error) {
	from, err := market.ParseStored(last)
	if err != nil {
		return nil, err
	}
	part, err := px.Sub(from).Mul(hundred).Div(from)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // nothing is any percent of nothing
	}
	pct := json.Number(part.RoundHAZ(distPlaces).String())
	return &pct, nil
}

// active counts and sums up the orders that rest in the books.
func (r *reader) active(ctx context.Context, in catalog.ActiveOrdersIn) (stats catalog.ActiveOrderStats, err error) {
	v, err := r.values.Get(ctx)
	if err != nil {
		return stats, err
	}
	coins := v.Coins
	if in.Coin != "" {
		coins = map[string]openorders.CoinValues{"": v.Coins[string(in.Coin)]}
	}
	var bids, asks, whaleBids, whaleAsks side
	for _, c := range coins {
		bids.add(c.Bids.Count(), c.Bids.Sum)
		asks.add(c.Asks.Count(), c.Asks.Sum)
		whaleBids.add(c.Bids.AtLeast(in.WhaleThreshold.Decimal))
		whaleAsks.add(c.Asks.AtLeast(in.WhaleThreshold.Decimal))
	}
	return catalog.ActiveOrderStats{
		TotalCount: bids.count + asks.count, BidCount: bids.count, AskCount: asks.count,
		BidValue: market.Text(bids.value), AskValue: market.Text(asks.value), BidValueRatio: share(bids, asks),
		WhaleBidCount: whaleBids.count, WhaleAskCount: whaleAsks.count,
		WhaleBidValue: market.Text(whaleBids.value), WhaleAskValue: market.Text(whaleAsks.value), WhaleBidValueRatio: share(whaleBids, whaleAsks),
	}, nil
}

// side sums up orders.
type side struct {
	count int64
	value market.Decimal
}

func (s *side) add(count int64, value market.Decimal) {
	s.count, s.value = s.count+count, s.value.Add(value)
}

func share(bids, asks side) json.Number {
	return json.Number(market.Share(bids.value, asks.value).String())
}
