package market_test

import (
	"testing"

	"quotary/shared/market"
)

// A source that tells of the same trades again, each with greater knowledge of their order, would
// have the index of all made again for each: that takes time with the square.
func TestATradeThatComesAgainCostsNoneOfTheOthers(t *testing.T) {
	var set market.TradeSet
	one := market.DecimalFromInt(1)
	trade := market.Trade{Coin: "BTC", Side: market.Buy, Time: 1_790_000_000_000, Px: one, Sz: one}
	for trade.Tid = range int64(1000) {
		trade.Seq = 1
		set.Add(&trade)
	}
	trade.Tid = 0
	again := func() {
		if trade.Tid, trade.Seq = (trade.Tid+1)%1000, trade.Seq+1; !set.Add(&trade) {
			t.Fatal("it changes nothing")
		}
	}
	if n := testing.AllocsPerRun(500, again); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if set.Len() != 1000 {
		t.Errorf("%d trades", set.Len())
	}
	for _, last := range set.Sorted()[499:] {
		if last.Order.Seq < 2 {
			t.Errorf("%+v is behind those that came again", last)
		}
	}
}
