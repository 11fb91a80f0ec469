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

	"quotary/shared/gate/usage"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
)

func at(t testing.TB, text string) *testclock.Clock {
	t.Helper()
	when := must.Get(time.Parse(time.RFC3339, text))(t)
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

// TestTheRateIsOfAny60Seconds follows one key through bursts at the edges of buckets,
// minutes and months.
func TestTheRateIsOfAny60Seconds(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-30T23:59:29Z")
	c, another := counters(t, now)
	limits := usage.Limits{PerMinute: 20} // 22 in eleven buckets
	took := func(want int64) {
		t.Helper()
		for i := range want {
			if r, err := c.Take(t.Context(), "k", "d", limits); err != nil || r.RateFrees.IsZero() {
				t.Fatalf("request %d of %d at %s: %+v, %v", i+1, want, now.Now(), r, err)
			}
		}
		_, err := c.Take(t.Context(), "k", "d", limits)
		if d := denied(t, err); d.Cap != usage.PerMinute || d.Limit != 20 {
			t.Fatalf("beyond %d: %+v", want, d)
		}
		_, err = another().Take(t.Context(), "k", "d", limits) // an instance without memory
		denied(t, err)
	}
	r, err := c.Take(t.Context(), "k", "d", limits)
	if err != nil || r.RateLeft != 20 || r.RateFrees != now.Now().Add(61*time.Second) { // the bucket began at :24
		t.Fatalf("first request: %+v, %v", r, err)
	}
	now.Move(time.Second)
	took(21)
	_, err = c.Take(t.Context(), "k", "d", limits)
	if d := denied(t, err); d.RetryAfter != time.Minute { // when the first leaves
		t.Errorf("RetryAfter = %s", d.RetryAfter)
	}
	now.Move(30 * time.Second) // December
	took(0)
	now.Move(30 * time.Second)
	took(1)
	now.Move(6 * time.Second)
	took(21)
}

func TestAnInstanceWhoseClockIsBehindCountsInTheLaterBucket(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:01:00Z")
	ahead, another := counters(t, now)
	limits := usage.Limits{PerMinute: 2}
	must.Get(ahead.Take(t.Context(), "k", "d", limits))(t)
	now.Move(-time.Second)
	behind := another()
	if r, err := behind.Take(t.Context(), "k", "d", limits); err != nil || r.RateLeft != 0 {
		t.Fatalf("behind: %+v, %v", r, err)
	}
	_, err := behind.Take(t.Context(), "k", "d", limits)
	denied(t, err)
}

// TestWhatRefusesSaysWhatIsLeft: the figures of a denial are those of the key.
func TestWhatRefusesSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	c, _ := counters(t, now)
	for name, limits := range map[string]usage.Limits{"month": {PerMonth: 3, PerMinute: 10}, "total": {PerMinute: 10, Total: 3}} {
		for range 3 {
			must.Get(c.Take(t.Context(), name, name, limits))(t)
		}
		_, err := c.Take(t.Context(), name, name, limits)
		d := denied(t, err)
		if d.InMonth != 3 || d.RateLeft != 8 || d.RateFrees != now.Now().Add(66*time.Second) || d.RetryAfter != usage.MonthEnd(now.Now()).Sub(now.Now()) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestMonthsAreCountedApartInUTC(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-30T23:59:58Z")
	c, _ := counters(t, now)
	limits := usage.Limits{PerMonth: 1, Total: 1}
	must.Get(c.Take(t.Context(), "k", "d", limits))(t)
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
		{"the rate, and a tenth", usage.Limits{PerMinute: 23, PerMonth: 1000}, 1, 25},
		{"the distributor's month over several keys", usage.Limits{PerMonth: 1000, Total: 45}, 4, 45},
		{"fewer than there are shards", usage.Limits{Total: 3}, 3, 3},
		{"the distributor's rate over several keys, and a tenth", usage.Limits{PerMonth: 1000, TotalRate: 40}, 4, 44},
		{"the distributor's rate and month", usage.Limits{TotalRate: 1000, Total: 45}, 4, 45},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := at(t, "2026-11-21T10:00:00Z")
			_, instance := counters(t, now)
			var served, kept atomic.Int64 // kept: what could not be given back in time, on a slow machine
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
						case errors.Is(err, context.DeadlineExceeded):
							kept.Add(1)
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
			counted := func(n int64) bool { return n >= tt.served-kept.Load() && n <= tt.served+kept.Load() }
			if n := served.Load(); n > tt.served || !counted(n) {
				t.Errorf("served %d, want %d", served.Load(), tt.served)
			}
			total, err := fresh.Distributor(t.Context(), "d", now.Now())
			if err != nil || !counted(total) {
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
			if err != nil || !counted(sum) {
				t.Errorf("sub-keys count %d (%v), want %d", sum, err, tt.served)
			}
		})
	}
}

// Whatever the order of requests, refunds, passing time, instances and changed limits:
// the counters equal what was served and not given back, no cap is passed, nothing is
// refused that fits, but for SpentFor where another instance gave it back, and no 60 s
// see more than the rate and a tenth.
func TestCountersEqualWhatWasServed(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.UsageTable
	var run atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		n := run.Add(1)
		now := at(t, "2026-11-21T10:00:30Z")
		instances := []*usage.Counters{usage.NewCounters(db, table, now.Now), usage.NewCounters(db, table, now.Now)}
		distributor := fmt.Sprint("d", n)
		names := []string{fmt.Sprint("a", n), fmt.Sprint("b", n)}
		limits := usage.Limits{
			PerMonth:  rapid.Int64Range(1, 40).Draw(rt, "quota"),
			PerMinute: rapid.Int64Range(0, 12).Draw(rt, "rate"),
		}
		// Shards that are through with their month leave the others less of the rate.
		if rapid.Bool().Draw(rt, "a total rate") {
			limits.TotalRate = rapid.Int64Range(0, 15).Draw(rt, "total rate")
		} else {
			limits.Total = rapid.Int64Range(0, 50).Draw(rt, "total")
		}
		used := make(map[string]int64)
		admitted := make(map[string][]time.Time)
		const everyone = "everyone"
		within := func(name string, after time.Time) (n int64) {
			for _, at := range admitted[name] {
				if at.After(after) {
					n++
				}
			}
			return n
		}
		rates := func(name string) map[string]int64 {
			return map[string]int64{name: limits.PerMinute, everyone: limits.TotalRate}
		}
		var total int64
		var receipts []usage.Receipt
		var refunded time.Time // last, by the first instance
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch name := rapid.SampledFrom(names).Draw(rt, "key"); rapid.IntRange(0, 7).Draw(rt, "step") {
			case 0:
				now.Move(time.Duration(rapid.IntRange(1, 70_000).Draw(rt, "ms")) * time.Millisecond)
			case 1:
				if len(receipts) > 0 {
					r := receipts[len(receipts)-1]
					receipts = receipts[:len(receipts)-1]
					must.Do(rt, instances[0].Refund(context.Background(), r))
					used[r.Key]--
					total--
					refunded = now.Now()
				}
			default:
				eleven := time.Unix((now.Now().Unix()/6-10)*6, 0).Add(-1) // the last moment before them
				fits := used[name] < limits.PerMonth && (limits.Total == 0 || total < limits.Total)
				for who, rate := range rates(name) {
					fits = fits && (rate == 0 || within(who, eleven) < rate+rate/10)
				}
				instance := rapid.IntRange(0, 1).Draw(rt, "instance")
				r, err := instances[instance].Take(context.Background(), name, distributor, limits)
				if instance == 1 && now.Now().Sub(refunded) < usage.SpentFor && err != nil {
					if d := denied(t, err); d.Cap == usage.PerMonth || d.Cap == usage.Total {
						continue
					}
				}
				if (err == nil) != fits {
					rt.Fatalf("Take = %v with used %v, admitted %v, total %d under %+v at %s", err, used, admitted[name], total, limits, now.Now())
				}
				if err != nil {
					continue
				}
				used[name]++
				total++
				admitted[name] = append(admitted[name], now.Now())
				receipts = append(receipts, r)
				admitted[everyone] = append(admitted[everyone], now.Now())
				for who, rate := range rates(name) {
					if n := within(who, now.Now().Add(-time.Minute)); rate > 0 && n > rate+rate/10 {
						rt.Fatalf("%d requests of %s in 60 s under a rate of %d", n, who, rate)
					}
				}
				if r.InMonth != used[name] {
					rt.Fatalf("InMonth = %d, want %d", r.InMonth, used[name])
				}
			}
		}
		got := must.Get(instances[1].Keys(context.Background(), names, now.Now()))(rt)
		for _, name := range names {
			if got[name] != used[name] {
				rt.Fatalf("%s counts %d, served %d", name, got[name], used[name])
			}
		}
		if sum, err := instances[0].Distributor(context.Background(), distributor, now.Now()); err != nil || sum != total {
			rt.Fatalf("distributor counts %d (%v), served %d", sum, err, total)
		}
	})
}

// TestASteadyClientIsServedItsFullRate hammers for five minutes: what the buckets
// admit is the rate, not a tenth less.
func TestASteadyClientIsServedItsFullRate(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:03Z")
	c, _ := counters(t, now)
	const minutes, rate = 5, 30
	served := 0
	for range minutes * 60 {
		for {
			if _, err := c.Take(t.Context(), "k", "d", usage.Limits{PerMinute: rate}); err != nil {
				denied(t, err)
				break
			}
			served++
		}
		now.Move(time.Second)
	}
	if served < minutes*rate || served > minutes*rate*11/10+rate/10 {
		t.Errorf("served %d in %d minutes at %d a minute", served, minutes, rate)
	}
}

func TestWhatWasRefusedIsServedAsSoonAsItFits(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	c, _ := counters(t, now)
	ctx := t.Context()
	first, err := c.Take(ctx, "k", "d", usage.Limits{PerMonth: 1, PerMinute: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Take(ctx, "k", "d", usage.Limits{PerMonth: 1, PerMinute: 1})
	denied(t, err)
	_, err = c.Take(ctx, "k", "d", usage.Limits{PerMonth: 1})
	denied(t, err)
	if _, err := c.Take(ctx, "k", "d", usage.Limits{PerMonth: 2, PerMinute: 2}); err != nil {
		t.Errorf("when the limits are raised: %v", err)
	}
	must.Do(t, c.Refund(ctx, first))
	if _, err := c.Take(ctx, "k", "d", usage.Limits{PerMonth: 2}); err != nil {
		t.Errorf("at once after a refund: %v", err)
	}
	now.Move(66 * time.Second)
	if _, err := c.Take(ctx, "k", "d", usage.Limits{PerMonth: 3, PerMinute: 1}); err != nil {
		t.Errorf("in the first moment of a later bucket: %v", err)
	}
}

func TestWhoIsOverACapAndHammersCostsNoWrites(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]usage.Limits{
		"the rate of a key":             {PerMinute: 1},
		"the rate of a distributor":     {TotalRate: 60},
		"the month of a key":            {PerMonth: 20, Total: 60},
		"the month of a distributor":    {PerMonth: 100, Total: 60},
		"some shards by each":           {Total: 60, TotalRate: 57},
		"fewer requests than shards":    {Total: 3},
		"a month and a rate of the key": {PerMinute: 40, PerMonth: 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := at(t, "2026-11-21T10:00:00Z")
			var requests atomic.Int64
			db := storetest.Intercept(storetest.DynamoDB(t), func(_ any, send func() (any, error)) (any, error) {
				requests.Add(1)
				return send()
			})
			table := storetest.Tables(t, db) + schema.UsageTable
			c := usage.NewCounters(db, table, now.Now)
			var first *usage.Denied
			for range 70 {
				if _, err := c.Take(t.Context(), "k", "d", limits); err != nil {
					first = denied(t, err)
				}
			}
			before := requests.Load()
			for range 500 {
				_, err := c.Take(t.Context(), "k", "d", limits)
				if d := denied(t, err); *d != *first {
					t.Fatalf("said %+v, then %+v", first, d)
				}
			}
			if n := requests.Load() - before; n != 0 {
				t.Errorf("500 refused requests cost %d requests", n)
			}
		})
	}
}

// TestAMonthThatGetsRoomIsServed covers how a month that was used up ceases to be.
func TestAMonthThatGetsRoomIsServed(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]func(cap int64) usage.Limits{
		"of a key":         func(cap int64) usage.Limits { return usage.Limits{PerMonth: cap} },
		"of a distributor": func(cap int64) usage.Limits { return usage.Limits{Total: cap} },
	} {
		for how, room := range map[string]struct {
			cap   int64
			give  func(t *testing.T, r usage.Receipt, own, other *usage.Counters, now *testclock.Clock)
			waits bool
		}{
			"by a refund of its own": {8, func(t *testing.T, r usage.Receipt, own, _ *usage.Counters, _ *testclock.Clock) {
				must.Do(t, own.Refund(t.Context(), r))
			}, false},
			"by a refund of another instance": {8, func(t *testing.T, r usage.Receipt, _, other *usage.Counters, _ *testclock.Clock) {
				must.Do(t, other.Refund(t.Context(), r))
			}, true},
			"by a higher cap": {16, func(*testing.T, usage.Receipt, *usage.Counters, *usage.Counters, *testclock.Clock) {}, false},
			"by its end": {8, func(_ *testing.T, _ usage.Receipt, _, _ *usage.Counters, now *testclock.Clock) {
				now.Move(time.Second)
			}, false},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				now := at(t, "2026-11-30T23:59:59Z")
				if room.waits {
					now = at(t, "2026-11-21T10:00:00Z")
				}
				own, another := counters(t, now)
				var last usage.Receipt
				for range 8 {
					last = must.Get(own.Take(t.Context(), "k", "d", limits(8)))(t)
				}
				_, err := own.Take(t.Context(), "k", "d", limits(8))
				denied(t, err)
				room.give(t, last, own, another(), now)
				if room.waits {
					_, err = own.Take(t.Context(), "k", "d", limits(room.cap))
					denied(t, err)
					now.Move(usage.SpentFor)
				}
				if _, err := own.Take(t.Context(), "k", "d", limits(room.cap)); err != nil {
					t.Errorf("refused although there is room: %v", err)
				}
			})
		}
	}
}

// TestADistributorOverItsRateIsServedWhenItFits covers the end of a month, too: a rate
// does not begin again with it.
func TestADistributorOverItsRateIsServedWhenItFits(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-30T23:59:50Z")
	_, instance := counters(t, now)
	limits := usage.Limits{TotalRate: 60}
	served := 0
	take := func() error {
		_, err := instance().Take(t.Context(), fmt.Sprint("k", served%5), "d", limits)
		if err == nil {
			served++
		}
		return err
	}
	for take() == nil {
	}
	now.Move(12 * time.Second)
	d := denied(t, take())
	if d.Cap != usage.TotalRate || d.Limit != 60 || d.RetryAfter != 52*time.Second || d.Error() != "distributor rate limit exceeded: at most 60 requests per minute are accepted" {
		t.Errorf("got %+v: %s", d, d.Error())
	}
	now.Move(d.RetryAfter - time.Second)
	denied(t, take())
	now.Move(time.Second)
	if err := take(); err != nil || served != 67 {
		t.Errorf("%d served, %v; want 66 and one when it fits", served, err)
	}
}

func TestManagementHasARateOfItsOwn(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	c, _ := counters(t, now)
	for i := range 22 {
		r, err := c.TakeManagement(t.Context(), "d", 20)
		if err != nil || r.RateLeft != min(20, int64(21-i)) {
			t.Fatalf("request %d: %+v, %v", i, r, err)
		}
	}
	_, err := c.TakeManagement(t.Context(), "d", 20)
	if d := denied(t, err); d.Cap != usage.PerMinute || d.Limit != 20 || d.RetryAfter != 66*time.Second {
		t.Errorf("got %+v", d)
	}
	if _, err := c.Take(t.Context(), "k", "d", usage.Limits{PerMinute: 20}); err != nil {
		t.Errorf("a request of a sub-key: %v", err)
	}
	if n, err := c.Distributor(t.Context(), "d", now.Now()); err != nil || n != 1 {
		t.Errorf("the distributor counts %d requests, %v; want 1", n, err)
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
		must.Get(c.Take(b.Context(), "k", "d", usage.Limits{PerMonth: 1 << 40, PerMinute: 1 << 40, Total: 1 << 40}))(b)
	}
}
