package pairchanges

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/store"
)

func TestStoredChanges(t *testing.T) {
	var last store.Row // its key is not in the body
	datasettest.Codec[market.PairChange]{
		Values: rapid.Custom(func(t *rapid.T) market.PairChange {
			px, _ := market.ParseDecimal(rapid.StringMatching(`[1-9][0-9]{0,8}(\.[0-9]{0,7}[1-9])?`).Draw(t, "px"))
			return market.PairChange{
				Pair: "btcusdt:x", Kind: rapid.SampledFrom(market.ChangeRules[:]).Draw(t, "rule").Kind, Time: rapid.Int64Range(1, 1<<50).Draw(t, "time"),
				Of: rapid.StringMatching(`([0-9]{1,9}( [0-9.]{1,5})?)?`).Draw(t, "of"), Px: px,
			}
		}),
		Encode: func(c market.PairChange) []byte {
			last = row(&c)
			return last.Body
		},
		Decode: func(body []byte) (market.PairChange, error) {
			r := last
			r.Body = body
			return decode(r)
		},
		Use: func(c market.PairChange) { _ = row(&c) },
	}.Test(t)
}
