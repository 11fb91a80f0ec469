package market_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

// hours are times within nine of them.
var hours = rapid.Int64Range(noon, noon+9*hour)

// factsOf are what plain loops over all events come to.
func factsOf(t *rapid.T, d *markettest.Deeds) (f market.Facts) {
	orders := map[*market.Distinct]map[any]bool{}
	once := func(of *market.Distinct, what any) {
		if orders[of] == nil {
			orders[of] = map[any]bool{}
		}
		orders[of][what] = true
	}
	coins := map[string]bool{}
	for i := range d.Fills {
		one := &d.Fills[i]
		value, pnl := one.Notional(), dec(t, one.ClosedPnl)
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
	}
	f.Coins = slices.Sorted(maps.Keys(coins))
	for i := range d.Routed {
		one := &d.Routed[i]
		if one.Tid == 0 {
			continue
		}
		r := &f.Routed
		r.Value, r.Fee = r.Value.Add(one.Notional()), r.Fee.Add(paid(t, one))
		if one.BuilderFee != "" {
			r.BuilderFee = r.BuilderFee.Add(dec(t, one.BuilderFee))
		}
		once(&r.Traders, one.Address)
		once(&r.Orders, [2]any{one.Address, one.Oid})
	}
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

func paid(t *rapid.T, f *market.Fill) market.Decimal {
	if fee := dec(t, f.Fee); f.FeeToken == "USDC" || f.Side == market.Sell || f.Coin == "BTC" || f.Coin == "xyz:GOLD" {
		return fee
	}
	return dec(t, f.Fee).Mul(dec(t, f.Px))
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

var sameFacts = cmp.Options{equalDecimals, cmpopts.EquateEmpty()}

// An hour is merged with the days and weeks that it is a part of, in whatever order.
func TestEveryWindowIsWhatALoopOverItsEventsSumsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := markettest.DidAtMost(12, hours).Draw(t, "deeds")
		edges := rapid.Int64Range(0, 10)
		from := noon + edges.Draw(t, "from")*hour
		to := noon + edges.Draw(t, "to")*hour
		if rapid.Bool().Draw(t, "of all time") {
			from, to = 0, noon+day
		}
		part := d.Within(from, to)
		want := factsOf(t, &part)
		h := d.Facts()
		if diff := cmp.Diff(want, h.Within(from, to).Did, sameFacts); diff != "" {
			t.Fatalf("by hours (-want +got):\n%s", diff)
		}
		w := market.Window{From: from}
		days := map[int64]*market.Facts{} // of some hours each
		width := rapid.Int64Range(1, 5).Draw(t, "hours a part")
		for at, f := range h {
			if at >= from && at < to {
				n := (at - max(from, noon)) / (width * hour)
				if days[n] == nil {
					days[n] = new(market.Facts)
				}
				days[n].Merge(f)
			}
		}
		for _, part := range days {
			w.Add(part)
		}
		if diff := cmp.Diff(want, w.Did, sameFacts); diff != "" {
			t.Fatalf("by parts of %d hours (-want +got):\n%s", width, diff)
		}
	})
}

// What comes late changes what was counted of later hours.
func TestEventsAddUpToTheSameInWhateverOrderAndGroupsTheyCome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := markettest.DidAtMost(8, hours).Draw(t, "deeds")
		events := d.Each()
		want := d.Facts()
		shuffled := rapid.Permutation(events).Draw(t, "order")
		s := markettest.NewSeen()
		parts := make([]market.FactsByHour, rapid.IntRange(1, 4).Draw(t, "parts"))
		for i := range parts {
			parts[i] = market.FactsByHour{}
		}
		for _, event := range shuffled {
			event(parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")], s)
		}
		got := market.FactsByHour{}
		for _, part := range rapid.Permutation(parts).Draw(t, "order of the parts") {
			before := copied(part)
			got.Merge(part)
			if diff := cmp.Diff(before, part, sameFacts); diff != "" {
				t.Fatalf("merging has changed what was merged:\n%s", diff)
			}
		}
		clean(got)
		if diff := cmp.Diff(want, got, sameFacts); diff != "" {
			t.Fatalf("(-in order +shuffled):\n%s", diff)
		}
		kept := copied(got)
		var nothing market.Facts
		for _, f := range got {
			f.Merge(&nothing)
			f.Merge(&nothing)
			had := *f
			nothing.Merge(f)
			if diff := cmp.Diff(had, nothing, sameFacts); diff != "" {
				t.Fatalf("merged into nothing (-want +got):\n%s", diff)
			}
			nothing = market.Facts{}
		}
		if diff := cmp.Diff(kept, got, sameFacts); diff != "" {
			t.Fatalf("with nothing (-want +got):\n%s", diff)
		}
	})
}

// copied shares nothing with h.
func copied(h market.FactsByHour) market.FactsByHour {
	c := market.FactsByHour{}
	for hour, f := range h {
		one := *f
		one.Coins = slices.Clone(f.Coins)
		for _, d := range []*market.Distinct{&one.Perp.Orders, &one.Spot.Orders, &one.Routed.Orders, &one.Routed.Traders, &one.LiquidatedLong.Orders, &one.LiquidatedShort.Orders} {
			d.Continued = slices.Clone(d.Continued)
		}
		c[hour] = &one
	}
	return c
}

// clean drops hours of which only corrections came to nothing.
func clean(h market.FactsByHour) {
	maps.DeleteFunc(h, func(_ int64, f *market.Facts) bool { return cmp.Equal(*f, market.Facts{}, sameFacts) })
}

// Who takes events in the order of time needs to know the newest hour of an order alone.
func TestInTheOrderOfTimeTheNewestHourOfAnOrderIsEnough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := markettest.DidAtMost(20, hours).Draw(t, "deeds")
		d = markettest.Deeds{Fills: d.Fills}
		slices.SortStableFunc(d.Fills, func(a, b market.Fill) int { return int(a.Time - b.Time) })
		got, s := market.FactsByHour{}, markettest.NewSeen()
		for i := range d.Fills {
			order := s.Order(d.Fills[i].Oid)
			got.Fill(&d.Fills[i], order)
			order.Filled, order.Liquidated = order.Filled[max(0, len(order.Filled)-1):], order.Liquidated[max(0, len(order.Liquidated)-1):]
		}
		if diff := cmp.Diff(d.Facts(), got, sameFacts); diff != "" {
			t.Fatalf("(-all hours known +newest known):\n%s", diff)
		}
	})
}

// The sum of a day tells a window that begins with it what its hours tell.
func TestAnOrderOfManyHoursCountsInTheFirstOfAWindow(t *testing.T) {
	t.Parallel()
	h, order := market.FactsByHour{}, new(market.OrderSeen)
	for _, at := range []int64{1, 5, 3, 5, 8} { // the third comes late
		h.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: noon + at*hour + 7, Oid: 9, Tid: at, Px: "2", Sz: "3", Fee: "0", ClosedPnl: "0", StartPosition: "0"}, order)
	}
	if want := (market.HoursSeen{noon + hour, noon + 3*hour, noon + 5*hour, noon + 8*hour}); !slices.Equal(order.Filled, want) {
		t.Errorf("the order is known in %v, want %v", order.Filled, want)
	}
	for from, want := range map[int64]int64{0: 1, 1: 1, 2: 1, 4: 1, 8: 1, 9: 0} {
		w := h.Within(noon+from*hour, noon+day)
		if got := w.Did.Perp.Orders.From(w.From); got != want {
			t.Errorf("from hour %d on there are %d orders, want %d", from, got, want)
		}
	}
	if got := h[noon+5*hour].Perp.Orders; got.First != 0 || !slices.Equal(got.Continued, []market.Continued{{Hour: noon + 3*hour, N: 1}}) {
		t.Errorf("the fifth hour has %+v, want the order from the third on", got)
	}
}
