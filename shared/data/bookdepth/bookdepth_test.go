package bookdepth

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

func TestStoredSamples(t *testing.T) {
	datasettest.Codec[Sample]{
		Values: rapid.Custom(func(t *rapid.T) Sample {
			b := markettest.Book().Draw(t, "book")
			return SampleOf(&b)
		}),
		Encode: func(s Sample) []byte { return Row(market.Minute1, markettest.Base, &s).Body },
		Decode: series.Decode,
	}.Test(t)
}

func TestASampleSumsUpBothSides(t *testing.T) {
	t.Parallel()
	b := market.Book{Coin: "BTC", Time: 1_795_262_430_999, Bids: []market.Level{{Px: "9.5", Sz: "2.5"}, {Px: "9.0", Sz: "1.0"}}, Asks: []market.Level{{Px: "10.5", Sz: "0.25"}}}
	if got, want := SampleOf(&b), (Sample{Time: 1_795_262_430, Coin: "BTC", BidVolume: "3.5", AskVolume: "0.25"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
