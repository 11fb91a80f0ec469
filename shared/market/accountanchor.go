package market

import (
	"cmp"
	"slices"
)

// Anchor takes over what the venue says and returns what differs from what was folded,
// of what was known before. The account must have taken in what came up to the anchor's
// times, and nothing that came later. A part older than the one before is left out.
func (a *Account) Anchor(from *Anchor) []Difference {
	if a.Address == "" {
		a.Address = from.Address
	}
	var t takeover
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
		t.spot(a, from)
	}
	return t.differences
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
	for i := range venue.Positions {
		p := &venue.Positions[i]
		if p.Szi.IsZero() || !ValidCoin(p.Coin) || IsSpot(p.Coin) {
			continue
		}
		t.position(a.holding(p.Coin), p, dex)
		if !p.Leverage.Isolated {
			cash = cash.Sub(p.UnrealizedPnl)
		}
	}
	t.compare(dex.Anchored > 0, venue.Dex, "cash", dex.Cash, cash)
	dex.Cash, dex.Anchored = cash, venue.Time
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

func (t *takeover) spot(a *Account, venue *Anchor) {
	balances := make([]SpotHolding, 0, len(venue.Spot))
	for _, b := range venue.Spot {
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
	a.Spot, a.SpotTime = balances, venue.SpotTime
	a.seen(venue.SpotTime)
}
