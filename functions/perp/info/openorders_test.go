package main

import (
	"net/http"
	"testing"
	"time"

	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// someOpenOrders has open orders of alice as of the venue's list: in the main dex, in spot
// markets and in another dex.
func (w *world) someOpenOrders(t *testing.T) {
	t.Helper()
	limit, stop, spot, other := order(0, 0, "open"), order(1, 0, "open"), order(2, 0, "open"), order(3, 0, "open")
	limit.Sz, limit.Cloid, limit.ReduceOnly = "0.5", "0x00000000000000000000000000000abc", true
	stop.IsTrigger, stop.TriggerPx, stop.TriggerCondition, stop.OrderType, stop.Tif = true, "70000.0", "Price below 70000", "Stop Market", ""
	spot.Coin, other.Coin = "@107", "xyz:GOLD"
	var part openorders.Accounts
	now := w.Now().UnixMilli()
	part.Set(&market.AccountOrders{Address: alice, Listed: map[string]int64{"": now, "xyz": now - 2*time.Minute.Milliseconds()}, Orders: []market.OrderStatus{other, spot, stop, limit}})
	storetest.Publish(t, w.views, openorders.PublishedAccounts(openorders.Part(alice)), part)
}

func TestOpenOrdersOfAnAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someAccount(t)
	w.someContexts(t)
	const user = `,"user":"` + alice + `"`
	for _, kind := range []string{"openOrders", "frontendOpenOrders", "webData2"} {
		w.ask(t, `{"type":"`+kind+`"`+user+`}`).Refused(t, http.StatusServiceUnavailable, "being asked for at the exchange: ask again in 2 seconds")
	}
	testenv.Until(t, "one account is wanted: where a busy machine could not write it in time, the next request does", func() bool {
		w.Move(2 * time.Second)
		w.ask(t, `{"type":"openOrders"`+user+`}`)
		return len(must.Get(w.wanted.List(t.Context(), w.Now()))(t).Things()) == 1
	})
	w = newWorld(t)
	w.someAccount(t)
	w.someContexts(t)
	w.someOpenOrders(t)
	w.golden(t, "openOrders", `{"type":"openOrders"`+user+`}`)
	w.golden(t, "frontendOpenOrders", `{"type":"frontendOpenOrders"`+user+`}`)
	w.golden(t, "webData2", `{"type":"webData2"`+user+`}`)
	w.ask(t, `{"type":"openOrders","dex":"xyz"`+user+`}`).Refused(t, http.StatusServiceUnavailable, "ask again in 2 seconds") // its list is old, and nobody reads statuses
	w.ask(t, `{"type":"openOrders","dex":"abc"`+user+`}`).Refused(t, http.StatusBadRequest, `unknown dex "abc"`)
}
