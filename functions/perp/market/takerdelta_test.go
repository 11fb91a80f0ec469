package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

// delta is what is known of a coin that the venue has.
type delta struct{ SzDelta, ValDelta string }

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
	for interval, want := range map[string]delta{
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
		got := apitest.Data[delta](t, w.Get(t, w.SubKey, root+"/accumulated-taker-delta/BTC?interval="+interval))
		if got != want {
			t.Errorf("of %s it is %+v, want %+v", interval, got, want)
		}
	}
}

// Without a trade the sum is zero where the venue has the coin, and not known where it has
// not: zero would say that it was watched.
func TestTheTakerDeltaWithoutTrades(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const none, unknown = `{"szDelta":"0.0","valDelta":"0.0"}`, `{"szDelta":null,"valDelta":null}`
	answer := func(coin string) string {
		t.Helper()
		return string(apitest.Data[json.RawMessage](t, w.Get(t, w.SubKey, root+"/accumulated-taker-delta/"+coin+"?interval=1h")))
	}
	if got := answer("ANY"); got != none {
		t.Errorf("while nobody knows which coins there are it is %s", got)
	}
	w.Move(time.Minute) // beyond the time for which a missing view is not asked for again
	w.publish(t, someTickers...)
	storetest.Publish(t, w.views, mids.Published, mids.View{Time: 1, Mids: map[string]map[string]string{"": {"PRICED": "1.5"}}})
	storetest.Publish(t, w.views, meta.Published, meta.View{Time: 1, Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[{"name":"DESCRIBED","szDecimals":2}]}`)}})
	for coin, want := range map[string]string{"BTC": none, "PURR%2FUSDC": none, "PRICED": none, "DESCRIBED": none, "NONE": unknown, "btc": unknown} {
		if got := answer(coin); got != want {
			t.Errorf("of %s it is %s, want %s", coin, got, want)
		}
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
		want := delta{SzDelta: market.Text(sz), ValDelta: market.Text(val)}
		got := apitest.Data[delta](t, w.Get(t, w.SubKey, fmt.Sprintf("%s/accumulated-taker-delta/ETH?interval=%ds", root, seconds)))
		if got != want {
			t.Errorf("of %d s it is %+v, want %+v", seconds, got, want)
		}
	}
}
