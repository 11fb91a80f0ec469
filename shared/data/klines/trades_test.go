package klines

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/testing/must"
)

const second = 1_773_532_740_000

func TestATradeSetSurvivesItsEncoding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s market.TradeSet
		for range rapid.IntRange(0, 120).Draw(t, "n") {
			trade := market.Trade{Side: rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(t, "side"),
				Time: second + rapid.Int64Range(0, 999).Draw(t, "ms"), Seq: rapid.Int64Range(0, 1e15).Draw(t, "seq"), Tid: rapid.Int64Range(1, 1<<50).Draw(t, "tid")}
			trade.Px, _ = market.ParseDecimal(rapid.StringMatching(`[0-9]{1,6}\.[0-9]{1,6}`).Draw(t, "px"))
			trade.Sz, _ = market.ParseDecimal(rapid.StringMatching(`[0-9]{1,6}\.[0-9]{1,8}`).Draw(t, "sz"))
			s.Add(&trade)
			if s.Add(&trade) {
				t.Fatal("the same trade was added twice")
			}
		}
		b := appendTrades(nil, &s, second)
		back := must.Get(DecodeTrades(b, second))(t)
		if !bytes.Equal(appendTrades(nil, &back, second), b) {
			t.Fatal("it changed")
		}
		if len(b) > 2 {
			if _, err := DecodeTrades(b[:len(b)-1], second); err == nil {
				t.Fatal("a cut set was read")
			}
		}
	})
}

func FuzzDecodeTrades(f *testing.F) {
	f.Add([]byte{1, 1, 5, 0, 2, 3, '1', '.', '0', 3, '2', '.', '5', 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := DecodeTrades(b, second); err == nil && s.Len() > len(b) {
			t.Fatalf("%d trades of %d bytes", s.Len(), len(b))
		}
	})
}
