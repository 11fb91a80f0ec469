package main

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue"
)

// ratioPlaces are the decimal places of an impact.
const ratioPlaces = 6

// impact is what is expected of a TWAP that runs.
type impact struct {
	*market.TwapStatus
	market.ExpectedTwap
	valued bool            // the price is known: else the values are of no meaning
	market *market.Decimal // what its market trades a minute, USD; nil where it is not known
	ratio  *market.Decimal // of its rate to that; nil where either is not known
}

// prices are what TWAPs are valued by.
type prices struct {
	venue.Figures
	markets *market.Markets
}

// marketRate is what the market of a coin trades a minute, USD; nil where it is not known.
func (p *prices) marketRate(coin string) *market.Decimal {
	day, ok := p.Day[coin]
	if !ok {
		return nil
	}
	if day, ok = p.markets.QuoteUsd(coin, day, p.Marks); !ok {
		return nil
	}
	return new(market.RatePerMinute(day))
}

// allMarkets is what all markets trade a minute, USD; nil where none is known.
func (p *prices) allMarkets() *market.Decimal {
	var sum *market.Decimal
	for coin := range p.Day {
		if rate := p.marketRate(coin); rate != nil {
			if sum == nil {
				sum = new(market.Decimal)
			}
			*sum = sum.Add(*rate)
		}
	}
	return sum
}

// impacts are the TWAPs of a coin, or of all for "", that still run now, with what is expected
// of them within a horizon.
func (t *twapOrders) impacts(ctx context.Context, coin, horizon string) (list []impact, p prices, err error) {
	running, err := t.running.Get(ctx)
	if err != nil {
		return nil, p, err
	}
	if p.Figures, err = store.OrZero(t.figures.Get(ctx)); err != nil {
		return nil, p, err
	}
	if p.markets, err = store.OrZero(t.markets.Get(ctx)); err != nil {
		return nil, p, err
	}
	now := api.Now(ctx).UnixMilli()
	for i := range running.Twaps {
		s := &running.Twaps[i]
		minutes := s.RemainMinutes(now)
		if minutes == 0 || coin != "" && coin != s.Coin {
			continue
		}
		one := impact{TwapStatus: s, market: p.marketRate(s.Coin)}
		one.RemainMinutes = minutes
		if worth, ok := p.markets.Value(s.Coin, s.Remaining(), p.Marks); ok {
			one.valued, one.ExpectedTwap = true, market.Expect(worth, minutes, catalog.TwapHorizons[horizon])
			one.ratio = ratioOf(one.RateVal, one.market)
		}
		list = append(list, one)
	}
	return list, p, nil
}

// ratioOf is a rate in parts of that of the market; nil where that is not known.
func ratioOf(rate market.Decimal, of *market.Decimal) *market.Decimal {
	if of == nil {
		return nil
	}
	ratio, err := rate.Div(*of)
	if err != nil {
		return nil // it trades nothing
	}
	return &ratio
}

// wall sums up what the TWAPs that run will trade.
func (t *twapOrders) wall(ctx context.Context, in catalog.TwapExecutionWallIn) (w catalog.TwapWall, err error) {
	list, p, err := t.impacts(ctx, string(in.Coin), in.Horizon)
	if err != nil {
		return w, err
	}
	of := p.marketRate(string(in.Coin))
	if in.Coin == "" {
		of = p.allMarkets()
	}
	w = catalog.TwapWall{Horizon: in.Horizon, HorizonMinutes: catalog.TwapHorizons[in.Horizon], MarketValPerMin: text(of), TwapCount: int64(len(list)), TopContributors: []catalog.TwapImpact{}}
	var val, rate [2]market.Decimal // to buy, to sell
	known := len(list) == 0
	for i := range list {
		if one := &list[i]; one.valued {
			side := 0
			if one.Side == market.Sell {
				side = 1
			}
			known, val[side], rate[side] = true, val[side].Add(one.Val), rate[side].Add(one.RateVal)
		}
	}
	if known {
		w.ExpectedVal, w.BuyExpectedVal, w.SellExpectedVal, w.NetExpectedVal = sums(val)
		w.RateValPerMin, w.BuyRateVal, w.SellRateVal, w.NetRateVal = sums(rate)
		w.ImpactRatio = number(ratioOf(rate[0].Add(rate[1]), of))
	}
	slices.SortStableFunc(list, func(a, b impact) int { return descending(a.value(), b.value()) })
	for i := range list[:min(len(list), int(in.TopContributors))] {
		w.TopContributors = append(w.TopContributors, list[i].row())
	}
	return w, nil
}

// sums are the texts of all, of what is to buy and to sell, and of the difference.
func sums(of [2]market.Decimal) (all, buy, sell, net *string) {
	return new(market.Text(of[0].Add(of[1]))), new(market.Text(of[0])), new(market.Text(of[1])), new(market.Text(of[0].Sub(of[1])))
}

// topImpact returns the TWAPs that run of the largest ratio, those of which it is not known last.
func (t *twapOrders) topImpact(ctx context.Context, in catalog.TwapTopImpactIn) ([]catalog.TwapImpact, error) {
	list, _, err := t.impacts(ctx, string(in.Coin), in.Horizon)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b impact) int { return cmp.Or(descending(a.ratio, b.ratio), descending(a.value(), b.value())) })
	rows := []catalog.TwapImpact{}
	for i := range list[:min(len(list), int(in.Limit))] {
		rows = append(rows, list[i].row())
	}
	return rows, nil
}

// value is the expected value, nil where it is not known.
func (i *impact) value() *market.Decimal {
	if !i.valued {
		return nil
	}
	return &i.Val
}

// descending orders figures, the largest first and those that are not known last.
func descending(a, b *market.Decimal) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return b.Cmp(*a)
}

func (i *impact) row() catalog.TwapImpact {
	side := "buy"
	if i.Side == market.Sell {
		side = "sell"
	}
	return catalog.TwapImpact{
		TwapID: *i.TwapID, Address: i.Address, Coin: i.Coin, Side: side, RemainMinutes: i.RemainMinutes, MarketValPerMin: text(i.market), ImpactRatio: number(i.ratio),
		ExpectedVal: market.TextOrNull(i.valued, i.Val), RemainVal: market.TextOrNull(i.valued, i.RemainVal), RateValPerMin: market.TextOrNull(i.valued, i.RateVal),
	}
}

func text(d *market.Decimal) *string {
	if d == nil {
		return nil
	}
	return new(market.Text(*d))
}

func number(d *market.Decimal) *json.Number {
	if d == nil {
		return nil
	}
	return new(json.Number(d.RoundHAZ(ratioPlaces).String()))
}
