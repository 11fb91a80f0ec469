package main

import (
	"fmt"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/check"
)

const root = "/upgrade/v2/hl"

type world struct {
	*apitest.World
	log    *store.Log
	series *store.Series
	views  *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.PerpOrders, func(open *apitest.World) {
		w.log, w.series, w.views = open.Log(), open.Series(), open.Views(t)
		newReader(w.log, w.series, w.views, open.Now).register(open.Family)
	})
	return w
}

const (
	alice = "0xa11ce00000000000000000000000000000000001"
	bob   = "0xb0b0000000000000000000000000000000000002"
	start = int64(1_790_000_000_000) // ms, of the made-up orders
)

// one is order n of alice at a status that it came to ms after the start.
func one(n, ms int64, status string) market.OrderStatus {
	return market.OrderStatus{
		Address: alice, Time: start + ms, Status: status, Coin: "BTC", Side: "B", LimitPx: "30135.0", Sz: "0.5", OrigSz: "0.5",
		Oid: 9_000 + n, Timestamp: start + n, TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc", Seq: ms,
	}
}

func (w *world) put(t *testing.T, list ...market.OrderStatus) {
	t.Helper()
	datatest.PutOrders(t, w.log, list...)
}

func (w *world) golden(t *testing.T, name, target string) {
	t.Helper()
	w.Get(t, w.SubKey, root+target).Golden(t, name)
}

// statuses calls and returns the orders as "<oid less 9000> <status>".
func (w *world) statuses(t *testing.T, target string) []string {
	t.Helper()
	list := []string{}
	for _, o := range apitest.Data[[]catalog.OrderWrapper](t, w.Get(t, w.SubKey, root+target)) {
		list = append(list, fmt.Sprint(o.Order.Oid-9000, " ", o.Status))
	}
	return list
}

// various are orders with every member that an order may have: one that was
// filled, one that waits for a price and one that was canceled.
func various() []market.OrderStatus {
	filled, waits, canceled := one(0, 20, "filled"), one(1, 10, "open"), one(2, 30, "canceled")
	filled.Sz, filled.Cloid = "0.0", "0x00000000000000000000000000000001"
	waits.Coin, waits.Side, waits.Tif, waits.OrderType = "xyz:GOLD", "A", "", "Stop Market"
	waits.IsTrigger, waits.TriggerPx, waits.TriggerCondition, waits.ReduceOnly, waits.IsPositionTpsl = true, "4000.0", "Price below 4000", true, true
	waits.Children = []byte(`[{"coin":"xyz:GOLD","oid":9009}]`)
	return []market.OrderStatus{one(0, 0, "open"), filled, waits, one(2, 5, "open"), canceled}
}

func TestOrdersOfAnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, various()...)
	w.golden(t, "by-address", "/orders/"+alice+"/latest")
	w.golden(t, "filled-by-address", "/filled-orders/"+alice+"/latest")
	for _, target := range []string{"/orders/" + bob + "/latest", "/filled-orders/" + bob + "/latest", "/filled-orders/" + alice + "/latest?coin=xyz:GOLD"} {
		if answer := w.Get(t, w.SubKey, root+target); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
			t.Errorf("%s answers %s", target, answer.Body)
		}
	}
}

func TestAnOrderByItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, various()...)
	w.golden(t, "by-oid", "/orders/oid/9001")
	w.golden(t, "filled-by-oid", "/filled-orders/oid/9000")
	for target, want := range map[string]string{
		"/orders/oid/9000": "filled", "/orders/oid/9002": "canceled", // not open, as they were before
		"/orders/oid/1": "", "/filled-orders/oid/1": "",
		"/filled-orders/oid/9001": "", "/filled-orders/oid/9002": "", // unfilled
	} {
		order := apitest.Data[*catalog.OrderWrapper](t, w.Get(t, w.SubKey, root+target))
		if want == "" && order != nil || want != "" && (order == nil || order.Status != want) {
			t.Errorf("%s answers %+v, want %q", target, order, want)
		}
	}
	if answer := w.Get(t, w.SubKey, root+"/orders/oid/1"); string(answer.Body) != `{"code":"0","msg":"success","data":null}` {
		t.Errorf("an unknown order answers %s", answer.Body)
	}
}

func TestOrdersAreTheNewestThatFitNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.OrderStatus
	var all, filled, gold []string
	for n := range int64(2100) {
		status := "canceled"
		if n%2 == 0 {
			status = "filled"
		}
		opened, ended := one(n, 0, "open"), one(n, 10_000+n, status)
		if n%700 == 0 {
			opened.Coin, ended.Coin = "xyz:GOLD", "xyz:GOLD"
			gold = append([]string{fmt.Sprint(n, " ", status)}, gold...)
		}
		list = append(list, opened, ended)
		all = append([]string{fmt.Sprint(n, " ", status)}, all...)
		if status == "filled" {
			filled = append([]string{fmt.Sprint(n, " ", status)}, filled...)
		}
	}
	w.put(t, list...)
	for target, want := range map[string][]string{
		"/orders/" + alice + "/latest":                                all[:2000],
		"/orders/" + alice + "/latest?limit=3":                        all[:3],
		"/orders/" + alice + "/latest?coin=xyz:GOLD":                  gold,
		"/orders/" + alice + "/latest?coin=xyz%3AGOLD&limit=1":        gold[:1],
		"/orders/" + alice + "/latest?coin=gold":                      {},
		"/filled-orders/" + alice + "/latest":                         filled[:1000],
		"/filled-orders/" + alice + "/latest?limit=2":                 filled[:2],
		"/filled-orders/" + alice + "/latest?coin=xyz:GOLD&limit=9":   gold,
		"/orders/0x" + strings.ToUpper(alice[2:]) + "/latest?limit=2": all[:2],
	} {
		check.Equalf(t, want, w.statuses(t, target), "%s", target)
	}
}
