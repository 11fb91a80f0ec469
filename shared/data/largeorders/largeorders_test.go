package largeorders

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/store"
)

func TestStoredLargeOrders(t *testing.T) {
	number := func(t *rapid.T, name string) market.Decimal {
		d, _ := market.ParseDecimal(rapid.StringMatching(`[1-9][0-9]{0,8}(\.[0-9]{0,7}[1-9])?`).Draw(t, name))
		return d
	}
	var last store.Row // its key is not in the body
	datasettest.Codec[market.LargeOrder]{
		Values: rapid.Custom(func(t *rapid.T) market.LargeOrder {
			o := market.LargeOrder{
				Pair: "btcusdt:x", Side: rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(t, "side"), Px: number(t, "px"), Inverse: rapid.Bool().Draw(t, "inverse"),
				Start: rapid.Int64Range(1, 1<<50).Draw(t, "start"), Changed: 5, End: rapid.Int64Range(0, 1).Draw(t, "end"), Missed: rapid.Int64Range(0, 1).Draw(t, "missed"),
				First: number(t, "first"), Last: number(t, "last"), Highest: number(t, "highest"), Gone: number(t, "gone"), Met: number(t, "met"), Trades: 3, FirstTrade: 7, LastTrade: 8,
			}
			if o.NearKnown = rapid.Bool().Draw(t, "near"); o.NearKnown {
				o.Near, o.Contract = number(t, "near"), number(t, "contract")
			}
			return o
		}),
		Encode: func(o market.LargeOrder) []byte {
			last = row(&o)
			return last.Body
		},
		Decode: func(body []byte) (market.LargeOrder, error) {
			r := last
			r.Body = body
			return Decode(r)
		},
		Use: func(o market.LargeOrder) {
			_, _, _, _ = o.State(9), o.Bait(), o.Contracts(o.First), o.Coins(o.First)
		},
	}.Test(t)
}
