package venue

import "strconv"

// Money moves: deposits and withdrawals, transfers between the perp and the
// spot side, between dexes and between traders. Each is a ledger update on the
// misc stream and in the histories of those it concerns.

const withdrawFee = 1 * usd

// join makes a trader's first deposits, where its markets need them.
func (e *engine) join(u int) {
	a, p := &e.Acc[u], &e.prof[u]
	a.Joined = true
	if e.Modes {
		e.arrive(u, p.Equity)
		e.fund(u)
	} else {
		e.deposit(u, p.Equity)
	}
	spot, builderDex := false, p.Kind == kindVault
	for _, c := range p.Coins {
		spot = spot || e.mk[c].Spot
		builderDex = builderDex || !e.mk[c].Spot && e.mk[c].Dex == 1
	}
	if builderDex && !a.Mode.unified() {
		e.toDex(u, a.Cash[0]*30/100/usd*usd)
	}
	if spot && !a.Mode.unified() {
		e.classTransfer(u, a.Cash[0]*e.spotShare(p)/100/usd*usd)
	}
	if p.Kind == kindMaker {
		for _, c := range p.Coins {
			if e.mk[c].Spot {
				e.genesis(u, c)
			}
		}
	}
}

func (e *engine) spotShare(p *profile) int64 {
	if p.Kind == kindSpot {
		return 95
	}
	return 30
}

// genesis gives a maker the tokens that it sells.
func (e *engine) genesis(u, c int) {
	a, m := &e.Acc[u], &e.mk[c]
	amount := e.tokens[m.Token].genesis * spotUnit
	a.Tok[m.Token] += amount
	a.TokCost[m.Token] += e.tokens[m.Token].genesis * pow10[m.SzDec] * m.Start
	e.Genesis[m.Token] += amount
	a.NetSpot += mulDivDown(amount, m.Start, pow10[8-m.SzDec]*100)
	e.ledger([]int{u}, object(nil).text("type", "spotGenesis").text("token", e.tokens[m.Token].name).
		num("amount", amount, 8).end())
}

func (e *engine) deposit(u int, amount int64) {
	a := &e.Acc[u]
	e.credit(u, 0, amount)
	a.NetPerp += amount
	a.Deposited += amount
	e.Deposited += amount
	e.ledger([]int{u}, object(nil).text("type", "deposit").num("usdc", amount, 6).end())
}

// withdraw takes amount and the fee from the main perp account.
func (e *engine) withdraw(u int, amount int64) {
	a := &e.Acc[u]
	e.credit(u, 0, -amount-withdrawFee)
	a.NetPerp -= amount + withdrawFee
	a.Withdrawn += amount
	e.Withdrawn += amount + withdrawFee
	e.WithdrawFees += withdrawFee
	e.ledger([]int{u}, object(nil).text("type", "withdraw").num("usdc", amount, 6).int("nonce", e.nonce()).
		num("fee", withdrawFee, 6).end())
}

// nonce is the block's time made unique by the action, as clients do.
func (e *engine) nonce() int64 { return e.ms()*1000 + e.Tx }

// classTransfer moves USDC from the perp to the spot side, or back when
// negative.
func (e *engine) classTransfer(u int, amount int64) {
	a := &e.Acc[u]
	a.Cash[0] -= amount
	a.Tok[0] += amount * 100
	a.NetPerp -= amount
	a.NetSpot += amount
	e.ledger([]int{u}, object(nil).text("type", "accountClassTransfer").num("usdc", abs(amount), 6).
		bool("toPerp", amount < 0).end())
}

// toDex moves USDC from the main dex to the builder's, or back when negative.
func (e *engine) toDex(u int, amount int64) {
	a := &e.Acc[u]
	a.Cash[0] -= amount
	a.Cash[1] += amount
	from, to := e.dexes[0].name, e.dexes[1].name
	if amount < 0 {
		from, to = to, from
	}
	e.ledger([]int{u}, object(nil).text("type", "send").text("user", e.prof[u].Addr).text("destination", e.prof[u].Addr).
		text("sourceDex", from).text("destinationDex", to).text("token", "USDC").num("amount", abs(amount), 6).
		num("usdcValue", abs(amount), 6).num("fee", 0, 6).num("nativeTokenFee", 0, 6).int("nonce", e.nonce()).
		text("feeToken", "").end())
}

// give moves USDC between two traders' main accounts.
func (e *engine) give(from, to int, amount int64) {
	e.credit(from, 0, -amount)
	e.Acc[from].NetPerp -= amount
	e.credit(to, 0, amount)
	e.Acc[to].NetPerp += amount
	e.ledger([]int{from, to}, object(nil).text("type", "internalTransfer").num("usdc", amount, 6).
		text("user", e.prof[from].Addr).text("destination", e.prof[to].Addr).num("fee", 0, 6).end())
}

// reportLiquidation is the ledger update of a liquidation; it moves no money.
// It returns the notional of the positions.
func (e *engine) reportLiquidation(u int, coins []int, equity int64, cross bool) int64 {
	how := "Isolated"
	if cross {
		how = "Cross"
	}
	var ntl int64
	list := []byte{'['}
	for i, c := range coins {
		if i > 0 {
			list = append(list, ',')
		}
		ntl += e.notional(u, c)
		list = append(list, object(nil).text("coin", e.mk[c].Name).num("szi", e.Acc[u].Pos[c].Szi, e.mk[c].SzDec).end()...)
	}
	e.ledger([]int{u}, object(nil).text("type", "liquidation").num("liquidatedNtlPos", ntl, 6).
		num("accountValue", equity, 6).text("leverageType", how).raw("liquidatedPositions", append(list, ']')).end())
	return ntl
}

// manageMoney tops up, takes profit or moves money; it reports whether it did.
func (e *engine) manageMoney(u int) bool {
	if e.Modes && e.Rng.percent(50) && e.route(u) {
		return true
	}
	a, p := &e.Acc[u], &e.prof[u]
	equity := e.perpEquity(u)
	free := max(0, min(e.free(u, 0), e.held(u, 0)))
	switch x := e.Rng.n(100); {
	case equity+e.spotValue(u) < p.Equity/5:
		e.deposit(u, mulDivDown(p.Equity, e.Rng.between(40, 100), 100)/usd*usd+usd)
	case equity > 2*p.Equity && free > 100*usd:
		e.withdraw(u, free/3/usd*usd)
	case x < 10 && free > 200*usd:
		e.withdraw(u, free/10/usd*usd)
	case x < 20:
		e.deposit(u, max(10*usd, p.Equity/10/usd*usd))
	case x < 26 && !a.Mode.unified() && a.Tok[0] > 200*spotUnit && p.Kind != kindSpot:
		e.classTransfer(u, -a.Tok[0]/spotUnit/4*usd)
	case x < 32 && !a.Mode.unified() && free > 500*usd:
		e.classTransfer(u, free/20/usd*usd)
	case x < 36 && !a.Mode.unified() && free > 500*usd && p.trades(e, 1):
		e.toDex(u, free/10/usd*usd)
	case x < 40 && free > 500*usd:
		to := e.pick[e.Rng.n(int64(len(e.pick)))]
		if to == u || !e.Acc[to].Joined {
			return false
		}
		e.give(u, to, free/40/usd*usd+usd)
	default:
		return false
	}
	return true
}

// trades reports whether a dex has one of the trader's markets.
func (p *profile) trades(e *engine, dex int) bool {
	for _, c := range p.Coins {
		if !e.mk[c].Spot && e.mk[c].Dex == dex {
			return true
		}
	}
	return false
}

// ledger records a delta for its users and puts it on the misc stream.
func (e *engine) ledger(users []int, delta []byte) {
	addrs := make([]string, len(users))
	for i, u := range users {
		addrs[i] = e.prof[u].Addr
	}
	e.ledgerAs(addrs, users, delta)
}

// ledgerAs is ledger where others than users are named too.
func (e *engine) ledgerAs(addrs []string, users []int, delta []byte) {
	for _, u := range users {
		a := &e.Acc[u]
		a.Ledger = push(a.Ledger, ledgerRec{Time: e.ms(), Tx: e.tx, Delta: string(delta)}, depthLedger)
	}
	e.out.ledger(e, addrs, users, delta)
}

// object writes a JSON object field by field. All texts are the venue's own
// and need no escaping.
type object []byte

func (o object) key(k string) object {
	if len(o) == 0 {
		o = append(o, '{')
	} else {
		o = append(o, ',')
	}
	o = append(o, '"')
	o = append(o, k...)
	return append(o, '"', ':')
}

func (o object) text(k, v string) object {
	o = append(o.key(k), '"')
	return append(append(o, v...), '"')
}

func (o object) num(k string, v int64, decimals int) object {
	o = append(o.key(k), '"')
	return append(object(appendDec(o, v, decimals)), '"')
}

func (o object) int(k string, v int64) object { return strconv.AppendInt(o.key(k), v, 10) }
func (o object) bool(k string, v bool) object { return strconv.AppendBool(o.key(k), v) }
func (o object) raw(k string, v []byte) object {
	return append(o.key(k), v...)
}

func (o object) end() []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	return append(o, '}')
}
