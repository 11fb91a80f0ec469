package market_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

func TestOrdersThatAreSeenInTheOrderOfTimeCountOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const hours = 40
		did := markettest.DidAtMost(30, rapid.Int64Range(markettest.Base, markettest.Base+hours*3_600_000)).Draw(t, "did")
		slices.SortStableFunc(did.Fills, func(a, b market.Fill) int { return int(a.Time - b.Time) })
		var seen market.SeenOrders
		got := market.FactsByHour{}
		for i := range did.Fills {
			seen.Fill(got, &did.Fills[i])
		}
		fills := markettest.Deeds{Fills: did.Fills}
		want, equal := fills.Facts(), cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(market.Decimal.Equal)}
		if diff := cmp.Diff(want, got, equal); diff != "" {
			t.Fatalf("(-all hours seen +the newest):\n%s", diff)
		}
	})
}

func TestAnOrderIsForgottenBehindAThousandOthers(t *testing.T) {
	t.Parallel()
	var seen market.SeenOrders
	did := market.FactsByHour{}
	ms := int64(markettest.Base)
	fill := func(oid int64) {
		ms++
		seen.Fill(did, &market.Fill{Coin: "BTC", Side: market.Buy, Time: ms, Px: "1", Sz: "1", ClosedPnl: "0", Fee: "0", Tid: 1, Oid: oid})
	}
	count := func() int64 {
		w := did.Within(0, market.MaxTime)
		return w.Did.Perp.Orders.First
	}
	for oid := range int64(1000) {
		fill(oid)
	}
	fill(0) // which is the newest again
	if count() != 1000 {
		t.Errorf("%d orders, want 1000", count())
	}
	fill(1000)
	fill(0)
	fill(1) // which was forgotten
	if count() != 1002 || len(seen.Orders) != 1000 {
		t.Errorf("%d orders, %d known: want 1002, and 1000", count(), len(seen.Orders))
	}
}

func TestOrdersAreKnownInOneOrderWhicheverTheirFillsComeIn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		did := markettest.DidAtMost(30, rapid.Int64Range(markettest.Base, markettest.Base+10_000_000)).Draw(t, "did")
		known := func(fills []market.Fill) (s market.SeenOrders) {
			for i := range fills {
				s.Fill(market.FactsByHour{}, &fills[i])
			}
			return s
		}
		byOrder := slices.Clone(did.Fills)
		slices.SortStableFunc(byOrder, func(a, b market.Fill) int { return int(a.Oid - b.Oid) })
		if diff := cmp.Diff(known(did.Fills), known(byOrder), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-as they come +order by order):\n%s", diff)
		}
	})
}

// TestBuildersCountOnceInWhateverOrderTheirOrdersCome within two days: an order each.
func TestBuildersCountOnceInWhateverOrderTheirOrdersCome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var fills []market.Fill
		for n := range rapid.Int64Range(2, 12).Draw(t, "fills") {
			ms := rapid.Int64Range(markettest.Base, markettest.Base+40*3_600_000).Draw(t, "at")
			fills = append(fills, market.Fill{Coin: "BTC", Side: market.Buy, Time: ms, Px: "2", Sz: "3", ClosedPnl: "0", Fee: "1", FeeToken: "USDC", Tid: 1, Oid: n, Builder: markettest.Builders[1+n%2], BuilderFee: "0.5"})
		}
		var seen market.SeenOrders
		got, all := market.FactsByHour{}, markettest.Deeds{Fills: fills}
		for _, f := range rapid.Permutation(fills).Draw(t, "order") {
			if !seen.Fill(got, &f) {
				t.Fatal("a builder does not count")
			}
		}
		if diff := cmp.Diff(all.Facts(), got, sameFacts); diff != "" {
			t.Fatalf("(-in order +shuffled):\n%s", diff)
		}
	})
}
