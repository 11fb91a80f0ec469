package source_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/testing/must"
	"quotary/shared/upstream"
)

func TestABanIsObeyedByAllWhoAskTheHost(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusTeapot} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var banned, early atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				now := time.Now().UnixMilli()
				if banned.CompareAndSwap(0, now+1000) {
					w.Header().Set("Retry-After", "1")
					http.Error(w, `{"code":-1003,"msg":"Too much request weight used"}`, status)
					return
				}
				if now < banned.Load() {
					early.Add(1)
				}
				fmt.Fprint(w, `{"ok":true}`)
			}))
			defer server.Close()
			host := source.NewHost(server.URL, 1000)
			var out struct{ OK bool }
			if err := host.Get(t.Context(), "/first", nil, 1, &out); err != nil || !out.OK {
				t.Fatalf("%v, %v", out, err)
			}
			must.Do(t, host.Get(t.Context(), "/second", nil, 1, &out))
			if early.Load() != 0 || time.Now().UnixMilli() < banned.Load() {
				t.Errorf("asked %d times before the ban ended", early.Load())
			}
		})
	}
}

// Many ask at once, through both pools of a host: whoever is on the way when the ban comes
// is refused too, and nobody asks until it has ended.
func TestNobodyAsksDuringABan(t *testing.T) {
	t.Parallel()
	const askers = 8
	var asked, early atomic.Int64
	var ends atomic.Int64 // of the ban, ms; 0 before it
	together := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		if n == askers {
			ends.Store(time.Now().Add(time.Second).UnixMilli())
			close(together)
		}
		<-together
		if n > askers {
			if time.Now().UnixMilli() < ends.Load() {
				early.Add(1)
			}
			fmt.Fprint(w, `{}`)
			return
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	host := source.NewHost(server.URL, 10_000)
	pool := host.Pool(10_000)
	var group sync.WaitGroup
	for i := range askers {
		group.Go(func() {
			of := host
			if i%2 == 1 {
				of = pool
			}
			if err := of.Get(t.Context(), "/x", nil, 1, new(any)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if early.Load() != 0 || asked.Load() != 2*askers {
		t.Errorf("asked %d times, %d of them during the ban", asked.Load(), early.Load())
	}
}

func TestARefusalIsNotRepeated(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, `{"code":-1121,"msg":"Invalid symbol."}`, http.StatusBadRequest)
	}))
	defer server.Close()
	err := source.NewHost(server.URL, 1000).Get(t.Context(), "/klines", nil, 1, new(any))
	var refused *upstream.RefusedError
	if !errors.As(err, &refused) || refused.Status != 400 || asked.Load() != 1 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

func TestTroubleThatPassesIsTriedAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			http.Error(w, "bad gateway", http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, `[1]`)
	}))
	defer server.Close()
	var out []int
	if err := source.NewHost(server.URL, 1000).Get(t.Context(), "/x", nil, 1, &out); err != nil || len(out) != 1 {
		t.Errorf("%v, %v", out, err)
	}
}

func TestABudgetIsOnlyTriedForWhatItHolds(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(0)
	b := source.NewBudget(60, func() time.Time { return now })
	for i, step := range []struct {
		after time.Duration
		n     int
		want  bool
	}{
		{0, 60, true},
		{0, 1, false},
		{500 * time.Millisecond, 1, false},
		{500 * time.Millisecond, 1, true}, // one unit a second comes back
		{0, 1, false},
		{10 * time.Second, 11, false},
		{49 * time.Second, 61, false}, // refused, nothing is taken: one unit is missing of all
		{time.Second, 70, true},       // more than it ever holds: all that is there, and a debt
		{10 * time.Second, 1, false},
		{time.Second, 1, true},
		{time.Hour, 60, true}, // and never more than the budget
		{0, 1, false},
	} {
		now = now.Add(step.after)
		if got := b.TrySpend(step.n); got != step.want {
			t.Errorf("step %d: %d units after another %s: %t, want %t", i, step.n, step.after, got, step.want)
		}
	}
}

func TestWhoTriesABudgetLeavesWhatOthersWaitForAlone(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(0)
	b := source.NewBudget(60, func() time.Time { return now })
	if !b.TrySpend(70) {
		t.Fatal("it does not go into debt for 10")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Spend(ended, 1000); !errors.Is(err, context.Canceled) {
		t.Fatal(err) // who gives up leaves no debt
	}
	now = now.Add(10 * time.Second)
	if b.TrySpend(1) {
		t.Error("a unit of the debt is spent")
	}
	now = now.Add(time.Second)
	if !b.TrySpend(1) {
		t.Error("the debt is paid, and a unit is refused")
	}
}

func TestABudgetTakesANewRate(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(0)
	b := source.NewBudget(100, func() time.Time { return now })
	must.Do(t, b.Spend(t.Context(), 100))
	b.SetRate(200)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := b.Spend(t.Context(), 100); err != nil || time.Since(began) > time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
