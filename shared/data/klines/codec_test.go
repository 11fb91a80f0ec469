package klines

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

func TestStoredKlines(t *testing.T) {
	datasettest.Codec[market.Candle]{
		Values: rapid.Custom(func(t *rapid.T) market.Candle {
			c := market.Candle{OpenTime: markettest.Base}
			for range rapid.IntRange(1, 5).Draw(t, "trades") {
				trade := markettest.Trade().Draw(t, "trade")
				c.Add(&trade)
			}
			c.First, c.Last = market.Order{Time: c.OpenTime}, market.Order{Time: c.OpenTime} // all that a row knows
			return c
		}),
		Encode: func(c market.Candle) []byte { return Append(nil, &c) },
		Decode: Decode,
		Use: func(c market.Candle) {
			var sum market.Candle
			sum.Merge(&c)
			sum.Merge(&c)
		},
	}.Test(t)
}

func TestTheRowOfASecondHasItsTradesBeside(t *testing.T) {
	t.Parallel()
	trade := market.Trade{Coin: "BTC", Side: market.Buy, Time: markettest.Base + 7, Tid: 5}
	var trades market.TradeSet
	trades.Add(&trade)
	c := market.Candle{OpenTime: markettest.Base}
	c.Add(&trade)
	row := Row("BTC", market.Second1, &c, &trades)
	if at := At("BTC", market.Second1, markettest.Base); row.SeriesKey != at.SeriesKey || !row.Time.Equal(at.Time) {
		t.Errorf("the row is stored as %v at %v, and looked for as %v", row.SeriesKey, row.Time, at)
	}
	again, err := DecodeTrades(row.Extra, markettest.Base)
	if err != nil || again.Len() != 1 || again.Add(&trade) {
		t.Errorf("the trades beside the row are %+v, %v", again, err)
	}
	if row := Row("BTC", market.Minute1, &c, nil); row.Extra != nil {
		t.Errorf("a minute has %q beside its row", row.Extra)
	}
}
