package hourmarks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

func marks() *rapid.Generator[market.Marks] {
	return rapid.Custom(func(t *rapid.T) market.Marks {
		return rapid.MapOfN(markettest.Coin(), markettest.Parsed(9, 6), 0, 5).Draw(t, "marks")
	})
}

// Equal lets views be compared as they are stored.
func (v View) Equal(o View) bool { return string(encode(v)) == string(encode(o)) }

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) (v View) {
			ms := int64(markettest.Base)
			for range rapid.IntRange(0, 5).Draw(t, "hours") {
				ms += hourMs * rapid.Int64Range(1, 40).Draw(t, "step")
				v.Add(ms, marks().Draw(t, "marks"))
			}
			return v
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use:    func(v View) { v.At(v.Newest()) },
	}.Test(t)
}

// An hour stays as it was kept, for 31 days, and a midnight for 400.
func TestHoursAreKept(t *testing.T) {
	t.Parallel()
	var v View
	first := int64(markettest.Base) / dayMs * dayMs
	px := func(hour int64) market.Marks { return market.Marks{"BTC": market.Micros(hour + 1).Decimal()} }
	for hour := range int64(500 * 24) {
		v.Add(first+hour*hourMs, px(hour))
	}
	now := int64(500*24 - 1)
	for name, c := range map[string]struct {
		hour int64
		want bool
	}{
		"the newest": {now, true}, "of 31 days before": {now - 31*24, true}, "of before": {now - 31*24 - 1, false}, "a midnight": {400 * 24, true},
		"one of 400 days before": {100 * 24, true}, "one of before": {99 * 24, false}, "one that never was": {now + 1, false},
	} {
		for range 2 {
			got, ok := v.At(first + c.hour*hourMs)
			if ok != c.want || ok && !got["BTC"].Equal(px(c.hour)["BTC"]) {
				t.Errorf("%s: %v %t, want %t", name, got, ok, c.want)
			}
		}
	}
	clone := v.Clone()
	v.Add(first+(now+1)*hourMs, px(0))
	if clone.Newest() != first+now*hourMs {
		t.Error("a clone goes on with the view")
	}
	if diff := cmp.Diff(int(31*24+1+368), len(v.hours)); diff != "" {
		t.Errorf("hours that are kept (-want +got):\n%s", diff)
	}
}
