package market

import "strings"

// Fill takes in a fill of the account. Of spot markets it needs to know the tokens; m
// may be nil where only perps are of interest. A fill that closes a position also
// returns the trade that is completed by it.
func (a *Account) Fill(f *Fill, m *Markets, marks Marks) (Outcome, *CompletedTrade) {
	if IsSpot(f.Coin) {
		return a.spotFill(f, m, marks), nil
	}
	h, dex := a.holding(f.Coin), a.dex(DexOf(f.Coin))
	order := Order{f.Time, f.Seq, f.Tid}
	switch {
	case f.Time < h.Began:
		return h.late(), nil
	case h.has(order):
		return Duplicate, nil
	case f.Time <= dex.Anchored:
		return h.late(), nil
	case h.waits(order):
		return Gap, nil
	}
	start := mustDecimal(f.StartPosition)
	switch {
	case h.Open != nil && !h.Open.Size.Equal(start), h.Open == nil && !start.IsZero() && h.isKnown(dex):
		return h.gap(order), nil
	case h.Open == nil && !start.IsZero():
		h.Open = unseen(start, Notional(mustDecimal(f.Px), start.Abs()))
	}
	h.fits(order)
	a.begin(h, f)
	if !f.EndPosition().IsZero() {
		a.back(dex.Dex, m, marks)
	}
	completed, free, set := h.fill(f)
	if a.Mode.Joint() {
		a.outdate()
		if f.Time <= a.SpotTime {
			a.loseFunds(f.Time) // the balances have the PnL of what its dex has not said yet
		}
	}
	a.book(dex, m, f.Time, free, set)
	return Applied, completed
}

// Skip notes a fill that came behind the anchor that knows it, and reports whether f is
// one: the account is as the venue said, and only the trade lacks the fill, if it is of a perpetual.
func (a *Account) Skip(f *Fill) bool {
	h := a.holding(f.Coin)
	if IsSpot(f.Coin) {
		if f.Time > a.SpotTime || h.has(Order{f.Time, f.Seq, f.Tid}) {
			return false
		}
		a.begin(h, f)
		return true
	}
	dex := a.dex(DexOf(f.Coin))
	if f.Time > dex.Anchored || f.Time < h.Began || h.has(Order{f.Time, f.Seq, f.Tid}) {
		return false
	}
	a.begin(h, f)
	if h.Open != nil {
		h.Open.Partial = true
	}
	if a.Mode.Joint() && f.Time > a.SpotTime {
		a.loseFunds(f.Time) // they lack what it moved
	}
	return true
}

// has reports whether an order is in the holding's fills.
func (h *Holding) has(o Order) bool { return o.Compare(h.Last) <= 0 || o.sameFill(h.Last) }

// isKnown reports whether a position that is not there is known to be flat.
func (h *Holding) isKnown(dex *DexFunds) bool {
	return !h.Unsure && (dex.Anchored > 0 || h.Began > 0 || h.Paid > 0)
}

// begin notes that a fill is taken in.
func (a *Account) begin(h *Holding, f *Fill) {
	if h.Began == 0 {
		h.Began = f.Time
	}
	h.Last, h.Unsure = Order{f.Time, f.Seq, f.Tid}, false
	if a.Address == "" {
		a.Address = strings.Clone(f.Address)
	}
	a.seen(f.Time)
}

// fill books a fill into the position. It returns what moves the money behind it, for
// [Account.book].
func (h *Holding) fill(f *Fill) (completed *CompletedTrade, free, set Decimal) {
	px, sz, fee := mustDecimal(f.Px), mustDecimal(f.Sz), mustDecimal(f.Fee)
	free = fee.Neg()
	if sz.IsZero() {
		return nil, free, set
	}
	opening := sz
	if p := h.Open; p != nil && p.Size.IsNeg() == (f.Side == Buy) {
		closing := sz
		if size := p.Size.Abs(); size.Cmp(sz) < 0 {
			closing = size
		}
		opening = sz.Sub(closing)
		part := fee
		if !opening.IsZero() { // a flip: each trade bears the fee of its part
			part = share(fee, closing, sz).RoundHAZ(feePlaces)
			fee = fee.Sub(part)
		}
		back, left := h.reduce(f, px, closing, part)
		free, set = free.Add(back), set.Add(left)
		if p.Size.IsZero() {
			completed = p.complete(h, f)
			h.Open = nil
		}
	}
	if !opening.IsZero() {
		aside := h.increase(f, px, opening, fee)
		free, set = free.Sub(aside), set.Add(aside)
	}
	return completed, free, set
}

// feePlaces is to how many decimal places the fee of a flip is split.
const feePlaces = 8

// reduce closes a part of the position at px, at its part of the cost. Of a position that
// was opened unseen, its closedPnl tells what the part had cost, and so all of it. It
// returns what comes free, and what the margin of an isolated position grows by.
//
// The venue's closedPnl is of the entry price as it shows it, cut to the decimals of the
// market: the cash, which has the exact one, may move by a little more or less.
func (h *Holding) reduce(f *Fill, px, closing, fee Decimal) (free, set Decimal) {
	p := h.Open
	value, change, before, closed := Notional(px, closing), closing.Neg(), p.Size.Abs(), mustDecimal(f.ClosedPnl)
	if p.Size.IsNeg() {
		value, change = value.Neg(), closing
	}
	if p.NoCost {
		p.Cost, p.NoCost = value.Sub(closed).Mul(before).MustDiv(closing).RoundHAZ(usdPlaces), false
	}
	out := share(p.Cost, closing, before).RoundHAZ(usdPlaces)
	if h.Leverage.Isolated {
		// It gives back its equity in proportion, so that what stays is as well covered
		// as before.
		back := p.Margin.Add(p.Size.Mul(px)).Sub(p.Cost)
		if !closing.Equal(before) {
			if back.IsNeg() {
				back = Decimal{}
			}
			back = share(back, closing, before).Trunc(usdPlaces)
		}
		free, set = back, value.Sub(out).Sub(back)
		p.Margin = p.Margin.Add(set)
	} else {
		free = value.Sub(out)
	}
	p.Size, p.Cost = p.Size.Add(change), p.Cost.Sub(out)
	p.ClosedSize, p.ClosedValue = p.ClosedSize.Add(closing), p.ClosedValue.Add(value.Abs())
	p.Pnl = p.Pnl.Add(closed)
	p.Reduced = f.Time
	p.Closing.Add(f.Oid)
	p.note(f, px, fee)
	return free, set
}

// share is the part of an amount that falls to a part of a size: all of it to all.
func share(amount, part, size Decimal) Decimal {
	if part.Equal(size) {
		return amount
	}
	return amount.Mul(part).MustDiv(size)
}

// increase opens a position at px or adds to it. It returns what is set aside for an
// isolated one.
func (h *Holding) increase(f *Fill, px, opening, fee Decimal) (set Decimal) {
	if h.Open == nil {
		h.Open = new(OpenPosition)
	}
	p, value := h.Open, Notional(px, opening)
	if h.Leverage.Isolated && h.Leverage.Value > 0 {
		set = initialMargin(value, h.Leverage.Value)
		p.Margin = p.Margin.Add(set)
	}
	if f.Side == Sell {
		value, opening = value.Neg(), opening.Neg()
	}
	p.Size = p.Size.Add(opening)
	if !p.NoCost {
		p.Cost = p.Cost.Add(value)
	}
	p.Opening.Add(f.Oid)
	p.note(f, px, fee)
	return set
}

// note sums up what every fill of a position adds to its trade.
func (p *OpenPosition) note(f *Fill, px, fee Decimal) {
	if p.Opened == 0 {
		p.Opened = f.Time
	}
	p.FundingSinceChange = Decimal{}
	p.Fee = p.Fee.Add(fee)
	p.Fills++
	p.held(p.Size, Notional(px, p.Size.Abs()))
	p.Liquidated = p.Liquidated || f.Liquidates()
}

// held notes what was held.
func (p *OpenPosition) held(size, value Decimal) {
	if size = size.Abs(); size.Cmp(p.MaxSize) > 0 {
		p.MaxSize = size
	}
	if value.Cmp(p.MaxValue) > 0 {
		p.MaxValue = value
	}
}

// unseen is a position that was opened before the account is known; value is its
// notional, 0 where that is not known.
func unseen(size, value Decimal) *OpenPosition {
	p := &OpenPosition{Size: size, NoCost: true, Partial: true}
	p.held(size, value)
	return p
}

// complete is the trade that f ended: p has nothing left.
func (p *OpenPosition) complete(h *Holding, f *Fill) *CompletedTrade {
	long := f.Side == Sell
	cost := p.ClosedValue.Sub(p.Pnl) // what was paid for what a long sold
	if !long {
		cost = p.ClosedValue.Add(p.Pnl)
	}
	return &CompletedTrade{
		Address: strings.Clone(f.Address), Coin: h.Coin, Long: long, Isolated: h.Leverage.Isolated, Leverage: h.Leverage.Value,
		Size: p.ClosedSize, EntryPx: average(cost, p.ClosedSize), ClosePx: average(p.ClosedValue, p.ClosedSize),
		Start: p.Opened, End: f.Time, Seq: f.Seq, Tid: f.Tid, Partial: p.Partial,
		Pnl: p.Pnl, Fee: p.Fee, Funding: p.FundingSinceOpen.Neg(),
		MaxSize: p.MaxSize, MaxValue: p.MaxValue,
		Fills: p.Fills, OpenOrders: p.Opening.N, CloseOrders: p.Closing.N, Liquidated: p.Liquidated,
	}
}

// average is a price that has no more decimal places than the venue gives any price.
func average(value, size Decimal) Decimal {
	return value.MustDiv(size).RoundHAZ(MaxPricePlaces)
}
