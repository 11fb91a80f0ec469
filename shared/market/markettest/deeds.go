package markettest

import (
	"pgregory.net/rapid"

	"quotary/shared/market"
)

// Deeds is what an account did in some time.
type Deeds struct {
	Fills  []market.Fill
	Routed []market.Fill // of others, as their builder
	Trades []market.CompletedTrade
	Placed []market.OrderStatus
	Orders []market.OrderStatus // of any status
	Flows  []market.Flow
}

// doer is the account whose deeds are drawn.
const doer = "0x00000000000000000000000000000000000000aa"

// Builders are those of the orders of the account whose deeds are drawn; a third has none.
var Builders = [...]string{"", "0x0700000000000000000000000000000000000001", "0x0e00000000000000000000000000000000000002"}

// DidAtMost draws what an account did at some times, ms, of everything so many times at most. Few
// orders have many fills.
func DidAtMost(most int, times *rapid.Generator[int64]) *rapid.Generator[Deeds] {
	list := rapid.IntRange(0, most)
	return rapid.Custom(func(t *rapid.T) (d Deeds) {
		for range list.Draw(t, "fills") {
			f := fillOf(doer, times).Draw(t, "fill")
			if f.Builder = Builders[f.Oid%3]; rapid.IntRange(0, 3).Draw(t, "without its builder") == 0 {
				f.Builder, f.BuilderFee = "", ""
			}
			d.Fills = append(d.Fills, f)
		}
		for range list.Draw(t, "routed") {
			trader := rapid.SampledFrom([]string{"0xb1", "0xb2", "0xb3"}).Draw(t, "trader")
			f := fillOf(trader, times).Draw(t, "routed fill")
			f.Builder = doer
			d.Routed = append(d.Routed, f)
		}
		for range list.Draw(t, "trades") {
			d.Trades = append(d.Trades, tradeOf(times).Draw(t, "trade"))
		}
		for range list.Draw(t, "placed") {
			ms := times.Draw(t, "placed at")
			d.Placed = append(d.Placed, market.OrderStatus{Timestamp: ms, Time: ms + 1})
		}
		for range list.Draw(t, "orders") {
			o := Order().Draw(t, "order")
			o.Time, o.Timestamp = times.Draw(t, "came to it"), times.Draw(t, "placed")
			d.Orders = append(d.Orders, o)
		}
		for range list.Draw(t, "flows") {
			one := market.Flow{Time: times.Draw(t, "moved"), FlowSum: market.FlowSum{Count: 1, Perp: Amount().Draw(t, "perp")}}
			if rapid.Bool().Draw(t, "between the parts") {
				one.Spot = one.Perp.Neg()
			}
			d.Flows = append(d.Flows, one)
		}
		return d
	})
}

// fillOf draws a fill of an account, of one of six orders.
func fillOf(address string, times *rapid.Generator[int64]) *rapid.Generator[market.Fill] {
	coins := [...]string{"BTC", "xyz:GOLD", "@107", "PURR/USDC"}
	return rapid.Custom(func(t *rapid.T) market.Fill {
		f := Fill().Draw(t, "fill")
		f.Address, f.Time, f.Oid = address, times.Draw(t, "at"), rapid.Int64Range(1, 6).Draw(t, "order")
		f.Coin, f.Side = coins[f.Oid%4], [...]market.Side{market.Buy, market.Sell}[f.Oid/4]
		f.Px, f.Sz = Decimal(5, 6).Draw(t, "px"), Decimal(5, 6).Draw(t, "sz")
		f.FeeToken = rapid.SampledFrom([]string{"USDC", "PURR", ""}).Draw(t, "fee token")
		if f.Liquidation != nil && rapid.Bool().Draw(t, "own") {
			f.Liquidation.LiquidatedUser = address
		}
		if rapid.IntRange(0, 9).Draw(t, "no trade") == 0 {
			f.Tid = 0
		}
		return f
	})
}

// tradeOf draws a trade that was completed; one in five without a profit or a loss.
func tradeOf(times *rapid.Generator[int64]) *rapid.Generator[market.CompletedTrade] {
	return rapid.Custom(func(t *rapid.T) market.CompletedTrade {
		one := CompletedTrade().Draw(t, "trade")
		one.End = times.Draw(t, "end")
		one.Start = one.End - rapid.Int64Range(0, 86_400_000).Draw(t, "held")
		one.Leverage = rapid.SampledFrom([]int64{0, 1, 3, 7, 40}).Draw(t, "leverage")
		if rapid.IntRange(0, 4).Draw(t, "even") == 0 {
			one.Pnl = market.Decimal{}
		}
		return one
	})
}

// Seen is what is known of orders and builders, so that each counts once.
type Seen struct {
	orders   map[int64]*market.OrderSeen
	builders map[string]*market.HoursSeen
}

// NewSeen knows none.
func NewSeen() *Seen {
	return &Seen{map[int64]*market.OrderSeen{}, map[string]*market.HoursSeen{}}
}

// Order is what is known of an order of the account.
func (s *Seen) Order(oid int64) *market.OrderSeen { return of(s.orders, oid) }

// Builder is what is known of a builder of the account.
func (s *Seen) Builder(address string) *market.HoursSeen { return of(s.builders, address) }

func of[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

// Each are the events of the account one by one: each adds itself to what is known.
func (d *Deeds) Each() (list []func(market.FactsByHour, *Seen)) {
	for i := range d.Fills {
		f := &d.Fills[i]
		list = append(list, func(h market.FactsByHour, s *Seen) { h.Fill(f, s.Order(f.Oid), s.Builder(f.Builder)) })
	}
	for i := range d.Trades {
		list = append(list, func(h market.FactsByHour, _ *Seen) { h.Complete(&d.Trades[i]) })
	}
	for i := range d.Placed {
		ms := d.Placed[i].Timestamp
		placed := &market.Facts{Placed: market.OrderTimes{Count: 1, First: ms, Last: ms}}
		list = append(list, func(h market.FactsByHour, _ *Seen) { h.Merge(market.FactsByHour{market.Hour1.StartMs(ms): placed}) })
	}
	for i := range d.Orders {
		list = append(list, func(h market.FactsByHour, _ *Seen) { h.Order(&d.Orders[i]) })
	}
	for _, f := range d.Flows {
		list = append(list, func(h market.FactsByHour, _ *Seen) { h.Flow(f.Time, f.Perp, f.Spot) })
	}
	return list
}

// Facts are those of all events.
func (d *Deeds) Facts() market.FactsByHour {
	h, s := market.FactsByHour{}, NewSeen()
	for _, event := range d.Each() {
		event(h, s)
	}
	d.route(h)
	return h
}

// route adds what the account routed to its hours: what was done by way of it by those whose fills it
// routed.
func (d *Deeds) route(h market.FactsByHour) {
	did, seen := map[string]market.FactsByHour{}, map[string]*Seen{}
	for i := range d.Routed {
		f := &d.Routed[i]
		if did[f.Address] == nil {
			did[f.Address], seen[f.Address] = market.FactsByHour{}, NewSeen()
		}
		s := seen[f.Address]
		did[f.Address].Fill(f, s.Order(f.Oid), s.Builder(f.Builder))
	}
	for _, hours := range did {
		for hour, f := range hours {
			for i := range f.Builders {
				h.Merge(market.FactsByHour{hour: {Routed: f.Builders[i].RoutedFacts}})
			}
		}
	}
}

// Within are the deeds from one time on and before another, ms.
func (d *Deeds) Within(from, to int64) Deeds {
	return Deeds{
		Fills:  within(d.Fills, from, to, func(f *market.Fill) int64 { return f.Time }),
		Routed: within(d.Routed, from, to, func(f *market.Fill) int64 { return f.Time }),
		Trades: within(d.Trades, from, to, func(t *market.CompletedTrade) int64 { return t.End }),
		Placed: within(d.Placed, from, to, func(o *market.OrderStatus) int64 { return o.Timestamp }),
		Orders: within(d.Orders, from, to, func(o *market.OrderStatus) int64 { return o.Time }),
		Flows:  within(d.Flows, from, to, func(f *market.Flow) int64 { return f.Time }),
	}
}

func within[T any](list []T, from, to int64, at func(*T) int64) (part []T) {
	for i := range list {
		if ms := at(&list[i]); ms >= from && ms < to {
			part = append(part, list[i])
		}
	}
	return part
}
