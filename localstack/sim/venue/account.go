package venue

// direction is the dir field of a fill.
type direction uint8

const (
	openLong direction = iota
	openShort
	closeLong
	closeShort
	longToShort
	shortToLong
	buySpot
	sellSpot
	liqCrossLong
	liqCrossShort
	liqIsoLong
	liqIsoShort
	autoDeleveraging
	dustConversion
)

var dirNames = [...]string{"Open Long", "Open Short", "Close Long", "Close Short", "Long > Short", "Short > Long",
	"Buy", "Sell", "Liquidated Cross Long", "Liquidated Cross Short", "Liquidated Isolated Long",
	"Liquidated Isolated Short", "Auto-Deleveraging", "Spot Dust Conversion"}

// fill is one side of a trade, as it goes on the wire.
type fill struct {
	Px, Sz, Time     int64
	Start, Closed    int64
	Oid, Fee, Tid    int64
	Twap, BuilderFee int64
	Tx, Cloid        uint64
	User             int32
	Coin, FeeTok     int16
	Builder          int16 // index, or -1
	Dir              direction
	Buy, Crossed     bool
	Liq              *liquidation
}

// perpFill books a signed size at px into a position and the account's cash.
// It returns the size before, the realized PnL and the direction.
func (e *engine) perpFill(u, c int, dsz, px int64) (start, closed int64, dir direction) {
	a := &e.Acc[u]
	p := &a.Pos[c]
	start = p.Szi
	closing := int64(0)
	if start != 0 && sign(start) != sign(dsz) {
		closing = min(abs(dsz), abs(start))
		var back int64
		closed, back = p.reduce(closing, px)
		e.credit(u, e.mk[c].Dex, back)
	}
	if opening := abs(dsz) - closing; opening > 0 {
		e.increase(u, c, sign(dsz)*opening, px)
	} else if p.Szi == 0 {
		p.Cost, p.FundOpen, p.FundChange = 0, 0, 0
	}
	p.Realized += closed
	p.FundChange = 0
	return start, closed, directionOf(start, p.Szi, dsz)
}

// reduce closes size of a position at px and returns the realized PnL and what goes back to
// the cash: price against the average entry, whose share of the cost is rounded half away from
// zero unless the whole position closes.
func (p *position) reduce(size, px int64) (closed, back int64) {
	side, before := sign(p.Szi), abs(p.Szi)
	cost := p.Cost
	if size < before {
		cost = mulDiv(p.Cost, size, before)
	}
	closed = side*size*px - cost
	back = closed
	if p.Iso {
		// An isolated position gives back its equity in proportion, so that
		// what stays is as well covered as before.
		equity := p.Margin + p.Szi*px - p.Cost
		back = equity
		if size < before {
			back = mulDivDown(max(equity, 0), size, before)
		}
		p.Margin += closed - back
	}
	p.Szi -= side * size
	p.Cost -= cost
	return closed, back
}

// increase adds a signed size at px, on the trader's leverage and margin mode
// when the position was flat.
func (e *engine) increase(u, c int, dsz, px int64) {
	p := &e.Acc[u].Pos[c]
	e.back(u, e.dexes[e.mk[c].Dex].token)
	if p.Szi == 0 {
		p.Lev = e.leverage(u, c)
		p.Iso = e.isolated(u, c)
		p.Opened = e.ms()
		p.Cost, p.FundOpen = 0, 0
	}
	if p.Iso {
		set := mulDivUp(px, abs(dsz), p.Lev)
		p.Margin += set
		e.credit(u, e.mk[c].Dex, -set)
	}
	p.Szi += dsz
	p.Cost += dsz * px
}

func directionOf(before, after, dsz int64) direction {
	switch {
	case before > 0 && after < 0:
		return longToShort
	case before < 0 && after > 0:
		return shortToLong
	case before > 0 && dsz < 0:
		return closeLong
	case before < 0 && dsz > 0:
		return closeShort
	case dsz > 0:
		return openLong
	}
	return openShort
}

// spotFill moves tokens and USDC. A buyer's fee is taken from the tokens
// bought, a seller's from the USDC. It returns the base balance before, the
// PnL against the average entry, the fee and its token.
func (e *engine) spotFill(u, c int, dsz, px, rate int64) (start, closed, fee int64, feeTok int) {
	a, m := &e.Acc[u], &e.mk[c]
	base := m.Token
	size := abs(dsz) * pow10[8-m.SzDec]
	notional := abs(dsz) * px
	start = e.booked(u, base)
	if dsz > 0 {
		grain := pow10[8-e.tokens[base].weiDec]
		fee = mulDiv(size, rate, 1_000_000) / grain * grain
		a.Tok[base] += size - fee
		a.Tok[0] -= notional
		a.TokCost[base] += notional
		e.SpotFees[base] += fee
		e.traded(u, base, -notional/100)
		return start, 0, fee, base
	}
	cost := a.TokCost[base]
	if size < start {
		cost = mulDiv(cost, size, start)
	}
	fee = mulDiv(notional, rate, 1_000_000)
	a.Tok[base] -= size
	a.TokCost[base] -= cost
	a.Tok[0] += notional - fee
	e.SpotFees[0] += fee
	e.traded(u, base, notional/100)
	return start, notional - cost, fee, 0
}

// crossEquity is what backs the cross positions of a dex, with their unrealized PnL.
func (e *engine) crossEquity(u, dex int) int64 {
	v := e.backing(u, dex)
	for c := range e.perps {
		if p := &e.Acc[u].Pos[c]; p.Szi != 0 && !p.Iso && e.joint(u, dex, e.mk[c].Dex) {
			v += p.Szi*e.Mk[c].Mark - p.Cost
		}
	}
	return v
}

// isoEquity is the value of an isolated position with its margin.
func (e *engine) isoEquity(u, c int) int64 {
	p := &e.Acc[u].Pos[c]
	return p.Margin + p.Szi*e.Mk[c].Mark - p.Cost
}

func (e *engine) notional(u, c int) int64 { return abs(e.Acc[u].Pos[c].Szi) * e.Mk[c].Mark }

// crossMargins returns the initial and the maintenance margin of the cross positions that the
// same money backs as those of a dex.
func (e *engine) crossMargins(u, dex int) (initial, maint int64) {
	for c := range e.perps {
		p := &e.Acc[u].Pos[c]
		if p.Szi == 0 || p.Iso || !e.joint(u, dex, e.mk[c].Dex) {
			continue
		}
		n := e.notional(u, c)
		initial += mulDivUp(n, 1, p.Lev)
		maint += maintenance(e.mk[c].Tiers, n)
	}
	return initial, maint
}

// free is what a trader can still put up as initial margin in a dex.
func (e *engine) free(u, dex int) int64 {
	initial, _ := e.crossMargins(u, dex)
	return e.crossEquity(u, dex) - initial
}

// affords reports whether a trader may trade dsz at px: closing always, opening
// when margin and fee are covered; spot when it owns what it gives.
func (e *engine) affords(u, c int, dsz, px int64) bool {
	m := &e.mk[c]
	if m.Spot {
		if dsz > 0 {
			return e.spotFree(u, 0) >= dsz*px
		}
		return e.spotFree(u, m.Token) >= -dsz*pow10[8-m.SzDec]
	}
	p := &e.Acc[u].Pos[c]
	opening := abs(dsz)
	if p.Szi != 0 && sign(p.Szi) != sign(dsz) {
		opening -= abs(p.Szi)
	}
	if opening <= 0 {
		return true
	}
	lev := min(e.leverage(u, c), tierOf(m.Tiers, abs(p.Szi+dsz)*px).MaxLev)
	need := mulDivUp(opening, px, lev) + opening*px/500
	free := e.free(u, m.Dex)
	if e.isolated(u, c) {
		free = min(free, e.held(u, m.Dex))
	}
	return free >= need
}

// perpEquity is the account value over all dexes and margin modes, in millionths of a USDC: of
// an account with one balance per token the value of the tokens that back its positions.
func (e *engine) perpEquity(u int) int64 {
	var v int64
	if e.Acc[u].Mode.unified() {
		for t := range e.tokens {
			if e.backs(u, t) {
				v += e.worth(t, e.owned(u, t))
			}
		}
		return v
	}
	for d := range e.dexes {
		v += e.worth(e.dexes[d].token, e.dexEquity(u, d)*100)
	}
	return v
}

func (e *engine) dexEquity(u, dex int) int64 {
	v := e.crossEquity(u, dex)
	for c := range e.perps {
		if p := &e.Acc[u].Pos[c]; p.Szi != 0 && p.Iso && e.mk[c].Dex == dex {
			v += e.isoEquity(u, c)
		}
	}
	return v
}

// spotValue is the worth of all tokens that back no positions, in millionths of a USDC.
func (e *engine) spotValue(u int) int64 {
	var v int64
	for t := range e.tokens {
		if !e.backs(u, t) {
			v += e.worth(t, e.owned(u, t))
		}
	}
	return v
}
