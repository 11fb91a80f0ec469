package venue

// An order's way: submit matches it, what is left of a Gtc order rests. All
// statuses on the streams come from setStatus.

// submit takes a new order to the market and returns how much of it traded.
// The caller has checked that its price is a tick and its trader can pay.
func (e *engine) submit(o *order) int64 {
	if o.Oid == 0 {
		e.LastOid++
		o.Oid = e.LastOid
		o.Time = e.ms()
	}
	o.Orig = max(o.Orig, o.Sz)
	opposite := e.books[o.Coin].bestPx(!o.Buy)
	if o.Tif == alo && crosses(o.Buy, o.Px, opposite) {
		e.setStatus(o, "badAloPxRejected")
		return 0
	}
	if (o.Tif == gtc || o.Tif == alo) && !o.Silent {
		e.setStatus(o, "open")
	}
	filled := e.match(o)
	switch {
	case o.Sz == 0:
		e.setStatus(o, "filled")
	case o.Tif == gtc || o.Tif == alo:
		e.rest(o)
	case o.Reduce && !e.reduces(o):
		e.setStatus(o, "reduceOnlyCanceled")
	case filled == 0:
		e.setStatus(o, "iocCancelRejected")
	default:
		e.setStatus(o, "canceled")
	}
	return filled
}

// match trades an order against the other side while prices cross.
func (e *engine) match(o *order) int64 {
	var filled int64
	b := &e.books[o.Coin]
	for o.Sz > 0 {
		m := b.best(!o.Buy)
		if m == nil || !crosses(o.Buy, o.Px, m.Px) {
			break
		}
		if why := e.unfit(m, o); why != "" {
			e.cancel(m, why)
			continue
		}
		sz := min(o.Sz, m.Sz)
		if o.Reduce {
			sz = min(sz, e.reducible(o))
		}
		if m.Reduce {
			sz = min(sz, e.reducible(m))
		}
		if sz <= 0 {
			break
		}
		if m.Silent {
			e.reveal(m)
		}
		e.exchange(o, m, sz, m.Px)
		filled += sz
		e.consume(m, sz)
	}
	return filled
}

// unfit names the reason for which a resting order cannot trade any more, or
// nothing.
func (e *engine) unfit(m, taker *order) string {
	u, c := int(m.User), int(m.Coin)
	switch {
	case m.User == taker.User:
		return "selfTradeCanceled"
	case m.Reduce && e.reducible(m) == 0:
		return "reduceOnlyCanceled"
	case e.mk[c].Spot && !e.affords(u, c, signedSz(m.Buy, min(m.Sz, taker.Sz)), m.Px):
		return "marginCanceled"
	case !e.mk[c].Spot && e.prof[u].Kind != kindMaker && !m.Reduce &&
		!e.affords(u, c, signedSz(m.Buy, min(m.Sz, taker.Sz)), m.Px):
		return "marginCanceled"
	}
	return ""
}

func signedSz(buy bool, sz int64) int64 {
	if buy {
		return sz
	}
	return -sz
}

// reducible is how much of a trader's position an order on its side may close.
func (e *engine) reducible(o *order) int64 {
	szi := e.Acc[o.User].Pos[o.Coin].Szi
	if szi == 0 || (szi > 0) == o.Buy {
		return 0
	}
	return abs(szi)
}

func (e *engine) reduces(o *order) bool { return e.reducible(o) > 0 }

// consume takes sz off a resting order.
func (e *engine) consume(m *order, sz int64) {
	before := m.Sz
	m.Sz -= sz
	e.out.diffUpdate(e, m, before)
	if m.Sz > 0 {
		return
	}
	e.detach(m)
	e.out.diffRemove(e, m)
	e.setStatus(m, "filled")
}

func (e *engine) rest(o *order) {
	e.books[o.Coin].add(o)
	e.live[o.Oid] = o
	a := &e.Acc[o.User]
	a.open = append(a.open, o)
	if !o.Silent {
		e.out.diffNew(e, o)
	}
	e.out.touch(o.Coin)
}

// reveal shows a silent quote on the streams just before its first trade.
func (e *engine) reveal(o *order) {
	o.Silent = false
	e.setStatus(o, "open")
	e.out.diffNew(e, o)
}

// detach takes an order off its book or trigger list.
func (e *engine) detach(o *order) {
	if o.Trigger != noTrigger && !o.Triggered {
		e.trig[o.Coin] = without(e.trig[o.Coin], o)
	} else {
		e.books[o.Coin].remove(o)
		e.out.touch(o.Coin)
	}
	delete(e.live, o.Oid)
	a := &e.Acc[o.User]
	a.open = without(a.open, o)
}

func without(list []*order, o *order) []*order {
	for i, x := range list {
		if x == o {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// cancel removes an order with the given final status.
func (e *engine) cancel(o *order, status string) {
	resting := o.Trigger == noTrigger || o.Triggered
	e.detach(o)
	if o.Silent {
		return
	}
	if resting {
		e.out.diffRemove(e, o)
	}
	e.setStatus(o, status)
}

func (e *engine) setStatus(o *order, status string) {
	if o.Silent {
		return
	}
	e.out.status(e, o, status)
	if e.prof[o.User].Kind == kindMaker && status == "open" {
		return // a maker's open orders are in the book; its history keeps how they ended
	}
	a := &e.Acc[o.User]
	a.Orders = push(a.Orders, orderRec{Order: *o, Status: status, Time: e.ms()}, depthOrders)
}

// exchange books one trade between a taker and a maker at px.
func (e *engine) exchange(taker, maker *order, sz, px int64) {
	c := int(taker.Coin)
	tid := e.nextTid()
	liq := taker.Liq
	if liq == nil {
		liq = maker.Liq
	}
	tx := e.tx
	if taker.Twap != 0 {
		tx = 0
	}
	sides := [2]*order{taker, maker}
	if !taker.Buy {
		sides = [2]*order{maker, taker}
	}
	for _, o := range sides { // the buyer's fill comes first
		f := e.settle(o, o == taker, sz, px)
		f.Tid, f.Tx, f.Liq = tid, tx, liq
		switch {
		case liq == nil:
		case liq.Delever:
			f.Dir = autoDeleveraging
		case liq.Backstop:
			f.Dir = backstopDir(liq, f.Buy == (o == taker))
		}
		if o == taker {
			taker.Sz -= sz
		}
		e.record(&f)
		if liq != nil && liq.User == f.User {
			e.noteLiquidation(&f)
		}
	}
	e.tape(c, tradeRec{Px: px, Sz: sz, Time: e.ms(), Tid: tid, Tx: tx, Buy: taker.Buy,
		Buyer: sides[0].User, Seller: sides[1].User})
}

// settle books one side of a trade into its account.
func (e *engine) settle(o *order, crossed bool, sz, px int64) fill {
	u, c := int(o.User), int(o.Coin)
	m, p := &e.mk[c], &e.prof[u]
	dsz := signedSz(o.Buy, sz)
	f := fill{Px: px, Sz: sz, Time: e.ms(), Oid: o.Oid, Twap: o.Twap, Cloid: o.Cloid, User: o.User, Coin: o.Coin,
		Builder: -1, Buy: o.Buy, Crossed: crossed}
	rate := p.Maker
	if crossed {
		rate = p.Taker
	}
	if m.Spot {
		f.Dir = buySpot
		if !o.Buy {
			f.Dir = sellSpot
		}
		rate = spotRate(p, crossed)
		var tok int
		f.Start, f.Closed, f.Fee, tok = e.spotFill(u, c, dsz, px, rate)
		f.FeeTok = int16(tok)
		e.Acc[u].SpotVlm += sz * px
		return f
	}
	f.Start, f.Closed, f.Dir = e.perpFill(u, c, dsz, px)
	f.Fee = e.perpFee(o, rate, sz*px)
	if p.Builder >= 0 && o.Liq == nil {
		f.Builder = int16(p.Builder)
		f.BuilderFee = mulDiv(sz*px, p.BldBps, 100_000)
	}
	if t := e.dexes[m.Dex].token; t != 0 {
		f.FeeTok = int16(t)
		e.DexFees[t] += f.Fee + f.BuilderFee
	} else {
		e.PerpFees += f.Fee
		if f.Builder >= 0 {
			e.BuilderFees[f.Builder] += f.BuilderFee
		}
	}
	f.Fee += f.BuilderFee
	a := &e.Acc[u]
	e.credit(u, m.Dex, -f.Fee)
	a.Pos[c].Fees += f.Fee
	a.Pos[c].Volume += sz * px
	a.Vlm += sz * px
	e.addDay(a, crossed, sz*px)
	return f
}

// perpFee is the venue's part of a fee. Forced closes are free; the builder
// dex charges double.
func (e *engine) perpFee(o *order, rate, notional int64) int64 {
	if o.Liq != nil || e.prof[o.User].Kind == kindVault {
		return 0
	}
	if e.mk[o.Coin].Dex > 0 && rate > 0 {
		rate *= 2
	}
	return mulDiv(notional, rate, 1_000_000)
}

// spotRate is a spot fee in parts per million.
func spotRate(p *profile, crossed bool) int64 {
	switch {
	case p.Kind == kindMaker && !crossed:
		return 0
	case crossed:
		return 700
	}
	return 400
}

func (e *engine) addDay(a *account, crossed bool, ntl int64) {
	day := e.ms() / 86_400_000
	if n := len(a.Days); n == 0 || a.Days[n-1].Day != day {
		a.Days = push(a.Days, dayVolume{Day: day}, 15)
	}
	d := &a.Days[len(a.Days)-1]
	if crossed {
		d.Cross += ntl
	} else {
		d.Add += ntl
	}
}

// record puts a fill on the streams and in its trader's history.
func (e *engine) record(f *fill) {
	a := &e.Acc[f.User]
	a.Fills = push(a.Fills, *f, depthFills)
	e.out.fill(e, f)
	e.Budget -= 1000
}

// tape puts a trade on the market's tape and into its candles.
func (e *engine) tape(c int, t tradeRec) {
	s := &e.Mk[c]
	s.Last = t.Px
	s.Trades++
	s.Volume += t.Px * t.Sz
	s.Base += t.Sz
	s.Tape = push(s.Tape, t, depthTape)
	s.Minutes = addTrade(s.Minutes, t, 60_000, depthMinutes)
	s.Hours = addTrade(s.Hours, t, 3_600_000, depthHours)
	e.out.trade(int16(c), t)
	e.out.touch(int16(c))
}
