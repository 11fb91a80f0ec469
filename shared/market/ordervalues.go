package market

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/quagmt/udecimal"
)

// TopOrders is how many of a coin's orders are ranked.
const TopOrders = 100

// ValuePlaces is to how many places the values of orders are kept as whole numbers. The
// venue's prices times its sizes have at most eight.
const ValuePlaces = 8

// OrderValues are the values (price x what rests) of the orders on one side of a book,
// quote units. The zero value has none.
type OrderValues struct {
	// Units are the values as multiples of 10^-[ValuePlaces], the smallest first.
	Units []uint64

	// Odd are those that are no such multiple below 2^64, the smallest first: an order
	// of more than 184 billion, or of more places than the venue has.
	Odd []Decimal
}

// Count is how many there are.
func (v *OrderValues) Count() int64 { return int64(len(v.Units) + len(v.Odd)) }

// AtLeast counts and sums up the values that are not below a threshold, exactly.
func (v *OrderValues) AtLeast(threshold Decimal) (count int64, sum Decimal) {
	from := len(v.Units) // where every one is below
	if least, ok := amountOf(threshold.Mul(unitsOfOne).Ceil()); ok {
		from, _ = slices.BinarySearch(v.Units, least.Coef)
	}
	var hi, lo, carry uint64
	for _, unit := range v.Units[from:] {
		lo, carry = bits.Add64(lo, unit, 0)
		hi += carry
	}
	sum, err := udecimal.NewFromHiLo(false, hi, lo, ValuePlaces)
	if err != nil {
		panic("market: " + err.Error()) // the places are right
	}
	count = int64(len(v.Units) - from)
	for _, odd := range v.Odd {
		if !odd.LessThan(threshold) {
			count, sum = count+1, sum.Add(odd)
		}
	}
	return count, sum
}

// unitsOfOne is how many units one quote unit has.
var unitsOfOne = udecimal.MustFromUint64(100_000_000, 0)

// CoinOrders ranks the orders of one coin.
type CoinOrders struct {
	Coin       string
	Bids, Asks OrderValues
	Top        []OpenOrder // by value, the largest first; of equal ones the older; at most [TopOrders]

	// Reserves are what the orders of a spot market reserve, by account; nil of a perp.
	Reserves []SpotReserve
}

// SpotReserve is what the orders of an account that rest in a spot market reserve.
type SpotReserve struct {
	Account [20]byte // the address, without its 0x
	Quote   Decimal  // by its bids: price x what rests of each, quote units
	Base    Decimal  // by its asks: what rests of them, base units
}

// Changed reports whether anything has changed since [OpenOrders.Rank] was called.
func (t *OpenOrders) Changed() bool { return slices.Contains(t.changed, true) }

// Rank returns the coins of which anything has changed since it was last called, sorted;
// with everything, it returns all. A coin of which no order rests any more has none. It
// looks at every order once, and sorts the values of the coins that it returns.
func (t *OpenOrders) Rank(everything bool) []CoinOrders {
	ranks := make([]*ranking, len(t.coins.list))
	for coin := range ranks {
		if everything || coin < len(t.changed) && t.changed[coin] {
			ranks[coin] = new(ranking)
			if IsSpot(t.coins.list[coin]) {
				ranks[coin].reserves = map[accountID]*SpotReserve{}
			}
		}
	}
	clear(t.changed)
	for o := range t.all() {
		if r := ranks[o.coin]; r != nil && o.rest != 0 {
			r.add(o)
		}
	}
	var list []CoinOrders
	for coin, r := range ranks {
		if r == nil || everything && r.bids.Count()+r.asks.Count() == 0 {
			continue
		}
		r.cut()
		c := CoinOrders{Coin: t.coins.list[coin], Bids: r.bids, Asks: r.asks, Top: make([]OpenOrder, len(r.top)), Reserves: r.reserved()}
		for i, one := range r.top {
			c.Top[i] = t.shown(one.order)
		}
		for _, side := range [...]*OrderValues{&c.Bids, &c.Asks} {
			slices.Sort(side.Units)
			slices.SortFunc(side.Odd, Decimal.Cmp)
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b CoinOrders) int { return cmp.Compare(a.Coin, b.Coin) })
	return list
}

// TopOf are the largest orders of all coins, ranked as those of one.
func TopOf(coins []CoinOrders) []OpenOrder {
	type head struct {
		value Decimal
		left  []OpenOrder
	}
	var heads []head
	for i := range coins {
		if top := coins[i].Top; len(top) > 0 {
			heads = append(heads, head{top[0].Value(), top})
		}
	}
	var all []OpenOrder
	for len(all) < TopOrders && len(heads) > 0 {
		first := 0
		for i := range heads {
			if order := heads[i].value.Cmp(heads[first].value); order > 0 || order == 0 && heads[i].left[0].Oid < heads[first].left[0].Oid {
				first = i
			}
		}
		h := &heads[first]
		all, h.left = append(all, h.left[0]), h.left[1:]
		if len(h.left) == 0 {
			heads = slices.Delete(heads, first, first+1)
		} else {
			h.value = h.left[0].Value()
		}
	}
	return all
}

// ranking collects the orders of a coin.
type ranking struct {
	bids, asks OrderValues
	top        []ranked // those that may be among the top
	floor      uint64   // units that are not enough any more

	reserves map[accountID]*SpotReserve // nil of a perp
}

// ranked is an order with its value in units, rounded down: the exact value decides
// between equal ones.
type ranked struct {
	units uint64
	order *openOrder
}

func (r *ranking) add(o *openOrder) {
	if r.reserves != nil {
		r.reserve(o)
	}
	side := &r.bids
	if o.sell {
		side = &r.asks
	}
	units, exact := o.units()
	if exact {
		side.Units = append(side.Units, units)
	} else {
		side.Odd = append(side.Odd, o.value())
	}
	if units < r.floor {
		return
	}
	if r.top = append(r.top, ranked{units, o}); len(r.top) == 4*TopOrders {
		r.cut()
	}
}

// reserve adds what an order on a spot market reserves.
func (r *ranking) reserve(o *openOrder) {
	of := r.reserves[o.account]
	if of == nil {
		of = &SpotReserve{Account: o.account}
		r.reserves[o.account] = of
	}
	if o.sell {
		of.Base = of.Base.Add(Amount{o.rest, o.restPlaces}.Decimal())
	} else {
		of.Quote = of.Quote.Add(o.value())
	}
}

// reserved are the reserves by account.
func (r *ranking) reserved() (list []SpotReserve) {
	for _, of := range r.reserves {
		list = append(list, *of)
	}
	slices.SortFunc(list, func(a, b SpotReserve) int { return CompareAccounts(a.Account, b.Account) })
	return list
}

// cut keeps the largest orders.
func (r *ranking) cut() {
	slices.SortFunc(r.top, func(a, b ranked) int {
		if a.units != b.units {
			return cmp.Compare(b.units, a.units)
		}
		return cmp.Or(b.order.value().Cmp(a.order.value()), cmp.Compare(a.order.oid, b.order.oid))
	})
	if len(r.top) > TopOrders {
		r.top = r.top[:TopOrders]
		r.floor = r.top[TopOrders-1].units
	}
}

func (o *openOrder) value() Decimal {
	return Notional(Amount{o.px, o.pxPlaces}.Decimal(), Amount{o.rest, o.restPlaces}.Decimal())
}

// units is the value in units, rounded down, or the most that there is.
func (o *openOrder) units() (units uint64, exact bool) {
	hi, lo := bits.Mul64(o.px, o.rest)
	places := o.pxPlaces + o.restPlaces
	exact = true
	for ; places > ValuePlaces; places-- {
		var rest uint64
		hi, rest = hi/10, hi%10
		lo, rest = bits.Div64(rest, lo, 10)
		exact = exact && rest == 0
	}
	for ; places < ValuePlaces && hi == 0; places++ {
		hi, lo = bits.Mul64(lo, 10)
	}
	if hi != 0 {
		return math.MaxUint64, false
	}
	return lo, exact
}
