package accountstats

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// values draws values of any times, oldest first.
func values() *rapid.Generator[[]market.AccountValue] {
	return rapid.Custom(func(t *rapid.T) (list []market.AccountValue) {
		at, amount := int64(0), rapid.Int64Range(-int64(market.MaxMicros), int64(market.MaxMicros))
		for range rapid.IntRange(0, 5).Draw(t, "values") {
			at += rapid.Int64Range(1, dayMs).Draw(t, "step")
			list = append(list, market.AccountValue{Time: at, Value: market.Micros(amount.Draw(t, "value")), NetIn: market.Micros(amount.Draw(t, "net in"))})
		}
		return list
	})
}

func TestStoredPasts(t *testing.T) {
	datasettest.Codec[Past]{
		Values: rapid.Custom(func(t *rapid.T) Past {
			venue := market.VenueCurve{All: values().Draw(t, "all"), Perp: values().Draw(t, "perp"), Until: markettest.Time().Draw(t, "until"), Volume: 7, PerpVolume: 5}
			return Past{markettest.Curve().Draw(t, "curve"), venue}
		}),
		Encode: func(p Past) []byte { return AppendPast(nil, &p) },
		Decode: DecodePast,
		Use:    func(p Past) { p.Curve.Thin().Values(nil, market.ScopeAll) },
	}.Test(t)
}

// However often the older points are moved to the past, and whatever is lost of it by a crash
// before the row of the account is written, the curve that is read has all its points.
func TestACurveIsReadWithItsPast(t *testing.T) {
	t.Parallel()
	const address = "0x1"
	rapid.Check(t, func(rt *rapid.T) {
		series, whole := storetest.Open(t).Series, markettest.Curve().Draw(rt, "curve")
		k, past := new(Kept), Past{Venue: market.VenueCurve{Until: 3, All: values().Draw(rt, "venue")}}
		a := market.Account{Address: address, Time: 1}
		for i := range whole {
			k.Curve = k.Curve.Merge(whole[i : i+1])
			if rapid.Bool().Draw(rt, "write") {
				storetest.PutSeries(t, series, k.Row(&a, "v"))
			}
			if rapid.IntRange(0, 3).Draw(rt, "move") == 0 {
				k.MoveTo(&past, whole[rapid.IntRange(0, i).Draw(rt, "to")].Time)
				storetest.PutSeries(t, series, PastRow(address, &past))
				if rapid.Bool().Draw(rt, "crash") && k.Stored() != nil {
					storetest.PutSeries(t, series, RowOf(address, new(k.All()), "v")) // as it was before
				}
			}
		}
		storetest.PutSeries(t, series, k.Row(&a, "v"))
		for got := range must.All(t, ReadCurves(t.Context(), series, []string{address})) {
			if diff := cmp.Diff(slices.Clone(whole).Thin(), got.Curve.Thin(), cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("(-whole +read):\n%s", diff)
			}
		}
	})
}
