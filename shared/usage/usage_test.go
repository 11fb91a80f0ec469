package usage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testclock"
	"quotary/shared/usage"
)

func at(t testing.TB, text string) *testclock.Clock {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return testclock.At(when)
}

func counters(t testing.TB, c *testclock.Clock) (*usage.Counters, func() *usage.Counters) {
	t.Helper()
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.UsageTable
	another := func() *usage.Counters { return usage.NewCounters(db, table, c.Now) }
	return another(), another
}

func denied(t testing.TB, err error) *usage.Denied {
	t.Helper()
	var d *usage.Denied
	if !errors.As(err, &d) {
		t.Fatalf("error = %v, want a denial", err)
	}
	return d
}

func TestTheRateWindowIsTheClockMinute(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:59Z")
	c, _ := counters(t, now)
	limits := usage.Limits{PerMinute: 2}
	for i := range int64(2) {
		r, err := c.Take(t.Context(), "k", "d", limits)
		if err != nil || r.InMinute != i+1 || r.InMonth != i+1 {
			t.Fatalf("request %d: %+v, %v", i+1, r, err)
		}
	}
	_, err := c.Take(t.Context(), "k", "d", limits)
	if d := denied(t, err); d.Cap != usage.PerMinute || d.Limit != 2 || d.RetryAfter != time.Second {
		t.Fatalf("third request: %+v", d)
	}
	now.Move(time.Second)
	if r, err := c.Take(t.Context(), "k", "d", limits); err != nil || r.InMinute != 1 || r.InMonth != 3 {
		t.Fatalf("after the minute: %+v, %v", r, err)
	}
}

func TestAnInstanceWhoseClockIsBehindCountsInTheLaterMinute(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:01:00Z")
	ahead, another := counters(t, now)
	limits := usage.Limits{PerMinute: 2}
	if _, err := ahead.Take(t.Context(), "k", "d", limits); err != nil {
		t.Fatal(err)
	}
	now.Move(-time.Second)
	behind := another()
	if r, err := behind.Take(t.Context(), "k", "d", limits); err != nil || r.InMinute != 2 {
		t.Fatalf("behind: %+v, %v", r, err)
	}
	_, err := behind.Take(t.Context(), "k", "d", limits)
	denied(t, err)
}

func TestMonthsAreCountedApartInUTC(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-30T23:59:58Z")
	c, _ := counters(t, now)
	limits := usage.Limits{PerMonth: 1, Total: 1}
	if _, err := c.Take(t.Context(), "k", "d", limits); err != nil {
		t.Fatal(err)
	}
	_, err := c.Take(t.Context(), "k", "d", limits)
	if d := denied(t, err); d.Cap != usage.PerMonth || d.RetryAfter != 2*time.Second {
		t.Fatalf("second request: %+v", d)
	}
	november := now.Now()
	now.Move(2 * time.Second)
	if r, err := c.Take(t.Context(), "k", "d", limits); err != nil || r.InMonth != 1 {
		t.Fatalf("in December: %+v, %v", r, err)
	}
	for _, month := range []time.Time{november, now.Now()} {
		if n, err := c.Distributor(t.Context(), "d", month); err != nil || n != 1 {
			t.Errorf("distributor in %s: %d, %v", month.Format("2006-01"), n, err)
		}
	}
	history, err := c.History(t.Context(), "k", november)
	if err != nil || history.Used != 1 || history.Days[29] != 1 {
		t.Errorf("history of November: %+v, %v", history, err)
	}
}

// Many instances, each with its own memory, ask at once: both caps are served
// in full and neither is passed.
func TestCapsAreExactAtAnyConcurrency(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		limits usage.Limits
		keys   int
		served int64
	}{
		{"the sub-key's month", usage.Limits{PerMonth: 37}, 1, 37},
		{"the minute", usage.Limits{PerMinute: 23, PerMonth: 1000}, 1, 23},
		{"the distributor's month over several keys", usage.Limits{PerMonth: 1000, Total: 45}, 4, 45},
		{"fewer than there are shards", usage.Limits{Total: 3}, 3, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := at(t, "2026-11-21T10:00:00Z")
			_, instance := counters(t, now)
			var served atomic.Int64
			var wg sync.WaitGroup
			for i := range 8 {
				c := instance()
				wg.Go(func() {
					for j := range 20 {
						_, err := c.Take(t.Context(), fmt.Sprint("k", (i+j)%tt.keys), "d", tt.limits)
						var d *usage.Denied
						switch {
						case err == nil:
							served.Add(1)
						case !errors.As(err, &d):
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			// What concurrent attempts took and gave back must be usable again.
			now.Move(10 * time.Second)
			fresh := instance()
			for i := range tt.keys * 4 {
				if _, err := fresh.Take(t.Context(), fmt.Sprint("k", i%tt.keys), "d", tt.limits); err == nil {
					served.Add(1)
				}
			}
			if served.Load() != tt.served {
				t.Errorf("served %d, want %d", served.Load(), tt.served)
			}
			total, err := fresh.Distributor(t.Context(), "d", now.Now())
			if err != nil || total != tt.served {
				t.Errorf("distributor counts %d (%v), want %d", total, err, tt.served)
			}
			names := make([]string, tt.keys)
			for i := range names {
				names[i] = fmt.Sprint("k", i)
			}
			used, err := fresh.Keys(t.Context(), names, now.Now())
			var sum int64
			for _, n := range used {
				sum += n
			}
			if err != nil || sum != tt.served {
				t.Errorf("sub-keys count %d (%v), want %d", sum, err, tt.served)
			}
		})
	}
}

// Whatever the order of requests, refunds, passing time and changed limits: the
// counters equal what was served and not given back, and no cap is passed.
func TestCountersEqualWhatWasServed(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.UsageTable
	var run atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		n := run.Add(1)
		now := at(t, "2026-11-21T10:00:30Z")
		c := usage.NewCounters(db, table, now.Now)
		distributor := fmt.Sprint("d", n)
		names := []string{fmt.Sprint("a", n), fmt.Sprint("b", n)}
		limits := usage.Limits{
			PerMonth:  rapid.Int64Range(1, 8).Draw(rt, "quota"),
			PerMinute: rapid.Int64Range(0, 4).Draw(rt, "rate"),
			Total:     rapid.Int64Range(0, 10).Draw(rt, "total"),
		}
		used := make(map[string]int64)
		minute := make(map[string]int64)
		var total int64
		var receipts []usage.Receipt
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			switch name := rapid.SampledFrom(names).Draw(rt, "key"); rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				now.Move(time.Minute)
				clear(minute)
			case 1:
				if len(receipts) > 0 {
					r := receipts[len(receipts)-1]
					receipts = receipts[:len(receipts)-1]
					if err := c.Refund(context.Background(), r); err != nil {
						rt.Fatal(err)
					}
					used[r.Key]--
					total--
					if r.Minute == now.Now().Unix()/60 {
						minute[r.Key]--
					}
					now.Move(5 * time.Second) // past what an instance remembers
					if now.Now().Unix()/60 != r.Minute {
						clear(minute)
					}
				}
			default:
				fits := used[name] < limits.PerMonth && (limits.PerMinute == 0 || minute[name] < limits.PerMinute) && (limits.Total == 0 || total < limits.Total)
				r, err := c.Take(context.Background(), name, distributor, limits)
				if (err == nil) != fits {
					rt.Fatalf("Take = %v with used %v, minute %v, total %d under %+v", err, used, minute, total, limits)
				}
				if err == nil {
					used[name]++
					minute[name]++
					total++
					receipts = append(receipts, r)
				}
			}
		}
		got, err := c.Keys(context.Background(), names, now.Now())
		if err != nil {
			rt.Fatal(err)
		}
		for _, name := range names {
			if got[name] != used[name] {
				rt.Fatalf("%s counts %d, served %d", name, got[name], used[name])
			}
		}
		if sum, err := c.Distributor(context.Background(), distributor, now.Now()); err != nil || sum != total {
			rt.Fatalf("distributor counts %d (%v), served %d", sum, err, total)
		}
	})
}

func TestADenialIsForgottenWhenTheLimitChanges(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	c, _ := counters(t, now)
	ctx := t.Context()
	if _, err := c.Take(ctx, "k", "d", usage.Limits{PerMonth: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Take(ctx, "k", "d", usage.Limits{PerMonth: 1})
	denied(t, err)
	if _, err := c.Take(ctx, "k", "d", usage.Limits{PerMonth: 2}); err != nil {
		t.Fatalf("after the quota was raised: %v", err)
	}
}

func TestASpentKeyThatHammersCostsNoWrites(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	var requests atomic.Int64
	db := storetest.Intercept(storetest.DynamoDB(t), func(_ any, send func() (any, error)) (any, error) {
		requests.Add(1)
		return send()
	})
	table := storetest.Tables(t, db) + schema.UsageTable
	c := usage.NewCounters(db, table, now.Now)
	limits := usage.Limits{PerMonth: 1}
	for range 2 {
		_, _ = c.Take(t.Context(), "k", "d", limits)
	}
	before := requests.Load()
	for range 500 {
		_, err := c.Take(t.Context(), "k", "d", limits)
		denied(t, err)
	}
	if n := requests.Load() - before; n != 0 {
		t.Errorf("500 refused requests cost %d requests", n)
	}
}

// A server carries requests out and loses the answers to refunds.
func TestARefundWhoseAnswerIsLostIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	engine, err := url.Parse(storetest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	var lost atomic.Int64
	proxy := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(engine); r.Out.Host = r.In.Host },
		ErrorLog: log.New(io.Discard, "", 0),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !bytes.Contains(body, []byte(":back")) {
			proxy.ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(httptest.NewRecorder(), r)
		lost.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.UsageTable
	c := usage.NewCounters(storetest.Client(t, server.URL), table, now.Now)
	var last usage.Receipt
	for range 4 {
		if last, err = c.Take(t.Context(), "k", "d", usage.Limits{PerMonth: 10, Total: 100}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Refund(t.Context(), last); err == nil {
		t.Error("a refund without an answer is taken for made")
	}
	used, err := c.Keys(t.Context(), []string{"k"}, now.Now())
	total, totalErr := c.Distributor(t.Context(), "d", now.Now())
	if err != nil || totalErr != nil || used["k"] != 3 || total != 3 {
		t.Errorf("after 4 requests and a refund the key counts %d (%v), its distributor %d (%v); want 3", used["k"], err, total, totalErr)
	}
	if lost.Load() != 2 {
		t.Errorf("%d refunds were made, want 2", lost.Load())
	}
}

func BenchmarkTakeThroughTheEngine(b *testing.B) {
	now := testclock.At(time.Now())
	db := storetest.DynamoDB(b)
	c := usage.NewCounters(db, storetest.Tables(b, db)+schema.UsageTable, now.Now)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Take(b.Context(), "k", "d", usage.Limits{PerMonth: 1 << 40, PerMinute: 1 << 40, Total: 1 << 40}); err != nil {
			b.Fatal(err)
		}
	}
}
