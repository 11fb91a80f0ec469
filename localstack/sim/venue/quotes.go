package venue

// Makers keep a ladder on both sides around the oracle. In short blocks they
// requote when the price has moved off or now and then; in long blocks only
// the market that is about to trade is quoted, and unseen until it does. No
// block of either kind ends with a book that lacks a side.

const ladder = 4

// Behind a jump makers are careful for these many ms: spreads are so many times the usual
// ones, and sizes that part of them.
const (
	wide    = 30
	thin    = 100
	wideFor = 6 * 60_000
)

// ladderOff is how many half-spreads each level stands off, in tenths.
var ladderOff = [ladder]int64{10, 24, 45, 80}

// makersOf lists the makers of a market.
func (e *engine) makersOf(c int) []int {
	out := make([]int, 0, makersPerMk)
	for i := 1; i <= makers; i++ {
		if contains(e.prof[i].Coins, c) {
			out = append(out, i)
		}
	}
	return out
}

// quoteAll lets the makers of every market requote where they should.
func (e *engine) quoteAll() {
	for c := range e.mk {
		center := e.center(c)
		var stale []int
		for k, u := range e.mkr[c] {
			was := e.Mk[c].Quoted[k]
			moved := abs(center-was) * 1_000_000
			if was == 0 || moved > 5*was*e.halfSpread(c) || e.Rng.n(180_000) < e.dtMs {
				stale = append(stale, k)
				e.pull(u, c)
			}
		}
		for _, k := range stale {
			e.quote(c, k, center)
		}
	}
}

// ensureQuotes requotes one market in a long block.
func (e *engine) ensureQuotes(c int) {
	if !e.Coarse || e.fresh[c] == e.Block {
		return
	}
	e.requote(c)
}

// requote has all makers of a market quote again.
func (e *engine) requote(c int) {
	e.fresh[c] = e.Block
	for _, u := range e.mkr[c] {
		e.pull(u, c)
	}
	for k := range e.mkr[c] {
		e.quote(c, k, e.center(c))
	}
}

// supply has the makers of each market requote where the block's trades have left
// a side with less than one ladder.
func (e *engine) supply() {
	for c := range e.mk {
		if len(e.books[c].bids) >= ladder && len(e.books[c].asks) >= ladder {
			continue
		}
		e.requote(c)
	}
}

// center is the price that makers quote around: the oracle with the basis.
func (e *engine) center(c int) int64 {
	s := &e.Mk[c]
	return s.Latent/1_000_000 + mulDiv(s.Latent/1_000_000, s.Basis, 1_000_000_000)
}

// halfSpread is in parts per million.
func (e *engine) halfSpread(c int) int64 { return max(40, e.mk[c].Vol/25) }

// pull cancels a maker's quotes in a market.
func (e *engine) pull(u, c int) {
	open := e.Acc[u].open
	for i := len(open) - 1; i >= 0; i-- {
		if o := open[i]; int(o.Coin) == c {
			e.cancel(o, "canceled")
		}
	}
}

// pullQuotes cancels all makers' quotes, where the kind of block changes: the
// streams then show the whole book again.
func (e *engine) pullQuotes() {
	for c := range e.mk {
		for k, u := range e.mkr[c] {
			e.pull(u, c)
			e.Mk[c].Quoted[k] = 0
		}
	}
}

// quote places the ladder of the kth maker of a market. A maker that holds all it
// may quotes a tenth on the side that would add to it.
func (e *engine) quote(c, k int, center int64) {
	e.action()
	m, u := &e.mk[c], e.mkr[c][k]
	e.Mk[c].Quoted[k] = center
	half := e.halfSpread(c) * (10 + 3*int64(k)) / 10
	careful := e.ms() < e.Mk[c].WideTo
	if careful {
		half *= wide
	}
	inventory, limit := e.inventory(u, c), m.Level*35
	center -= mulDiv(center, mulDiv(inventory, 3*half, limit), 1_000_000)
	for i := range ladderOff {
		off := half * ladderOff[i] / 10
		notional := m.Level * (5 + 7*int64(i)) / 10 * e.Rng.between(60, 140) / 100
		if e.Coarse {
			notional *= 2
		}
		if careful {
			notional /= thin
		}
		toBuy, toSell := notional, notional
		if inventory >= limit {
			toBuy /= 10
		}
		if inventory <= -limit {
			toSell /= 10
		}
		px := floorTick(center-mulDiv(center, off, 1_000_000), m.PxDec)
		if ask := e.books[c].bestPx(false); crosses(true, px, ask) {
			px = floorTick(ask-1, m.PxDec)
		}
		e.quoteAt(u, c, true, px, toBuy)
		px = ceilTick(center+mulDiv(center, off, 1_000_000), m.PxDec)
		if bid := e.books[c].bestPx(true); crosses(false, px, bid) {
			px = ceilTick(bid+1, m.PxDec)
		}
		e.quoteAt(u, c, false, px, toSell)
	}
}

func (e *engine) quoteAt(u, c int, buy bool, px, notional int64) {
	sz := notional / px
	if sz < 1 {
		return
	}
	e.submit(&order{User: int32(u), Coin: int16(c), Buy: buy, Px: px, Sz: sz, Tif: alo, Cloid: e.Rng.next(),
		Silent: e.Coarse})
}

// inventory is the signed notional that a maker holds in a market, against
// what it began with.
func (e *engine) inventory(u, c int) int64 {
	m := &e.mk[c]
	if !m.Spot {
		return e.Acc[u].Pos[c].Szi * e.Mk[c].Mark
	}
	grain := pow10[8-m.SzDec]
	return (e.Acc[u].Tok[m.Token] - e.tokens[m.Token].genesis*spotUnit) / grain * e.Mk[c].Mark
}

// pressure is how much of the makers' room traders have used up: percent, and
// positive when the traders are net long.
func (e *engine) pressure(c int) int64 {
	var sum int64
	for _, u := range e.mkr[c] {
		sum -= e.inventory(u, c)
	}
	return max(-100, min(100, mulDiv(sum, 100, makersPerMk*e.mk[c].Level*35)))
}
