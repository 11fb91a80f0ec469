package market

// spotFill books a fill of a spot market: tokens against tokens, less the fee in its own
// token.
func (a *Account) spotFill(f *Fill, m *Markets, marks Marks) Outcome {
	h, order := a.holding(f.Coin), Order{f.Time, f.Seq, f.Tid}
	if h.has(order) || f.Time <= a.SpotTime {
		return Duplicate
	}
	a.begin(h, f)
	pair, ok := m.spot(f.Coin)
	if !ok {
		return Unknown
	}
	if KindOf(f.Coin) == OutcomeToken && f.FeeToken != "" && f.FeeToken != pair.Base {
		pair.Quote = f.FeeToken // fees of outcomes are paid in what they are traded for
	}
	px, sz := mustDecimal(f.Px), mustDecimal(f.Sz)
	value := Notional(px, sz).Trunc(spotPlaces) // cuts nothing off but of dust, which is no whole lots
	base := a.token(pair.Base)
	base.startAt(mustDecimal(f.StartPosition), f.Time, a.SpotTime > 0)
	feeToken := f.FeeToken
	paid := value // what came of the quote token
	if f.Side == Buy {
		paid = value.Neg()
		base.buy(sz, value)
		a.move(pair.Quote, value.Neg())
		if feeToken == "" {
			feeToken = pair.Base
		}
	} else {
		base.sell(sz, value.Sub(mustDecimal(f.ClosedPnl)))
		a.move(pair.Quote, value)
		if feeToken == "" {
			feeToken = pair.Quote
		}
	}
	a.move(feeToken, mustDecimal(f.Fee).Neg())
	switch quote, base := a.backs(pair.Quote), a.backs(pair.Base); {
	case quote && !base:
		a.exchange(pair.Quote, paid, m, marks)
	case base && !quote:
		a.exchange(pair.Quote, paid.Neg(), m, marks)
	}
	return Applied
}

// offFor is for how long a balance may differ from what fills tell before they are
// believed, ms: a transfer that explains it comes by another stream and may be late.
const offFor = 60_000

// startAt compares the balance with what a fill says that it began with. Without an
// anchor nothing is known better.
func (t *SpotHolding) startAt(start Decimal, ms int64, anchored bool) {
	off := start.Sub(t.Total)
	switch {
	case off.IsZero():
		t.Off, t.OffSince = Decimal{}, 0
	case !anchored, off.Equal(t.Off) && ms-t.OffSince >= offFor:
		if t.NoCost = t.NoCost || !t.Total.IsPos(); !t.NoCost { // what it was all bought for on average
			t.Cost = share(t.Cost, start, t.Total).RoundHAZ(spotPlaces)
		}
		t.Total, t.Off, t.OffSince = start, Decimal{}, 0
	case !off.Equal(t.Off):
		t.Off, t.OffSince = off, ms
	}
}

// buy takes in size for a value in quote units.
func (t *SpotHolding) buy(size, value Decimal) {
	t.Total = t.Total.Add(size)
	if !t.NoCost {
		t.Cost = t.Cost.Add(value)
	}
}

// sell gives size away at its part of the cost. Of a cost that is not known yet, out tells
// what the part had cost, and so all of it.
func (t *SpotHolding) sell(size, out Decimal) {
	left := t.Total.Sub(size)
	switch {
	case size.IsZero():
	case !left.IsPos():
		t.Cost, t.NoCost = Decimal{}, false
	case t.NoCost:
		t.Cost, t.NoCost = share(out, left, size).RoundHAZ(spotPlaces), false
	default:
		t.Cost = t.Cost.Sub(share(t.Cost, size, t.Total).RoundHAZ(spotPlaces))
	}
	t.Total = left
}

// spotPlaces is the decimal places of spot amounts.
const spotPlaces = 8

// move adds an amount to a balance, or takes it away when negative, at no cost.
func (a *Account) move(token string, amount Decimal) {
	if amount.IsZero() {
		return
	}
	if a.Mode.Joint() {
		a.outdate()
	}
	t := a.token(token)
	t.Total = t.Total.Add(amount)
	if t.Total.IsZero() {
		t.Cost, t.NoCost = Decimal{}, false
	}
}
