package perp

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/testing/must"
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
		p := newOpenOrders(nil)
		p.Joined()
		for i := range 20 {
			must.Do(b, p.Apply(manyOrders(n/20, 450_000_000_000+int64(i)*n), nil, time.Time{}))
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
				_, err = openorders.PublishedTop.Decode(v.Body)
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
				_, err = openorders.PublishedTable.Decode(v.Body)
			}
			b.Logf("decoded in %d ms (%v)", time.Since(began).Milliseconds(), err)
		}
	}
}

// BenchmarkOrderStatuses measures what statuses cost but for the stores: reading blocks
// of 2,000, of which half are of orders that are placed and half end those of the block
// before, all projections, and what is to be written.
func BenchmarkOrderStatuses(b *testing.B) {
	const half = 1000
	lines := make([]string, 100)
	var before []market.OrderStatus
	for n := range lines {
		placed := manyOrders(half, 450_000_000_000+int64(n)*7*half).Orders
		for i := range before {
			before[i].Status = "canceled"
		}
		var s strings.Builder
		fmt.Fprintf(&s, `{"local_time":"2026-03-15T00:00:00.2","block_time":"2026-03-15T00:00:00.1","block_number":%d,"events":[`, 900_000_000+n)
		for i, o := range append(placed, before...) {
			if i > 0 {
				s.WriteByte(',')
			}
			fmt.Fprintf(&s, `{"time":"2026-03-15T00:00:%02d.%03d000000","user":"%s","hash":"0xe9ceeec0f592c513eb480437125f090202ac00a69095e3e58d979a13b4969efe","builder":null,"status":"%s",`+
				`"order":{"coin":"%s","side":"%s","limitPx":"%s","sz":"%s","oid":%d,"timestamp":%d,"triggerCondition":"N/A","isTrigger":false,"triggerPx":"0.0","children":[],`+
				`"isPositionTpsl":false,"reduceOnly":false,"orderType":"Limit","origSz":"%s","tif":"Gtc","cloid":"0x00000000000000000000019ced6ba96e"}}`,
				n/10, n%10*100, o.Address, o.Status, o.Coin, o.Side, o.LimitPx, o.Sz, o.Oid, o.Timestamp, o.OrigSz)
		}
		s.WriteString(`]}`)
		lines[n], before = s.String(), placed
	}
	read := 0
	b.ReportAllocs()
	for b.Loop() {
		s := newSet()
		for n, line := range lines {
			batch := NewBatch()
			if skipped, err := hyperliquid.ReadOrders(&batch.Events, line, 0); skipped > 0 || err != nil {
				b.Fatalf("%d skipped: %v", skipped, err)
			}
			now := time.UnixMilli(base).Add(time.Duration(n) * 100 * time.Millisecond)
			must.Get(s.apply(batch, now, nil))(b)
			if n%10 == 9 {
				s.changes(now, false)
			}
			read += len(batch.Orders)
		}
	}
	b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "statuses/s")
}
