package traderhistory

import (
	"strings"

	"quotary/shared/market"
	"quotary/shared/table/tablefile"
)

// component is a number of which facts are made. It is in a file where it is not 0, or where it was
// seen at all, of a least and a greatest.
type component struct {
	tablefile.Column
	merge func(a, b int64) int64
	get   func(*market.Facts) (market.Decimal, bool)
	set   func(*market.Facts, market.Decimal)
}

// unknown stands in files and sums for a number that is not known, as it has more digits than a file holds or
// leaves something out, and that stays so whatever is added. It is not left out, as what is left out is 0.
const unknown = tablefile.Most

// merged is what two numbers come to.
func (c *component) merged(a, b int64) int64 {
	if a == unknown || b == unknown {
		return unknown
	}
	if sum := c.merge(a, b); sum < unknown && sum > -unknown {
		return sum
	}
	return unknown
}

func add(a, b int64) int64      { return a + b }
func greatest(a, b int64) int64 { return max(a, b) }
func least(a, b int64) int64    { return min(a, b) }

// The decimal places of amounts. Prices times sizes of perpetuals have six at most, all else eight; what
// has more, as fees that are paid in tokens, is rounded in each hour.
const (
	valuePlaces  = 6
	amountPlaces = 8
	squarePlaces = 2 * market.RatioPlaces
)

// count is a whole number that is summed up.
func count(name string, at func(*market.Facts) *int64) component {
	return component{
		Column: tablefile.Column{Name: name}, merge: add,
		get: func(f *market.Facts) (market.Decimal, bool) { return market.DecimalFromInt(*at(f)), *at(f) != 0 },
		set: func(f *market.Facts, v market.Decimal) { *at(f), _ = v.Int64() },
	}
}

// amount is a decimal that is summed up.
func amount(name string, places int, at func(*market.Facts) *market.Decimal) component {
	return component{
		Column: tablefile.Column{Name: name, Kind: tablefile.Money, Scale: places}, merge: add,
		get: func(f *market.Facts) (market.Decimal, bool) { return *at(f), !at(f).IsZero() },
		set: func(f *market.Facts, v market.Decimal) { *at(f) = v },
	}
}

// squares is a part of the sum of the squares of rates, which has too many digits for one column.
func squares(name string, places int, part func(market.Decimal) market.Decimal) component {
	c := amount(name, places, func(f *market.Facts) *market.Decimal { return &f.Closed.Squares })
	c.get = func(f *market.Facts) (market.Decimal, bool) {
		v := part(f.Closed.Squares)
		return v, !v.IsZero()
	}
	c.set = func(f *market.Facts, v market.Decimal) { f.Closed.Squares = f.Closed.Squares.Add(v) }
	return c
}

// edge is the least or the greatest of something, where it was seen.
func (c component) edge(merge func(a, b int64) int64, seen func(*market.Facts) bool) component {
	value := c.get
	c.merge = merge
	c.get = func(f *market.Facts) (market.Decimal, bool) {
		v, _ := value(f)
		return v, seen(f)
	}
	return c
}

// components are all of them, in the order of their columns.
var components = func() (all []component) {
	type facts = market.Facts
	put := func(c ...component) { all = append(all, c...) }
	for _, side := range []struct {
		name string
		of   func(*facts) *market.PositionSum
	}{
		{"long", func(f *facts) *market.PositionSum { return &f.Closed.Long }},
		{"short", func(f *facts) *market.PositionSum { return &f.Closed.Short }},
	} {
		put(
			count(side.name+"Count", func(f *facts) *int64 { return &side.of(f).Count }),
			count(side.name+"Wins", func(f *facts) *int64 { return &side.of(f).Wins }),
			count(side.name+"Losses", func(f *facts) *int64 { return &side.of(f).Losses }),
			amount(side.name+"Won", amountPlaces, func(f *facts) *market.Decimal { return &side.of(f).Won }),
			amount(side.name+"Lost", amountPlaces, func(f *facts) *market.Decimal { return &side.of(f).Lost }),
		)
	}
	closed := func(f *facts) bool { return f.Closed.Long.Count+f.Closed.Short.Count != 0 }
	rated := func(f *facts) bool { return f.Closed.Rated != 0 }
	put(
		amount("maxPnl", amountPlaces, func(f *facts) *market.Decimal { return &f.Closed.MaxPnl }).edge(greatest, closed),
		amount("minPnl", amountPlaces, func(f *facts) *market.Decimal { return &f.Closed.MinPnl }).edge(least, closed),
		count("durationMs", func(f *facts) *int64 { return &f.Closed.Duration }),
		count("maxDurationMs", func(f *facts) *int64 { return &f.Closed.MaxDuration }).edge(greatest, closed),
		count("minDurationMs", func(f *facts) *int64 { return &f.Closed.MinDuration }).edge(least, closed),
		count("openOrders", func(f *facts) *int64 { return &f.Closed.OpenOrders }),
		count("closeOrders", func(f *facts) *int64 { return &f.Closed.CloseOrders }),
		amount("funding", amountPlaces, func(f *facts) *market.Decimal { return &f.Closed.Funding }),
		amount("largestValue", valuePlaces, func(f *facts) *market.Decimal { return &f.Closed.Value }),
		count("levered", func(f *facts) *int64 { return &f.Closed.Levered }),
		count("leverage", func(f *facts) *int64 { return &f.Closed.Leverage }),
		amount("margin", amountPlaces, func(f *facts) *market.Decimal { return &f.Closed.Margin }),
		amount("marginPnl", amountPlaces, func(f *facts) *market.Decimal { return &f.Closed.MarginPnl }),
		count("rated", func(f *facts) *int64 { return &f.Closed.Rated }),
		amount("rates", market.RatioPlaces, func(f *facts) *market.Decimal { return &f.Closed.Rates }),
		squares("rateSquares", 0, func(d market.Decimal) market.Decimal { return d.Trunc(0) }),
		squares("rateSquaresPart", squarePlaces, func(d market.Decimal) market.Decimal { return d.Sub(d.Trunc(0)) }),
		amount("maxRate", market.RatioPlaces, func(f *facts) *market.Decimal { return &f.Closed.MaxRate }).edge(greatest, rated),
		amount("minRate", market.RatioPlaces, func(f *facts) *market.Decimal { return &f.Closed.MinRate }).edge(least, rated),
	)
	for _, fills := range []struct {
		name   string
		places int
		of     func(*facts) *market.FillFacts
	}{
		{"perp", valuePlaces, func(f *facts) *market.FillFacts { return &f.Perp }},
		{"spot", amountPlaces, func(f *facts) *market.FillFacts { return &f.Spot }},
	} {
		for _, role := range []struct {
			name string
			of   func(*market.FillFacts) *market.FillSum
		}{
			{"Maker", func(f *market.FillFacts) *market.FillSum { return &f.Maker }},
			{"Taker", func(f *market.FillFacts) *market.FillSum { return &f.Taker }},
		} {
			put(
				count(fills.name+role.name+"Count", func(f *facts) *int64 { return &role.of(fills.of(f)).Count }),
				amount(fills.name+role.name+"Value", fills.places, func(f *facts) *market.Decimal { return &role.of(fills.of(f)).Value }),
				amount(fills.name+role.name+"Fee", amountPlaces, func(f *facts) *market.Decimal { return &role.of(fills.of(f)).Fee }),
			)
		}
	}
	filled := func(f *facts) bool { return f.Filled.Count != 0 }
	put(
		count("filled", func(f *facts) *int64 { return &f.Filled.Count }),
		count("firstFilled", func(f *facts) *int64 { return &f.Filled.First }).edge(least, filled),
		count("lastFilled", func(f *facts) *int64 { return &f.Filled.Last }).edge(greatest, filled),
		amount("routedValue", valuePlaces, func(f *facts) *market.Decimal { return &f.Routed.Value }),
		amount("routedFee", amountPlaces, func(f *facts) *market.Decimal { return &f.Routed.Fee }),
		amount("routedBuilderFee", amountPlaces, func(f *facts) *market.Decimal { return &f.Routed.BuilderFee }),
		amount("liquidatedLongValue", valuePlaces, func(f *facts) *market.Decimal { return &f.LiquidatedLong.Value }),
		amount("liquidatedLongPnl", amountPlaces, func(f *facts) *market.Decimal { return &f.LiquidatedLong.Pnl }),
		amount("liquidatedShortValue", valuePlaces, func(f *facts) *market.Decimal { return &f.LiquidatedShort.Value }),
		amount("liquidatedShortPnl", amountPlaces, func(f *facts) *market.Decimal { return &f.LiquidatedShort.Pnl }),
	)
	for _, d := range distincts {
		put(count(d.name, func(f *facts) *int64 { return &d.of(f).First }))
	}
	for i := range all {
		if name := all[i].Name; name == "firstFilled" || name == "lastFilled" {
			all[i].Kind = tablefile.Date
		}
	}
	return all
}()

// distinct is something that is counted once in a window: what happened for the first time of all is a
// component, and what had happened before is a set of texts for each row, see [continued].
type distinct struct {
	name string
	of   func(*market.Facts) *market.Distinct
}

var distincts = []distinct{
	{"perpOrders", func(f *market.Facts) *market.Distinct { return &f.Perp.Orders }},
	{"spotOrders", func(f *market.Facts) *market.Distinct { return &f.Spot.Orders }},
	{"routedTraders", func(f *market.Facts) *market.Distinct { return &f.Routed.Traders }},
	{"routedOrders", func(f *market.Facts) *market.Distinct { return &f.Routed.Orders }},
	{"liquidatedLongOrders", func(f *market.Facts) *market.Distinct { return &f.LiquidatedLong.Orders }},
	{"liquidatedShortOrders", func(f *market.Facts) *market.Distinct { return &f.LiquidatedShort.Orders }},
}

// columns are those of the files, in their order: numbers, then of each [distinct] what had happened
// before, and the perpetuals that were traded.
var columns = func() (all []tablefile.Column) {
	for i := range components {
		all = append(all, components[i].Column)
	}
	for _, d := range distincts {
		all = append(all, tablefile.Column{Name: d.name + "Continued", Kind: tablefile.Names})
	}
	return append(all, tablefile.Column{Name: "coins", Kind: tablefile.Names})
}()

// The places of the components of [distincts], of the columns of what had happened before, in the same
// order, and of the perpetuals that were traded.
var (
	firstDistinct  = len(components) - len(distincts)
	firstContinued = len(components)
	coinsColumn    = len(columns) - 1
)

// isRouted reports whether a column is of what an account routed as a builder.
func isRouted(column int) bool { return strings.HasPrefix(columns[column].Name, "routed") }

// Coins is the place of the column of the perpetuals that were traded.
func Coins() int { return coinsColumn }
