package venue

import "math/bits"

// coarseAfter is the length from which on a block is a long one: makers quote
// unseen until they trade, and the flow is that of the history.
const coarseAfter = 30_000_000_000 // ns

const nsOfDay = 86_400_000_000_000

// engine makes blocks. It is owned by one goroutine at a time (Venue's lock).
type engine struct {
	state
	mk     []market
	dexes  []dex
	tokens []token
	pairs  []int // spot market of each token, -1 of USDC
	perps  int   // the first perps markets are perpetuals
	prof   []profile
	bld    []string // builders' addresses

	byAddr map[string]int // traders by address
	byName map[string]int // markets by name
	pick   []int          // trader indexes, as often as they are active
	vets   []int          // the same for long blocks
	books  []book
	mkr    [][]int          // makers by market
	fresh  []int64          // by market: the long block that quoted it last
	live   map[int64]*order // by oid: resting and trigger orders
	trig   [][]*order       // trigger orders by market
	dtMs   int64            // length of the block under way
	tx     uint64           // hash number of the action under way
	out    output
	noted  []forcedOrder // liquidations since the engine was made
}

// rates are the targets of the flow. They are part of the state, because blocks
// that are played again must be made as they were.
type rates struct {
	Live   int64 // thousandths of a fill per second in short blocks
	Coarse int64 // thousandths of a fill per hour in long blocks
	Jumps  int64 // average ms between two jumps of an oracle price
	// Squeezes is how many ms are between two, 0 for none.
	Squeezes int64
}

func newEngine(seed uint64, traders int, r rates, modes bool) *engine {
	e := &engine{mk: newMarkets(seed, modes), dexes: dexes, tokens: tokens, live: map[int64]*order{}}
	if modes {
		e.dexes, e.tokens = modeDexes, modeTokens
	}
	e.Rates, e.Modes = r, modes
	e.perps = perpCount(e.mk)
	e.Seed, e.Traders = seed, traders
	e.Rng = rng{S: seed}
	e.LastOid, e.LastTwp = 1_000_000, 1000
	e.SpotFees = make([]int64, len(e.tokens))
	e.Genesis = make([]int64, len(e.tokens))
	e.DexFees = make([]int64, len(e.tokens))
	e.Pool = make([]int64, len(e.tokens))
	e.Interest = make([]int64, len(e.tokens))
	e.BuilderFees = make([]int64, builders)
	e.Mk = make([]marketState, len(e.mk))
	for c := range e.mk {
		m := &e.Mk[c]
		m.Latent = e.mk[c].Start * 1_000_000
		m.Oracle = floorTick(e.mk[c].Start, e.mk[c].PxDec)
		m.Mark = m.Oracle
		m.Quoted = make([]int64, makersPerMk)
	}
	e.attach()
	e.Acc = make([]account, len(e.prof))
	for i := range e.Acc {
		e.Acc[i].Pos = make([]position, e.perps)
		e.Acc[i].Tok = make([]int64, len(e.tokens))
		e.Acc[i].TokCost = make([]int64, len(e.tokens))
		e.Acc[i].Mode = e.prof[i].Mode
	}
	return e
}

// attach builds what follows from the seed and is not part of the snapshot.
func (e *engine) attach() {
	e.prof = newProfiles(e.Seed, e.Traders, e.mk)
	if e.Modes {
		giveModes(e.Seed, e.prof, e.mk)
	}
	e.byAddr, e.byName = make(map[string]int, len(e.prof)), make(map[string]int, len(e.mk))
	for i := range e.prof {
		e.byAddr[e.prof[i].Addr] = i
	}
	e.pairs = make([]int, len(e.tokens))
	e.pairs[0] = -1
	for c := range e.mk {
		e.byName[e.mk[c].Name] = c
		if e.mk[c].Spot {
			e.pairs[e.mk[c].Token] = c
		}
	}
	e.bld = nil
	for i := range builders {
		e.bld = append(e.bld, e.builderAddr(i))
	}
	e.books = make([]book, len(e.mk))
	e.trig = make([][]*order, len(e.mk))
	e.fresh = make([]int64, len(e.mk))
	e.mkr = make([][]int, len(e.mk))
	for c := range e.mk {
		e.mkr[c] = e.makersOf(c)
	}
	weight := map[kind]int{kindScalper: 8, kindTrend: 3, kindWhale: 2, kindDegen: 3, kindIsolated: 3, kindTwap: 1,
		kindBuilder: 3, kindPassive: 3, kindSpot: 6}
	e.pick, e.vets = nil, nil
	for i, p := range e.prof {
		for range weight[p.Kind] {
			e.pick = append(e.pick, i)
			if p.Veteran {
				e.vets = append(e.vets, i)
			}
		}
	}
}

// ms is the block's time in Unix milliseconds.
func (e *engine) ms() int64 { return e.Time / 1_000_000 }

// step makes the block of time t (Unix nanoseconds, later than the last one).
// The same state and t give the same block and the same output.
func (e *engine) step(t int64) {
	prev := e.Time
	if e.Block == 0 {
		prev, e.Origin = t, t
	}
	e.Block++
	e.Tx, e.tx = 0, 0
	e.Time = t
	e.dtMs = t/1_000_000 - prev/1_000_000
	e.out.begin(e)
	if e.Block == 1 {
		e.found()
	}
	coarse := t-prev >= coarseAfter
	live := e.Coarse && !coarse // from now on
	if coarse != e.Coarse {
		e.pullQuotes()
		e.Coarse = coarse
	}
	e.moveOracles()
	if t/3_600_000_000_000 != prev/3_600_000_000_000 {
		e.payFunding()
		e.sampleEquity()
	}
	if !coarse && e.Block > 1 {
		e.quoteAll()
	}
	if e.Modes && t/modesEvery != prev/modesEvery {
		e.changeModes()
	}
	e.fireTriggers()
	e.squeeze(prev)
	e.liquidate()
	if t/nsOfDay != prev/nsOfDay {
		e.convertDust()
	}
	e.sliceTwaps()
	e.trade()
	if live && prev <= e.LayTo {
		e.openTwaps()
	}
	e.unwindVault()
	e.coverDebts()
	e.supply()
	e.markToMarket()
	e.out.end(e)
}

// action opens a new action, which has a transaction hash of its own.
func (e *engine) action() {
	e.Tx++
	e.tx = uint64(e.Block)<<16 | uint64(e.Tx)
}

// found funds the vault and the makers in the first block.
func (e *engine) found() {
	for i := range e.prof {
		if e.prof[i].Kind == kindVault || e.prof[i].Kind == kindMaker {
			e.join(i)
		}
	}
}

// moveOracles advances the hidden prices by a common factor, a trend of each
// coin's own, noise and a rare jump, with a [engine.reversion] so that years of running stay in
// a plausible range.
func (e *engine) moveOracles() {
	if e.dtMs <= 0 {
		return
	}
	root := isqrt(e.dtMs * 1_000_000) // thousandths of a square root of a ms
	common := e.Rng.gauss()
	for c := range e.mk {
		m, s := &e.mk[c], &e.Mk[c]
		own := e.Rng.gauss()
		if m.Follow >= 0 {
			f := &e.Mk[m.Follow]
			s.Latent = mulDiv(f.Latent, pow10[m.PxDec], pow10[e.mk[m.Follow].PxDec])
			s.Latent += mulDiv(s.Latent, own, 50_000*1_000_000)
			s.Oracle = max(1, s.Latent/1_000_000)
			continue
		}
		if e.ms() >= s.DriftTo {
			e.newTrend(c)
		}
		shock := (common*m.Beta/100 + own) * 10 / 14
		r := mulDiv(mulDiv(m.Vol, root, 1000), shock, 1_000_000)
		r += s.Drift * e.dtMs / 1000
		r += e.reversion(m, s.Latent)
		if e.Rng.n(e.Rates.Jumps) < e.dtMs && m.Vol > 1000 {
			s.WideTo = e.ms() + wideFor
			r += (e.Rng.n(2)*2 - 1) * e.Rng.between(12_000_000, 55_000_000)
		}
		r = max(-110_000_000, min(110_000_000, r))
		s.Latent += mulDiv(s.Latent, r, 1_000_000_000)
		s.Latent = max(s.Latent, 1_000_000)
		s.Oracle = floorTick(s.Latent/1_000_000, m.PxDec)
		s.Basis += mulDiv(-s.Basis, min(e.dtMs, 1_800_000), 7_200_000) + mulDiv(root, e.Rng.gauss(), 1_000_000)*300/1000
		s.Basis = max(-1_500_000, min(1_500_000, s.Basis))
	}
}

// reversion is the part of a move, in parts per 1e9, toward the price around which an oracle
// moves: weak toward the first price, by 5 % of the distance a day, and by half of it in
// six hours toward that which the other simulators show of the coin too.
func (e *engine) reversion(m *market, latent int64) int64 {
	around, perDay, dt := m.Start, int64(50_000_000), e.dtMs
	if m.walk != nil {
		around, perDay, dt = m.walk(e.ms()), 3_000_000_000, min(e.dtMs, 8*3_600_000)
	}
	return mulDiv(around*1_000_000-latent, perDay*dt, m.Start*1_000_000) / 86_400_000
}

// newTrend draws a market's drift for the next hours.
func (e *engine) newTrend(c int) {
	hours := e.Rng.between(1, 10)
	e.Mk[c].DriftTo = e.ms() + hours*3_600_000
	total := e.Rng.between(-25_000_000, 25_000_000) * e.mk[c].Vol / 4000
	e.Mk[c].Drift = total / (hours * 3600)
}

// mid returns the middle of the book, or what makers would quote around where a
// side is empty or, in a long block, the quotes are old.
func (e *engine) mid(c int) int64 {
	if e.Coarse && e.fresh[c] != e.Block {
		return e.center(c)
	}
	bid, ask := e.books[c].bestPx(true), e.books[c].bestPx(false)
	if bid == 0 || ask == 0 {
		return e.center(c)
	}
	return (bid + ask) / 2
}

// markToMarket sets the mark prices from the book and the oracle and samples
// the premium. The mark is the median of the oracle with the smoothed premium,
// the book, and the oracle itself.
func (e *engine) markToMarket() {
	for c := range e.mk {
		m, s := &e.mk[c], &e.Mk[c]
		mid := e.mid(c)
		inBook := mid
		bid, ask := e.books[c].bestPx(true), e.books[c].bestPx(false)
		if stale := e.Coarse && e.fresh[c] != e.Block; !stale && bid > 0 && ask > 0 && s.Last > 0 {
			inBook = median3(bid, ask, s.Last)
		}
		if m.Spot {
			s.Mark = floorTick(inBook, m.PxDec)
			continue
		}
		gap := (mid - s.Oracle) * 1_000_000
		s.EMA += mulDiv(gap-s.EMA, min(e.dtMs, 150_000), 150_000)
		s.Mark = floorTick(median3(s.Oracle+s.EMA/1_000_000, inBook, s.Oracle), m.PxDec)
		s.Premium = mulDiv(mid-s.Oracle, 10_000_000_000, s.Oracle)
		s.PremSum += s.Premium
		s.PremN++
	}
}

// nextTid returns a trade id: 50 bits, scattered like the venue's, one to one
// with the trade's number.
func (e *engine) nextTid() int64 {
	e.LastTid++
	const mask = 1<<50 - 1
	x := (uint64(e.LastTid) + e.Seed) * 0x2545f4914f6cdd1d & mask
	x ^= x >> 25
	x = x * 0x9e3779b97f4a7c15 & mask
	x ^= x >> 27
	return int64(x)
}

// txHash is the transaction hash of an action, as the wire has it; action 0 is
// the system's (TWAP slices, funding).
func (e *engine) txHash(tx uint64) string {
	b := make([]byte, 0, 66)
	return string(e.appendHash(b, tx))
}

func (e *engine) appendHash(b []byte, tx uint64) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '0', 'x')
	var h [32]byte
	if tx != 0 {
		h = hash32(e.Seed^0x7478, bits.ReverseBytes64(tx))
	}
	for _, x := range h {
		b = append(b, digits[x>>4], digits[x&15])
	}
	return b
}
