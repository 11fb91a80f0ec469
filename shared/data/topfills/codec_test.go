package topfills

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

func TestStoredTopFills(t *testing.T) {
	datasettest.Codec[market.Top]{
		Values: rapid.Custom(func(t *rapid.T) (top market.Top) {
			for range rapid.IntRange(0, 6).Draw(t, "fills") {
				f := markettest.Fill().Draw(t, "fill")
				top.Add(f.Rank(), 5)
			}
			return top
		}),
		Encode: func(top market.Top) []byte { return Append(nil, top) },
		Decode: Decode,
		Use: func(top market.Top) {
			var other market.Top
			other.Merge(top, 3)
		},
	}.Test(t)
}
