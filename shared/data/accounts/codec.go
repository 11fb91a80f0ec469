package accounts

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/quagmt/udecimal"

	"quotary/shared/market"
)

// version begins the bytes of an account.
const version = 1

// Append appends an account without its address, in some 100 bytes and another 50 a coin
// and 100 an open position. Numbers are varints, times less the account's own.
func Append(b []byte, a *market.Account) []byte {
	c := coder{b: append(b, version)}
	c.account(a) // which it only reads
	return c.b
}

func decode(b []byte) (*market.Account, error) {
	if len(b) == 0 || b[0] != version {
		return nil, errBytes
	}
	c := coder{b: b[1:], reading: true}
	a := new(market.Account)
	c.account(a)
	if c.broken || len(c.b) > 0 || !consistent(a) {
		return nil, errBytes
	}
	return a, nil
}

// coder writes to b, or reads from it: what the fields are and in which order is said
// once for both.
type coder struct {
	b       []byte
	reading bool
	broken  bool  // while reading: it is nothing that was written
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
	list(c, &a.Dexes, func(d *market.DexFunds) {
		c.text(&d.Dex)
		c.decimal(&d.Cash)
		c.time(&d.Anchored)
	})
	list(c, &a.Spot, func(t *market.SpotHolding) {
		c.text(&t.Token)
		c.decimal(&t.Total)
		c.decimal(&t.Cost)
		c.flags(&t.NoCost)
		c.decimal(&t.Off)
		c.time(&t.OffSince)
	})
	list(c, &a.Updates, func(u *market.LedgerUpdate) {
		c.time(&u.Time)
		c.digest(&u.Digest)
	})
	c.time(&a.UpdatesSince)
	list(c, &a.Holdings, c.holding)
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
	n := int64(len(*values))
	c.int(&n)
	if c.reading {
		if n < 0 || n > int64(len(c.b)) { // each takes a byte at least
			c.broken = true
			return
		}
		if n > 0 {
			*values = make([]T, n)
		}
	}
	for i := range *values {
		if c.broken {
			return
		}
		each(&(*values)[i])
	}
}

func (c *coder) int(v *int64) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, *v)
		return
	}
	var n int
	if *v, n = binary.Varint(c.b); n <= 0 {
		c.broken, *v = true, 0
		return
	}
	c.b = c.b[n:]
}

func (c *coder) uint(v *uint64) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	var n int
	if *v, n = binary.Uvarint(c.b); n <= 0 {
		c.broken, *v = true, 0
		return
	}
	c.b = c.b[n:]
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
	if !c.reading {
		c.b = binary.LittleEndian.AppendUint64(c.b, *v)
	} else if c.has(8) {
		*v = binary.LittleEndian.Uint64(c.b)
		c.b = c.b[8:]
	}
}

func (c *coder) has(n uint64) bool {
	c.broken = c.broken || uint64(len(c.b)) < n
	return !c.broken
}

func (c *coder) text(s *string) {
	n := uint64(len(*s))
	c.uint(&n)
	if !c.reading {
		c.b = append(c.b, *s...)
	} else if c.has(n) {
		*s = string(c.b[:n])
		c.b = c.b[n:]
	}
}

// flags are up to eight of them in a byte.
func (c *coder) flags(flags ...*bool) {
	var bits byte
	if c.reading {
		if !c.has(1) {
			return
		}
		bits = c.b[0]
		c.b = c.b[1:]
	}
	for i, flag := range flags {
		if c.reading {
			*flag = bits>>i&1 == 1
		} else if *flag {
			bits |= 1 << i
		}
	}
	if c.reading {
		c.broken = c.broken || bits>>len(flags) != 0
	} else {
		c.b = append(c.b, bits)
	}
}

// A decimal, without zeros at its end, is a byte that is 0 for none, else 1 + places x 4 + 2 where it is negative +
// 1 where it has more than 64 bits; then its digits, the upper 64 bits first. One of more
// than 128 bits is written as a text.
const asText = 0xff

func (c *coder) decimal(d *market.Decimal) {
	if c.reading {
		c.readDecimal(d)
		return
	}
	negative, high, low, places, ok := d.ToHiLo()
	high, low, places = trimmed(high, low, places)
	switch {
	case d.IsZero():
		c.b = append(c.b, 0)
		return
	case !ok:
		text := market.Text(*d)
		c.b = append(c.b, asText)
		c.text(&text)
		return
	}
	head := 1 + places*4
	if negative {
		head += 2
	}
	if high > 0 {
		c.b = append(c.b, head+1)
		c.uint(&high)
	} else {
		c.b = append(c.b, head)
	}
	c.uint(&low)
}

// trimmed takes the zeros at the end of the places away, so that equal decimals are the
// same bytes.
func trimmed(high, low uint64, places uint8) (uint64, uint64, uint8) {
	for places > 0 {
		upper, rest := high/10, high%10
		lower, rest := bits.Div64(rest, low, 10)
		if rest > 0 {
			break
		}
		high, low, places = upper, lower, places-1
	}
	return high, low, places
}

func (c *coder) readDecimal(d *market.Decimal) {
	*d = market.Decimal{}
	if !c.has(1) {
		return
	}
	head := c.b[0]
	c.b = c.b[1:]
	var err error
	switch head {
	case 0:
		return
	case asText:
		var text string
		c.text(&text)
		*d, err = udecimal.Parse(text)
	default:
		head--
		var high, low uint64
		if head&1 == 1 {
			c.uint(&high)
		}
		c.uint(&low)
		*d, err = udecimal.NewFromHiLo(head&2 == 2, high, low, head>>2)
	}
	c.broken = c.broken || err != nil
}
