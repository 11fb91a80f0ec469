package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/market"
)

func TestTheTakerDelta(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// The last trade, number 99, is 3 s before now and sold 0.5 at 199.
	w.trade(t, "BTC", apitest.Start.Add(-102*time.Second), time.Second, 100)
	w.golden(t, "taker-delta", "/accumulated-taker-delta/BTC?interval=4s")
	hour, unsaid := w.Get(t, w.SubKey, root+"/accumulated-taker-delta/BTC?interval=1h"), w.Get(t, w.SubKey, root+"/accumulated-taker-delta/BTC")
	if unsaid.Status != http.StatusOK || string(unsaid.Body) != string(hour.Body) {
		t.Errorf("without an interval: %d %s, want that of an hour, %s", unsaid.Status, unsaid.Body, hour.Body)
	}
	for interval, want := range map[string]catalog.TakerDeltaSum{
		"1s":  {SzDelta: "0.0", ValDelta: "0.0"},
		"2s":  {SzDelta: "0.0", ValDelta: "0.0"},
		"3s":  {SzDelta: "-0.5", ValDelta: "-99.5"},
		"4s":  {SzDelta: "0.0", ValDelta: "-0.5"},
		"5s":  {SzDelta: "-0.5", ValDelta: "-99.0"},
		"1m":  {SzDelta: "0.0", ValDelta: "-14.5"}, // 29 pairs of a purchase and a dearer sale
		"2m":  {SzDelta: "0.0", ValDelta: "-25.0"},
		"60d": {SzDelta: "0.0", ValDelta: "-25.0"},
		"8w":  {SzDelta: "0.0", ValDelta: "-25.0"},
	} {
		got := apitest.Data[catalog.TakerDeltaSum](t, w.Get(t, w.SubKey, root+"/accumulated-taker-delta/BTC?interval="+interval))
		if got != want {
			t.Errorf("of %s it is %+v, want %+v", interval, got, want)
		}
	}
	if got := apitest.Data[catalog.TakerDeltaSum](t, w.Get(t, w.SubKey, root+"/accumulated-taker-delta/NONE?interval=1h")); got != (catalog.TakerDeltaSum{SzDelta: "0.0", ValDelta: "0.0"}) {
		t.Errorf("of a coin without trades it is %+v", got)
	}
}

// TestTheWindowOfATakerDeltaIsExact reads windows that begin at any second of a
// day's trades and compares with the trades themselves.
func TestTheWindowOfATakerDeltaIsExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n, every = 400, 217 * time.Second
	first := apitest.Start.Add(-n * every)
	w.trade(t, "ETH", first, every, n)
	for back := every / 2; back < n*every; back += 2711 * time.Second {
		seconds := int64(back / time.Second)
		var sz, val market.Decimal
		for i := range n {
			if first.Add(time.Duration(i) * every).Before(apitest.Start.Add(-time.Duration(seconds) * time.Second)) {
				continue
			}
			half := dec(t, "0.5")
			if i%2 == 1 {
				half = half.Neg()
			}
			sz, val = sz.Add(half), val.Add(half.Mul(dec(t, fmt.Sprint(100+i))))
		}
		want := catalog.TakerDeltaSum{SzDelta: market.Text(sz), ValDelta: market.Text(val)}
		got := apitest.Data[catalog.TakerDeltaSum](t, w.Get(t, w.SubKey, fmt.Sprintf("%s/accumulated-taker-delta/ETH?interval=%ds", root, seconds)))
		if got != want {
			t.Errorf("of %d s it is %+v, want %+v", seconds, got, want)
		}
	}
}
