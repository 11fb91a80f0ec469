package exchange

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// The rate that is expected runs towards what is paid, which closes the bucket that ends then:
// exchanges say so some milliseconds or minutes later, and what is expected goes on.
func TestABucketClosesWithTheFundingThatIsPaidAtItsEnd(t *testing.T) {
	t.Parallel()
	pair := perpetual("BTC", "binance", false)
	m := newMemory()
	m.listed(pair)
	p := m.restored(t, newFundings())
	const hour = int64(3_600_000)
	due := midnight + 8*hour
	for _, f := range []market.PairFunding{
		{Time: due - 60_000, Rate: dec(7)}, {Time: due - 1000, Rate: dec(9)}, {Time: due, Rate: dec(3)}, {Time: due + 61_000, Rate: dec(2)},
		{Time: due + 8, Rate: dec(8), Paid: true}, {Time: midnight, Rate: dec(1), Paid: true},
	} {
		f.Pair = pair.Key
		m.apply(t, p, &Batch{PairEvents: market.PairEvents{Fundings: []market.PairFunding{f}}}, time.UnixMilli(f.Time))
	}
	got := map[int64]market.Bar{}
	for at := midnight - hour; at <= due; at += hour {
		row, ok := m.rows[pairseries.Funding.At(pair.Key, pairseries.Tiers[1], at)]
		if !ok {
			continue
		}
		pack := must.Get(pairseries.Funding.Decode(row.Body))(t)
		if bar, ok := pack[at]; ok {
			got[at] = bar
		}
	}
	want := map[int64]market.Bar{
		midnight - hour: {Time: midnight - hour, Open: dec(1), High: dec(1), Low: dec(1), Close: dec(1), First: midnight - 1, Last: midnight - 1},
		due - hour:      {Time: due - hour, Open: dec(7), High: dec(9), Low: dec(7), Close: dec(8), First: due - 60_000, Last: due - 1},
		due:             {Time: due, Open: dec(3), High: dec(3), Low: dec(2), Close: dec(2), First: due, Last: due + 61_000},
	}
	if diff := cmp.Diff(want, got, equalDecimals); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
