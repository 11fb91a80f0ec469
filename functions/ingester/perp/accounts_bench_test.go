package perp

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// BenchmarkAllProjections measures what all events of a simulated venue (fills, payments,
// ledger updates and statuses of orders) cost in all projections, with the rows and views
// to be written, but without the stores: run it with -cpu 1. That events/s are the same
// for four times as many shows that the cost is linear. Measured on one core of an AMD
// EPYC: 276,000 a second of 20,000 events, and 228,000 of 80,000. What accounts did by day and hour, and
// the notes of who has changed, are a fifth of that: 10.5 µs of a busy processor an event, 8.7 without,
// and 0.43 rows, 0.38 without.
func BenchmarkAllProjections(b *testing.B) {
	for _, n := range []int{20_000, 80_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			sim := newSimVenue(b, 3, 400, false)
			about := NewBatch()
			about.Meta, about.Contexts = sim.meta(), sim.contexts()
			batches, events := []*Batch{about}, 0
			steps(sim, func() bool { return events >= n }, func(one *Batch) {
				batches = append(batches, one)
				events += one.Len()
			})
			b.ReportAllocs()
			read, rows := 0, 0
			for b.Loop() {
				s, disk := newSet(), map[store.SeriesAt]store.Point{}
				load := func(_ []store.SeriesKey, at []store.SeriesAt) (map[store.SeriesKey]time.Time, map[store.SeriesAt]store.Point) {
					found := map[store.SeriesAt]store.Point{}
					for _, key := range at {
						if p, ok := disk[key]; ok {
							found[key] = p
						}
					}
					return nil, found
				}
				now := time.UnixMilli(base)
				for _, one := range batches {
					now = now.Add(time.Second)
					must.Get(s.apply(one, now, load))(b)
					c := s.changes(now, false)
					for _, list := range [][]store.SeriesRow{c.Coarse, c.Fine} {
						for _, r := range list {
							disk[store.SeriesAt{SeriesKey: r.SeriesKey, Time: r.Time}] = r.Point
						}
						rows += len(list)
					}
				}
				read += events
			}
			b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(rows)/float64(read), "rows/event")
		})
	}
}

// BenchmarkFullVenueMemory prints what all projections hold in memory of 1,000,000
// accounts that traded, 300,000 of which have a position, and of 2,000,000 orders that
// rest, at 2,000 new accounts a second, which is more than any venue has: run it with
// -benchtime=1x -cpu 1. Measured: 222 MB for the orders, 524 MB for all else, with 54,000
// accounts cached; 2.4 GB of the process, which encodes whole tables between collections.
func BenchmarkFullVenueMemory(b *testing.B) {
	const accounts, positions, orders, a = 1_000_000, 300_000, 2_000_000, 2_000
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	for b.Loop() {
		before, s, now := heap(), newSet(), time.UnixMilli(base)
		feed := func(one *Batch) {
			now = now.Add(time.Second)
			must.Get(s.apply(one, now, nil))(b)
			s.changes(now, now.Second()%30 == 0) // the pipeline settles twice a minute
		}
		for i := range 20 {
			feed(manyOrders(orders/20, 450_000_000_000+int64(i)*orders))
		}
		rested := heap()
		b.ReportMetric(rested-before, "MB-orders")
		for from := 0; from < accounts; from += a {
			one := NewBatch()
			for i := from; i < from+a; i++ {
				f := market.Fill{Address: fmt.Sprintf("0xa11ce%035x", i), Coin: fmt.Sprintf("C%d", i%200), Px: "100.5", Sz: "1.25", Side: market.Buy, Time: now.UnixMilli(),
					StartPosition: "0.0", Dir: "Open Long", ClosedPnl: "0.0", Fee: "0.05", FeeToken: "USDC", Hash: "0x0", Oid: int64(i), Tid: int64(2*i + 1), Seq: int64(2 * i), Crossed: i%2 == 0}
				one.Fills = append(one.Fills, f)
				if i%10 >= 10*positions/accounts {
					f.Side, f.StartPosition, f.Dir, f.Tid, f.Seq = market.Sell, "1.25", "Close Long", f.Tid+1, f.Seq+1
					one.Fills = append(one.Fills, f)
				}
			}
			feed(one)
		}
		b.ReportMetric(heap()-rested, "MB-accounts-and-positions")
		b.ReportMetric(heap(), "MB-heap")
		b.Logf("of 2,000,000 orders %d rest, %d accounts are cached", of[*openOrders](s).table.Len(), len(of[*accountStates](s).cache))
		if status, err := os.ReadFile("/proc/self/status"); err == nil {
			for line := range strings.Lines(string(status)) {
				if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") {
					b.Log(strings.TrimSpace(line))
				}
			}
		}
	}
}
