package main

import (
	"fmt"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/data/datatest"
	"quotary/shared/market"
)

func TestTopTrades(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(30) {
		f := one(n)
		f.Coin, f.Time, f.Px, f.Sz = "xyz:GOLD", apitest.Start.Add(-time.Duration(n)*time.Minute).UnixMilli(), "4001.5", fmt.Sprintf("%d.5", n)
		if n%2 == 1 {
			f.Side, f.Crossed, f.Address = market.Sell, false, bob
		}
		list = append(list, f)
	}
	closed := func(tier market.Interval, start int64) bool { return tier.NextMs(start) <= apitest.Start.UnixMilli() }
	datatest.PutTopFills(t, w.series, "xyz:GOLD", list, closed)
	w.golden(t, "top-trades", "/top-trades?interval=20m&coin=xyz:GOLD&limit=3")
	for target, want := range map[string]int{
		"?interval=7d&coin=xyz:GOLD":           10,
		"?interval=1w&coin=xyz:GOLD&limit=100": 30,
		"?interval=1s&coin=xyz:GOLD":           1,
		"?interval=5m&coin=xyz:GOLD":           6, // both ends count
		"?interval=299s&coin=xyz:GOLD":         5,
		"?interval=7d&coin=GOLD":               0,
	} {
		rows := apitest.Data[[]struct{ Val string }](t, w.Get(t, w.SubKey, root+"/top-trades"+target))
		if len(rows) != want {
			t.Errorf("%s: %d fills, want %d", target, len(rows), want)
		}
	}
	if answer := w.Get(t, w.SubKey, root+"/top-trades?interval=7d&coin=GOLD"); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("a coin without trades answers %s", answer.Body)
	}
}

// A stored ranking keeps a hundred fills: those of a bucket that reaches out of
// the window would push out the ones within.
func TestLargeFillsBeforeTheWindowDoNotHideThoseInIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(150) {
		f := one(n)
		f.Time, f.Sz = apitest.Start.Add(-20*time.Minute+time.Duration(n)*time.Millisecond).UnixMilli(), "100"
		list = append(list, f)
	}
	small := one(500)
	small.Time, small.Sz = apitest.Start.Add(-19*time.Minute-30*time.Second).UnixMilli(), "1"
	list = append(list, small)
	everyOne := func(market.Interval, int64) bool { return true }
	datatest.PutTopFills(t, w.series, "BTC", list, everyOne)
	rows := apitest.Data[[]struct{ Oid int64 }](t, w.Get(t, w.SubKey, root+"/top-trades?interval=1190s&coin=BTC"))
	if len(rows) != 1 || rows[0].Oid != small.Oid {
		t.Errorf("fills are %v, want order %d only", rows, small.Oid)
	}
}
