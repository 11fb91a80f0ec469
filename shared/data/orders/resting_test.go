package orders_test

import (
	"fmt"
	"testing"

	"quotary/shared/data/fills"
	"quotary/shared/data/orders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// fill is an execution of an order of the trader, ms after some time.
func fill(ms, oid int64, sz string) market.Fill {
	return market.Fill{Address: trader, Coin: "BTC", Px: "1.0", Sz: sz, Side: market.Buy, Time: 1_790_000_000_000 + ms, Tid: oid*1_000_000 + ms,
		StartPosition: "0.0", Dir: "Open Long", ClosedPnl: "0.0", Hash: "0x0", Oid: oid, Fee: "0.0", FeeToken: "USDC", Seq: ms}
}

func putFills(t *testing.T, log *store.Log, list ...market.Fill) {
	t.Helper()
	storetest.PutLog(t, log, fills.Name, fills.AppendRows, list...)
}

// open is an order of 10 that rests with sz when it is placed.
func open(ms, oid int64, sz string) market.OrderStatus {
	s := status(ms, ms, fmt.Sprintf("%d#open", oid))
	s.OrigSz, s.Sz, s.Timestamp = "10.0", sz, s.Time
	return s
}

func sizes(t *testing.T, log *store.Log, of orders.Selection, limit int) map[int64]string {
	t.Helper()
	list := must.Get(orders.Latest(t.Context(), log, of, limit))(t)
	sizes := map[int64]string{}
	for _, s := range list {
		sizes[s.Oid] = s.Sz
	}
	return sizes
}

func TestAnOpenOrderShowsWhatRestsOfIt(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	ended := status(90, 90, "6#canceled")
	ended.OrigSz, ended.Sz = "10.0", "7.0"
	put(t, log,
		open(10, 1, "10.0"),        // without a fill
		open(20, 2, "10.0"),        // filled twice, and the venue's first status says nothing of it
		open(30, 3, "6.0"),         // crossed with 4 as it came, then filled
		open(40, 4, "2.5"),         // its first fills were not kept
		open(50, 5, "10.0"),        // filled, and the status is still to come
		open(60, 6, "10.0"), ended, // canceled: the status says what rested
		open(70, 7, "0.3"), open(80, 8, "10.0"),
	)
	putFills(t, log,
		fill(25, 2, "1.0"), fill(26, 2, "0.25"),
		fill(30, 3, "4.0"), fill(35, 3, "1.0"),
		fill(45, 4, "0.5"),
		fill(55, 5, "10.0"),
		fill(65, 6, "3.0"),
		fill(75, 7, "0.1"), fill(85, 9, "1.0"),
	)
	want := map[int64]string{1: "10.0", 2: "8.75", 3: "5.0", 4: "2.0", 5: "0.0", 6: "7.0", 7: "0.2", 8: "10.0"}
	check.Equalf(t, want, sizes(t, log, orders.OfAccount(trader, ""), 100), "of the account")
	for oid, sz := range want {
		if got := sizes(t, log, orders.OfOrder(oid), 1); got[oid] != sz {
			t.Errorf("order %d: %s, want %s", oid, got[oid], sz)
		}
	}
}

// Orders of a busy account, of which some are older than the fills that one query
// reads, are as exact.
func TestWhatRestsIsExactBehindManyFills(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	put(t, log, open(0, 1, "10.0"), open(1, 2, "10.0"), open(5000, 3, "10.0"))
	list := []market.Fill{fill(2, 1, "1.5"), fill(3, 2, "2.5"), fill(6000, 1, "1.0"), fill(6001, 3, "4.0")}
	for ms := range int64(2100) {
		list = append(list, fill(2500+ms, 9, "1.0"))
	}
	putFills(t, log, list...)
	want := map[int64]string{1: "7.5", 2: "7.5", 3: "6.0"}
	check.Equal(t, want, sizes(t, log, orders.OfAccount(trader, "BTC"), 100))
}
