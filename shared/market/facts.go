package market

import (
	"slices"
	"strings"
)

// Facts are what an account did in a time: an hour, a day, a window, or all time. They are what
// the columns of the trader table are made of, and they add up: those of any time are the sum of
// those of its hours, in whatever order they are added. The zero value is that nothing happened.
//
// Amounts are quote units, of which each counts as a US dollar.
type Facts struct {
	Closed PositionFacts // positions in perpetuals that were completed
	Perp   FillFacts     // fills of perpetuals
	Spot   FillFacts     // all other fills
	Coins  []string      // perpetuals that were traded, each once, in order

	Placed OrderTimes // orders, by when they were placed
	Filled OrderTimes // orders that were filled to the end, by when

	Builders        []BuilderFacts  // what builders routed of it, each once, by their addresses
	Routed          RoutedFacts     // what the account routed for others as a builder: the sum of those of their Builders that it is
	LiquidatedLong  LiquidatedFacts // long positions that were closed by force, or parts of them
	LiquidatedShort LiquidatedFacts // short ones
	Flows           FlowSum         // what ledger updates moved
}

// FillFacts are what fills come to.
type FillFacts struct {
	Orders       Distinct // that were filled, if only in part
	Maker, Taker FillSum
}

// FillSum sums up fills.
type FillSum struct {
	Count int64
	Value Decimal // px x sz
	Fee   Decimal // paid; negative is a rebate
}

// Merge adds other fills.
func (s *FillSum) Merge(o FillSum) {
	s.Count, s.Value, s.Fee = s.Count+o.Count, s.Value.Add(o.Value), s.Fee.Add(o.Fee)
}

// All are makers' and takers' fills together.
func (f *FillFacts) All() FillSum {
	sum := f.Maker
	sum.Merge(f.Taker)
	return sum
}

// Merge adds other fills.
func (f *FillFacts) Merge(o *FillFacts) {
	f.Orders.Merge(&o.Orders)
	f.Maker.Merge(o.Maker)
	f.Taker.Merge(o.Taker)
}

// OrderTimes counts orders, each once.
type OrderTimes struct {
	Count       int64
	First, Last int64 // ms; 0 without any
}

func (t *OrderTimes) add(ms int64) { t.Merge(OrderTimes{1, ms, ms}) }

// Merge adds other orders.
func (t *OrderTimes) Merge(o OrderTimes) {
	if o.Count == 0 {
		return
	}
	if t.Count == 0 || o.First < t.First {
		t.First = o.First
	}
	t.Count, t.Last = t.Count+o.Count, max(t.Last, o.Last)
}

// BuilderFacts is what one builder routed of an account.
type BuilderFacts struct {
	Builder [20]byte
	RoutedFacts
}

// RoutedFacts are what fills come to that a builder routed.
type RoutedFacts struct {
	Traders, Orders Distinct
	Value, Fee      Decimal // Fee is all that the traders paid, the builder's part in it
	BuilderFee      Decimal // of the fills of which it is known
	Unknown         int64   // hours of accounts of which it is not kept what they come to; with any, the others are not the sums
}

// Merge adds other fills.
func (r *RoutedFacts) Merge(o *RoutedFacts) {
	r.Traders.Merge(&o.Traders)
	r.Orders.Merge(&o.Orders)
	r.Value, r.Fee, r.BuilderFee, r.Unknown = r.Value.Add(o.Value), r.Fee.Add(o.Fee), r.BuilderFee.Add(o.BuilderFee), r.Unknown+o.Unknown
}

// Take is Merge where r is shared with nobody, see [Distinct.Take].
func (r *RoutedFacts) Take(o *RoutedFacts) {
	r.Traders.Take(&o.Traders)
	r.Orders.Take(&o.Orders)
	r.Value, r.Fee, r.BuilderFee, r.Unknown = r.Value.Add(o.Value), r.Fee.Add(o.Fee), r.BuilderFee.Add(o.BuilderFee), r.Unknown+o.Unknown
}

// Negated is what takes the fills away again where it is merged. It shares nothing with r.
func (r *RoutedFacts) Negated() RoutedFacts {
	return RoutedFacts{Traders: *r.Traders.negated(), Orders: *r.Orders.negated(), Value: r.Value.Neg(), Fee: r.Fee.Neg(), BuilderFee: r.BuilderFee.Neg(), Unknown: -r.Unknown}
}

// LiquidatedFacts are what positions of one direction come to that were closed by force, as
// [LiquidationOf] tells.
type LiquidatedFacts struct {
	Orders Distinct // that closed them
	Value  Decimal  // px x sz of their fills
	Pnl    Decimal  // what these realized, without fees
}

// Merge adds other fills.
func (l *LiquidatedFacts) Merge(o *LiquidatedFacts) {
	l.Orders.Merge(&o.Orders)
	l.Value, l.Pnl = l.Value.Add(o.Value), l.Pnl.Add(o.Pnl)
}

// Merge adds what the account did in another time. It keeps nothing of o that changes with it.
func (f *Facts) Merge(o *Facts) {
	f.Closed.Merge(&o.Closed)
	f.Perp.Merge(&o.Perp)
	f.Spot.Merge(&o.Spot)
	f.Coins = mergeCoins(f.Coins, o.Coins)
	f.Placed.Merge(o.Placed)
	f.Filled.Merge(o.Filled)
	f.Builders = mergeBuilders(f.Builders, o.Builders)
	f.Routed.Merge(&o.Routed)
	f.LiquidatedLong.Merge(&o.LiquidatedLong)
	f.LiquidatedShort.Merge(&o.LiquidatedShort)
	f.Flows.add(o.Flows)
}

// compareBuilder is the order in which builders are kept.
func compareBuilder(v BuilderFacts, builder [20]byte) int { return CompareAccounts(v.Builder, builder) }

// mergeBuilders is what builders routed in both times. It changes neither, and keeps nothing of b.
func mergeBuilders(a, b []BuilderFacts) []BuilderFacts {
	if len(b) == 0 {
		return a
	}
	all := slices.Clone(a)
	for i := range b {
		at, has := slices.BinarySearchFunc(all, b[i].Builder, compareBuilder)
		if !has {
			all = slices.Insert(all, at, BuilderFacts{Builder: b[i].Builder})
		}
		all[at].Merge(&b[i].RoutedFacts)
	}
	return all
}

// routedBy is what a builder routed, for more to be added.
func (f *Facts) routedBy(builder [20]byte) *RoutedFacts {
	at, has := slices.BinarySearchFunc(f.Builders, builder, compareBuilder)
	if !has {
		f.Builders = slices.Insert(f.Builders, at, BuilderFacts{Builder: builder})
	}
	return &f.Builders[at].RoutedFacts
}

// MostCoins bounds the coins that facts name: several times as many as there are perpetuals. Of
// others no more is known than that they were traded.
const MostCoins = 2000

// mergeCoins are the coins of both, each once and in order. It changes neither.
func mergeCoins(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), MostCoins)]
}

// addCoin adds a coin. It does not change what it was.
func addCoin(to []string, coin string) []string {
	at, has := slices.BinarySearch(to, coin)
	if has || len(to) == MostCoins {
		return to
	}
	return slices.Insert(slices.Clip(to), at, strings.Clone(coin))
}

// Fills are those of perpetuals and the others together.
func (f *Facts) Fills() FillFacts {
	all := f.Perp
	all.Merge(&f.Spot)
	return all
}

// Window is what an account did from the beginning of an hour on, each order and trader counted
// once.
type Window struct {
	From int64 // ms, a full hour; 0 for all time
	Did  Facts // of what counts once, with the number alone
}

// Add takes in what the account did in an hour, or in more of them, of which none begins before
// the window.
func (w *Window) Add(part *Facts) {
	f := *part
	for _, d := range [...]*Distinct{&f.Perp.Orders, &f.Spot.Orders, &f.Routed.Traders, &f.Routed.Orders, &f.LiquidatedLong.Orders, &f.LiquidatedShort.Orders} {
		*d = d.counted(w.From)
	}
	f.Builders = slices.Clone(f.Builders)
	for i := range f.Builders {
		v := &f.Builders[i]
		v.Traders, v.Orders = v.Traders.counted(w.From), v.Orders.counted(w.From)
	}
	w.Did.Merge(&f)
}
