package klines

import (
	"encoding/binary"
	"errors"

	"quotary/shared/market"
)

// leastTrade is how many bytes a trade takes at least.
const leastTrade = 6

// MostTrades is how many bytes the trades of a second may take beside their row: an item of the
// store has 400 KB. So 10,000 of one coin in one second fit.
const MostTrades = 390 << 10

const (
	numbersOfTrade = binary.MaxVarintLen64 + binary.MaxVarintLen16 + binary.MaxVarintLen64 + 1 // id, ms, step and side
	longestDecimal = 50                                                                        // of a text of 48 characters that was read

	// FewTrades always fit.
	FewTrades = MostTrades / (numbersOfTrade + 2*(1+longestDecimal))
)

// TradeSize is how many bytes a trade takes there at most.
func TradeSize(px, sz market.Decimal) int {
	return numbersOfTrade + len(appendShort(appendShort(nil, px), sz))
}

// tradesVersion opens an encoded set.
const tradesVersion = 1

// appendTrades appends the set of the second that starts at start (ms), about 30
// bytes a trade: version, number of trades, and in their order for each trade its
// id, ms within the second, step in Seq, px, sz and taker side. They have [MostTrades].
func appendTrades(b []byte, s *market.TradeSet, start int64) []byte {
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
		if t.Bought {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

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
	if d.byte() != tradesVersion {
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
		t.Bought = d.byte() == 1
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
