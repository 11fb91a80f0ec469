package orders_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"quotary/shared/data/datatest"
	"quotary/shared/data/orders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func newLog(t *testing.T) *store.Log {
	t.Helper()
	return storetest.Open(t).Log
}

// status is what an order of the trader came to, ms after some time: "<oid>#<status>".
func status(ms, seq int64, id string) market.OrderStatus {
	oid, name, _ := strings.Cut(id, "#")
	number, err := strconv.ParseInt(oid, 10, 64)
	if err != nil {
		panic(err)
	}
	return market.OrderStatus{Address: trader, Time: 1_790_000_000_000 + ms, Status: name, Coin: "BTC", Side: "B",
		LimitPx: "1.0", Sz: "1.0", OrigSz: "1.0", Oid: number, Seq: seq}
}

func put(t *testing.T, log *store.Log, list ...market.OrderStatus) {
	t.Helper()
	datatest.PutOrders(t, log, list...)
}

func ids(t *testing.T) func(list []market.OrderStatus, err error) []string {
	return func(list []market.OrderStatus, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, s := range list {
			ids = append(ids, fmt.Sprintf("%d#%s", s.Oid, s.Status))
		}
		return ids
	}
}

func TestStatusesOfBothDatasetsComeNewestFirst(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	put(t, log,
		status(0, 1, "1#open"), status(5, 2, "1#filled"), // one that rested
		status(5, 3, "2#open"), status(5, 4, "2#filled"), // one that was filled as it came
		status(5, 5, "3#open"), status(7, 6, "3#canceled"),
		status(3, 7, "4#filled"),
	)
	var got []string
	for s := range must.All(t, orders.Statuses(t.Context(), log, orders.OfAccount(trader, ""), 100)) {
		got = append(got, fmt.Sprintf("%d#%s", s.Oid, s.Status))
	}
	want := []string{"3#canceled", "3#open", "2#filled", "2#open", "1#filled", "4#filled", "1#open"}
	check.Equal(t, want, got)
	for limit, want := range map[int][]string{
		1: {"3#canceled"}, 3: {"3#canceled", "2#filled", "1#filled"}, 100: {"3#canceled", "2#filled", "1#filled", "4#filled"},
	} {
		check.Equalf(t, want, ids(t)(orders.Latest(t.Context(), log, orders.OfAccount(trader, ""), limit)), "latest %d", limit)
	}
	check.Equalf(t, []string{"2#filled", "1#filled", "4#filled"}, ids(t)(orders.Filled(t.Context(), log, orders.OfAccount(trader, "BTC"), 100)), "filled")
}

// Each order is met first with its newest status, also where its others stand
// pages later.
func TestEveryOrderOfManyPagesIsThereOnceWithItsNewestStatus(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	const n = 1300
	var rows []market.OrderStatus
	var want []string
	for i := range int64(n) {
		last := []string{"filled", "canceled"}[i%2]
		rows = append(rows, status(i, i, fmt.Sprintf("%d#open", i)), status(n+i/3, n+i, fmt.Sprintf("%d#%s", i, last)))
		want = append([]string{fmt.Sprintf("%d#%s", i, last)}, want...)
	}
	put(t, log, rows...)
	for _, limit := range []int{700, n, 2000} {
		got := ids(t)(orders.Latest(t.Context(), log, orders.OfAccount(trader, "BTC"), limit))
		check.Equalf(t, want[:min(limit, n)], got, "limit %d", limit)
	}
}

// An order that comes to ever more statuses must not make a request endless.
func TestTheStatusesThatAreLookedThroughAreBounded(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	rows := []market.OrderStatus{status(0, 1, "1#open")}
	for i := range int64(1000) {
		rows = append(rows, status(1+i, 1, "2#open"))
	}
	put(t, log, rows...)
	if got := ids(t)(orders.Latest(t.Context(), log, orders.OfAccount(trader, ""), 10)); len(got) != 1 {
		t.Errorf("got %v, want the order with a thousand statuses alone", got)
	}
}

func TestOrdersOfNobodyAreAnError(t *testing.T) {
	t.Parallel()
	for _, err := range orders.Statuses(t.Context(), newLog(t), orders.Selection{}, 10) {
		if err == nil {
			t.Error("no subject is accepted")
		}
	}
}
