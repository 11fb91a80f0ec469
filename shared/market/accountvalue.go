package market

import (
	"cmp"
	"slices"
)

// defaultLeverage is what the venue sets for an account that never chose, in coins that
// allow it.
const defaultLeverage = 20

// State is the account in a dex at marks of a time, as the venue would say it: see
// [AccountState]. A coin without a mark is valued at its entry price.
//
// Formulas: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margining and
// https://hyperliquid.gitbook.io/hyperliquid-docs/trading/liquidations
func (a *Account) State(dex string, m *Markets, marks Marks, ms int64) AccountState {
	s := AccountState{Dex: dex, Time: ms, Unfunded: !a.isFunded(dex)}
	for i := range a.Dexes {
		if a.Dexes[i].Dex == dex {
			s.CrossMargin.AccountValue = a.Dexes[i].Cash
		}
	}
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
	slices.SortStableFunc(open, func(x, y valued) int { return cmp.Compare(x.perp.Index, y.perp.Index) })
	s.Positions = make([]PositionState, len(open))
	for i := range open {
		s.Positions[i] = open[i].state(&s)
		s.Positions[i].Unseen = s.Unfunded && open[i].Open.Partial
	}
	return s
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

func (v *valued) state(s *AccountState) PositionState {
	p := v.Open
	state := PositionState{
		Coin: v.Coin, Szi: p.Size, Leverage: Leverage{v.isolated, v.leverage}, Assumed: v.Leverage.Value == 0, NoCost: p.NoCost,
		PositionValue: v.notional, UnrealizedPnl: v.unrealized, LiquidationPx: v.liquidationPx(s), MarginUsed: v.used,
		MaxLeverage: v.perp.MaxLeverage, FundingAllTime: v.FundingAllTime, FundingSinceOpen: p.FundingSinceOpen,
		FundingSinceChange: p.FundingSinceChange,
	}
	if v.isolated {
		state.RawUsd = p.Margin.Sub(p.Cost)
	}
	if cost := p.Cost.Abs(); !p.NoCost && !cost.IsZero() {
		state.EntryPx = cost.MustDiv(p.Size.Abs()).RoundHAZ(v.perp.pricePlaces())
		state.ReturnOnEquity = v.unrealized.Mul(decimalOf(v.leverage)).MustDiv(cost).RoundHAZ(returnPlaces)
	}
	return state
}

// liquidationPx is the mark at which what stands behind the position meets what it must
// keep, other marks unchanged: mark - side x room / size / (1 - side x l), where room is
// equity less maintenance margin, and l the maintenance rate of the position's tier.
func (v *valued) liquidationPx(s *AccountState) Decimal {
	tier, ok := v.perp.Tiers.Tier(v.notional)
	if !ok {
		return Decimal{}
	}
	room := s.CrossMargin.AccountValue.Sub(s.CrossMaintenance)
	if v.isolated {
		room = v.equity().Sub(v.perp.Tiers.Maintenance(v.notional))
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

// IsFunded reports whether the venue has said what the account has in all its dexes: before,
// [Account.PerpValue] is only what the seen events moved.
func (a *Account) IsFunded() bool {
	return a.Anchored > 0 && !slices.ContainsFunc(a.Dexes, func(d DexFunds) bool { return d.Anchored == 0 })
}

// PerpValue is what the account is worth in all dexes at marks, quote units.
func (a *Account) PerpValue(m *Markets, marks Marks) Decimal {
	var sum Decimal
	for i := range a.Dexes {
		sum = sum.Add(a.Dexes[i].Cash)
	}
	for i := range a.Holdings {
		h := &a.Holdings[i]
		if h.Open == nil {
			continue
		}
		v := value(h, m, marks)
		sum = sum.Add(v.equity()) // without a margin where it is cross
	}
	return sum
}

// SpotValue is what the account's tokens are worth at marks, USDC: each cut to a
// millionth, and 0 where there is no market or mark. The token of an outcome, which is
// worth between nothing and one, counts as what was paid for it where it has no mark.
func (a *Account) SpotValue(m *Markets, marks Marks) Decimal {
	var sum Decimal
	for i := range a.Spot {
		t := &a.Spot[i]
		if t.Token == USDC {
			sum = sum.Add(t.Total.Trunc(usdPlaces))
			continue
		}
		coin, outcome := coinOfOutcome(t.Token)
		if !outcome && m != nil {
			coin = m.SpotCoins[t.Token]
		}
		if mark, ok := marks[coin]; ok {
			sum = sum.Add(t.Total.Mul(mark).Trunc(usdPlaces))
		} else if outcome {
			sum = sum.Add(t.Cost.Trunc(usdPlaces))
		}
	}
	return sum
}

// Balances are the account's tokens, by their numbers; those of no known number come
// last. Reserves are what its orders reserve, by the coin of the spot market; none is more
// than what there is.
func (a *Account) Balances(m *Markets, reserves map[string]SpotReserve) []SpotBalance {
	hold := map[string]Decimal{}
	for coin, r := range reserves {
		if pair, ok := m.spot(coin); ok {
			hold[pair.Base], hold[pair.Quote] = hold[pair.Base].Add(r.Base), hold[pair.Quote].Add(r.Quote)
		}
	}
	balances := make([]SpotBalance, 0, len(a.Spot))
	for i := range a.Spot {
		t := &a.Spot[i]
		if t.Total.IsZero() {
			continue
		}
		b := SpotBalance{Coin: t.Token, Token: m.tokenNumber(t.Token), Total: t.Total, Hold: hold[t.Token], EntryNtl: t.Cost, NoCost: t.NoCost}
		if t.Total.IsNeg() {
			b.Hold = Decimal{}
		} else if t.Total.LessThan(b.Hold) {
			b.Hold = t.Total
		}
		balances = append(balances, b)
	}
	slices.SortStableFunc(balances, func(x, y SpotBalance) int { return cmp.Compare(uint64(x.Token), uint64(y.Token)) }) //nolint:gosec // -1 last
	return balances
}
