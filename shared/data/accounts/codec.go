package accounts

import (
	"encoding/binary"
	"slices"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
)

// version begins the bytes of an account.
const version = 2

// Append appends an account without its address, in some 100 bytes and another 50 a coin
// and 100 an open position. Numbers are varints, times less the account's own.
func Append(b []byte, a *market.Account) []byte {
	c := coder{w: packed.Writer{B: append(b, version)}}
	c.account(a) // which it only reads
	return c.w.B
}

func decode(b []byte) (*market.Account, error) {
	if len(b) == 0 || b[0] != version {
		return nil, errBytes
	}
	c := coder{r: packed.Reader{B: b[1:]}, reading: true}
	a := new(market.Account)
	c.account(a)
	if !c.r.Done() || !consistent(a) {
		return nil, errBytes
	}
	return a, nil
}

// coder writes or reads: what the fields are and in which order is said once for both.
type coder struct {
	reading bool
	r       packed.Reader
	w       packed.Writer
	base    int64 // that times are written less of, ms
}

func (c *coder) account(a *market.Account) {
	c.int(&a.Time)
	c.base = a.Time
	c.time(&a.Since)
	c.time(&a.Anchored)
	c.time(&a.SpotTime)
	c.decimal(&a.NetPerp)
	c.decimal(&a.NetSpot)
	c.mode(&a.Mode)
	c.time(&a.Lost)
	list(c, &a.Dexes, func(d *market.DexFunds) {
		c.text(&d.Dex)
		c.decimal(&d.Cash)
		c.time(&d.Anchored)
		c.posted(d)
	})
	list(c, &a.Spot, func(t *market.SpotHolding) {
		c.text(&t.Token)
		c.decimal(&t.Total)
		c.decimal(&t.Cost)
		c.flags(&t.NoCost)
		c.decimal(&t.Off)
		c.time(&t.OffSince)
		c.decimal(&t.Lent)
		c.flags(&t.Backs)
	})
	list(c, &a.Updates, func(u *market.LedgerUpdate) {
		c.time(&u.Time)
		c.digest(&u.Digest)
	})
	c.time(&a.UpdatesSince)
	list(c, &a.Holdings, c.holding)
}

func (c *coder) mode(m *market.Mode) {
	if !c.reading {
		c.w.Byte(byte(*m))
		return
	}
	*m = market.Mode(c.r.Byte())
	c.r.Check(*m <= market.ModeOther)
}

func (c *coder) posted(d *market.DexFunds) {
	has := d.Posted != nil
	if c.flags(&has); !has {
		return
	}
	if c.reading {
		d.Posted = new(market.Posted)
	}
	p := d.Posted
	for _, amount := range [...]*market.Decimal{&p.AccountValue, &p.TotalRawUsd, &p.CrossAccountValue, &p.CrossTotalRawUsd, &p.Withdrawable} {
		c.decimal(amount)
	}
}

func (c *coder) holding(h *market.Holding) {
	c.text(&h.Coin)
	open := h.Open != nil
	c.flags(&open, &h.Unsure, &h.Late, &h.Leverage.Isolated)
	c.int(&h.Leverage.Value)
	c.time(&h.Began)
	for _, o := range [...]*market.Order{&h.Last, &h.Gap} {
		c.time(&o.Time)
		c.int(&o.Seq)
		c.int(&o.Tid)
	}
	c.time(&h.Paid)
	c.decimal(&h.FundingAllTime)
	if !open {
		return
	}
	if c.reading {
		h.Open = new(market.OpenPosition)
	}
	c.position(h.Open)
}

func (c *coder) position(p *market.OpenPosition) {
	c.flags(&p.NoCost, &p.Partial, &p.Liquidated)
	for _, d := range [...]*market.Decimal{&p.Size, &p.Cost, &p.Margin, &p.FundingSinceOpen, &p.FundingSinceChange,
		&p.ClosedSize, &p.ClosedValue, &p.Pnl, &p.Fee, &p.MaxSize, &p.MaxValue} {
		c.decimal(d)
	}
	c.decimal(&p.SaidLiquidationPx)
	c.time(&p.Opened)
	c.time(&p.Reduced)
	c.int(&p.Fills)
	for _, orders := range [...]*market.OrderCount{&p.Opening, &p.Closing} {
		c.int(&orders.N)
		before := int64(0)
		list(c, &orders.Recent, func(oid *int64) {
			more := *oid - before
			c.int(&more)
			if c.reading {
				*oid = before + more
			}
			before = *oid
		})
	}
}

// consistent reports whether a is as the fold leaves accounts.
func consistent(a *market.Account) bool {
	for i := range a.Holdings {
		h := &a.Holdings[i]
		if !market.ValidCoin(h.Coin) || h.Leverage.Value < 0 || h.Open != nil && h.Open.Size.IsZero() {
			return false
		}
	}
	return rising(a.Dexes, func(d *market.DexFunds) string { return d.Dex }) &&
		rising(a.Spot, func(t *market.SpotHolding) string { return t.Token }) &&
		rising(a.Holdings, func(h *market.Holding) string { return h.Coin }) &&
		slices.IsSortedFunc(a.Updates, func(x, y market.LedgerUpdate) int { return int(min(1, max(-1, x.Time-y.Time))) })
}

func rising[T any](list []T, name func(*T) string) bool {
	for i := range list[:max(0, len(list)-1)] {
		if name(&list[i]) >= name(&list[i+1]) {
			return false
		}
	}
	return true
}

// list is the number of elements, then each of them.
func list[T any](c *coder, values *[]T, each func(*T)) {
	if !c.reading {
		c.w.Length(len(*values))
	} else if n := c.r.Length(1); n > 0 {
		*values = make([]T, n)
	}
	for i := range *values {
		if c.r.Broken {
			return
		}
		each(&(*values)[i])
	}
}

func (c *coder) int(v *int64) {
	if c.reading {
		*v = c.r.Int()
	} else {
		c.w.Int(*v)
	}
}

// time is a time in ms: 0 for none, else how long before base it is, with 1 more where
// that is not negative.
func (c *coder) time(ms *int64) {
	var v int64
	if *ms != 0 {
		if v = c.base - *ms; v >= 0 {
			v++
		}
	}
	c.int(&v)
	if !c.reading {
		return
	}
	switch {
	case v == 0:
		*ms = 0
	case v > 0:
		*ms = c.base - (v - 1)
	default:
		*ms = c.base - v
	}
}

func (c *coder) digest(v *uint64) {
	if c.reading {
		*v = binary.LittleEndian.Uint64(c.r.Bytes(8))
	} else {
		c.w.B = binary.LittleEndian.AppendUint64(c.w.B, *v)
	}
}

func (c *coder) text(s *string) {
	if c.reading {
		*s = c.r.Text()
	} else {
		c.w.Text(*s)
	}
}

func (c *coder) decimal(d *market.Decimal) {
	if c.reading {
		*d = c.r.Decimal()
	} else {
		c.w.Decimal(*d)
	}
}

// flags are up to eight of them in a byte.
func (c *coder) flags(flags ...*bool) {
	if c.reading {
		bits := c.r.Byte()
		for i, flag := range flags {
			*flag = bits>>i&1 == 1
		}
		c.r.Check(bits>>len(flags) == 0)
		return
	}
	var bits byte
	for i, flag := range flags {
		if *flag {
			bits |= 1 << i
		}
	}
	c.w.Byte(bits)
}
