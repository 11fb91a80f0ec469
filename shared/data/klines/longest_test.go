package klines_test

import (
	"strings"
	"testing"

	"quotary/shared/data/contexts"
	"quotary/shared/data/klines"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// What a venue may say of a price and a size is read again whatever is made of it: a row that cannot
// be read is quarantined, and more than a few stop the domain.
func TestWhatIsMadeOfTheLongestFiguresIsReadAgain(t *testing.T) {
	t.Parallel()
	const start = int64(1_790_000_000_000)
	for _, c := range []struct{ px, sz string }{
		{strings.Repeat("9", 48), strings.Repeat("9", 48)},
		{strings.Repeat("9", 37) + "." + strings.Repeat("9", 10), strings.Repeat("9", 38) + "." + strings.Repeat("9", 9)},
		{strings.Repeat("9", 28) + "." + strings.Repeat("9", 19), strings.Repeat("9", 48)},
		{"0." + strings.Repeat("9", 19), "1"},
	} {
		must.Do(t, market.CheckQuantity(c.px, c.sz))
		trade := market.Trade{Coin: "BTC", Side: market.Buy, Time: start, Px: must.Get(market.ParseDecimal(c.px))(t), Sz: must.Get(market.ParseDecimal(c.sz))(t)}
		var set market.TradeSet
		for trade.Tid = range int64(1000) {
			trade.Seq++
			set.Add(&trade)
		}
		candle := market.Candle{OpenTime: start}
		set.Fold(&candle)
		row := klines.Row("BTC", market.Second1, &candle, &set)
		again := must.Get(klines.Decode(row.Body))(t)
		trades := must.Get(klines.DecodeTrades(row.Extra, start))(t)
		if !again.Equal(&candle) || trades.Len() != 1000 {
			t.Errorf("%+v is read as %+v, with %d trades", candle, again, trades.Len())
		}
		value := market.Notional(trade.Px, trade.Sz)
		var bar market.Bar
		bar.Add(start, value)
		bar.Time = start
		at := pairseries.Interest.At("btc", pairseries.Tiers[0], start)
		pack := must.Get(pairseries.Interest.Decode(pairseries.Interest.Row(at, pairseries.Pack[market.Bar]{start: bar}).Body))(t)
		if got := pack[start]; !got.Close.Equal(value) {
			t.Errorf("%s is read as %+v", value, got)
		}
		view := contexts.Published.Encode(contexts.View{Time: start, Marks: map[string]string{"BTC": market.Text(trade.Px)}})
		if marks := must.Get(contexts.MarksOnly.Decode(view))(t); !marks.Px["BTC"].Equal(trade.Px) {
			t.Errorf("a mark of %s is read as %s", trade.Px, marks.Px["BTC"])
		}
	}
}
