package market

import "fmt"

// FundingPayment is what an account paid or received for a position at a full hour.
type FundingPayment struct {
	Address string
	Coin    string
	Time    int64  // just after the hour, ms
	USDC    string // quote units; negative was paid, positive received
	Szi     string // the position that it was paid for, base units; negative is short
	Rate    string // of the hour, a fraction

	// Seq is the same in all payments of one event of the source, which has everything
	// that its accounts paid at that time, and no other's.
	Seq int64
}

// Check says what makes p impossible, and brings the address to lower case.
func (p *FundingPayment) Check() error {
	var ok bool
	if p.Address, ok = ParseAddress(p.Address); !ok {
		return fmt.Errorf("%.60q is no address", p.Address)
	}
	if !ValidCoin(p.Coin) {
		return fmt.Errorf("%.80q is no coin", p.Coin)
	}
	if p.Time <= 0 || p.Time > MaxTime {
		return fmt.Errorf("time %d is no time in ms", p.Time)
	}
	for _, s := range [...]string{p.USDC, p.Szi, p.Rate} {
		if _, ok := decimalPlaces(s); !ok {
			return fmt.Errorf("%.60q %w", s, errDecimal)
		}
	}
	return nil
}
