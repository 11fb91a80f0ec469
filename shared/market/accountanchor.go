package market

import (
	"cmp"
	"slices"
)

// Anchor takes over what the venue says and returns what differs from what was folded,
// of what was known before in the same mode. The account must have taken in what came up to
// the anchor's times, and nothing that came later. A part older than the one before is left out.
//
// What a change of the mode moves between the perps of an account and its spot part counts as
// having come in or left, at what it is worth now. Where that is not known the account is anew:
// what it was worth before is nothing to compare with.
func (a *Account) Anchor(from *Anchor, m *Markets, marks Marks) (differences []Difference, anew bool) {
	if a.Address == "" {
		a.Address = from.Address
	}
	var t takeover
	first := a.Mode == ModeUnknown
	perp, perpKnown := a.PerpValue(m, marks)
	spot, spotKnown := a.SpotValue(m, marks)
	changed := a.setMode(from.Mode)
	for _, name := range from.Silent {
		a.dex(name)
	}
	for i := range from.Dexes {
		t.dex(a, &from.Dexes[i])
	}
	for coin, leverage := range from.Leverages {
		if !ValidCoin(coin) || IsSpot(coin) || leverage.Value <= 0 {
			continue
		}
		if h := a.holding(coin); h.Open == nil { // a position says its own
			t.leverage(h, leverage)
		}
	}
	if from.SpotTime > a.SpotTime {
		t.spot(a, from, m)
	}
	if first || changed {
		a.backSince(first, m)
	}
	if changed {
		perpNow, perpKnownNow := a.PerpValue(m, marks)
		spotNow, spotKnownNow := a.SpotValue(m, marks)
		if anew = !perpKnown || !spotKnown || !perpKnownNow || !spotKnownNow; !anew {
			a.NetPerp, a.NetSpot = a.NetPerp.Add(perpNow).Sub(perp), a.NetSpot.Add(spotNow).Sub(spot)
		}
	}
	return t.differences, anew || first && a.Mode.Joint()
}

// MostNamed is how many coins, tokens and dexs an account is known in at most: some of the busiest
// traders are in a thousand, and a row has room for so many of the longest names and figures.
const MostNamed = 1300

// Takes reports whether an account would be known in no more than [MostNamed] coins, tokens and
// dexs with what an anchor says.
func (a *Account) Takes(from *Anchor) bool {
	named := len(a.Holdings) + len(a.Dexes) + len(from.Silent) + len(from.Leverages) + max(len(a.Spot), len(from.Spot))
	for i := range from.Dexes {
		named++
		for j := range from.Dexes[i].Positions {
			if _, known := a.findHolding(from.Dexes[i].Positions[j].Coin); !known {
				named++
			}
		}
	}
	return named <= MostNamed
}

// backSince finds the tokens that stand behind positions in a mode that is new: those of what
// is open, and in the first mode that is known those of all that was.
func (a *Account) backSince(first bool, m *Markets) {
	if !a.Mode.Joint() {
		return
	}
	for i := range a.Holdings {
		h := &a.Holdings[i]
		if IsSpot(h.Coin) || h.Open == nil && (!first || h.Began == 0) {
			continue
		}
		if token, ok := m.collateral(DexOf(h.Coin)); ok {
			a.token(token).Backs = true
		}
	}
}

// takeover notes what an anchor contradicts.
type takeover struct{ differences []Difference }

// compare notes a difference in a figure that was known.
func (t *takeover) compare(known bool, coin, field string, folded, actual Decimal) {
	if known && !folded.Equal(actual) {
		t.differences = append(t.differences, Difference{coin, field, folded, actual})
	}
}

func (t *takeover) dex(a *Account, venue *AccountState) {
	dex := a.dex(venue.Dex)
	if venue.Time <= dex.Anchored {
		return
	}
	for i := range a.Holdings {
		h := &a.Holdings[i]
		if IsSpot(h.Coin) || DexOf(h.Coin) != venue.Dex {
			continue
		}
		h.Gap, h.Late = Order{}, false
		if slices.ContainsFunc(venue.Positions, func(p PositionState) bool { return p.Coin == h.Coin }) {
			continue
		}
		if h.Open != nil { // the venue does not name what is flat
			t.compare(true, h.Coin, "size", h.Open.Size, Decimal{})
		}
		h.Open, h.Unsure = nil, false
	}
	cash := venue.CrossMargin.AccountValue
	joint := a.Mode.Joint()
	for i := range venue.Positions {
		p := &venue.Positions[i]
		if p.Szi.IsZero() || !ValidCoin(p.Coin) || IsSpot(p.Coin) {
			continue
		}
		h := a.holding(p.Coin)
		t.position(h, p, dex)
		if h.Open.SaidLiquidationPx = (Decimal{}); a.Mode == ModePortfolio {
			h.Open.SaidLiquidationPx = p.LiquidationPx
		}
		if !p.Leverage.Isolated {
			cash = cash.Sub(p.UnrealizedPnl)
		}
	}
	if joint {
		dex.Cash, dex.Posted = Decimal{}, &Posted{
			AccountValue: venue.Margin.AccountValue, TotalRawUsd: venue.Margin.TotalRawUsd, CrossAccountValue: venue.CrossMargin.AccountValue,
			CrossTotalRawUsd: venue.CrossMargin.TotalRawUsd, Withdrawable: venue.Withdrawable,
		}
	} else {
		t.compare(dex.Anchored > 0, venue.Dex, "cash", dex.Cash, cash)
		dex.Cash = cash
	}
	dex.Anchored = venue.Time
	if venue.Dex == "" {
		a.Anchored = venue.Time
	}
	a.seen(venue.Time)
}

func (t *takeover) position(h *Holding, venue *PositionState, dex *DexFunds) {
	value := venue.PositionValue
	if venue.Szi.IsNeg() {
		value = value.Neg()
	}
	cost := value.Sub(venue.UnrealizedPnl)
	known, size := h.isKnown(dex), Decimal{}
	if h.Open != nil {
		known, size = true, h.Open.Size
	}
	if !size.Equal(venue.Szi) {
		t.compare(known, h.Coin, "size", size, venue.Szi)
		h.Open = unseen(venue.Szi, venue.PositionValue)
	}
	h.Unsure = false
	p := h.Open
	t.compare(!p.NoCost, h.Coin, "cost", p.Cost, cost)
	p.Cost, p.NoCost = cost, false
	anchored := dex.Anchored > 0
	same := known && size.Equal(venue.Szi)
	t.compare(same && anchored, h.Coin, "funding", h.FundingAllTime, venue.FundingAllTime)
	h.FundingAllTime, p.FundingSinceOpen, p.FundingSinceChange = venue.FundingAllTime, venue.FundingSinceOpen, venue.FundingSinceChange
	t.leverage(h, venue.Leverage)
	margin := Decimal{}
	if venue.Leverage.Isolated {
		margin = venue.RawUsd.Add(cost)
	}
	t.compare(same && anchored, h.Coin, "margin", p.Margin, margin)
	p.Margin = margin
}

func (t *takeover) leverage(h *Holding, venue Leverage) {
	t.compare(h.Leverage.Value > 0, h.Coin, "leverage", decimalOf(h.Leverage.Value), decimalOf(venue.Value))
	h.Leverage = venue
}

func (t *takeover) spot(a *Account, venue *Anchor, m *Markets) {
	unrealized, ok := venue.unrealized(a, m)
	if !ok {
		return
	}
	balances := make([]SpotHolding, 0, len(venue.Spot))
	for _, b := range venue.Spot {
		balances = append(balances, SpotHolding{Token: b.Coin, Total: b.Total, Cost: b.EntryNtl, Lent: b.Lent})
	}
	slices.SortFunc(balances, func(x, y SpotHolding) int { return cmp.Compare(x.Token, y.Token) })
	balances = slices.CompactFunc(balances, func(x, y SpotHolding) bool { return x.Token == y.Token })
	had, known := a.Spot, a.SpotTime > 0
	a.Spot, a.SpotTime = balances, venue.SpotTime
	for token, pnl := range unrealized {
		if !pnl.IsZero() {
			one := a.token(token)
			one.Total = one.Total.Sub(pnl)
		}
	}
	for i := range had {
		if had[i].Backs {
			a.token(had[i].Token).Backs = true
		}
		t.compare(known, had[i].Token, "balance", had[i].Total, a.total(had[i].Token))
		t.compare(known, had[i].Token, "lent", had[i].Lent, a.lent(had[i].Token))
	}
	for i := range a.Spot {
		if one := &a.Spot[i]; !slices.ContainsFunc(had, func(h SpotHolding) bool { return h.Token == one.Token }) {
			t.compare(known, one.Token, "balance", Decimal{}, one.Total)
			t.compare(known, one.Token, "lent", Decimal{}, one.Lent)
		}
	}
	a.seen(venue.SpotTime)
}

// unrealized is the unrealized PnL that the balances of an anchor have in them, by token. It
// is false where it is not known: the anchor says nothing of a position, or of a dex that has
// never said what is in it.
func (a *Anchor) unrealized(of *Account, m *Markets) (by map[string]Decimal, known bool) {
	if !of.Mode.Joint() {
		return nil, true
	}
	if slices.ContainsFunc(a.Silent, func(name string) bool { return of.dex(name).Anchored == 0 }) {
		return nil, false
	}
	by = map[string]Decimal{}
	for i := range of.Holdings {
		h := &of.Holdings[i]
		if h.Open != nil && !slices.ContainsFunc(a.Dexes, func(d AccountState) bool { return d.Dex == DexOf(h.Coin) }) {
			return nil, false
		}
	}
	for i := range a.Dexes {
		d := &a.Dexes[i]
		if len(d.Positions) == 0 {
			continue
		}
		token, ok := m.collateral(d.Dex)
		if !ok {
			return nil, false
		}
		for k := range d.Positions {
			by[token] = by[token].Add(d.Positions[k].UnrealizedPnl)
		}
	}
	return by, true
}
