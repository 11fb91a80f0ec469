package venue

import "fmt"

// Routes by which money comes and goes beside the old bridge: transfers from and to the
// addresses that stand for a token on other chains, and the wallet that brings deposits of
// USDC into perps.

// depositWallet sends what came by CCTP.
const depositWallet = "0x6b9e773128f453f5c2c60935ee2de2cbc5390a24"

// systemAddress is the address that stands for a token on the venue's own chain.
func systemAddress(t int) string {
	if t == hype {
		return "0x2222222222222222222222222222222222222222"
	}
	return fmt.Sprintf("0x20%038x", t)
}

const hype = 2

// transfer is a spotTransfer or a send of an amount of a token, in hundred-millionths, which
// must be whole millionths where a dex is a side.
type transfer struct {
	kind           string
	token          int
	amount         int64
	from, to       string // addresses
	fromDex, toDex string // "spot", or a dex's name
	fee, nativeFee int64  // hundred-millionths of a USDC, of a HYPE
}

const spotDex = "spot"

func (e *engine) dexNamed(name string) int {
	for d := range e.dexes {
		if e.dexes[d].name == name {
			return d
		}
	}
	return -1
}

// put adds an amount of a token, in hundred-millionths, to the spot side of an account or to a
// dex. What tokens have cost is not moved with them.
func (e *engine) put(u int, where string, t int, amount int64) {
	a := &e.Acc[u]
	value := e.worth(t, amount)
	if where != spotDex {
		e.credit(u, e.dexNamed(where), amount/100)
		a.NetPerp += value
		return
	}
	if a.Tok[t] += amount; a.Tok[t] == 0 {
		a.TokCost[t] = 0
	}
	if e.backs(u, t) {
		a.NetPerp += value
	} else {
		a.NetSpot += value
	}
}

// transfer carries out a transfer and records it for those of its sides that have an account.
// A side without one is outside of the venue.
func (e *engine) transfer(x transfer) {
	e.action()
	var users []int
	from, to := e.userIndex(x.from), e.userIndex(x.to)
	if from >= 0 {
		users = append(users, from)
		e.put(from, x.fromDex, x.token, -x.amount)
		e.put(from, x.fromDex, 0, -x.fee)
		e.Acc[from].Tok[hype] -= x.nativeFee
		e.SpotFees[0] += x.fee
		e.SpotFees[hype] += x.nativeFee
	} else {
		e.enter(to, x.token, x.amount)
	}
	if to >= 0 {
		e.put(to, x.toDex, x.token, x.amount)
		if to != from {
			users = append(users, to)
		}
	} else {
		e.enter(from, x.token, -x.amount)
	}
	feeToken := ""
	if x.fee > 0 {
		feeToken = e.tokens[0].name
	}
	o := object(nil).text("type", x.kind).text("user", x.from).text("destination", x.to)
	if x.kind == "send" {
		o = o.text("sourceDex", x.fromDex).text("destinationDex", x.toDex)
	}
	o = o.text("token", e.tokens[x.token].name).num("amount", x.amount, 8).num("usdcValue", e.worth(x.token, x.amount), 6).
		num("fee", x.fee, 8).num("nativeTokenFee", x.nativeFee, 8).int("nonce", e.nonce()).text("feeToken", feeToken)
	addrs := []string{x.from}
	if x.to != x.from {
		addrs = append(addrs, x.to)
	}
	e.ledgerAs(addrs, users, o.end())
}

// enter counts what came from outside for an account, or went there when negative.
func (e *engine) enter(u, t int, amount int64) {
	a := &e.Acc[u]
	if t > 0 {
		e.Genesis[t] += amount
		return
	}
	if amount > 0 {
		e.Deposited += amount / 100
		a.Deposited += amount / 100
	} else {
		e.Withdrawn -= amount / 100
		a.Withdrawn -= amount / 100
	}
}

// bring lets an amount of a token, in hundred-millionths, come from outside into spot.
func (e *engine) bring(u, t int, amount int64) {
	kind := [...]string{"spotTransfer", "send"}[uint64(e.ms()+int64(u))%2]
	e.transfer(transfer{kind: kind, token: t, amount: amount, from: systemAddress(t), to: e.prof[u].Addr,
		fromDex: spotDex, toDex: spotDex})
}

// arrive makes a trader's first deposit, by one of the routes.
func (e *engine) arrive(u int, amount int64) {
	switch {
	case e.prof[u].Kind == kindVault, e.prof[u].Kind == kindMaker, u%3 == 0:
		e.deposit(u, amount)
	case u%3 == 1:
		e.byWallet(u, amount)
	default:
		e.bring(u, 0, amount*100)
		if !e.Acc[u].Mode.unified() {
			e.classTransfer(u, -amount)
		}
	}
}

// byWallet deposits USDC (millionths) by CCTP, into perps.
func (e *engine) byWallet(u int, amount int64) {
	e.transfer(transfer{kind: "send", amount: amount * 100, from: depositWallet, to: e.prof[u].Addr, fromDex: spotDex})
}

// fund brings the collateral of the other dex, where a trader has markets there.
func (e *engine) fund(u int) {
	p := &e.prof[u]
	if p.Kind != kindVault && !p.trades(e, len(e.dexes)-1) {
		return
	}
	amount := p.Equity * 30 / 100 / usd * spotUnit
	e.bring(u, usdh, amount)
	if !e.Acc[u].Mode.unified() {
		e.toOther(u, amount)
	}
}

// toOther moves the other dex's collateral from spot into it, or back when negative.
func (e *engine) toOther(u int, amount int64) {
	name := e.dexes[len(e.dexes)-1].name
	if amount > 0 && e.Acc[u].Mode == modeDexAbstraction {
		e.abstract(u, len(e.dexes)-1, amount)
		return
	}
	x := transfer{kind: "send", token: usdh, amount: abs(amount), from: e.prof[u].Addr, to: e.prof[u].Addr,
		fromDex: spotDex, toDex: name}
	if amount < 0 {
		x.fromDex, x.toDex = x.toDex, x.fromDex
	}
	e.transfer(x)
}

// abstract lets a dex take an amount of its collateral, in hundred-millionths: USDC from the
// main dex, other tokens from spot.
func (e *engine) abstract(u, d int, amount int64) {
	t := e.dexes[d].token
	from := spotDex
	if t == 0 {
		from = e.dexes[0].name
	}
	e.action()
	e.put(u, from, t, -amount)
	e.put(u, e.dexes[d].name, t, amount)
	e.ledger([]int{u}, object(nil).text("type", "activateDexAbstraction").text("dex", e.dexes[d].name).
		text("token", e.tokens[t].name).num("amount", amount, 8).end())
}

// gas is what a transfer costs those who own HYPE.
func (e *engine) gas(u int) int64 {
	fee := e.Rng.between(1, 40) * 1000
	if e.spotFree(u, hype) < 100*fee {
		return 0
	}
	return fee
}

// route lets money come, go or move within an account by one of the ways that
// [engine.manageMoney] does not know; it reports whether it did.
func (e *engine) route(u int) bool {
	a, p := &e.Acc[u], &e.prof[u]
	me, unified := p.Addr, a.Mode.unified()
	out := func(kind, from string, t int, amount int64) bool {
		e.transfer(transfer{kind: kind, token: t, amount: amount, from: me, to: systemAddress(t), fromDex: from,
			toDex: spotDex, nativeFee: e.gas(u)})
		return true
	}
	some := max(10, p.Equity/usd/20) // whole tokens
	switch x := e.Rng.n(12); {
	case x == 0:
		e.byWallet(u, some*usd)
	case x == 1:
		e.bring(u, 0, some*spotUnit)
	case x == 2 && e.spotFree(u, 0) > 200*spotUnit:
		return out("spotTransfer", spotDex, 0, e.spotFree(u, 0)/10/100*100)
	case x == 3 && !unified && min(e.free(u, 0), a.Cash[0]) > 200*usd:
		return out("send", e.dexes[0].name, 0, min(e.free(u, 0), a.Cash[0])/10*100)
	case x == 3 && unified && e.spotFree(u, 0) > 200*spotUnit:
		return out("send", spotDex, 0, e.spotFree(u, 0)/20/100*100)
	case x == 4:
		e.bring(u, hype, e.Rng.between(1, 50)*spotUnit/10)
	case x == 5 && e.spotFree(u, hype) > spotUnit:
		return out([...]string{"send", "spotTransfer"}[e.Rng.n(2)], spotDex, hype, e.spotFree(u, hype)/3)
	case x == 6 && p.trades(e, len(e.dexes)-1):
		e.bring(u, usdh, some*spotUnit)
		if !unified && e.Rng.percent(70) {
			e.toOther(u, some*spotUnit)
		}
	case x == 7 && e.spotFree(u, usdh) > 100*spotUnit:
		return out("spotTransfer", spotDex, usdh, e.spotFree(u, usdh)/4/100*100)
	case x == 7 && !unified && min(e.free(u, len(e.dexes)-1), e.held(u, len(e.dexes)-1)) > 100*usd:
		e.toOther(u, -min(e.free(u, len(e.dexes)-1), e.held(u, len(e.dexes)-1))/4*100)
	case x < 10 && a.Mode == modePortfolio:
		return e.lend(u)
	case x < 10 && a.Mode == modeDexAbstraction && min(e.free(u, 0), a.Cash[0]) > 50*usd:
		e.abstract(u, 1, min(e.free(u, 0), a.Cash[0])/10*100)
	case x == 10:
		e.grant(u, e.Rng.between(1, 20)*spotUnit/8)
	case x == 11 && e.spotFree(u, 0) > 300*spotUnit:
		to := e.pick[e.Rng.n(int64(len(e.pick)))]
		if to == u || !e.Acc[to].Joined {
			return false
		}
		e.transfer(transfer{kind: "send", amount: e.spotFree(u, 0) / 20 / 100 * 100, from: me, to: e.prof[to].Addr,
			fromDex: spotDex, toDex: spotDex, fee: e.Rng.n(2) * spotUnit / 10, nativeFee: e.gas(u)})
	default:
		return false
	}
	return true
}

// grant gives an account USDC (hundred-millionths) by an update of a type that no document
// has: what reads the ledger must ask how the account stands.
func (e *engine) grant(u int, amount int64) {
	e.action()
	e.put(u, spotDex, 0, amount)
	e.Deposited += amount / 100
	e.ledger([]int{u}, object(nil).text("type", "simulatedGrant").text("token", e.tokens[0].name).
		num("amount", amount, 8).end())
}
