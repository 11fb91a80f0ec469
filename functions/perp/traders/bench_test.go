package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
)

// BenchmarkBatches answers for 200 and for 2,000 accounts that trade every day, through the gate
// and over the real local engine, which is a process of its own: what it takes is in the
// latency, and not in the CPU, which is that of gate, handler and client.
func BenchmarkBatches(b *testing.B) {
	w := openHoldings(b)
	addresses := make([]string, 2000)
	var rows []store.SeriesRow
	for i := range addresses {
		addresses[i] = fmt.Sprintf("0x%040x", i+1)
		s := w.of(addresses[i])
		for day := int64(60); day > 0; day-- {
			one := market.CompletedTrade{Coin: fmt.Sprintf("COIN%d", day%8), Start: now - day*dayMs - hourMs, End: now - day*dayMs + int64(i), Tid: int64(i), Pnl: decimal(b, fmt.Sprintf("%d.%06d", i%1000, day*7919)), OpenOrders: 1, CloseOrders: 1}
			s.Complete(&one)
			for hour := range int64(24) {
				markettest.Valued(s, now-day*dayMs+hour*hourMs, one.Pnl.Mul64(uint64(hour+1)))
			}
			if day%6 == 0 {
				s.Flow(one.End, one.Pnl, market.Decimal{})
			}
		}
		// The newest half day of a curve is in the row of the statistics, the rest in that of the past.
		apart := len(s.Curve) - 12
		account := holder(b)
		account.Address = addresses[i]
		rows = append(rows, accounts.Row(account), accountstats.PastRow(addresses[i], &accountstats.Past{Curve: slices.Clone(s.Curve[:apart]).Thin()}))
		s.Curve = s.Curve[apart:]
	}
	if err := w.series.Put(b.Context(), rows); err != nil {
		b.Fatal(err)
	}
	w.write(b)
	for _, one := range []struct {
		path string
		most int // addresses of a request
	}{
		{traders + "batch-addr-stat", 2000}, {traders + "batch-behavior-metrics", 2000}, {flowPath + "batch-net-flow", 2000},
		{"/upgrade/v2/hl/batch-max-drawdown", 2000}, {"/upgrade/v2/hl/batch-pnls", 200},
	} {
		for _, n := range []int{200, 2000} {
			for _, concurrency := range []int{1, 32} {
				if n <= one.most {
					b.Run(fmt.Sprintf("%s/%d/c%d", one.path[len("/upgrade/v2/hl/"):], n, concurrency), func(b *testing.B) {
						w.measure(b, concurrency, one.path, body{"addresses": addresses[:n], "period": 30, "days": 30})
					})
				}
			}
		}
	}
}

// BenchmarkStates answers for 50 accounts with ten positions each, as BenchmarkBatches does.
func BenchmarkStates(b *testing.B) {
	w := openHoldings(b)
	addresses := make([]string, 50)
	for i := range addresses {
		account := holder(b)
		addresses[i] = fmt.Sprintf("0x%040x", i+1)
		account.Address = addresses[i]
		for n := range 10 {
			account.Holdings = append(account.Holdings, market.Holding{Coin: fmt.Sprintf("COIN%d", n), Leverage: market.Leverage{Value: 10}, Open: &market.OpenPosition{
				Size: decimal(b, fmt.Sprintf("%d.5", i+1)), Cost: decimal(b, fmt.Sprintf("%d.123456", 10*i+n)),
			}})
		}
		slices.SortFunc(account.Holdings, func(a, b market.Holding) int { return strings.Compare(a.Coin, b.Coin) })
		w.hold(b, account)
	}
	for _, path := range []string{"clearinghouse-state", "spot-clearinghouse-state"} {
		for _, concurrency := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/c%d", path, concurrency), func(b *testing.B) {
				b.ReportAllocs()
				w.measure(b, concurrency, traders+path, body{"addresses": addresses})
			})
		}
	}
}

// measure has so many clients at a time send b.N requests, and reports CPU and read units of
// one, and the quantiles of how long it took.
func (b *book) measure(t *testing.B, concurrency int, path string, in body) {
	send := func() {
		if a := b.Call(t, b.SubKey, http.MethodPost, path, in); a.Status != http.StatusOK {
			t.Errorf("%d %.200s", a.Status, a.Body)
		}
	}
	send()
	units := b.ReadUnits(t)
	took := make([]time.Duration, t.N)
	var next atomic.Int64
	var clients sync.WaitGroup
	began := spent(t)
	t.ResetTimer()
	for range concurrency {
		clients.Go(func() {
			for n := next.Add(1) - 1; n < int64(t.N); n = next.Add(1) - 1 {
				started := time.Now()
				send()
				took[n] = time.Since(started)
			}
		})
	}
	clients.Wait()
	t.StopTimer()
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	t.ReportMetric(ms(spent(t)-began)/float64(t.N), "cpu-ms/op")
	t.ReportMetric(units, "read-units/op")
	t.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	t.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
}

// spent is the CPU time of this process so far.
func spent(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
