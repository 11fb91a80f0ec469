package klines

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"

	"quotary/shared/market"
)

// leastTrade is how many bytes a trade takes at least.
const leastTrade = 6

// MostTrades is how many bytes the trades of a second may take beside their row: an item of the
// store has 400 KB. So 10,000 of one coin in one second fit.
const MostTrades = 390 << 10

const (
	numbersOfTrade = binary.MaxVarintLen64 + binary.MaxVarintLen16 + binary.MaxVarintLen64 + 1 // id, ms, step, flags
	longestDecimal = 50                                                                        // of a text of 48 characters that was read

	// FewTrades always fit.
	FewTrades = MostTrades / (numbersOfTrade + 2*(1+longestDecimal))
)

// TradeSize is how many bytes a trade takes there at most, without its arrival, transaction
// and users, which are left out where there is no room.
func TradeSize(px, sz market.Decimal) int {
	return numbersOfTrade + len(appendShort(appendShort(nil, px), sz))
}

// tradesVersion opens an encoded set; before is that of sets without details, whose flag is
// whether the taker bought.
const (
	tradesVersion       = 2
	tradesVersionBefore = 1
)

// Flags of a trade.
const (
	flagBought = 1 << iota
	flagArrival
	flagHash
	flagNoHash // of zeros
	flagBuyer
	flagSeller
)

const (
	hashBytes    = 32
	addressBytes = 20
)

var noHash = "0x" + strings.Repeat("0", 2*hashBytes)

// appendTrades appends the set of the second that starts at start (ms), about 110
// bytes a trade: version, number of trades, and in their order for each trade its
// id, ms within the second, step in Seq, px, sz and flags, then what they say is there: its
// arrival from its time on, transaction, buyer and seller. They have [MostTrades]; where they
// would take more the last three are left out, and where they still would the arrival.
func appendTrades(b []byte, s *market.TradeSet, start int64) []byte {
	for _, leave := range [...]byte{0, flagHash | flagBuyer | flagSeller} {
		if all := encodeTrades(b, s, start, leave); len(all)-len(b) <= MostTrades {
			return all
		}
	}
	return encodeTrades(b, s, start, flagArrival|flagHash|flagBuyer|flagSeller)
}

// encodeTrades appends them without what is to be left out.
func encodeTrades(b []byte, s *market.TradeSet, start int64, leave byte) []byte {
	b = append(b, tradesVersion)
	b = binary.AppendUvarint(b, uint64(s.Len()))
	seq := int64(0)
	for _, t := range s.Sorted() {
		b = binary.AppendUvarint(b, uint64(t.Order.Tid))
		b = binary.AppendUvarint(b, uint64(t.Order.Time-start))
		b = binary.AppendVarint(b, t.Order.Seq-seq)
		seq = t.Order.Seq
		b = appendShort(b, t.Px)
		b = appendShort(b, t.Sz)
		b = appendDetails(b, &t, leave)
	}
	return b
}

func appendDetails(b []byte, t *market.SetTrade, leave byte) []byte {
	at, flags := len(b), byte(0)
	b = append(b, 0)
	if t.Bought {
		flags |= flagBought
	}
	if t.Arrival != 0 && leave&flagArrival == 0 {
		flags |= flagArrival
		b = binary.AppendVarint(b, int64(t.Arrival-arrivalOf(t)))
	}
	add := func(flag byte, text string, size int) {
		if raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x")); err == nil && len(raw) == size && leave&flag == 0 {
			flags |= flag
			b = append(b, raw...)
		}
	}
	if t.Hash == noHash {
		flags |= flagNoHash
	} else {
		add(flagHash, t.Hash, hashBytes)
	}
	add(flagBuyer, t.Users[0], addressBytes)
	add(flagSeller, t.Users[1], addressBytes)
	b[at] = flags
	return b
}

// arrivalOf is when a trade arrives that arrives at once.
func arrivalOf(t *market.SetTrade) market.Arrival { return market.Arrival(0).Or(t.Order.Time) }

func appendShort(b []byte, d market.Decimal) []byte {
	at := len(b)
	b = market.AppendText(append(b, 0), d)
	b[at] = byte(len(b) - at - 1)
	return b
}

var errTrades = errors.New("the trades beside the row cannot be read")

// DecodeTrades reads the trades beside the row of the second that starts at
// start, ms.
func DecodeTrades(b []byte, start int64) (market.TradeSet, error) {
	d := tradeDecoder{b: b, ok: true}
	version := d.byte()
	if version != tradesVersion && version != tradesVersionBefore {
		return market.TradeSet{}, errTrades
	}
	n := d.uvarint()
	if n > uint64(len(b))/leastTrade {
		return market.TradeSet{}, errTrades
	}
	trades := make([]market.SetTrade, 0, n)
	seq := int64(0)
	for range n {
		var t market.SetTrade
		t.Order.Tid = int64(d.uvarint())
		t.Order.Time = start + int64(d.uvarint())
		seq += d.varint()
		t.Order.Seq = seq
		t.Px, t.Sz = d.decimal(), d.decimal()
		if version == tradesVersionBefore {
			t.Bought = d.byte() == 1
		} else {
			d.details(&t)
		}
		trades = append(trades, t)
	}
	if !d.ok || len(d.b) != 0 {
		return market.TradeSet{}, errTrades
	}
	return market.NewTradeSet(trades), nil
}

// tradeDecoder reads from b; ok turns false at the first fault.
type tradeDecoder struct {
	b  []byte
	ok bool
}

func (d *tradeDecoder) byte() byte {
	if len(d.b) == 0 {
		d.ok = false
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *tradeDecoder) details(t *market.SetTrade) {
	flags := d.byte()
	t.Bought = flags&flagBought != 0
	if flags&flagArrival != 0 {
		t.Arrival = arrivalOf(t) + market.Arrival(d.varint())
	}
	if flags&flagNoHash != 0 {
		t.Hash = noHash
	}
	for _, one := range [...]struct {
		flag byte
		size int
		to   *string
	}{{flagHash, hashBytes, &t.Hash}, {flagBuyer, addressBytes, &t.Users[0]}, {flagSeller, addressBytes, &t.Users[1]}} {
		if flags&one.flag != 0 {
			*one.to = d.hex(one.size)
		}
	}
}

// hex is a text of so many bytes.
func (d *tradeDecoder) hex(size int) string {
	if len(d.b) < size {
		d.ok, d.b = false, nil
		return ""
	}
	text := "0x" + hex.EncodeToString(d.b[:size])
	d.b = d.b[size:]
	return text
}

func (d *tradeDecoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	return advance(d, v, n)
}

func (d *tradeDecoder) varint() int64 {
	v, n := binary.Varint(d.b)
	return advance(d, v, n)
}

func advance[T any](d *tradeDecoder, v T, n int) T {
	if n <= 0 {
		var zero T
		d.ok, d.b = false, nil
		return zero
	}
	d.b = d.b[n:]
	return v
}

func (d *tradeDecoder) decimal() market.Decimal {
	n := int(d.byte())
	if n > len(d.b) {
		d.ok = false
		return market.Decimal{}
	}
	v, err := market.ParseStored(string(d.b[:n]))
	d.ok = d.ok && err == nil
	d.b = d.b[n:]
	return v
}
