package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/data/contexts"
	"quotary/shared/data/contracts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// BenchmarkFutures answers from a week of 20 perpetuals that trade all the time, through the gate and
// over the real local engine, which is a process of its own: once made anew for
// each request, and once as it is kept.
func BenchmarkFutures(b *testing.B) {
	w := newWorld(b)
	w.fillWeek(b)
	for _, path := range []string{
		"/v2/futures/interest?currency=usd&pageSize=20",
		base + "/liquidation/map?cycle=24h&dbkey=" + btc,
		base + "/liquidation/map?cycle=7d&dbkey=" + btc,
		base + "/estimated-liquidation/history?cycle=24h&limit=100&dbkey=" + btc,
	} {
		for name, keep := range map[string]time.Duration{"made": 0, "kept": time.Hour} {
			b.Run(path[strings.LastIndexByte(path, '/')+1:]+"/"+name, func(b *testing.B) {
				size := 0
				w.reader.trends.keep, w.reader.maps.keep, w.reader.estimates.keep = keep, keep, keep
				w.Get(b, w.SubKey, path)
				b.ReportAllocs()
				began := spent(b)
				for b.Loop() {
					a := w.Get(b, w.SubKey, path)
					if a.Status != http.StatusOK {
						b.Fatalf("%d %.200s", a.Status, a.Body)
					}
					size = len(a.Body)
				}
				b.ReportMetric(float64((spent(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
				b.ReportMetric(float64(size), "answer-bytes")
				b.ReportMetric(w.ReadUnits(b), "read-units/op")
			})
		}
	}
}

// spent is the CPU time of this process so far.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fillWeek keeps a week of 20 perpetuals, the first of which is [btc], and describes 200 of the
// perpetual exchange.
func (w *world) fillWeek(b *testing.B) {
	b.Helper()
	const minutes = 7 * 24 * 60
	now := w.Now().UnixMilli()
	v, listed := contracts.View{Time: now}, pairs.View{Time: now}
	for n := range 20 {
		pair := market.Pair{Key: btc, Base: "BTC", Quote: "USDT", Platform: "binance", Swap: true}
		if n > 0 {
			pair.Base = fmt.Sprintf("C%d", n)
			pair.Key = market.PairKey(pair.Base, pair.Quote, pair.Platform, true)
		}
		v.Contracts = append(v.Contracts, contracts.Contract{Pair: pair, Size: dec(b, "12345.678"), Value: dec(b, strconv.Itoa(2_000_000_000-n)), InterestTime: now})
		listed.Pairs = append(listed.Pairs, pairs.Pair{Pair: pair, Followed: true})
		w.put(b, pairseries.Interest, pair.Key, minutes, func(n int) string { return fmt.Sprintf("%d.%04d", 1_000_000_000+n*7919%100_000_000, n) })
	}
	storetest.Publish(b, w.views, contracts.Published, v)
	storetest.Publish(b, w.views, pairs.Published, listed)
	storetest.PutSeries(b, w.series, pairpast.Row(btc, pairpast.Klines, pairpast.AllStored))
	var names, figures []map[string]string
	for n := range 200 {
		names = append(names, map[string]string{"name": fmt.Sprintf("K%d", n)})
		figures = append(figures, map[string]string{"markPx": "12.5", "openInterest": strconv.Itoa(1000 + n)})
	}
	perps := must.Get(json.Marshal([]any{map[string]any{"universe": names}, figures}))(b)
	storetest.Publish(b, w.views, contexts.Published, contexts.View{Time: now, Perps: map[string]json.RawMessage{"": perps}})
	var candles []market.Candle
	for n := range minutes / 5 {
		at := apitest.Start.Add(time.Duration(n-minutes/5+1) * 5 * time.Minute).UnixMilli()
		c := market.Candle{OpenTime: at}
		for i := range 3 {
			px := 100_000 + n*7919%4000 + i*13
			c.Add(&market.Trade{Side: market.Buy, Time: at + int64(i), Tid: int64(3*n + i), Px: dec(b, fmt.Sprintf("%d.%02d", px, n%100)), Sz: dec(b, fmt.Sprintf("%d.%03d", 10+n%90, n%1000))})
		}
		candles = append(candles, c)
	}
	for _, tier := range []market.Interval{market.Minute5, market.Hour1} {
		datatest.PutPairKlines(b, w.series, btc, tier, market.Compose(append([]market.Candle(nil), candles...), tier.StartMs)...)
	}
}
