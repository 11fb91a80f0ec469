package venue

import "strconv"

func infoClearinghouse(e *engine, r *infoRequest, u int) ([]byte, error) {
	dex, err := e.dexIndex(r)
	if err != nil {
		return nil, err
	}
	return e.appendClearinghouse(nil, u, dex), nil
}

// margins are the sums of a margin summary, millionths of a USDC.
type margins struct{ value, ntl, raw, used int64 }

func (m margins) append(b []byte) []byte {
	return append(b, object(nil).num("accountValue", m.value, 6).num("totalNtlPos", m.ntl, 6).
		num("totalRawUsd", m.raw, 6).num("totalMarginUsed", m.used, 6).end()...)
}

// summaries returns the margin summary of a dex and that of its cross part.
func (e *engine) summaries(u, dex int) (all, cross margins) {
	if u < 0 {
		return all, cross
	}
	a := e.account(u)
	cross.value = e.crossEquity(u, dex)
	cross.raw = cross.value
	all.value = e.dexEquity(u, dex)
	all.raw = all.value
	for _, c := range e.perpsOf(dex) {
		p := &a.Pos[c]
		if p.Szi == 0 {
			continue
		}
		n := e.notional(u, c)
		all.ntl += n
		all.raw -= p.Szi * e.Mk[c].Mark
		if p.Iso {
			all.used += e.isoEquity(u, c)
			continue
		}
		all.used += mulDivUp(n, 1, p.Lev)
		cross.ntl += n
		cross.raw -= p.Szi * e.Mk[c].Mark
		cross.used += mulDivUp(n, 1, p.Lev)
	}
	if a.Mode.unified() {
		all.post(all.used)
		cross.post(cross.used)
	}
	return all, cross
}

// post makes the value of a summary that of the sub-ledger which a dex has of an account with
// one balance per token: the margin used and a little more, by a rule that is the venue's own.
func (m *margins) post(used int64) {
	posted := used + used/2701
	m.raw += posted - m.value
	m.value = posted
}

// withdrawable is what can leave a dex: cross equity beyond the initial margin
// and a tenth of the notional.
func withdrawable(cross margins) int64 {
	return max(0, cross.value-max(cross.used, mulDivUp(cross.ntl, 1, 10)))
}

func (e *engine) appendClearinghouse(b []byte, u, dex int) []byte {
	all, cross := e.summaries(u, dex)
	var maint int64
	var held []int
	if u >= 0 {
		maint = e.maintIn(u, dex)
		for _, c := range e.perpsOf(dex) {
			if e.Acc[u].Pos[c].Szi != 0 {
				held = append(held, c)
			}
		}
	}
	out := withdrawable(cross)
	if e.account(u).Mode.unified() {
		out = cross.value - cross.used
	}
	positions := list(nil, held, func(b []byte, c *int) []byte {
		return append(append(append(b, `{"type":"oneWay","position":`...), e.position(u, *c)...), '}')
	})
	return append(b, object(nil).raw("marginSummary", all.append(nil)).raw("crossMarginSummary", cross.append(nil)).
		num("crossMaintenanceMarginUsed", maint, 6).num("withdrawable", out, 6).
		raw("assetPositions", positions).int("time", e.ms()).end()...)
}

func (e *engine) position(u, c int) []byte {
	p, m, mark := &e.Acc[u].Pos[c], &e.mk[c], e.Mk[c].Mark
	n := e.notional(u, c)
	lev := object(nil)
	used := mulDivUp(n, 1, p.Lev)
	if p.Iso {
		used = e.isoEquity(u, c)
		lev = lev.text("type", "isolated").int("value", p.Lev).num("rawUsd", p.Margin-p.Cost, 6)
	} else {
		lev = lev.text("type", "cross").int("value", p.Lev)
	}
	unrealized := p.Szi*mark - p.Cost
	o := object(nil).text("coin", m.Name).num("szi", p.Szi, m.SzDec).raw("leverage", lev.end()).
		num("entryPx", e.entryPx(u, c), m.PxDec).num("positionValue", n, 6).num("unrealizedPnl", unrealized, 6)
	if p.Cost == 0 {
		o = o.text("returnOnEquity", "0.0")
	} else {
		o = o.num("returnOnEquity", mulDiv(unrealized*p.Lev, 10_000_000_000, abs(p.Cost)), 10)
	}
	if px, ok := e.liquidationPx(u, c); ok {
		o = o.num("liquidationPx", px, m.PxDec+liqExtra)
	} else {
		o = o.raw("liquidationPx", []byte("null"))
	}
	cum := object(nil).num("allTime", p.FundAll, 6).num("sinceOpen", p.FundOpen, 6).num("sinceChange", p.FundChange, 6)
	return o.num("marginUsed", used, 6).int("maxLeverage", m.MaxLev).raw("cumFunding", cum.end()).end()
}

// entryPx is the average entry price, rounded to the market's decimals.
func (e *engine) entryPx(u, c int) int64 {
	p := &e.Acc[u].Pos[c]
	return mulDiv(abs(p.Cost), 1, abs(p.Szi))
}

// liqExtra is how many decimals more than a price a liquidation price has.
const liqExtra = 4

// liquidationPx is the mark at which the equity meets the maintenance margin,
// other marks unchanged: mark - side*(equity-maintenance)/size/(1-side/(2*max
// leverage)). There is none when that is not positive.
// Formula: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/liquidations
func (e *engine) liquidationPx(u, c int) (int64, bool) {
	p, mark := &e.Acc[u].Pos[c], e.Mk[c].Mark
	side := sign(p.Szi)
	twice := 2 * tierOf(e.mk[c].Tiers, e.notional(u, c)).MaxLev
	room := e.equityOf(u, c, !p.Iso) - e.maintOf(u, c, !p.Iso)
	away := mulDiv(room*twice, pow10[liqExtra], abs(p.Szi)*(twice-side))
	px := mark*pow10[liqExtra] - side*away
	return px, px > 0
}

func infoSpotClearinghouse(e *engine, _ *infoRequest, u int) ([]byte, error) {
	return e.appendSpotState(nil, u), nil
}

func (e *engine) appendSpotState(b []byte, u int) []byte {
	a := e.account(u)
	unified := a.Mode.unified()
	hold, total := e.holds(a), append([]int64(nil), a.Tok...)
	if unified {
		for t := range total {
			total[t] = e.total(u, t)
			hold[t] += e.marginUsed(u, t) * 100
		}
	}
	var held []int
	for t := range e.tokens {
		if total[t] != 0 || a.lent(t) != 0 {
			held = append(held, t)
		}
	}
	balances := list(nil, held, func(b []byte, t *int) []byte {
		reserved := min(hold[*t], max(total[*t], 0))
		o := object(nil).text("coin", e.tokens[*t].name).int("token", int64(*t)).num("total", total[*t], 8)
		if a.Mode != modePortfolio {
			return append(b, o.num("hold", reserved, 8).num("entryNtl", a.TokCost[*t], 8).end()...)
		}
		return append(b, e.portfolioBalance(o, u, *t, reserved)...)
	})
	o := object(nil).raw("balances", balances)
	if unified {
		o = o.raw("tokenToAvailableAfterMaintenance", e.availableAfterMaintenance(u))
	}
	if a.Mode == modePortfolio {
		o = o.bool("portfolioMarginEnabled", true)
	}
	return append(b, o.end()...)
}

// portfolioBalance completes a token's row of an account under portfolio margin: hold is net of
// what it could borrow, spotHold is not.
func (e *engine) portfolioBalance(o object, u, t int, reserved int64) []byte {
	a := &e.Acc[u]
	net := max(0, reserved-mulDivDown(max(0, e.free(u, 0)), spotUnit, max(1, e.worth(t, spotUnit))))
	o = o.num("hold", net, 8).num("entryNtl", a.TokCost[t], 8)
	if reserved > 0 {
		o = o.num("spotHold", reserved, 8)
	}
	if loanToValue[t] > 0 && t > 0 {
		o = o.num("ltv", loanToValue[t], 2)
	}
	if lent := a.lent(t); lent > 0 {
		o = o.num("supplied", lent, 8)
	} else if lent < 0 {
		o = o.num("borrowed", -lent, 8)
	}
	return o.end()
}

// marginUsed is what an account's positions hold of a collateral token, in millionths: the
// initial margin of cross ones, the value of isolated ones.
func (e *engine) marginUsed(u, t int) int64 {
	var used int64
	for c := range e.perps {
		switch p := &e.Acc[u].Pos[c]; {
		case p.Szi == 0 || e.collateral(c) != t:
		case p.Iso:
			used += e.isoEquity(u, c)
		default:
			used += mulDivUp(e.notional(u, c), 1, p.Lev)
		}
	}
	return used
}

// isolatedMargin is the value of an account's isolated positions in a collateral token.
func (e *engine) isolatedMargin(u, t int) int64 {
	var v int64
	for c := range e.perps {
		if p := &e.Acc[u].Pos[c]; p.Szi != 0 && p.Iso && e.collateral(c) == t {
			v += e.isoEquity(u, c)
		}
	}
	return v
}

// maintIn is the maintenance margin of the cross positions of one dex.
func (e *engine) maintIn(u, dex int) int64 {
	var v int64
	for _, c := range e.perpsOf(dex) {
		if p := &e.Acc[u].Pos[c]; p.Szi != 0 && !p.Iso {
			v += maintenance(e.mk[c].Tiers, e.notional(u, c))
		}
	}
	return v
}

// maintOfToken is the maintenance margin of the cross positions of all dexes with a collateral.
func (e *engine) maintOfToken(u, t int) int64 {
	var v int64
	for d := range e.dexes {
		if e.dexes[d].token == t {
			v += e.maintIn(u, d)
		}
	}
	return v
}

// availableAfterMaintenance lists what each collateral token has left beyond isolated margins
// and the maintenance margin.
func (e *engine) availableAfterMaintenance(u int) []byte {
	var in []int
	for t := range e.tokens {
		if e.backs(u, t) {
			in = append(in, t)
		}
	}
	return list(nil, in, func(b []byte, t *int) []byte {
		left := e.total(u, *t) - 100*(e.isolatedMargin(u, *t)+e.maintOfToken(u, *t))
		b = strconv.AppendInt(append(b, '['), int64(*t), 10)
		return append(appendDec(append(b, `,"`...), left, 8), `"]`...)
	})
}

// holds sums what an account's resting spot orders reserve, by token.
func (e *engine) holds(a *account) []int64 {
	hold := make([]int64, len(e.tokens))
	for _, o := range a.open {
		m := &e.mk[o.Coin]
		switch {
		case !m.Spot || o.Silent:
		case o.Buy:
			hold[0] += o.Px * o.Sz
		default:
			hold[m.Token] += o.Sz * pow10[8-m.SzDec]
		}
	}
	return hold
}

// visible lists an account's open orders of a dex, newest first. Spot orders
// belong to the main one.
func (e *engine) visible(u, dex int) []order {
	open := e.account(u).open
	out := make([]order, 0, len(open))
	for i := len(open) - 1; i >= 0; i-- {
		if m := &e.mk[open[i].Coin]; !open[i].Silent && (m.Spot && dex == 0 || !m.Spot && m.Dex == dex) {
			out = append(out, *open[i])
		}
	}
	return out
}

func infoOpenOrders(e *engine, r *infoRequest, u int) ([]byte, error) {
	dex, err := e.dexIndex(r)
	if err != nil {
		return nil, err
	}
	return list(nil, e.visible(u, dex), e.appendBasicOrder), nil
}

func infoFrontendOpenOrders(e *engine, r *infoRequest, u int) ([]byte, error) {
	dex, err := e.dexIndex(r)
	if err != nil {
		return nil, err
	}
	return list(nil, e.visible(u, dex), e.appendOrder), nil
}

func infoActiveAssetData(e *engine, r *infoRequest, u int) ([]byte, error) {
	c, err := e.coinIndex(r.Coin)
	if err != nil {
		return nil, err
	}
	if e.mk[c].Spot {
		return nil, errShape
	}
	return e.appendActiveAsset(nil, r.User, u, c), nil
}

func (e *engine) appendActiveAsset(b []byte, addr string, u, c int) []byte {
	m, mark := &e.mk[c], e.Mk[c].Mark
	lev, mode, room := int64(20), "cross", int64(0)
	if u >= 0 {
		lev = e.leverage(u, c)
		if e.isolated(u, c) {
			mode = "isolated"
		}
		room = max(0, e.free(u, m.Dex))
	}
	lev = min(lev, m.MaxLev)
	pair := func(v int64, decimals int) []byte {
		x := appendDec([]byte(`["`), v, decimals)
		x = appendDec(append(x, `","`...), v, decimals)
		return append(x, `"]`...)
	}
	return append(b, object(nil).text("user", addr).text("coin", m.Name).
		raw("leverage", object(nil).text("type", mode).int("value", lev).end()).
		raw("maxTradeSzs", pair(mulDivDown(room, lev, mark), m.SzDec)).raw("availableToTrade", pair(room, 6)).
		num("markPx", mark, m.PxDec).end()...)
}

func infoUserRole(e *engine, _ *infoRequest, u int) ([]byte, error) {
	switch {
	case u < 0:
		return []byte(`{"role":"missing"}`), nil
	case e.isVault(u):
		return []byte(`{"role":"vault"}`), nil
	}
	return []byte(`{"role":"user"}`), nil
}

func infoRateLimit(e *engine, _ *infoRequest, u int) ([]byte, error) {
	vlm := e.account(u).Vlm
	return object(nil).num("cumVlm", vlm, 6).int("nRequestsUsed", 0).int("nRequestsCap", 10_000+vlm/usd).end(), nil
}

func infoWebData2(e *engine, r *infoRequest, u int) ([]byte, error) {
	return e.appendWebData2(nil, r.User, u), nil
}

func (e *engine) appendWebData2(b []byte, addr string, u int) []byte {
	a := e.account(u)
	null := []byte("null")
	ctxs := list(nil, e.perpsOf(0), func(b []byte, c *int) []byte { return e.appendPerpCtx(b, *c) })
	running := []byte{'['}
	for i := range e.Twaps {
		if int(e.Twaps[i].User) != u {
			continue
		}
		if len(running) > 1 {
			running = append(running, ',')
		}
		running = strconv.AppendInt(append(running, '['), e.Twaps[i].ID, 10)
		running = append(e.appendTwap(append(running, ','), &e.Twaps[i]), ']')
	}
	return append(b, object(nil).raw("clearinghouseState", e.appendClearinghouse(nil, u, 0)).raw("leadingVaults", e.appendLeading(nil, addr)).
		num("totalVaultEquity", 0, 6).raw("openOrders", list(nil, e.visible(u, 0), e.appendOrder)).
		raw("agentAddress", null).raw("agentValidUntil", null).num("cumLedger", a.NetPerp, 6).
		raw("meta", e.appendMeta(nil, 0)).raw("assetCtxs", ctxs).int("serverTime", e.ms()).bool("isVault", e.isVault(u)).
		text("user", addr).raw("twapStates", append(running, ']')).raw("spotState", e.appendSpotState(nil, u)).end()...)
}
