package traderhistory

import (
	"math/rand/v2"
	"sync"

	"quotary/shared/market"
	"quotary/shared/traderfields"
)

var needed sync.Map // of a *traderfields.Field its columns

// Needs are the columns of which a figure of what traders did is made. They are found by trying: those
// numbers a change of which changes the figure, of many made-up traders.
func Needs(f *traderfields.Field) []int {
	if known, ok := needed.Load(f); ok {
		return known.([]int) //nolint:forcetypeassert // nothing else is stored
	}
	var columns []int
	for c := range components {
		if isNeeded(f, c) {
			columns = append(columns, c)
			if c >= firstDistinct {
				columns = append(columns, firstContinued+c-firstDistinct)
			}
		}
	}
	needed.Store(f, columns)
	return columns
}

// tries is how many traders are made up, of which each has every number changed.
const tries = 48

func isNeeded(f *traderfields.Field, component int) bool {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for range tries {
		did := new(market.Window)
		for c := range components {
			if r.IntN(8) > 0 { // else it is nothing
				components[c].set(&did.Did, madeUp(r, &components[c]))
			}
		}
		of := Trader(did)
		value, known := f.Figure(&of, Period)
		for range 3 {
			components[component].set(&did.Did, madeUp(r, &components[component]))
			if v, ok := f.Figure(&of, Period); v != value || ok != known {
				return true
			}
		}
	}
	return false
}

// madeUp is a number that a component may be: whole numbers are not negative.
func madeUp(r *rand.Rand, c *component) market.Decimal {
	if c.Scale == 0 {
		return market.DecimalFromInt(r.Int64N(9))
	}
	return market.DecimalOf(r.Int64N(2_000)-900, 2)
}

// Period is the one under which a [traderfields.Trader] has a window, whatever that is.
const Period = traderfields.Week

// Trader is one that did something in a window, of which the figures are those of [Period].
func Trader(did *market.Window) traderfields.Trader {
	return traderfields.Trader{Did: map[traderfields.Period]*market.Window{Period: did}}
}
