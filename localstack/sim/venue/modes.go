package venue

import (
	"fmt"
	"slices"
	"strings"
)

// mode is how an account's money backs its positions.
type mode uint8

const (
	modeDefault        mode = iota // standard: it never chose
	modeDisabled                   // standard: it chose so
	modeUnified                    // one balance per token, kept in spot
	modePortfolio                  // unified, and tokens back each other
	modeDexAbstraction             // standard, and a dex takes what it needs from the others
)

var modeNames = [...]string{"default", "disabled", "unifiedAccount", "portfolioMargin", "dexAbstraction"}

func (m mode) String() string { return modeNames[m] }

// modePattern is the mode of each trader in turn. One more has [modeDexAbstraction].
var modePattern = [...]mode{modeUnified, modeDefault, modePortfolio, modeUnified, modeDisabled, modeUnified, modeDefault,
	modeUnified}

// giveModes gives the traders their modes, the first one dexAbstraction. The vault and the
// makers are standard.
func giveModes(seed uint64, prof []profile, mk []market) {
	for i := makers + 1; i < len(prof); i++ {
		p := &prof[i]
		switch {
		case p.Kind == kindDuster:
			continue
		case i == makers+1:
			p.Mode = modeDexAbstraction
			p.Coins = append(p.Coins, widen(mk, i)...)
			continue
		}
		p.Mode = modePattern[(uint64(i)+seed)%uint64(len(modePattern))]
		if i/len(modePattern)%4 != 0 && p.Kind != kindSpot {
			p.Coins = append(p.Coins, widen(mk, i)...)
		}
		p.Fickle = p.Mode != modePortfolio && i%3 == 0
	}
}

// widen picks a perp of each builder's dex.
func widen(mk []market, i int) []int {
	in := map[int][]int{}
	for c, m := range mk {
		if !m.Spot && m.Dex > 0 {
			in[m.Dex] = append(in[m.Dex], c)
		}
	}
	var out []int
	for d := 1; d < len(modeDexes); d++ {
		out = append(out, in[d][i/2%len(in[d])])
	}
	return out
}

// infoUserAbstraction answers the mode of an account; a stranger's is the default.
func infoUserAbstraction(e *engine, _ *infoRequest, u int) ([]byte, error) {
	return append(append([]byte{'"'}, e.account(u).Mode.String()...), '"'), nil
}

// unified reports whether an account has one balance per token, kept in spot.
func (m mode) unified() bool { return m == modeUnified || m == modePortfolio }

// cash is what a standard account has in a dex, in millionths of its collateral.
func (a *account) cash(dex int) *int64 {
	if dex < len(a.Cash) {
		return &a.Cash[dex]
	}
	return &a.CashMore[dex-len(a.Cash)]
}

// credit adds to what pays for an account's positions in a dex, in millionths of its
// collateral: the dex's cash, or the one balance of that token.
func (e *engine) credit(u, dex int, amount int64) {
	a := &e.Acc[u]
	if a.Mode.unified() {
		a.Tok[e.dexes[dex].token] += amount * 100
		return
	}
	*a.cash(dex) += amount
}

// held is what an account has in cash for a dex, in millionths of its collateral.
func (e *engine) held(u, dex int) int64 {
	a := &e.Acc[u]
	if a.Mode.unified() {
		return a.Tok[e.dexes[dex].token] / 100
	}
	return *a.cash(dex)
}

// joint reports whether the same money backs an account's cross positions in two dexes.
func (e *engine) joint(u, a, b int) bool {
	if a == b {
		return true
	}
	switch e.Acc[u].Mode {
	case modeUnified:
		return e.dexes[a].token == e.dexes[b].token
	case modePortfolio:
		return true
	}
	return false
}

// loanToValue is the part, in percent, of a token's worth that backs positions under
// portfolio margin, by token. The venue's own table is not public.
var loanToValue = [...]int64{0: 100, hype: 65, 3: 50, usdh: 100}

// backing is what an account has behind the cross positions of a dex, without their PnL: in
// millionths of its collateral, under portfolio margin of a USDC.
func (e *engine) backing(u, dex int) int64 {
	a := &e.Acc[u]
	if a.Mode != modePortfolio {
		return e.held(u, dex)
	}
	var v int64
	for t := range e.tokens {
		n := e.worth(t, a.Tok[t]+a.lent(t))
		if n > 0 {
			n = n * loanToValue[t] / 100
		}
		v += n
	}
	return v
}

// booked is an account's balance of a token in spot, without unrealized PnL, in
// hundred-millionths. What is set aside for isolated positions is part of it.
func (e *engine) booked(u, t int) int64 {
	a := &e.Acc[u]
	n := a.Tok[t]
	if a.Mode.unified() {
		for c := range e.perps {
			if e.collateral(c) == t {
				n += a.Pos[c].Margin * 100
			}
		}
	}
	return n
}

// collateral is the token that a perp's PnL is in.
func (e *engine) collateral(c int) int { return e.dexes[e.mk[c].Dex].token }

// unrealized is the PnL of an account's open positions whose collateral is a token, in
// millionths of it.
func (e *engine) unrealized(u, t int) int64 {
	var v int64
	for c := range e.perps {
		if p := &e.Acc[u].Pos[c]; p.Szi != 0 && e.collateral(c) == t {
			v += p.Szi*e.Mk[c].Mark - p.Cost
		}
	}
	return v
}

// total is a token's balance as spotClearinghouseState answers it, in hundred-millionths: of
// an account with one balance per token with the PnL of the positions that it backs.
func (e *engine) total(u, t int) int64 {
	if e.Acc[u].Mode.unified() {
		return e.booked(u, t) + e.unrealized(u, t)*100
	}
	return e.Acc[u].Tok[t]
}

// owned is a token's total with what is supplied and without what is borrowed.
func (e *engine) owned(u, t int) int64 { return e.total(u, t) + e.Acc[u].lent(t) }

// worth is what an amount of a token, in hundred-millionths, is worth in millionths of a USDC.
func (e *engine) worth(t int, n int64) int64 {
	c := e.pairs[t]
	if c < 0 {
		return n / 100
	}
	return mulDivDown(n, e.Mk[c].Mark, pow10[e.mk[c].PxDec]*100)
}

// backs reports whether a token's balance belongs to the perp side of an account: with one
// balance per token USDC always does, and the others from the first position on that they
// back in this mode.
func (e *engine) backs(u, t int) bool {
	a := &e.Acc[u]
	return a.Mode.unified() && (t == 0 || a.Backs&(1<<t) != 0)
}

// back lets a token back positions from now on.
func (e *engine) back(u, t int) {
	a := &e.Acc[u]
	if !a.Mode.unified() || e.backs(u, t) {
		return
	}
	a.Backs |= 1 << t
	came := TruthBacking{Token: e.tokens[t].name, Time: e.ms(), Amount: e.owned(u, t), Worth: e.worth(t, e.owned(u, t))}
	a.NetPerp += came.Worth
	a.NetSpot -= came.Worth
	a.Backings = append(a.Backings, came)
}

// traded moves what a spot trade has moved between the two sides of an account with one
// balance per token: usdc (millionths) came for a token.
func (e *engine) traded(u, t int, usdc int64) {
	if a := &e.Acc[u]; a.Mode.unified() && !e.backs(u, t) {
		a.NetPerp += usdc
		a.NetSpot -= usdc
	}
}

// spotFree is what an account can give away of a token, in hundred-millionths.
func (e *engine) spotFree(u, t int) int64 {
	a := &e.Acc[u]
	if a.Mode == modePortfolio && t > 0 && loanToValue[t] > 0 {
		return min(a.Tok[t], mulDivDown(e.free(u, 0), spotUnit, max(1, e.worth(t, spotUnit))))
	}
	if a.Mode.unified() {
		for d := range e.dexes {
			if e.dexes[d].token == t {
				return min(a.Tok[t], e.free(u, d)*100)
			}
		}
	}
	return a.Tok[t]
}

// modesEvery is how often an account may change its mode, ns.
const modesEvery = 600_000_000_000

// changeModes lets some accounts change between standard and unified. No stream tells of it.
func (e *engine) changeModes() {
	for u := range e.Acc {
		if !e.prof[u].Fickle || !e.Acc[u].Joined || mix64(e.Seed^uint64(u)<<32^uint64(e.Time/modesEvery))%12 != 0 {
			continue
		}
		if e.Acc[u].Mode.unified() {
			e.setMode(u, modeDisabled)
		} else {
			e.setMode(u, modeUnified)
		}
	}
}

// setMode changes an account's mode to standard or unified, and reports whether it could: the
// money that stands behind positions must not become too little.
func (e *engine) setMode(u int, to mode) bool {
	a := &e.Acc[u]
	if a.Mode.unified() == to.unified() || a.Mode == modePortfolio {
		return false
	}
	perp, spot := e.perpEquity(u), e.spotValue(u)
	if to.unified() {
		for d := range e.dexes {
			a.Tok[e.dexes[d].token] += *a.cash(d) * 100
			*a.cash(d) = 0
		}
		for c := range e.perps {
			if a.Pos[c].Szi != 0 {
				a.Backs |= 1 << e.collateral(c)
			}
		}
		a.Mode = to
	} else if !e.split(u, to) {
		return false
	}
	a.ModeChanges++
	a.NetPerp += e.perpEquity(u) - perp
	a.NetSpot += e.spotValue(u) - spot
	return true
}

// split gives each dex twice the initial margin of its cross positions, and the main one half
// of what stays.
func (e *engine) split(u int, to mode) bool {
	a := &e.Acc[u]
	need := make([]int64, len(e.dexes))
	left := make([]int64, len(e.tokens))
	for t := range left {
		left[t] = a.Tok[t] / 100
	}
	for d := range e.dexes {
		for c := range e.perps {
			if p := &a.Pos[c]; p.Szi != 0 && !p.Iso && e.mk[c].Dex == d {
				need[d] += 2*mulDivUp(e.notional(u, c), 1, p.Lev) - p.Szi*e.Mk[c].Mark + p.Cost
			}
		}
		need[d] = max(0, need[d])
		left[e.dexes[d].token] -= need[d]
	}
	for d := range e.dexes {
		if left[e.dexes[d].token] < 0 {
			return false
		}
	}
	need[0] += left[0] / 2
	for d := range e.dexes {
		*a.cash(d) = need[d]
		a.Tok[e.dexes[d].token] -= need[d] * 100
	}
	a.Mode, a.Backs = to, 0
	return true
}

// ChangeMode changes the mode of an account between blocks, to unifiedAccount, default or
// disabled, and reports whether it could: not to the kind that it has, and not where positions
// would lose what stands behind them. A kill before the next block may lose it.
func (v *Venue) ChangeMode(address, name string) (bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	u := v.eng.userIndex(strings.ToLower(address))
	to := mode(slices.Index(modeNames[:], name))
	if u < 0 || u <= makers || to > modeUnified {
		return false, fmt.Errorf("account %q cannot become %q", address, name)
	}
	if !v.eng.setMode(u, to) {
		return false, nil
	}
	return true, v.checkpoint()
}
