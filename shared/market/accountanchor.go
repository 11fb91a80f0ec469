package market

import (
	"cmp"
	"slices"
)

// Anchor takes over what the venue says and returns what differs from what was folded,
// of what was known before. The account must have taken in what came up to the anchor's
// times, and nothing that came later. A part older than the one before is left out.
func (a *Account) Anchor(said *Anchor) []Difference {
	if said.Asked {
		return nil
	}
	if a.Address == "" {
		a.Address = said.Address
	}
	var t takeover
	for i := range said.Dexes {
		t.dex(a, &said.Dexes[i])
	}
	for coin, leverage := range said.Leverages {
		if !ValidCoin(coin) || IsSpot(coin) || leverage.Value <= 0 {
			continue
		}
		if h := a.holding(coin); h.Open == nil { // a position says its own
			t.leverage(h, leverage)
		}
	}
	if said.SpotTime > a.SpotTime {
		t.spot(a, said)
	}
	return t.differences
}

// takeover notes what an anchor contradicts.
type takeover struct{ differences []Difference }

// compare notes a difference in a figure that was known.
func (t *takeover) compare(known bool, coin, field string, had, said Decimal) {
	if known && !had.Equal(said) {
		t.differences = append(t.differences, Difference{coin, field, had, said})
	}
}

func (t *takeover) dex(a *Account, said *AccountState) {
	dex := a.dex(said.Dex)
	if said.Time <= dex.Anchored {
		return
	}
	for i := range a.Holdings {
		h := &a.Holdings[i]
		if IsSpot(h.Coin) || DexOf(h.Coin) != said.Dex {
			continue
		}
		h.Gap, h.Late = Order{}, false
		if slices.ContainsFunc(said.Positions, func(p PositionState) bool { return p.Coin == h.Coin }) {
			continue
		}
		if h.Open != nil { // the venue does not name what is flat
			t.compare(true, h.Coin, "size", h.Open.Size, Decimal{})
		}
		h.Open, h.Unsure = nil, false
	}
	cash := said.CrossMargin.AccountValue
	for i := range said.Positions {
		p := &said.Positions[i]
		if p.Szi.IsZero() || !ValidCoin(p.Coin) || IsSpot(p.Coin) {
			continue
		}
		t.position(a.holding(p.Coin), p, dex)
		if !p.Leverage.Isolated {
			cash = cash.Sub(p.UnrealizedPnl)
		}
	}
	t.compare(dex.Anchored > 0, said.Dex, "cash", dex.Cash, cash)
	dex.Cash, dex.Anchored = cash, said.Time
	if said.Dex == "" {
		a.Anchored = said.Time
	}
	a.seen(said.Time)
}

func (t *takeover) position(h *Holding, said *PositionState, dex *DexFunds) {
	value := said.PositionValue
	if said.Szi.IsNeg() {
		value = value.Neg()
	}
	cost := value.Sub(said.UnrealizedPnl)
	known, size := h.isKnown(dex), Decimal{}
	if h.Open != nil {
		known, size = true, h.Open.Size
	}
	if !size.Equal(said.Szi) {
		t.compare(known, h.Coin, "size", size, said.Szi)
		h.Open = unseen(said.Szi, said.PositionValue)
	}
	h.Unsure = false
	p := h.Open
	t.compare(!p.NoCost, h.Coin, "cost", p.Cost, cost)
	p.Cost, p.NoCost = cost, false
	anchored := dex.Anchored > 0
	same := known && size.Equal(said.Szi)
	t.compare(same && anchored, h.Coin, "funding", h.FundingAllTime, said.FundingAllTime)
	h.FundingAllTime, p.FundingSinceOpen, p.FundingSinceChange = said.FundingAllTime, said.FundingSinceOpen, said.FundingSinceChange
	t.leverage(h, said.Leverage)
	margin := Decimal{}
	if said.Leverage.Isolated {
		margin = said.RawUsd.Add(cost)
	}
	t.compare(same && anchored, h.Coin, "margin", p.Margin, margin)
	p.Margin = margin
}

func (t *takeover) leverage(h *Holding, said Leverage) {
	had, is := decimalOf(h.Leverage.Value), decimalOf(said.Value)
	t.compare(h.Leverage.Value > 0, h.Coin, "leverage", had, is)
	h.Leverage = said
}

func (t *takeover) spot(a *Account, said *Anchor) {
	balances := make([]SpotHolding, 0, len(said.Spot))
	for _, b := range said.Spot {
		balances = append(balances, SpotHolding{Token: b.Coin, Total: b.Total, Cost: b.EntryNtl})
	}
	slices.SortFunc(balances, func(x, y SpotHolding) int { return cmp.Compare(x.Token, y.Token) })
	balances = slices.CompactFunc(balances, func(x, y SpotHolding) bool { return x.Token == y.Token })
	known := a.SpotTime > 0
	for i := range a.Spot {
		had := &a.Spot[i]
		total := Decimal{}
		if at, ok := findToken(balances, had.Token); ok {
			total = balances[at].Total
		}
		t.compare(known, had.Token, "balance", had.Total, total)
	}
	for i := range balances {
		if _, ok := findToken(a.Spot, balances[i].Token); !ok {
			t.compare(known, balances[i].Token, "balance", Decimal{}, balances[i].Total)
		}
	}
	a.Spot, a.SpotTime = balances, said.SpotTime
	a.seen(said.SpotTime)
}
