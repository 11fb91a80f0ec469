package venue

// trade lets traders act until the block's share of fills is used up.
func (e *engine) trade() {
	if e.Coarse {
		e.Budget += e.Rates.Coarse * e.dtMs / 3_600_000
	} else {
		e.Budget += e.Rates.Live * e.dtMs * e.Rng.n(200) / 100_000
	}
	e.Budget = min(e.Budget, 80_000)
	who := e.pick
	if e.Coarse {
		who = e.vets
	}
	for tries := 0; e.Budget > 0 && tries < 120 && len(who) > 0; tries++ {
		e.Budget -= 50
		e.act(who[e.Rng.n(int64(len(who)))])
	}
}

// act is one decision of one trader.
func (e *engine) act(u int) {
	e.action()
	p := &e.prof[u]
	if !e.Acc[u].Joined {
		e.join(u)
	}
	if e.Rng.percent(3) && e.manageMoney(u) {
		return
	}
	if open := e.Acc[u].open; len(open) > 0 && (len(open) > 6 || e.Rng.percent(8)) {
		e.cancel(open[e.Rng.n(int64(len(open)))], "canceled")
		return
	}
	c := e.choose(u)
	e.ensureQuotes(c)
	if e.mk[c].Spot {
		e.actSpot(u, c)
		return
	}
	pos := &e.Acc[u].Pos[c]
	if pos.Szi == 0 {
		e.open(u, c)
		return
	}
	if e.Rng.percent(5+20*boolInt(pos.Iso)) && e.adjust(u, c) {
		return
	}
	if e.Rng.percent(p.Patient) && !e.Coarse {
		return
	}
	switch x := e.Rng.n(100); {
	case x < 40:
		e.market(u, c, pos.Szi < 0, abs(pos.Szi), true)
	case x < 58:
		e.market(u, c, pos.Szi < 0, max(1, mulDivDown(abs(pos.Szi), e.Rng.between(20, 70), 100)), true)
	case x < 66: // flip
		e.market(u, c, pos.Szi < 0, 2*abs(pos.Szi), false)
	case x < 76:
		e.limit(u, c, pos.Szi < 0, abs(pos.Szi), true)
	case x < 88:
		e.open(u, c)
	default:
		e.guard(u, c)
	}
}

// choose draws the market that a trader looks at. In long blocks it is mostly
// one in which it has a position, so that history has few positions at a time.
func (e *engine) choose(u int) int {
	coins := e.prof[u].Coins
	c := coins[e.Rng.n(int64(len(coins)))]
	if !e.Coarse || e.Rng.percent(15) {
		return c
	}
	for _, held := range coins {
		if held < e.perps && e.Acc[u].Pos[held].Szi != 0 {
			return held
		}
	}
	return c
}

// open starts or adds to a position in the trader's manner.
func (e *engine) open(u, c int) {
	p := &e.prof[u]
	buy := e.direction(u, c)
	sz := e.size(u, c)
	if sz == 0 {
		return
	}
	switch {
	case p.Kind == kindTwap && e.Rng.percent(50), p.Kind == kindWhale && e.Rng.percent(15):
		e.startTwap(u, c, buy, sz*e.Rng.between(2, 4))
	case p.Kind == kindPassive, e.Rng.percent(12):
		e.limit(u, c, buy, sz, false)
	case p.Kind == kindScalper && e.Rng.percent(60):
		e.take(u, c, buy, sz, 2000, ioc, false)
	default:
		e.market(u, c, buy, sz, false)
	}
	if e.Acc[u].Pos[c].Szi != 0 && e.Rng.percent(25) {
		e.guard(u, c)
	}
}

// direction follows the trend with noise, and leans against what the makers
// already hold, so that they are not one-sided for days. An existing position
// is mostly added to.
func (e *engine) direction(u, c int) bool {
	if szi := e.Acc[u].Pos[c].Szi; szi != 0 {
		return szi > 0
	}
	lean := int64(50)
	follow := int64(12)
	if e.prof[u].Kind == kindTrend || e.prof[u].Kind == kindDegen {
		follow = 25
	}
	lean += follow * sign(e.Mk[c].Drift)
	lean -= 40 * e.pressure(c) / 100
	return e.Rng.percent(lean)
}

// size draws an order size that the trader's margin and the market bear.
func (e *engine) size(u, c int) int64 {
	m, p := &e.mk[c], &e.prof[u]
	mark := e.Mk[c].Mark
	free := e.free(u, m.Dex)
	if e.isolated(u, c) {
		free = min(free, e.held(u, m.Dex))
	}
	lev := e.leverage(u, c)
	lo, hi := int64(8), int64(45)
	if p.Kind == kindDegen {
		lo, hi = 60, 92
	}
	ntl := mulDivDown(max(free, 0), lev*e.Rng.between(lo, hi), 100)
	ntl = min(ntl, m.Level*8)
	if e.notional(u, c)+ntl > m.Level*30 {
		return 0
	}
	return ntl / mark
}

// market sends a market order, as front ends do: IOC 5% through the mark.
func (e *engine) market(u, c int, buy bool, sz int64, reduce bool) {
	e.take(u, c, buy, sz, 50_000, frontendMarket, reduce)
}

// take sends an IOC order with a limit so many millionths through the mark.
func (e *engine) take(u, c int, buy bool, sz, slip int64, t tif, reduce bool) {
	m, mark := &e.mk[c], e.Mk[c].Mark
	px := ceilTick(mark+mulDiv(mark, slip, 1_000_000), m.PxDec)
	if !buy {
		px = floorTick(mark-mulDiv(mark, slip, 1_000_000), m.PxDec)
	}
	if sz < 1 || !reduce && !e.affords(u, c, signedSz(buy, sz), mark+mark/100) {
		return
	}
	e.submit(&order{User: int32(u), Coin: int16(c), Buy: buy, Px: px, Sz: sz, Tif: t, Reduce: reduce,
		Cloid: e.cloid(u)})
}

// limit rests an order a little off the market.
func (e *engine) limit(u, c int, buy bool, sz int64, reduce bool) {
	if e.Coarse && e.Rng.percent(80) {
		return // history has few resting orders
	}
	m, mark := &e.mk[c], e.Mk[c].Mark
	off := mulDiv(mark, e.Rng.between(100, 6000), 1_000_000)
	px := floorTick(mark-off, m.PxDec)
	if !buy {
		px = ceilTick(mark+off, m.PxDec)
	}
	if sz < 1 || !reduce && !e.affords(u, c, signedSz(buy, sz), px) {
		return
	}
	t := gtc
	if e.Rng.percent(20) {
		t = alo
	}
	e.submit(&order{User: int32(u), Coin: int16(c), Buy: buy, Px: px, Sz: sz, Tif: t, Reduce: reduce, Cloid: e.cloid(u)})
}

// actSpot buys or sells tokens.
func (e *engine) actSpot(u, c int) {
	m := &e.mk[c]
	mark := e.Mk[c].Mark
	owned := max(0, e.spotFree(u, m.Token)) / pow10[8-m.SzDec]
	afford := mulDivDown(max(0, min(e.spotFree(u, 0), m.Level*6)), 90, 100) / (mark + mark/50)
	buy := e.Rng.percent(50 - 40*e.pressure(c)/100)
	if owned == 0 {
		if e.Rng.percent(75) {
			return // who has sold all stays away for a while
		}
		buy = true
	}
	sz := max(1, min(owned, mulDivDown(owned, e.Rng.between(30, 200), 100)))
	if buy {
		sz = mulDivDown(afford, e.Rng.between(10, 60), 100)
	}
	if sz < 1 {
		return
	}
	switch {
	case e.Rng.percent(20):
		e.limit(u, c, buy, sz, false)
	case e.Rng.percent(6):
		e.startTwap(u, c, buy, sz)
	default:
		e.market(u, c, buy, sz, false)
	}
}

// cloid draws a client order id for traders that use one.
func (e *engine) cloid(u int) uint64 {
	if !e.prof[u].Cloids {
		return 0
	}
	return e.Rng.next()
}

// guard puts a take-profit and a stop on a position that has none.
func (e *engine) guard(u, c int) {
	pos := &e.Acc[u].Pos[c]
	for _, o := range e.Acc[u].open {
		if int(o.Coin) == c && o.Trigger != noTrigger {
			return
		}
	}
	if pos.Szi == 0 {
		return
	}
	m, mark := &e.mk[c], e.Mk[c].Mark
	side := sign(pos.Szi)
	up := mulDiv(mark, e.Rng.between(8_000, 60_000), 1_000_000)
	down := mulDiv(mark, e.Rng.between(6_000, 40_000), 1_000_000)
	tp := e.rearm(u, c, takeProfit, floorTick(mark+side*up, m.PxDec))
	sl := e.rearm(u, c, stopLoss, floorTick(mark-side*down, m.PxDec))
	tp.Sibling, sl.Sibling = sl.Oid, tp.Oid
}

// rearm places one trigger order over the whole position.
func (e *engine) rearm(u, c int, k triggerKind, px int64) *order {
	pos, m := &e.Acc[u].Pos[c], &e.mk[c]
	buy := pos.Szi < 0
	limit := floorTick(px-px*8/100, m.PxDec)
	if buy {
		limit = ceilTick(px+px*8/100, m.PxDec)
	}
	e.LastOid++
	o := &order{Oid: e.LastOid, Time: e.ms(), User: int32(u), Coin: int16(c), Buy: buy, Px: limit, Sz: abs(pos.Szi),
		Orig: abs(pos.Szi), Reduce: true, Tif: frontendMarket, Trigger: k, TriggerPx: px, PosTpsl: true, Cloid: e.cloid(u)}
	e.live[o.Oid] = o
	e.trig[c] = append(e.trig[c], o)
	e.Acc[u].open = append(e.Acc[u].open, o)
	e.setStatus(o, "open")
	return o
}

// fireTriggers turns the triggers that the mark has crossed into market orders
// and drops those whose position is gone.
func (e *engine) fireTriggers() {
	for c := range e.perps {
		mark := e.Mk[c].Mark
		for _, o := range append([]*order(nil), e.trig[c]...) {
			if e.live[o.Oid] == nil {
				continue
			}
			if !e.reduces(o) {
				e.cancel(o, "reduceOnlyCanceled")
				continue
			}
			if above(o) == (mark >= o.TriggerPx) || mark == o.TriggerPx {
				e.fire(o)
			}
		}
	}
}

// above reports whether an order triggers when the price rises to its trigger.
func above(o *order) bool { return (o.Trigger == takeProfit) != o.Buy }

func (e *engine) fire(o *order) {
	e.ensureQuotes(int(o.Coin))
	e.action()
	e.detach(o)
	o.Triggered = true
	e.setStatus(o, "triggered")
	o.Sz = min(o.Sz, e.reducible(o))
	e.submit(o)
	if s := e.live[o.Sibling]; s != nil {
		e.cancel(s, "siblingFilledCanceled")
	}
}
