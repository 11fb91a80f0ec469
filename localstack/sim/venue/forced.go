package venue

import "sort"

// Liquidation follows the venue's rules. When the equity that carries a
// position falls under its maintenance margin, the position is sold into the
// book (method market), a fifth at a time when it is large, never below the
// price at which the equity would be gone. When the equity is under two thirds
// of the maintenance margin after that, the vault takes over what is left at
// that price (method backstop). Where the equity is gone already, those with the most
// profitable and most leveraged positions of the other side have to close theirs against
// it at that price (auto-deleveraging). So no account ends in debt.

const (
	partialAbove    = 100_000 * usd // notional from which on one fifth goes first
	partialCooldown = 30_000        // ms
)

// liquidate checks every account against its maintenance margin.
func (e *engine) liquidate() {
	for u := range e.Acc {
		if !e.Acc[u].Joined || u == vault {
			continue
		}
		for d := range e.dexes {
			if d > 0 && e.joint(u, d, d-1) {
				continue
			}
			if _, maint := e.crossMargins(u, d); maint > 0 && e.crossEquity(u, d) < maint {
				e.force(u, e.crossPositions(u, d), liquidation{User: int32(u), Cross: true})
			}
		}
		for c := range e.perps {
			p := &e.Acc[u].Pos[c]
			if p.Szi != 0 && p.Iso && e.isoEquity(u, c) < maintenance(e.mk[c].Tiers, e.notional(u, c)) {
				e.force(u, []int{c}, liquidation{User: int32(u)})
			}
		}
	}
}

// crossPositions lists the perps in which a trader has a cross position that the same money
// backs as those of a dex.
func (e *engine) crossPositions(u, dex int) []int {
	var out []int
	for c := range e.perps {
		if p := &e.Acc[u].Pos[c]; p.Szi != 0 && !p.Iso && e.joint(u, dex, e.mk[c].Dex) {
			out = append(out, c)
		}
	}
	return out
}

// equityOf is the equity that carries a position: its own when isolated, the
// dex's cross equity otherwise. maintOf is what it must cover.
func (e *engine) equityOf(u, c int, cross bool) int64 {
	if cross {
		return e.crossEquity(u, e.mk[c].Dex)
	}
	return e.isoEquity(u, c)
}

func (e *engine) maintOf(u, c int, cross bool) int64 {
	if cross {
		_, maint := e.crossMargins(u, e.mk[c].Dex)
		return maint
	}
	return maintenance(e.mk[c].Tiers, e.notional(u, c))
}

// force closes positions that share one equity.
func (e *engine) force(u int, coins []int, l liquidation) {
	a := &e.Acc[u]
	equity, maint := e.equityOf(u, coins[0], l.Cross), e.maintOf(u, coins[0], l.Cross)
	cooling := e.ms()-a.LastForced < partialCooldown
	if cooling && equity >= maint*2/3 {
		return
	}
	e.action()
	for i := len(a.open) - 1; i >= 0; i-- {
		if o := a.open[i]; contains(coins, int(o.Coin)) {
			e.cancel(o, "liquidatedCanceled")
		}
	}
	a.LastForced = e.ms()
	ntl := e.reportLiquidation(u, coins, equity, l.Cross)
	e.out.forced = append(e.out.forced, forcedClose{User: u, Notional: ntl, Equity: equity, Maint: maint})
	if equity > 0 {
		e.sellOff(u, coins, l)
	}
	left := coins[:0:0]
	for _, c := range coins {
		if a.Pos[c].Szi != 0 {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return
	}
	equity, maint = e.equityOf(u, left[0], l.Cross), e.maintOf(u, left[0], l.Cross)
	if equity < maint*2/3 {
		e.outside(u, left, l)
	}
}

// sellOff sends the liquidation orders of method market.
func (e *engine) sellOff(u int, coins []int, l liquidation) {
	for _, c := range coins {
		p, m := &e.Acc[u].Pos[c], &e.mk[c]
		equity := e.equityOf(u, c, l.Cross)
		if p.Szi == 0 || equity <= 0 {
			continue
		}
		e.ensureQuotes(c)
		e.action()
		mark, size := e.Mk[c].Mark, abs(p.Szi)
		room := equity / size // how far from the mark the equity reaches
		px := ceilTick(max(1, mark-room), m.PxDec)
		if p.Szi < 0 {
			px = floorTick(mark+room, m.PxDec)
		}
		if size*mark > partialAbove && equity >= e.maintOf(u, c, l.Cross)*2/3 {
			size = max(1, size/5)
		}
		forced := l
		forced.Mark = mark
		e.Liquidations[0]++
		e.submit(&order{User: int32(u), Coin: int16(c), Buy: p.Szi < 0, Px: px, Sz: size, Tif: liquidationMarket,
			Reduce: true, Liq: &forced})
	}
}

// outside closes positions outside the book at the prices that leave the trader with
// nothing, the equity spread over them by notional. The vault takes them over while the
// trader owns anything; below zero, those who profit from the other side bear the loss.
func (e *engine) outside(u int, coins []int, l liquidation) {
	equity := e.equityOf(u, coins[0], l.Cross)
	var total int64
	for _, c := range coins {
		total += e.notional(u, c)
	}
	for _, c := range coins {
		p, mark := &e.Acc[u].Pos[c], e.Mk[c].Mark
		size := abs(p.Szi)
		share := mulDivDown(equity, e.notional(u, c), total)
		px := mark - share/size
		if p.Szi < 0 {
			px = mark + share/size
		}
		px = max(1, px+sign(p.Szi)*boolInt(share < 0)) // in the trader's favor
		forced := l
		forced.Mark, forced.Backstop, forced.Delever = mark, true, equity < 0
		if forced.Delever {
			e.Deleveraged++
			e.deleverage(u, c, px, &forced)
			continue
		}
		e.Liquidations[1]++
		if !e.Acc[vault].Joined {
			e.join(vault)
		}
		e.action()
		e.handOver(e.giving(u, c, size, px, &forced), vault, size)
	}
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// deleverage closes a position against those of the other side, in the order of their rank.
func (e *engine) deleverage(u, c int, px int64, l *liquidation) {
	e.action()
	long := e.Acc[u].Pos[c].Szi > 0
	var others []int
	rank := map[int]int64{}
	for v := range e.Acc {
		if szi := e.Acc[v].Pos[c].Szi; szi != 0 && (szi > 0) != long {
			others = append(others, v)
			rank[v] = e.rank(v, c)
		}
	}
	sort.SliceStable(others, func(i, j int) bool { return rank[others[i]] > rank[others[j]] })
	give := e.giving(u, c, abs(e.Acc[u].Pos[c].Szi), px, l)
	for _, v := range others {
		if give.Sz == 0 {
			return
		}
		e.handOver(give, v, min(give.Sz, abs(e.Acc[v].Pos[c].Szi)))
	}
}

// rank is who is auto-deleveraged first: profit, which is mark/entry of a long and
// entry/mark of a short, times leverage, which is the notional over the equity behind it.
// Who owns nothing is the last.
// Formula: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/auto-deleveraging
func (e *engine) rank(u, c int) int64 {
	p, ntl := &e.Acc[u].Pos[c], e.notional(u, c)
	equity := e.equityOf(u, c, !p.Iso)
	if equity <= 0 {
		return -1
	}
	worth, cost := ntl, max(1, abs(p.Cost))
	if p.Szi < 0 {
		worth, cost = cost, ntl
	}
	leverage := mulDivDown(ntl, 1_000_000, equity)
	return mulDivDown(min(leverage, 1_000_000_000), min(mulDivDown(worth, 1_000_000, cost), 1_000_000_000), 1_000_000)
}

// giving is the order by which a liquidated position, or a part of one, is closed outside the book.
func (e *engine) giving(u, c int, size, px int64, l *liquidation) *order {
	e.LastOid++
	return &order{Oid: e.LastOid, Time: e.ms(), User: int32(u), Coin: int16(c), Buy: e.Acc[u].Pos[c].Szi < 0, Px: px, Sz: size,
		Orig: size, Reduce: true, Tif: liquidationMarket, Liq: l}
}

// handOver closes size of a liquidated position against another trader's account, as a trade outside
// the book of which the other trader is the taker.
func (e *engine) handOver(give *order, to int, size int64) {
	e.LastOid++
	take := &order{Oid: e.LastOid, Time: e.ms(), User: int32(to), Coin: give.Coin, Buy: !give.Buy, Px: give.Px, Sz: size,
		Orig: size, Reduce: give.Liq.Delever, Tif: liquidationMarket, Liq: give.Liq}
	e.exchange(take, give, size, give.Px)
	if give.Sz -= size; give.Sz == 0 {
		e.setStatus(give, "filled")
	}
	e.setStatus(take, "filled")
}

// backstopDir is the dir of both fills where the vault takes over: it names the liquidated
// position.
func backstopDir(l *liquidation, long bool) direction {
	switch {
	case l.Cross && long:
		return liqCrossLong
	case l.Cross:
		return liqCrossShort
	case long:
		return liqIsoLong
	}
	return liqIsoShort
}

// unwindVault lets the vault work off what it took over.
func (e *engine) unwindVault() {
	for c := range e.perps {
		szi := e.Acc[vault].Pos[c].Szi
		if szi == 0 || e.Rng.n(60_000) >= e.dtMs {
			continue
		}
		e.ensureQuotes(c)
		e.action()
		chunk := max(1, e.mk[c].Level/e.Mk[c].Mark)
		e.take(vault, c, szi < 0, min(abs(szi), chunk), 4000, ioc, true)
	}
}
