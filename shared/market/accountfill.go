package market

import "strings"

// Fill takes in a fill of the account. Of spot markets it needs to know the tokens; m
// may be nil where only perps are of interest. A fill that closes a position also
// returns the trade that is completed by it.
func (a *Account) Fill(f *Fill, m *Markets) (Outcome, *CompletedTrade) {
	if IsSpot(f.Coin) {
		return a.spotFill(f, m), nil
	}
	h, dex := a.holding(f.Coin), a.dex(DexOf(f.Coin))
	order := Order{f.Time, f.Seq, f.Tid}
	switch {
	case f.Time < h.Began:
		return a.broken(f.Coin, Late), nil
	case h.has(order):
		return Duplicate, nil
	case f.Time <= dex.Anchored:
		return a.broken(f.Coin, Late), nil
	}
	start := mustDecimal(f.StartPosition)
	switch {
	case h.Open != nil && !h.Open.Size.Equal(start), h.Open == nil && !start.IsZero() && h.isKnown(dex):
		return a.broken(f.Coin, Gap), nil
	case h.Open == nil && !start.IsZero():
		h.Open = &OpenPosition{Size: start, NoCost: true, Partial: true}
	}
	a.begin(h, f)
	return Applied, h.fill(f, dex)
}

// has reports whether an order is in the holding's fills. The same fill may have another
// Seq where it comes from another source.
func (h *Holding) has(o Order) bool {
	return o.Compare(h.Last) <= 0 || o.Tid != 0 && o.Tid == h.Last.Tid && o.Time == h.Last.Time
}

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

// fill books a fill into the position and the cash behind it.
func (h *Holding) fill(f *Fill, dex *DexFunds) (completed *CompletedTrade) {
	px, sz, fee := mustDecimal(f.Px), mustDecimal(f.Sz), mustDecimal(f.Fee)
	dex.Cash = dex.Cash.Sub(fee)
	if sz.IsZero() {
		return nil
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
			part = fee.Mul(closing).MustDiv(sz).RoundHAZ(feePlaces)
			fee = fee.Sub(part)
		}
		h.reduce(f, px, closing, part, dex)
		if p.Size.IsZero() {
			completed = p.complete(h, f)
			h.Open = nil
		}
	}
	if !opening.IsZero() {
		h.increase(f, px, opening, fee, dex)
	}
	return completed
}

// feePlaces is to how many decimal places the fee of a flip is split.
const feePlaces = 8

// reduce closes a part of the position at px. Its closedPnl tells what the part had
// cost; of a position that was opened unseen that is the average of all of it.
func (h *Holding) reduce(f *Fill, px, closing, fee Decimal, dex *DexFunds) {
	p := h.Open
	value, before, closed := Notional(px, closing), p.Size.Abs(), mustDecimal(f.ClosedPnl)
	out, change := value.Sub(closed), closing.Neg() // of a long
	if p.Size.IsNeg() {
		out, change = value.Neg().Sub(closed), closing
	}
	all := closing.Equal(before)
	if p.NoCost || all {
		p.Cost, p.NoCost = out, false
		if !all {
			p.Cost = out.Mul(before).MustDiv(closing).RoundHAZ(usdPlaces)
		}
	}
	if h.Leverage.Isolated {
		// It gives back its equity in proportion, so that what stays is as well covered
		// as before.
		back := p.Margin.Add(p.Size.Mul(px)).Sub(p.Cost)
		if !all {
			if back.IsNeg() {
				back = Decimal{}
			}
			back = back.Mul(closing).MustDiv(before).Trunc(usdPlaces)
		}
		p.Margin = p.Margin.Add(closed).Sub(back)
		dex.Cash = dex.Cash.Add(back)
	} else {
		dex.Cash = dex.Cash.Add(closed)
	}
	p.Size, p.Cost = p.Size.Add(change), p.Cost.Sub(out)
	p.ClosedSize, p.ClosedValue = p.ClosedSize.Add(closing), p.ClosedValue.Add(value)
	p.Pnl = p.Pnl.Add(closed)
	p.Reduced = f.Time
	p.Closing.Add(f.Oid)
	p.note(f, px, before, fee)
}

// increase opens a position at px or adds to it.
func (h *Holding) increase(f *Fill, px, opening, fee Decimal, dex *DexFunds) {
	if h.Open == nil {
		h.Open = new(OpenPosition)
	}
	p, value := h.Open, Notional(px, opening)
	if h.Leverage.Isolated && h.Leverage.Value > 0 {
		set := initialMargin(value, h.Leverage.Value)
		p.Margin = p.Margin.Add(set)
		dex.Cash = dex.Cash.Sub(set)
	}
	if f.Side == Sell {
		value, opening = value.Neg(), opening.Neg()
	}
	p.Size = p.Size.Add(opening)
	if !p.NoCost {
		p.Cost = p.Cost.Add(value)
	}
	p.Opening.Add(f.Oid)
	p.note(f, px, p.Size.Abs(), fee)
}

// note sums up what every fill of a position adds to its trade; size is the larger one of
// before and after.
func (p *OpenPosition) note(f *Fill, px, size, fee Decimal) {
	if p.Opened == 0 {
		p.Opened = f.Time
	}
	p.FundingSinceChange = Decimal{}
	p.Fee = p.Fee.Add(fee)
	p.Fills++
	if size.Cmp(p.MaxSize) > 0 {
		p.MaxSize = size
	}
	// The value that was held before this fill had led to it is no fill's, unless there
	// was none.
	if value := Notional(px, p.Size.Abs()); value.Cmp(p.MaxValue) > 0 {
		p.MaxValue = value
	}
	if p.Partial && p.Fills == 1 {
		if value := Notional(px, size); value.Cmp(p.MaxValue) > 0 {
			p.MaxValue = value
		}
	}
	p.Liquidated = p.Liquidated || f.Liquidation != nil && f.Liquidation.LiquidatedUser == f.Address
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
