package market_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

// flows draws flows of some months, in the order of their times: of quiet days, of busy ones
// and of many within a second.
func flows() *rapid.Generator[[]market.Flow] {
	return rapid.Custom(func(t *rapid.T) (list []market.Flow) {
		at := noon
		for range rapid.IntRange(0, 100).Draw(t, "flows") {
			at += rapid.SampledFrom([]int64{0, 1, 700, 60_000, hour, hour, 20 * day}).Draw(t, "step")
			one := market.Flow{Time: at, FlowSum: market.FlowSum{Count: 1, Perp: markettest.Amount().Draw(t, "perp"), Spot: markettest.Amount().Draw(t, "spot")}}
			if one.Perp.IsZero() && one.Spot.IsZero() {
				one.Count = 0
			}
			list = append(list, one)
		}
		return list
	})
}

func sumOf(list []market.Flow, in func(ms int64) bool) (sum market.FlowSum) {
	for _, f := range list {
		if in(f.Time) {
			sum.Count, sum.Perp, sum.Spot = sum.Count+f.Count, sum.Perp.Add(f.Perp), sum.Spot.Add(f.Spot)
		}
	}
	return sum
}

// Of a day with more flows than are kept one by one a window has those of whole hours.
func TestEveryNetFlowIsWhatALoopOverAllFlowsSumsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := flows().Draw(t, "flows")
		var s market.TraderStats
		newest, times := int64(0), map[int64]map[int64]bool{} // the times at which something moved, by day
		for _, f := range list {
			s.Flow(f.Time, f.Perp, f.Spot)
			if f.Count > 0 {
				n := f.Time / day
				newest = max(newest, n)
				if times[n] == nil {
					times[n] = map[int64]bool{}
				}
				times[n][f.Time] = true
			}
		}
		edge := rapid.Int64Range(noon-day, noon+400*day)
		if len(list) > 0 && rapid.Bool().Draw(t, "at a flow") {
			edge = rapid.Map(rapid.SampledFrom(list), func(f market.Flow) int64 { return f.Time })
		}
		edges := rapid.SliceOfN(edge, 3, 3).Draw(t, "edges")
		slices.Sort(edges)
		for i, edge := range edges {
			if len(times[edge/day]) > 16 {
				edges[i] = edge/hour*hour - 1
			}
		}
		from, middle, to := edges[0], edges[1], edges[2]
		want := sumOf(list, func(ms int64) bool { return ms > from && ms <= to && ms/day > newest-market.StatDays })
		got := s.NetFlow(from, to)
		if diff := cmp.Diff(want, got, equalDecimals); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		before, behind := s.NetFlow(from, middle), s.NetFlow(middle, to)
		both := market.FlowSum{Count: before.Count + behind.Count, Perp: before.Perp.Add(behind.Perp), Spot: before.Spot.Add(behind.Spot)}
		if diff := cmp.Diff(got, both, equalDecimals); diff != "" {
			t.Fatalf("two windows that adjoin at %d (-together +added up):\n%s", middle, diff)
		}
		if diff := cmp.Diff(sumOf(list, func(int64) bool { return true }), s.Flows, equalDecimals); diff != "" {
			t.Fatalf("all time (-want +got):\n%s", diff)
		}
	})
}

func TestFlowsInAnyOrderEndTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := flows().Draw(t, "flows")
		var inOrder, late market.TraderStats
		for _, f := range list {
			inOrder.Flow(f.Time, f.Perp, f.Spot)
		}
		since := late.Since()
		for _, f := range rapid.Permutation(list).Draw(t, "order") {
			if rapid.IntRange(0, 9).Draw(t, "merge") == 0 {
				late.Merge(&since)
				since = late.Since()
			}
			since.Flow(f.Time, f.Perp, f.Spot)
		}
		late.Merge(&since)
		if diff := cmp.Diff(inOrder, late, equalDecimals); diff != "" {
			t.Fatalf("(-in order +late):\n%s", diff)
		}
	})
}

func TestFlowsAreBoundedWhateverAnAccountDoes(t *testing.T) {
	t.Parallel()
	var s market.TraderStats
	one := dec(t, "1")
	for ms := noon; ms < noon+100*day; ms += 100_000 {
		s.Flow(ms, one, one.Neg())
	}
	kept := 0
	for _, d := range s.Days {
		kept += len(d.Flows)
	}
	if kept != market.StatDays*24 || s.Flows.Count != 100*864 {
		t.Errorf("%d flows are kept of %d", kept, s.Flows.Count)
	}
}

func TestAFlowThatMovesNothingIsNone(t *testing.T) {
	t.Parallel()
	var s market.TraderStats
	s.Flow(noon, dec(t, "0.0"), dec(t, "0"))
	if len(s.Days) > 0 || s.Flows.Count != 0 {
		t.Errorf("%d days, %d flows", len(s.Days), s.Flows.Count)
	}
	s.Flow(noon, dec(t, "5"), dec(t, "-5"))
	if got := s.NetFlow(noon-1, noon); got.Count != 1 || market.Text(got.Perp) != "5.0" || market.Text(got.Spot) != "-5.0" {
		t.Errorf("a move between the two parts: %+v", got)
	}
}
