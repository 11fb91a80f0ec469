package source

import (
	"slices"
	"testing"
	"time"

	"quotary/shared/market"
)

// TestATradeOfAnImplausibleIdHidesNone: one that is far from those before it is left out, and
// two in a row that are near each other are of another numbering.
func TestATradeOfAnImplausibleIdHidesNone(t *testing.T) {
	t.Parallel()
	const far = 10 * market.TradesApart
	for name, tt := range map[string]struct {
		ids, want []int64
		gaps      int64
	}{
		"one after another":            {[]int64{5, 6, 7}, []int64{5, 6, 7}, 0},
		"a gap":                        {[]int64{5, 9}, []int64{5, 9}, 3},
		"one far above":                {[]int64{5, far, 6, 7}, []int64{5, 6, 7}, 0},
		"the same again and again":     {[]int64{5, far, far, 6, far, 7}, []int64{5, 6, 7}, 0},
		"some that agree on nothing":   {[]int64{5, far, 3 * far, 9 * far, 6}, []int64{5, 6}, 0},
		"another numbering, above":     {[]int64{5, far, far + 1, far + 2}, []int64{5, far + 1, far + 2}, 0},
		"another numbering, below":     {[]int64{far, 5, 6, 7}, []int64{far, 6, 7}, 0},
		"the first of all is far":      {[]int64{9 * far, 5, 6, 7}, []int64{9 * far, 6, 7}, 0},
		"late ones are left to others": {[]int64{5, 6, 5, 7}, []int64{5, 6, 5, 7}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stats, now := new(Stats), time.UnixMilli(1_790_000_000_000)
			f := follower{Stream: &Stream{Stats: stats}, pairs: map[string]*followedPair{"X": {}}, now: func() time.Time { return now }}
			var got []int64
			for _, id := range tt.ids {
				e := market.PairEvents{Trades: []market.PairTrade{{Pair: "X", ID: id, Prev: id - 1, Time: now.UnixMilli()}}}
				f.normalise(&e)
				for i := range e.Trades {
					got = append(got, e.Trades[i].ID)
				}
			}
			if left := int64(len(tt.ids) - len(tt.want)); !slices.Equal(got, tt.want) || stats.Gaps.Load() != tt.gaps || stats.Malformed.Load() != left {
				t.Errorf("%v, %d missing, %d malformed; want %v, %d, %d", got, stats.Gaps.Load(), stats.Malformed.Load(), tt.want, tt.gaps, left)
			}
		})
	}
}
