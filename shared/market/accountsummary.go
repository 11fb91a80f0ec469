package market

// AccountSummary is what an account holds in all dexes at marks. Amounts are USDC.
type AccountSummary struct {
	Worth // of the account's parts

	Long, Short PositionsHeld

	// Marked says that the collateral of every position has a mark; else sums of positions lack
	// some.
	Marked bool

	UnrealizedPnl Decimal
	CostsKnown    bool // of every position it is known what it was opened at; else UnrealizedPnl lacks some

	MarginUsed  Decimal
	MarginKnown bool // else it is of no meaning

	AtLeverage Decimal // value of the positions over the leverage that is set for each

	USDC, SpotCost Decimal // in its balances; what was paid for its other tokens, quote units
	BalancesKnown  bool    // else both are of no meaning
	SpotCostKnown  bool
}

// PositionsHeld are the positions of one direction.
type PositionsHeld struct {
	Count int64
	Value Decimal // at the marks
}

// Summary is what the account holds at marks of a time, ms: see [Account.State],
// [Account.PerpValue], [Account.SpotValue] and [Account.Balances].
func (a *Account) Summary(m *Markets, marks Marks, ms int64) AccountSummary {
	s := AccountSummary{Worth: a.Worth(m, marks), Marked: true, CostsKnown: true, MarginKnown: a.Mode.Explained()}
	for i := range a.Dexes {
		state := a.State(a.Dexes[i].Dex, m, marks, ms)
		for j := range state.Positions {
			s.hold(&state.Positions[j], m, marks)
		}
	}
	s.MarginKnown = s.MarginKnown && s.Marked
	s.CostsKnown = s.CostsKnown && s.Marked
	balances, known := a.Balances(m, marks, nil)
	s.BalancesKnown, s.SpotCostKnown = known, known
	for i := range balances {
		b := &balances[i]
		if b.Coin == USDC {
			s.USDC = b.Total
			continue
		}
		s.SpotCost = s.SpotCost.Add(b.EntryNtl)
		s.SpotCostKnown = s.SpotCostKnown && !b.NoCost
	}
	return s
}

func (s *AccountSummary) hold(p *PositionState, m *Markets, marks Marks) {
	margin, marked := m.Usd(p.Coin, p.MarginUsed, marks)
	value, valued := m.Usd(p.Coin, p.PositionValue, marks)
	pnl, earned := m.Usd(p.Coin, p.UnrealizedPnl, marks)
	s.Marked = s.Marked && marked && valued && earned
	s.MarginKnown = s.MarginKnown && p.MarginKnown()
	s.CostsKnown = s.CostsKnown && !p.NoCost
	s.MarginUsed, s.UnrealizedPnl = s.MarginUsed.Add(margin), s.UnrealizedPnl.Add(pnl)
	side := &s.Long
	if p.Szi.IsNeg() {
		side = &s.Short
	}
	side.Count++
	side.Value = side.Value.Add(value)
	if share, err := value.Div64(uint64(max(0, p.Leverage.Value))); err == nil {
		s.AtLeverage = s.AtLeverage.Add(share)
	}
}

// Value is what all positions are worth at the marks.
func (s *AccountSummary) Value() Decimal { return s.Long.Value.Add(s.Short.Value) }

// Total is what the account is worth.
func (s *AccountSummary) Total() (total Decimal, known bool) {
	return s.Perp.Add(s.Spot), s.PerpKnown && s.SpotKnown
}

// Leverage is the value of the positions over that at the leverage that is set for each.
func (s *AccountSummary) Leverage() (ratio Decimal, known bool) {
	if !s.Marked || !s.AtLeverage.IsPos() {
		return Decimal{}, false
	}
	return overWorth(s.Value(), s.AtLeverage)
}

// EffLeverage is the value of the positions over what the perpetuals are worth.
func (s *AccountSummary) EffLeverage() (ratio Decimal, known bool) {
	if !s.PerpKnown || !s.Marked {
		return Decimal{}, false
	}
	return overWorth(s.Value(), s.Perp)
}

// MarginUsage is the margin that is used over what the perpetuals are worth.
func (s *AccountSummary) MarginUsage() (ratio Decimal, known bool) {
	if !s.PerpKnown || !s.MarginKnown {
		return Decimal{}, false
	}
	return overWorth(s.MarginUsed, s.Perp)
}

// overWorth is a / b rounded to [RatioPlaces]: 0 of nothing, and else not known where b is not
// positive.
func overWorth(a, b Decimal) (ratio Decimal, known bool) {
	switch {
	case a.IsZero():
		return Decimal{}, true
	case !b.IsPos():
		return Decimal{}, false
	}
	return a.MustDiv(b).RoundHAZ(RatioPlaces), true
}
