package funding

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

func TestStoredHours(t *testing.T) {
	datasettest.Codec[Hour]{
		Values: rapid.Custom(func(t *rapid.T) Hour {
			return Hour{Funding: market.Funding{Coin: markettest.Coin().Draw(t, "coin"), Rate: markettest.Signed(2, 12).Draw(t, "rate"),
				Premium: markettest.Signed(2, 12).Draw(t, "premium"), Time: markettest.Time().Draw(t, "time")}, Provisional: rapid.Bool().Draw(t, "provisional")}
		}),
		Encode: func(h Hour) []byte { return Row(&h).Body },
		Decode: series.Decode,
	}.Test(t)
}
