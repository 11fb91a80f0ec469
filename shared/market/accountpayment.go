package market

// Payment takes in a funding payment of the account. The venue pays before it trades:
// payments of one time come before the fills of that time. One that comes behind later
// fills is taken in where that changes nothing.
func (a *Account) Payment(p *FundingPayment, m *Markets) Outcome {
	if IsSpot(p.Coin) {
		return Unknown
	}
	h, dex := a.holding(p.Coin), a.dex(DexOf(p.Coin))
	switch {
	case p.Time <= h.Paid:
		return Duplicate
	case p.Time <= dex.Anchored && a.Mode.Joint() && p.Time > a.SpotTime && a.SpotTime > 0:
		h.Paid = p.Time
		a.loseFunds(p.Time) // the balances may lack it
		return Applied
	case p.Time <= dex.Anchored:
		return Duplicate
	}
	order := Order{Time: p.Time}
	size, paid := mustDecimal(p.Szi), mustDecimal(p.USDC).Neg()
	switch {
	case size.IsZero():
		return Unknown // nobody pays for nothing
	case p.Time < h.Began:
		return h.late()
	case h.waits(order):
		return Gap
	case h.Open == nil && !h.isKnown(dex):
		h.Open = unseen(size, Decimal{})
		h.Unsure = false
	}
	behind := p.Time < h.Last.Time || p.Time == h.Last.Time && (h.Open == nil || !h.Open.Size.Equal(size))
	switch open := h.Open; {
	case behind && (open == nil || !open.spans(p.Time, h.Leverage.Isolated)):
		return h.late()
	case !behind && (open == nil || !open.Size.Equal(size)):
		return h.gap(order)
	case !behind:
		open.FundingSinceChange = open.FundingSinceChange.Add(paid)
	}
	h.fits(order)
	if h.Leverage.Isolated {
		h.Open.Margin = h.Open.Margin.Sub(paid)
		a.book(dex, m, p.Time, Decimal{}, paid.Neg())
	} else {
		a.book(dex, m, p.Time, paid.Neg(), Decimal{})
	}
	h.FundingAllTime = h.FundingAllTime.Add(paid)
	h.Open.FundingSinceOpen = h.Open.FundingSinceOpen.Add(paid)
	h.Paid = p.Time
	if a.Address == "" {
		a.Address = p.Address
	}
	a.seen(p.Time)
	return Applied
}

// spans reports whether a payment of a time can still be taken in behind fills that came
// after it: it must be of this position, and of an isolated one nothing may have been
// given back since.
func (p *OpenPosition) spans(ms int64, isolated bool) bool {
	return (p.Opened < ms || p.Partial) && (!isolated || p.Reduced < ms)
}
