package perp

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"quotary/shared/data/openorders"
	"quotary/shared/market"
)

// manyOrders is a batch of n orders that rest, of 30,000 accounts in 200 coins of which
// a few have most, a third of them a dollar's worth apart, the first with this id.
func manyOrders(n int, oid int64) *Batch {
	b := NewBatch()
	b.Orders = make([]market.OrderStatus, n)
	for i := range b.Orders {
		k := int(uint64(oid+int64(i)) * 2_654_435_761 >> 7 & 0xffffff)
		size := fmt.Sprintf("%d.%03d", 1+k%777, k%1000)
		b.Orders[i] = market.OrderStatus{Address: fmt.Sprintf("0xa11ce%035x", k%30_000), Time: base + int64(i/25), Status: "open", Coin: fmt.Sprintf("C%d", k%200*(k>>9%2)),
			Side: []string{"A", "B"}[k>>3&1], LimitPx: fmt.Sprintf("%d.%d", 100+k%9999, k%10), Sz: size, OrigSz: size, Oid: oid + 7*int64(i), Timestamp: base + int64(i/25), Tif: "Gtc"}
	}
	return b
}

// BenchmarkOpenOrdersPublish measures what each view of 2,000,000 orders costs when all
// coins have changed, and prints what all of them take in memory: run it with
// -benchtime=1x.
func BenchmarkOpenOrdersPublish(b *testing.B) {
	const n = 2_000_000
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	packed, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		before := heap()
		p := newOpenOrders()
		p.Joined()
		for i := range 20 {
			if err := p.Apply(manyOrders(n/20, 450_000_000_000+int64(i)*n), nil, time.Time{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(heap()-before, "MB-table")
		now := time.UnixMilli(base)
		p.saved = now
		began := time.Now()
		views := p.Changes(now, false).Views
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-rank")
		b.ReportMetric(heap()-before, "MB-ranked")
		began = time.Now()
		views = append(views, p.Changes(now.Add(time.Hour), true).Views...)
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-snapshot")
		for _, v := range views {
			began := time.Now()
			zipped := packed.EncodeAll(v.Body, nil)
			b.Logf("%s: %.1f MB, %.1f MB packed in %d ms", v.Name, float64(len(v.Body))/1e6, float64(len(zipped))/1e6, time.Since(began).Milliseconds())
			began = time.Now()
			switch v.Name {
			case openorders.TopName:
				_, err = openorders.DecodeTop(v.Body)
			case openorders.ValuesName:
				var values openorders.Values
				values, err = openorders.DecodeValues(v.Body)
				whales, least := int64(0), market.Amount{Coef: 100_000}.Decimal()
				counted := time.Now()
				for _, c := range values.Coins {
					bids, _ := c.Bids.AtLeast(least)
					asks, _ := c.Asks.AtLeast(least)
					whales += bids + asks
				}
				b.Logf("%d of at least %s counted in %s", whales, least, time.Since(counted))
			default:
				_, err = openorders.DecodeTable(v.Body)
			}
			b.Logf("decoded in %d ms (%v)", time.Since(began).Milliseconds(), err)
		}
	}
}
