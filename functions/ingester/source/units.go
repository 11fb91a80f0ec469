package source

import "quotary/shared/market"

// inversePlaces are the decimal places to which sizes of inverse pairs are rounded: the
// exchanges count US dollars, which no price divides evenly into coins.
const inversePlaces = 8

// Sizes turns a size at a price into base coins and quote units. An exchange counts base
// coins, or contracts of so many of them; of an inverse pair quote units, or contracts of
// so many of these.
func Sizes(p *market.Pair, px, counted market.Decimal) (size, amount market.Decimal) {
	if !p.Contract.IsZero() {
		counted = counted.Mul(p.Contract)
	}
	if !p.Inverse {
		return counted, market.Notional(px, counted)
	}
	size, err := counted.Div(px)
	if err != nil { // a price of 0
		return market.Decimal{}, counted
	}
	return size.RoundHAZ(inversePlaces), counted
}
