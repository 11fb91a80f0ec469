package venue

// A squeeze brings about a liquidation where prices alone would bring one every few hours: it takes
// from an account what backs a position, more than the venue lets anybody take, in the block in
// which the liquidation follows. Isolated margin becomes cash; what backs cross positions is
// withdrawn. No money comes or goes otherwise.

// squeezeKind is what a squeeze aims at.
type squeezeKind struct {
	method      int // 0 into the book, 1 to the vault, 2 auto-deleveraging
	cross, long bool
}

// squeezeMethods are the methods of as many squeezes, one after the other.
var squeezeMethods = [...]int{0, 0, 1, 0, 0, 2}

// squeezeOf is the nth squeeze of a venue: every method of every kind of position in 24.
func squeezeOf(n int64) squeezeKind {
	turns := int64(len(squeezeMethods))
	kind := (n + n/turns) % 4
	return squeezeKind{squeezeMethods[n%turns], kind%2 == 0, kind/2 == 0}
}

const (
	// squeezeLeast and squeezeMost are the notionals of positions that are squeezed, so that the
	// books bear it.
	squeezeLeast = 50 * usd
	squeezeMost  = 300_000 * usd
	// coarseSqueezes is how many long blocks have one squeeze.
	coarseSqueezes = 4
)

// squeeze squeezes an account where it is time for it.
func (e *engine) squeeze(prev int64) {
	every := e.Rates.Squeezes * 1_000_000
	if every == 0 || e.Time/every == prev/every || e.Coarse && e.Block%coarseSqueezes != 0 {
		return
	}
	n := e.Squeezed
	e.Squeezed++
	first := int(mix64(e.Seed^uint64(n)<<20) % uint64(len(e.Acc)))
	for turn := range int64(4) { // where nobody has such a position, the next kind
		kind := squeezeOf(n)
		kind.cross, kind.long = kind.cross != (turn%2 == 1), kind.long != (turn/2 == 1)
		for i := range e.Acc {
			if u := (first + i) % len(e.Acc); e.squeezable(u) && e.squeezeOne(u, kind) {
				return
			}
		}
	}
}

// squeezable reports whether an account may be squeezed: not those by whom the market lives, and
// not one of which something else is under way.
func (e *engine) squeezable(u int) bool {
	switch a := &e.Acc[u]; e.prof[u].Kind {
	case kindVault, kindMaker, kindWhale, kindDuster:
		return false
	default:
		return a.Joined && a.Mode != modePortfolio && e.ms()-a.LastForced >= partialCooldown
	}
}

// squeezeOne squeezes an account that has a position of a kind.
func (e *engine) squeezeOne(u int, kind squeezeKind) bool {
	for c := range e.perps {
		p := &e.Acc[u].Pos[c]
		if p.Szi == 0 || (p.Szi > 0) != kind.long || p.Iso == kind.cross || e.notional(u, c) < squeezeLeast || e.notional(u, c) > squeezeMost {
			continue
		}
		if kind.cross && (e.mk[c].Dex != 0 || e.Acc[u].Mode.unified()) {
			continue // its money cannot be withdrawn, or backs more
		}
		taken := e.equityOf(u, c, kind.cross) - e.squeezedTo(u, c, kind)
		if taken <= withdrawFee {
			continue
		}
		e.action()
		if kind.cross {
			e.withdraw(u, taken-withdrawFee)
			return true
		}
		return e.moveMargin(u, c, -taken)
	}
	return false
}

// squeezedTo is what is left behind a position: for the book enough that it reaches the best
// prices, for the vault so little that it does not, for auto-deleveraging less than nothing.
func (e *engine) squeezedTo(u, c int, kind squeezeKind) int64 {
	ntl := e.notional(u, c)
	switch kind.method {
	case 1:
		return ntl / 20_000
	case 2:
		return -ntl / 500
	}
	return e.maintOf(u, c, kind.cross) * 5 / 6
}

// TruthLiquidation is an order by which a position was closed by force, or a part of one.
type TruthLiquidation struct {
	Time       int64 // ms
	Address    string
	Coin       string
	Oid        int64
	Long       bool
	Cross      bool
	Method     string // market, backstop or adl
	Value, Pnl int64  // px x sz, and what it realized: millionths of the collateral
	Sz         string // base units
	Start, End string // the position before and after it, base units
	Fills      int
}

// forcedOrder is one while it is noted.
type forcedOrder struct {
	fill
	sz, value, closed int64
	fills             int
}

// mostNoted is how many liquidations are remembered.
const mostNoted = 10_000

// noteLiquidation notes a fill of a liquidated account.
func (e *engine) noteLiquidation(f *fill) {
	if n := len(e.noted); n == 0 || e.noted[n-1].Oid != f.Oid {
		e.noted = push(e.noted, forcedOrder{fill: *f}, mostNoted)
	}
	o := &e.noted[len(e.noted)-1]
	o.sz, o.value, o.closed, o.fills = o.sz+f.Sz, o.value+f.Sz*f.Px, o.closed+f.Closed, o.fills+1
}

// Liquidations are those since the venue was opened, oldest first: the newest 10,000.
func (v *Venue) Liquidations() []TruthLiquidation {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.eng
	noted := last(e.noted, mostNoted)
	list := make([]TruthLiquidation, len(noted))
	for i := range noted {
		o := &noted[i]
		m := &e.mk[o.Coin]
		end := o.Start - o.sz
		if o.Buy {
			end = o.Start + o.sz
		}
		list[i] = TruthLiquidation{Time: o.Time, Address: e.prof[o.User].Addr, Coin: m.Name, Oid: o.Oid, Long: !o.Buy, Cross: o.Liq.Cross,
			Method: "market", Value: o.value, Pnl: o.closed, Sz: dec(o.sz, m.SzDec), Start: dec(o.Start, m.SzDec), End: dec(end, m.SzDec), Fills: o.fills}
		switch {
		case o.Liq.Delever:
			list[i].Method = "adl"
		case o.Liq.Backstop:
			list[i].Method = "backstop"
		}
	}
	return list
}
