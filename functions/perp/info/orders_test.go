package main

import (
	"fmt"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/market"
	"quotary/shared/testing/check"
)

const cloid = "0xabcdef00000000000000000000000001"

// order is order n of alice at a status that it came to ms after the start.
func order(n, ms int64, status string) market.OrderStatus {
	return market.OrderStatus{
		Address: alice, Time: start + ms, Status: status, Coin: "ETH", Side: "B", LimitPx: "4650.4", Sz: "0.0", OrigSz: "0.0025",
		Oid: 9_000 + n, Timestamp: start, TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Market", Tif: "FrontendMarket", Seq: ms,
	}
}

func (w *world) putOrders(t *testing.T, list ...market.OrderStatus) {
	t.Helper()
	datatest.PutOrders(t, w.log, list...)
}

func TestOrderStatusIsTheNewestOfTheOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	named := order(1, 9, "canceled")
	named.Cloid = cloid
	w.putOrders(t, order(0, 0, "open"), order(0, 5, "filled"), order(1, 3, "open"), named)
	ask := func(oid string) string { return `{"type":"orderStatus","user":"` + alice + `","oid":` + oid + `}` }
	w.golden(t, "orderStatus", ask(`9000`))
	for oid, want := range map[string]string{
		`"9000"`: "9000 filled", `9001`: "9001 canceled", `"` + cloid + `"`: "9001 canceled", `"` + strings.ToUpper(cloid) + `"`: "9001 canceled",
	} {
		got := apitest.Data[catalog.OrderWrapper](t, w.ask(t, ask(oid)))
		if stands := fmt.Sprint(got.Order.Oid, " ", got.Status); stands != want {
			t.Errorf("%s answers %s, want %s", oid, stands, want)
		}
	}
	stranger := `{"type":"orderStatus","user":"0xb0b0000000000000000000000000000000000002","oid":`
	for _, body := range []string{
		ask(`1`), ask(`18446744073709551615`), ask(`"0x00000000000000000000000000000002"`),
		stranger + `9000}`, stranger + `"` + cloid + `"}`, // of somebody else
	} {
		if answer := w.ask(t, body); string(answer.Body) != `{"code":"0","msg":"success","data":null}` {
			t.Errorf("%s answers %s", body, answer.Body)
		}
	}
}

func TestHistoricalOrdersAreTheNewestStatusesNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.golden(t, "historicalOrders-none", `{"type":"historicalOrders","user":"`+alice+`"}`)
	list := []market.OrderStatus{order(0, 0, "open")}
	var want []string
	for n := range int64(1100) {
		list = append(list, order(n, 10+2*n, "open"), order(n, 11+2*n, []string{"canceled", "filled"}[n%2]))
		want = append([]string{fmt.Sprint(9000+n, " ", list[len(list)-1].Status), fmt.Sprint(9000+n, " open")}, want...)
	}
	w.putOrders(t, list...)
	var got []string
	for _, o := range apitest.Data[[]catalog.OrderWrapper](t, w.ask(t, `{"type":"historicalOrders","user":"`+alice+`"}`)) {
		got = append(got, fmt.Sprint(o.Order.Oid, " ", o.Status))
	}
	check.Equal(t, want[:2000], got)
}

func TestHistoricalOrdersAreInTheVenuesShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putOrders(t, order(0, 0, "open"), order(0, 0, "filled"))
	w.golden(t, "historicalOrders", `{"type":"historicalOrders","user":"`+alice+`"}`)
}
