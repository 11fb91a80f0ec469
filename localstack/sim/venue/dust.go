package venue

// Dust: at the beginning of each UTC day the venue sells the spot balances that are too
// small to be sold. An account of its own takes over all of a token's, sells what makes
// whole lots by one order, and the accounts are paid at the price of that: each has a
// fill of its share under the order's id, without a trade id, a fee or a closedPnl.

// dusterAddr is the address of the account that sells dust.
const dusterAddr = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"

// convertDust sells the dust of all tokens.
func (e *engine) convertDust() {
	e.tx = 0
	for c := e.perps; c < len(e.mk); c++ {
		if e.mk[c].Token == usdh {
			continue // it is collateral
		}
		e.convert(c)
	}
}

func (e *engine) convert(c int) {
	m, lot := &e.mk[c], pow10[8-e.mk[c].SzDec]
	var owners []int
	var dust int64
	for u := range e.Acc {
		if n := e.Acc[u].Tok[m.Token]; n > 0 && n < lot && !e.waits(u, c) {
			owners = append(owners, u)
			dust += n
		}
	}
	e.ensureQuotes(c)
	if dust < lot || e.books[c].bestPx(true) == 0 {
		return
	}
	duster := e.byAddr[dusterAddr]
	house := &e.Acc[duster]
	house.Tok[m.Token] = dust
	px := floorTick(e.Mk[c].Mark*95/100, m.PxDec)
	o := &order{User: int32(duster), Coin: int16(c), Px: px, Sz: dust / lot, Tif: ioc}
	if e.submit(o) > 0 {
		for _, u := range owners {
			e.payDust(u, c, o.Oid, e.Mk[c].Last)
		}
	} else {
		house.Tok[m.Token] = 0
	}
	// What was sold beyond what was paid for, and the dust of the dust, is the venue's.
	for t := range e.tokens {
		e.SpotFees[t] += house.Tok[t]
		house.Tok[t], house.TokCost[t] = 0, 0
	}
}

// waits reports whether a trader has an open order in a market.
func (e *engine) waits(u, c int) bool {
	for _, o := range e.Acc[u].open {
		if int(o.Coin) == c {
			return true
		}
	}
	return false
}

// payDust pays an account for all that it owns of a token. The amount is cut to a
// hundred-millionth of a USDC.
func (e *engine) payDust(u, c int, oid, px int64) {
	a, m := &e.Acc[u], &e.mk[c]
	size := a.Tok[m.Token]
	value := mulDivDown(size, px, pow10[m.PxDec])
	a.Tok[m.Token], a.TokCost[m.Token] = 0, 0
	a.Tok[0] += value
	e.traded(u, m.Token, value/100)
	e.Acc[e.byAddr[dusterAddr]].Tok[0] -= value
	f := fill{Px: px, Sz: size, Start: size, Time: e.ms(), Oid: oid, User: int32(u), Coin: int16(c), Builder: -1,
		Dir: dustConversion, Crossed: true}
	a.Fills = push(a.Fills, f, depthFills)
	e.out.fill(e, &f)
}
