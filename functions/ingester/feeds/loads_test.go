package feeds

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestNobodysLoadsKeepThoseOfAnotherWaiting: one distributor never has all loads that are under
// way, and a load of another begins when two of all those have ended, before others that it has
// asked for earlier.
func TestNobodysLoadsKeepThoseOfAnotherWaiting(t *testing.T) {
	t.Parallel()
	l, ctx := newLoads(), t.Context()
	never := make(chan struct{})
	waiting := func(distributor string) int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.waiting[distributor])
	}
	var dones []func()
	for range loadsOfOne {
		done := must.Get(l.turn(ctx, "loud", never))(t)
		dones = append(dones, done)
	}
	loudCtx, stop := context.WithCancel(ctx)
	var loud sync.WaitGroup
	for range 1000 {
		loud.Go(func() {
			if done, err := l.turn(loudCtx, "loud", never); err == nil {
				<-loudCtx.Done()
				done()
			} else if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	testenv.Until(t, "the loud one's wait", func() bool { return waiting("loud") == 1000 })
	soon, tooLate := context.WithTimeout(ctx, 2*time.Minute)
	defer tooLate()
	for range loadsAtOnce - loadsOfOne {
		done, err := l.turn(soon, "another", never)
		if err != nil {
			t.Fatalf("another's load waits beside those of the loud one: %v", err)
		}
		dones = append(dones, done)
	}
	quiet := make(chan func())
	go func() {
		done, err := l.turn(ctx, "quiet", never)
		if err != nil {
			t.Error(err)
		}
		quiet <- done
	}()
	testenv.Until(t, "the quiet one's waits", func() bool { return waiting("quiet") == 1 })
	dones[0]()
	dones[1]()
	done := <-quiet
	if n := waiting("loud"); n < 999 {
		t.Errorf("%d began before it", 1000-n)
	}
	done()
	ready := make(chan struct{})
	close(ready)
	if done, err := l.turn(ctx, "quiet", ready); err != nil {
		t.Errorf("what is ready already: %v", err)
	} else {
		done()
	}
	stop()
	loud.Wait()
	for _, done := range dones[2:] {
		done()
	}
	if l.under != 0 || len(l.running) != 0 || len(l.waiting) != 0 {
		t.Errorf("in the end %d run, of %v, and %v wait", l.under, l.running, l.waiting)
	}
}

func TestReadsForSnapshotsThatWaitAreCounted(t *testing.T) {
	t.Parallel()
	f := New(Config{Venue: &world{t: t}})
	ctx, stop := context.WithCancel(t.Context())
	var reads sync.WaitGroup
	for range loadsOfOne + 3 {
		reads.Go(func() { _, _ = f.snapshots.turn(ctx, "acme", nil) })
	}
	for range 2 {
		reads.Go(func() { _, _ = f.accounts.readTurn(ctx, "acme", nil) })
	}
	testenv.Until(t, "as many wait as have no turn", func() bool { return f.Waiting().Snapshots == 5 })
	stop()
	reads.Wait()
	if n := f.Waiting().Snapshots; n != 0 {
		t.Errorf("%d wait when nobody does any longer", n)
	}
}
