package orders_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/orders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/check"
)

const trader = "0xa11ce00000000000000000000000000000000001"

// rowsOf is what is in the log after statuses were written, by dataset and key.
func rowsOf(into map[string]store.Row, list []market.OrderStatus) {
	for _, dataset := range []string{orders.OtherName, orders.FilledName} {
		for _, r := range orders.AppendRows(nil, list, dataset) {
			into[fmt.Sprint(dataset, " ", r.Subject, " ", r.Time.UnixMilli(), " ", r.ID)] = r
		}
	}
}

// Statuses may come in any order, in any batches, and again.
func TestTheRowsOfOrdersAreTheSameHoweverTheyCome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []market.OrderStatus
		for oid := range rapid.Int64Range(1, 6).Draw(t, "orders") {
			ms := int64(1773532800000) + rapid.Int64Range(0, 3).Draw(t, "placed")
			for i, status := range rapid.SampledFrom([][]string{{"open"}, {"open", "filled"}, {"open", "canceled"}, {"filled"}, {"open", "triggered", "filled"}}).Draw(t, "way") {
				list = append(list, market.OrderStatus{
					Address: trader, Time: ms, Status: status, Coin: rapid.SampledFrom([]string{"BTC", "@107"}).Draw(t, "coin"),
					Side: "B", LimitPx: "1.0", Sz: "1.0", OrigSz: "2.0", Oid: oid, Seq: 10*oid + int64(i),
				})
				ms += rapid.Int64Range(0, 2).Draw(t, "later")
			}
		}
		straight, other := map[string]store.Row{}, map[string]store.Row{}
		rowsOf(straight, list)
		if len(straight) != len(list) {
			t.Fatalf("%d rows of %d statuses", len(straight), len(list))
		}
		for left := append(rapid.Permutation(list).Draw(t, "list"), rapid.Permutation(list).Draw(t, "again")...); len(left) > 0; {
			n := rapid.IntRange(1, len(left)).Draw(t, "batch")
			rowsOf(other, left[:n])
			left = left[n:]
		}
		if diff := cmp.Diff(straight, other); diff != "" {
			t.Fatalf("(-straight +other):\n%s", diff)
		}
	})
}

func TestARowOfAnOrderIsFoundByWhatNamesIt(t *testing.T) {
	t.Parallel()
	order := market.OrderStatus{Address: trader, Time: 1773532800000, Status: "filled", Coin: "BTC", Side: "B", LimitPx: "1.0", Sz: "0.0", OrigSz: "2.0", Oid: 7, Seq: 3,
		Cloid: "0x" + strings.Repeat("0", 31) + "1"}
	bare := order
	bare.Status, bare.Cloid = "open", ""
	rows := map[string]store.Row{}
	rowsOf(rows, []market.OrderStatus{order, bare})
	want := map[string][4]string{
		"filledorders " + trader + " 1773532800000 7#filled": {trader + "/BTC", "7", trader + "/" + order.Cloid, ""},
		"orders " + trader + " 1773532800000 7#open":         {trader + "/BTC", "7", "", ""},
	}
	got := map[string][4]string{}
	for key, r := range maps.All(rows) {
		got[key] = r.Index
	}
	check.Equal(t, want, got)
}
