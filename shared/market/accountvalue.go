package market

import (
	"cmp"
	"slices"
)

// defaultLeverage is what the venue sets for an account that never chose, in coins that
// allow it.
const defaultLeverage = 20

// saidFor is for how long what the venue said of a figure stands for it, where no public
// rule tells it, ms.
const saidFor = 60_000

// State is the account in a dex at marks of a time, as the venue would say it: see
// [AccountState]. A coin without a mark is valued at its entry price.
//
// Formulas: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margining and
// https://hyperliquid.gitbook.io/hyperliquid-docs/trading/liquidations
func (a *Account) State(dex string, m *Markets, marks Marks, ms int64) AccountState {
	s := AccountState{Dex: dex, Time: ms, Mode: a.Mode, Unfunded: !a.isFunded(dex)}
	var funds DexFunds
	for i := range a.Dexes {
		if a.Dexes[i].Dex == dex {
			funds = a.Dexes[i]
		}
	}
	s.Unvalued = s.Unfunded || a.Anchored == 0 || funds.Anchored < a.Lost || a.Mode != ModeStandard
	s.CrossMargin.AccountValue = funds.Cash
	var open []valued
	for i := range a.Holdings {
		h := &a.Holdings[i]
		if h.Open == nil || DexOf(h.Coin) != dex {
			continue
		}
		v := value(h, m, marks)
		if !v.isolated {
			s.CrossMargin.AccountValue = s.CrossMargin.AccountValue.Add(v.unrealized)
			s.CrossMaintenance = s.CrossMaintenance.Add(v.perp.Tiers.Maintenance(v.notional))
			s.CrossMargin.add(&v)
		}
		open = append(open, v)
	}
	s.CrossMargin.TotalRawUsd = s.CrossMargin.TotalRawUsd.Add(s.CrossMargin.AccountValue)
	s.Margin = s.CrossMargin
	for i := range open {
		if v := &open[i]; v.isolated {
			equity := v.equity()
			s.Margin.AccountValue = s.Margin.AccountValue.Add(equity)
			s.Margin.TotalRawUsd = s.Margin.TotalRawUsd.Add(equity)
			s.Margin.add(v)
		}
	}
	s.Withdrawable = s.CrossMargin.withdrawable()
	fresh := ms-funds.Anchored < saidFor
	if funds.Posted != nil && fresh {
		s.Unvalued = false
		s.Margin.AccountValue, s.Margin.TotalRawUsd = funds.Posted.AccountValue, funds.Posted.TotalRawUsd
		s.CrossMargin.AccountValue, s.CrossMargin.TotalRawUsd = funds.Posted.CrossAccountValue, funds.Posted.CrossTotalRawUsd
		s.Withdrawable = funds.Posted.Withdrawable
	}
	room, known := a.room(&s, m, marks)
	slices.SortStableFunc(open, func(x, y valued) int { return cmp.Compare(x.perp.Index, y.perp.Index) })
	s.Positions = make([]PositionState, len(open))
	for i := range open {
		v, p := &open[i], &s.Positions[i]
		*p = v.state()
		switch {
		case v.isolated:
			p.LiquidationPx = v.liquidationPx(v.equity().Sub(v.perp.Tiers.Maintenance(v.notional)))
		case known:
			p.LiquidationPx = v.liquidationPx(room)
		case fresh:
			p.LiquidationPx = v.Open.SaidLiquidationPx
		}
		p.Unseen = s.Unfunded && v.Open.Partial
	}
	return s
}

// room is what stands behind the cross positions of a dex beyond their maintenance margin,
// units of its collateral, where that is known: the cash of the dex, or a balance that is
// behind those of all dexes with this collateral, without what is in isolated ones.
func (a *Account) room(s *AccountState, m *Markets, marks Marks) (room Decimal, known bool) {
	switch a.Mode {
	case ModeStandard:
		return s.CrossMargin.AccountValue.Sub(s.CrossMaintenance), !s.Unvalued
	case ModeUnified:
		token, ok := m.collateral(s.Dex)
		sums, all := a.sums(m, marks)
		of := sumsOf(sums, token)
		return a.total(token).Add(of.unrealized).Sub(of.isolated).Sub(of.maintenance), ok && all && a.SpotTime > 0 && a.isFundedInAll()
	case ModeUnknown, ModePortfolio, ModeOther:
	}
	return Decimal{}, false
}

// valued is an open position at a mark.
type valued struct {
	*Holding
	perp             PerpMarket
	isolated         bool
	leverage         int64
	mark             Decimal
	notional, signed Decimal // at the mark
	unrealized, used Decimal
}

func value(h *Holding, m *Markets, marks Marks) valued {
	v := valued{Holding: h, isolated: h.Leverage.Isolated, leverage: h.Leverage.Value}
	if m != nil {
		v.perp = m.Perps[h.Coin]
	}
	if v.leverage == 0 {
		v.leverage = defaultLeverage
		if v.perp.MaxLeverage > 0 {
			v.leverage = min(v.leverage, v.perp.MaxLeverage)
		}
		v.isolated = v.perp.OnlyIsolated
	}
	p := h.Open
	var ok bool
	if v.mark, ok = marks[h.Coin]; !ok {
		v.mark = p.Cost.MustDiv(p.Size).RoundHAZ(v.perp.pricePlaces())
		v.signed = p.Cost
	} else {
		v.signed = p.Size.Mul(v.mark)
	}
	v.notional = v.signed.Abs()
	if !p.NoCost {
		v.unrealized = v.signed.Sub(p.Cost)
	}
	if v.isolated {
		v.used = v.equity()
	} else {
		v.used = initialMargin(v.notional, v.leverage)
	}
	return v
}

// equity is what an isolated position is worth with its margin.
func (v *valued) equity() Decimal { return v.Open.Margin.Add(v.unrealized) }

// add sums up a position in all but the account's value, which TotalRawUsd lacks, too.
func (s *MarginSummary) add(v *valued) {
	s.TotalNtlPos = s.TotalNtlPos.Add(v.notional)
	s.TotalRawUsd = s.TotalRawUsd.Sub(v.signed)
	s.TotalMarginUsed = s.TotalMarginUsed.Add(v.used)
}

// withdrawable is the cross equity beyond what its positions hold: their initial margin,
// or a tenth of their notional where that is more.
func (s *MarginSummary) withdrawable() Decimal {
	held := initialMargin(s.TotalNtlPos, 10)
	if s.TotalMarginUsed.Cmp(held) > 0 {
		held = s.TotalMarginUsed
	}
	if free := s.AccountValue.Sub(held); free.IsPos() {
		return free
	}
	return Decimal{}
}

// returnPlaces is the decimal places of a return on equity, and liquidationPlaces how
// many more than a price a liquidation price has.
const (
	returnPlaces      = 10
	liquidationPlaces = 4
)

func (v *valued) state() PositionState {
	p := v.Open
	state := PositionState{
		Coin: v.Coin, Szi: p.Size, Leverage: Leverage{v.isolated, v.leverage}, Assumed: v.Leverage.Value == 0, NoCost: p.NoCost,
		PositionValue: v.notional, UnrealizedPnl: v.unrealized, MarginUsed: v.used, MaxLeverage: v.perp.MaxLeverage, FundingAllTime: v.FundingAllTime, FundingSinceOpen: p.FundingSinceOpen,
		FundingSinceChange: p.FundingSinceChange,
	}
	if v.isolated {
		state.RawUsd = p.Margin.Sub(p.Cost)
	}
	if cost := p.Cost.Abs(); !p.NoCost && !cost.IsZero() {
		state.EntryPx = v.perp.EntryPx(cost, p.Size)
		state.ReturnOnEquity = v.unrealized.Mul(decimalOf(v.leverage)).MustDiv(cost).RoundHAZ(returnPlaces)
	}
	return state
}

// liquidationPx is the mark at which what stands behind the position meets what it must
// keep, other marks unchanged: mark - side x room / size / (1 - side x l), where room is
// equity less maintenance margin, and l the maintenance rate of the position's tier.
func (v *valued) liquidationPx(room Decimal) Decimal {
	tier, ok := v.perp.Tiers.Tier(v.notional)
	if !ok {
		return Decimal{}
	}
	side := int64(1)
	if v.Open.Size.IsNeg() {
		side = -1
	}
	twice := 2 * tier.MaxLeverage
	away := room.Mul(decimalOf(twice)).MustDiv(v.Open.Size.Mul(decimalOf(twice - side)))
	px := v.mark.Sub(away.RoundHAZ(v.perp.pricePlaces() + liquidationPlaces))
	if !px.IsPos() {
		return Decimal{}
	}
	return px
}

// isFunded reports whether the venue has said what the account has in a dex.
func (a *Account) isFunded(dex string) bool {
	if i := slices.IndexFunc(a.Dexes, func(d DexFunds) bool { return d.Dex == dex }); i >= 0 {
		return a.Dexes[i].Anchored > 0
	}
	return a.Anchored > 0 // it knew of none
}

// isFundedInAll reports whether the venue has said what the account has in all its dexes. Where
// balances stand behind positions, what has moved since is missing in these alone.
func (a *Account) isFundedInAll() bool {
	return a.Anchored > 0 && !slices.ContainsFunc(a.Dexes, func(d DexFunds) bool {
		return d.Anchored == 0 || d.Anchored < a.Lost && !a.Mode.Joint()
	})
}

// BuilderPerpValue is the part of [Account.PerpValue] that lies in the dexes of builders. Where one
// token backs the positions of several dexes it is not known.
func (a *Account) BuilderPerpValue(m *Markets, marks Marks) (sum Decimal, known bool) {
	if a.Mode != ModeStandard || !a.isFundedInAll() {
		return sum, false
	}
	for i := range a.Dexes {
		if a.Dexes[i].Dex == "" {
			continue
		}
		worth, ok := a.dexWorth(&a.Dexes[i], m, marks)
		if !ok {
			return Decimal{}, false
		}
		sum = sum.Add(worth)
	}
	return sum, true
}

// PerpValue is what the account's perpetuals are worth at marks, USDC: its dexes with their
// cash, or the balances that stand behind positions, each with its unrealized PnL and with
// what is lent of it. It is false where that is not known: the venue has not said all that it
// follows from, a collateral has no mark, or the mode is one that nobody explains.
func (a *Account) PerpValue(m *Markets, marks Marks) (sum Decimal, known bool) {
	if !a.isFundedInAll() {
		return sum, false
	}
	switch a.Mode {
	case ModeStandard:
		for i := range a.Dexes {
			worth, ok := a.dexWorth(&a.Dexes[i], m, marks)
			if !ok {
				return sum, false
			}
			sum = sum.Add(worth)
		}
		return sum, true
	case ModeUnified, ModePortfolio:
		sums, ok := a.sums(m, marks)
		for i := range a.Spot {
			t := &a.Spot[i]
			if !a.backs(t.Token) {
				continue
			}
			worth, marked := m.Worth(t.Token, t.Total.Add(t.Lent).Add(sumsOf(sums, t.Token).unrealized), marks)
			ok = ok && marked
			sum = sum.Add(worth)
		}
		return sum, ok && a.SpotTime > 0
	case ModeUnknown, ModeOther:
	}
	return sum, false
}

// dexWorth is what a dex with cash of its own is worth at marks, USDC; false without a mark of
// its collateral.
func (a *Account) dexWorth(d *DexFunds, m *Markets, marks Marks) (Decimal, bool) {
	sum := d.Cash
	for i := range a.Holdings {
		if h := &a.Holdings[i]; h.Open != nil && DexOf(h.Coin) == d.Dex {
			v := value(h, m, marks)
			sum = sum.Add(v.equity()) // without a margin where it is cross
		}
	}
	if sum.IsZero() {
		return sum, true
	}
	token, ok := m.collateral(d.Dex)
	if !ok {
		return sum, false
	}
	return m.Worth(token, sum, marks)
}

// SpotValue is what those of the account's tokens are worth at marks that stand behind no
// positions, with what is lent of them, USDC: each cut to a millionth, and 0 where there is no
// market or mark. The token of an outcome, which is worth between nothing and one, counts as
// what was paid for it where it has no mark. It is false where the balances are not known, or
// whether they have the value of perpetuals in them.
func (a *Account) SpotValue(m *Markets, marks Marks) (sum Decimal, known bool) {
	for i := range a.Spot {
		t := &a.Spot[i]
		if a.backs(t.Token) {
			continue
		}
		total := t.Total.Add(t.Lent)
		if coin, outcome := coinOfOutcome(t.Token); !outcome {
			worth, _ := m.Worth(t.Token, total, marks)
			sum = sum.Add(worth)
		} else if mark, ok := marks[coin]; ok {
			sum = sum.Add(total.Mul(mark).Trunc(usdPlaces))
		} else {
			sum = sum.Add(t.Cost.Trunc(usdPlaces))
		}
	}
	return sum, a.SpotTime > 0 && a.Mode != ModeUnknown
}

// Balances are the account's tokens, by their numbers; those of no known number come
// last. Reserves are what its orders reserve, by the coin of the spot market; none is more
// than what there is. Where spot balances stand behind positions, a total has their unrealized
// PnL, and what they use is reserved too. It is false where a balance is not known, or whether
// it has the value of perpetuals in it.
func (a *Account) Balances(m *Markets, marks Marks, reserves map[string]SpotReserve) (balances []SpotBalance, known bool) {
	hold := map[string]Decimal{}
	for coin, r := range reserves {
		if pair, ok := m.spot(coin); ok {
			hold[pair.Base], hold[pair.Quote] = hold[pair.Base].Add(r.Base), hold[pair.Quote].Add(r.Quote)
		}
	}
	known = a.SpotTime > 0 && a.Mode != ModeUnknown
	var sums []collateralSums
	if a.Mode.Joint() {
		var all bool
		sums, all = a.sums(m, marks)
		known = known && all
	}
	balances = make([]SpotBalance, 0, len(a.Spot))
	for i := range a.Spot {
		t := &a.Spot[i]
		of := sumsOf(sums, t.Token)
		b := SpotBalance{
			Coin: t.Token, Token: m.tokenNumber(t.Token), Total: t.Total.Add(of.unrealized), Hold: hold[t.Token].Add(of.used), EntryNtl: t.Cost, NoCost: t.NoCost,
			Lent: t.Lent, Backs: a.backs(t.Token),
		}
		if b.Total.IsZero() && b.Lent.IsZero() {
			continue
		}
		b.AfterMaintenance = b.Total.Sub(of.isolated).Sub(of.maintenance)
		if b.Total.IsNeg() {
			b.Hold = Decimal{}
		} else if b.Total.LessThan(b.Hold) {
			b.Hold = b.Total
		}
		balances = append(balances, b)
	}
	slices.SortStableFunc(balances, func(x, y SpotBalance) int { return cmp.Compare(uint64(x.Token), uint64(y.Token)) }) //nolint:gosec // -1 last
	return balances, known
}
