package market

import "fmt"

// MaxPricePlaces is the most decimal places that the venue gives a price.
const MaxPricePlaces = 8

// Combined is the fills that one crossing order got at one time as one fill, the
// way the venue combines them: sizes, fees and profits add up, the price is their
// average by size, and what a fill has once (position before, trade id, hash) is
// that of the first. The fills of resting orders are never combined.
type Combined struct {
	fill   Fill
	places uint8 // of the average price
	// sums of the fills; builder is the builder's fee
	sz, value, fee, pnl, builder Decimal
}

// Combine begins with a fill that passed [Fill.Check]. Places are the decimal places
// that the market gives a price.
func Combine(f *Fill, places uint8) Combined {
	c := Combined{fill: *f, places: places}
	c.sum(f)
	return c
}

// Takes reports whether f belongs to the same order and time.
func (c *Combined) Takes(f *Fill) bool {
	h := &c.fill
	return f.Crossed && h.Crossed && f.Time == h.Time && f.Oid == h.Oid &&
		f.Coin == h.Coin && f.Side == h.Side && f.Dir == h.Dir && f.FeeToken == h.FeeToken
}

// Add combines another fill that passed [Fill.Check]; before means that it was
// executed before those that are combined already, else it was after them. It
// fails when there is no size to average the price by.
func (c *Combined) Add(f *Fill, before bool) error {
	c.sum(f)
	px, err := c.value.Div(c.sz)
	if err != nil {
		return fmt.Errorf("combine fills of order %d: average price: %w", f.Oid, err)
	}
	paid := c.fill.BuilderFee != "" || f.BuilderFee != ""
	if before {
		c.fill = *f
	}
	c.fill.Px = Text(px.RoundHAZ(c.places))
	c.fill.Sz, c.fill.Fee, c.fill.ClosedPnl = Text(c.sz), Text(c.fee), Text(c.pnl)
	if c.fill.BuilderFee = ""; paid {
		c.fill.BuilderFee = Text(c.builder)
	}
	return nil
}

func (c *Combined) sum(f *Fill) {
	c.sz = c.sz.Add(mustDecimal(f.Sz))
	c.value = c.value.Add(f.Notional())
	c.fee = c.fee.Add(mustDecimal(f.Fee))
	c.pnl = c.pnl.Add(mustDecimal(f.ClosedPnl))
	if f.BuilderFee != "" {
		c.builder = c.builder.Add(mustDecimal(f.BuilderFee))
	}
}

// Fill is the fills as one.
func (c *Combined) Fill() *Fill { return &c.fill }
