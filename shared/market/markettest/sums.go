package markettest

import (
	"maps"
	"slices"

	"github.com/quagmt/udecimal"
	"pgregory.net/rapid"

	"quotary/shared/market"
)

// Sum is what plain loops over all events come to.
func (d *Deeds) Sum(t rapid.TB) (f market.Facts) {
	t.Helper()
	orders := map[*market.Distinct]map[any]bool{}
	once := func(of *market.Distinct, what any) {
		if orders[of] == nil {
			orders[of] = map[any]bool{}
		}
		orders[of][what] = true
	}
	coins, via := map[string]bool{}, map[string][]market.Fill{}
	for i := range d.Fills {
		one := &d.Fills[i]
		value, pnl := one.Notional(), decimal(t, one.ClosedPnl)
		if e, ok := market.LiquidationOf(one); ok {
			of := &f.LiquidatedShort
			if e.Long {
				of = &f.LiquidatedLong
			}
			of.Value, of.Pnl = of.Value.Add(value), of.Pnl.Add(pnl)
			once(&of.Orders, one.Oid)
		}
		if one.Tid == 0 {
			continue
		}
		of := &f.Spot
		if !market.IsSpot(one.Coin) {
			of = &f.Perp
			coins[one.Coin] = true
		}
		side := &of.Maker
		if one.Crossed {
			side = &of.Taker
		}
		side.Count, side.Value, side.Fee = side.Count+1, side.Value.Add(value), side.Fee.Add(paid(t, one))
		once(&of.Orders, one.Oid)
		if one.Builder != "" {
			via[one.Builder] = append(via[one.Builder], *one)
		}
	}
	for _, builder := range slices.Sorted(maps.Keys(via)) {
		id, _ := market.ParseAccount(builder)
		f.Builders = append(f.Builders, market.BuilderFacts{Builder: id, RoutedFacts: routed(t, via[builder])})
	}
	f.Coins = slices.Sorted(maps.Keys(coins))
	f.Routed = routed(t, d.Routed)
	for of, things := range orders {
		of.First = int64(len(things))
	}
	for _, one := range d.Placed {
		f.Placed = taken(f.Placed, one.Timestamp)
	}
	for _, one := range d.Orders {
		if one.Status == "filled" {
			f.Filled = taken(f.Filled, one.Time)
		}
	}
	for _, one := range d.Flows {
		if !one.Perp.IsZero() || !one.Spot.IsZero() {
			f.Flows.Count, f.Flows.Perp, f.Flows.Spot = f.Flows.Count+1, f.Flows.Perp.Add(one.Perp), f.Flows.Spot.Add(one.Spot)
		}
	}
	f.Closed = closed(d.Trades)
	return f
}

// routed is what a plain loop over the fills of one builder comes to.
func routed(t rapid.TB, fills []market.Fill) (r market.RoutedFacts) {
	t.Helper()
	traders, orders := map[string]bool{}, map[[2]any]bool{}
	for i := range fills {
		one := &fills[i]
		if one.Tid == 0 {
			continue
		}
		r.Value, r.Fee = r.Value.Add(one.Notional()), r.Fee.Add(paid(t, one))
		if one.BuilderFee != "" {
			r.BuilderFee = r.BuilderFee.Add(decimal(t, one.BuilderFee))
		}
		traders[one.Address], orders[[2]any{one.Address, one.Oid}] = true, true
	}
	r.Traders.First, r.Orders.First = int64(len(traders)), int64(len(orders))
	return r
}

func paid(t rapid.TB, f *market.Fill) market.Decimal {
	t.Helper()
	if fee := decimal(t, f.Fee); f.FeeToken == "USDC" || f.Side == market.Sell || market.KindOf(f.Coin) != market.SpotPair {
		return fee
	}
	return decimal(t, f.Fee).Mul(decimal(t, f.Px))
}

func taken(o market.OrderTimes, ms int64) market.OrderTimes {
	if o.Count == 0 {
		return market.OrderTimes{Count: 1, First: ms, Last: ms}
	}
	return market.OrderTimes{Count: o.Count + 1, First: min(o.First, ms), Last: max(o.Last, ms)}
}

// closed is what a plain loop over trades comes to.
func closed(trades []market.CompletedTrade) (p market.PositionFacts) {
	less := func(a, b market.Decimal) int { return a.Cmp(b) }
	var pnls, rates []market.Decimal
	var durations []int64
	for i := range trades {
		one := &trades[i]
		side := &p.Short
		if one.Long {
			side = &p.Long
		}
		side.Count++
		if one.Pnl.Sign() > 0 {
			side.Wins, side.Won = side.Wins+1, side.Won.Add(one.Pnl)
		}
		if one.Pnl.Sign() < 0 {
			side.Losses, side.Lost = side.Losses+1, side.Lost.Add(one.Pnl)
		}
		pnls, durations = append(pnls, one.Pnl), append(durations, one.End-one.Start)
		p.Duration += one.End - one.Start
		p.OpenOrders, p.CloseOrders = p.OpenOrders+one.OpenOrders, p.CloseOrders+one.CloseOrders
		p.Funding, p.Value = p.Funding.Add(one.Funding), p.Value.Add(one.MaxValue)
		if one.Leverage > 0 {
			p.Levered, p.Leverage, p.MarginPnl = p.Levered+1, p.Leverage+one.Leverage, p.MarginPnl.Add(one.Pnl)
			p.Margin = p.Margin.Add(one.MaxValue.MustDiv(market.DecimalFromInt(one.Leverage)).RoundHAZ(8))
		}
		if !one.MaxValue.IsZero() {
			rate := one.Pnl.MustDiv(one.MaxValue).RoundHAZ(6)
			rates = append(rates, rate)
			p.Rates, p.Squares = p.Rates.Add(rate), p.Squares.Add(rate.Mul(rate))
		}
	}
	if p.Rated = int64(len(rates)); p.Rated > 0 {
		p.MaxRate, p.MinRate = slices.MaxFunc(rates, less), slices.MinFunc(rates, less)
	}
	if len(trades) > 0 {
		p.MaxPnl, p.MinPnl = slices.MaxFunc(pnls, less), slices.MinFunc(pnls, less)
		p.MaxDuration, p.MinDuration = slices.Max(durations), slices.Min(durations)
	}
	return p
}

func decimal(t rapid.TB, text string) market.Decimal {
	t.Helper()
	d, err := udecimal.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
