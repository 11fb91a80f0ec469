package market

import (
	"errors"
	"fmt"
)

// Twap is a TWAP order: a size that the venue executes in slices, one every half minute,
// spread over so many minutes. The decimal texts are the venue's own.
type Twap struct {
	Coin        string
	Side        Side
	Sz          string // base units, of all slices
	ExecutedSz  string // base units
	ExecutedNtl string // the same, quote units
	Minutes     int64  // for which it runs
	ReduceOnly  bool
	Randomize   bool  // the sizes of the slices vary
	Timestamp   int64 // when it began, ms
}

// TwapStatus is a status that a TWAP order of an account came to, as a node writes it, with
// the order as it stood then. It comes to two: activated, and one that it ends in.
type TwapStatus struct {
	Address string
	TwapID  *int64 // nil where the venue gave it none, as it may be of an order that it refused
	Time    int64  // when it came to the status, ms
	Status  string // TwapActivated, or how it ended
	Error   string // what went wrong, in the venue's words; "" unless Status is TwapError

	Twap

	// Seq orders statuses of one millisecond as [OrderStatus].Seq does.
	Seq int64
}

// Statuses of TWAP orders. One that is not known here ends its order as well.
const (
	TwapActivated  = "activated"  // it runs
	TwapFinished   = "finished"   // its size is executed, or its time is over
	TwapTerminated = "terminated" // the account has ended it
	TwapError      = "error"      // the venue has refused it, or one of its slices
)

const (
	// maxTwapMinutes is how long a TWAP may run: the venue takes a day at most.
	maxTwapMinutes = 31 * 24 * 60
	// twapClock is by how much a TWAP may begin after its own status, ms: both are of one block.
	twapClock = 60_000
)

// Check says what makes s impossible, and brings the address to lower case. What the venue
// may leave out and is impossible is left out of s, and costs no more. What Check accepts
// can be stored, and the arithmetic of s does not fail.
func (s *TwapStatus) Check() error {
	var ok bool
	if s.Address, ok = ParseAddress(s.Address); !ok {
		return fmt.Errorf("%.60q is no address", s.Address)
	}
	switch {
	case s.Time <= 0 || s.Time > MaxTime:
		return fmt.Errorf("time %d is no time in ms", s.Time)
	case s.TwapID != nil && *s.TwapID < 0:
		return fmt.Errorf("TWAP id %d is negative", *s.TwapID)
	case !ValidName(s.Status):
		return fmt.Errorf("%.80q is no status", s.Status)
	case s.Timestamp <= 0 || s.Timestamp > s.Time+twapClock:
		return fmt.Errorf("it began at %d, after its status at %d or at no time", s.Timestamp, s.Time)
	}
	if s.Status == TwapError {
		s.Error = shortText(s.Error)
	} else {
		s.Error = ""
	}
	return s.Twap.Check()
}

// Check says what makes t impossible.
func (t *Twap) Check() error {
	switch {
	case !ValidCoin(t.Coin):
		return fmt.Errorf("%.80q is no coin", t.Coin)
	case t.Side != Buy && t.Side != Sell:
		return errors.New("side is neither A nor B")
	case t.Minutes < 0 || t.Minutes > maxTwapMinutes:
		return fmt.Errorf("%d minutes are not 0 to %d", t.Minutes, maxTwapMinutes)
	case t.Timestamp <= 0 || t.Timestamp > MaxTime:
		return fmt.Errorf("time %d is no time in ms", t.Timestamp)
	}
	for _, text := range [...]string{t.Sz, t.ExecutedSz, t.ExecutedNtl} {
		if _, ok := decimalPlaces(text); !ok || text[0] == '-' {
			return fmt.Errorf("%.60q %w", text, errDecimal)
		}
	}
	return nil
}

// Until is when the time of the TWAP is over, ms.
func (t *Twap) Until() int64 { return t.Timestamp + t.Minutes*minuteMs }

const minuteMs = 60_000

// Remaining is the size that is still to be executed, base units.
func (t *Twap) Remaining() Decimal {
	rest := mustDecimal(t.Sz).Sub(mustDecimal(t.ExecutedSz))
	if rest.IsNeg() {
		return Decimal{}
	}
	return rest
}

// RemainMinutes is for how many minutes the TWAP still runs at a time (ms), rounded up; 0
// once its time is over.
func (t *Twap) RemainMinutes(ms int64) int64 {
	return max(0, (t.Until()-ms+minuteMs-1)/minuteMs)
}

// ExpectedTwap is what a TWAP is expected to trade: what remains of its size, evenly over
// the minutes that remain.
type ExpectedTwap struct {
	RemainMinutes int64   // rounded up, at least 1
	RemainVal     Decimal // of the remaining size
	Val           Decimal // within the horizon: RemainVal x min(1, horizon / RemainMinutes)
	RateVal       Decimal // a minute: RemainVal / RemainMinutes
}

// Expect is what is expected of a TWAP within a horizon, of the value of its remaining size.
// Values are in the unit of that, cut to a millionth. RemainMinutes is at least 1.
func Expect(remainVal Decimal, remainMinutes, horizonMinutes int64) ExpectedTwap {
	minutes := decimalOf(remainMinutes)
	e := ExpectedTwap{RemainMinutes: remainMinutes, RemainVal: remainVal, Val: remainVal, RateVal: remainVal.MustDiv(minutes).Trunc(usdPlaces)}
	if horizonMinutes < remainMinutes {
		e.Val = remainVal.Mul(decimalOf(horizonMinutes)).MustDiv(minutes).Trunc(usdPlaces)
	}
	return e
}

// RatePerMinute is what a market trades a minute, of what it traded in 24 hours: in the same
// unit, cut to a millionth. A day is what the venue itself publishes of every market, those of
// spot too; of an hour, large TWAPs would be a good part themselves.
func RatePerMinute(day Decimal) Decimal { return day.MustDiv(decimalOf(24 * 60)).Trunc(usdPlaces) }

// Value is what a size of a coin is worth at the mark prices, USDC, cut to a millionth. It is
// false where a price, or the token in which the market is paid, is not known.
func (m *Markets) Value(coin string, sz Decimal, marks Marks) (worth Decimal, ok bool) {
	mark, ok := marks[coin]
	if !ok {
		return Decimal{}, false
	}
	return m.QuoteUsd(coin, sz.Mul(mark), marks)
}

// QuoteUsd is what an amount in quote units of a coin's market is worth at marks, USDC, cut
// to a millionth. It is false where the token of the quote, or its mark, is not known.
func (m *Markets) QuoteUsd(coin string, amount Decimal, marks Marks) (worth Decimal, ok bool) {
	if !IsSpot(coin) {
		return m.Usd(coin, amount, marks)
	}
	spot, ok := m.spot(coin)
	if !ok {
		return Decimal{}, false
	}
	return m.Worth(spot.Quote, amount, marks)
}
