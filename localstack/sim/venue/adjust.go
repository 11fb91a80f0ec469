package venue

// Adjustments of open positions: leverage and the margin of isolated ones. The venue tells
// of them only who asks for the account's state; no stream of the node has them.

// leverage is what a trader's positions in a perp are opened with.
func (e *engine) leverage(u, c int) int64 {
	if set := e.Acc[u].Pos[c].Set; set > 0 {
		return set
	}
	return min(e.prof[u].Lev, e.mk[c].MaxLev)
}

// isolated reports whether a trader's positions in a perp are isolated: all of some
// traders, and those in some perps of most others.
func (e *engine) isolated(u, c int) bool {
	switch p := &e.prof[u]; p.Kind {
	case kindVault, kindMaker, kindWhale:
		return false
	default:
		return p.Iso || mix64(e.Seed^uint64(u)<<16^uint64(c))%6 == 0
	}
}

// adjust changes something about an open position; it reports whether it did.
func (e *engine) adjust(u, c int) bool {
	m, p := &e.mk[c], &e.Acc[u].Pos[c]
	switch x := e.Rng.n(4); {
	case p.Iso && x == 0:
		return e.moveMargin(u, c, e.room(u, c)/4/usd*usd)
	case p.Iso && x == 1:
		ntl := e.notional(u, c)
		return e.moveMargin(u, c, -max(0, e.isoEquity(u, c)-max(mulDivUp(ntl, 1, p.Lev), ntl/10+1))/2)
	}
	most := min(m.MaxLev, tierOf(m.Tiers, e.notional(u, c)).MaxLev)
	return e.setLeverage(u, c, e.Rng.between(1, most))
}

// room is the cash that a trader can set aside for a position.
func (e *engine) room(u, c int) int64 {
	d := e.mk[c].Dex
	return max(0, min(e.free(u, d), e.held(u, d)))
}

// moveMargin adds cash to an isolated position, or takes it away when negative. What
// stays must be a tenth of the notional and the initial margin.
func (e *engine) moveMargin(u, c int, amount int64) bool {
	a := &e.Acc[u]
	switch {
	case amount > 0:
		a.Adjusted.MarginIn++
	case amount < 0:
		a.Adjusted.MarginOut++
	default:
		return false
	}
	a.Pos[c].Margin += amount
	e.credit(u, e.mk[c].Dex, -amount)
	return true
}

// setLeverage changes the leverage of a position and of those to come, where there is
// cash enough for the initial margin that a lower one asks for. An isolated position is
// given what it lacks of it; a higher leverage leaves it what it has.
func (e *engine) setLeverage(u, c int, lev int64) bool {
	a := &e.Acc[u]
	p, ntl := &a.Pos[c], e.notional(u, c)
	if lev == p.Lev {
		return false
	}
	need := mulDivUp(ntl, 1, lev) - mulDivUp(ntl, 1, p.Lev)
	if p.Iso {
		need = mulDivUp(ntl, 1, lev) - e.isoEquity(u, c)
	}
	if need > e.room(u, c) {
		return false
	}
	if p.Iso && need > 0 {
		p.Margin += need
		e.credit(u, e.mk[c].Dex, -need)
	}
	p.Lev, p.Set = lev, lev
	a.Adjusted.Leverage++
	return true
}
