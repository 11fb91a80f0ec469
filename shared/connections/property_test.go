package connections_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/channel"
	"quotary/shared/connections"
)

// TestCountersEqualTheItemsWhateverCrashes lets many workers act on the same
// few connections at random, each of whose requests may crash before or after
// it was carried out, while a watcher makes sure that no cap is ever passed.
// In the end the counters equal the items, and when all connections are
// removed they are zero.
func TestCountersEqualTheItemsWhateverCrashes(t *testing.T) {
	t.Parallel()
	const workers, steps, ids, keys = 8, 60, 6, 2
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := open(t)
			every := 10
			if seed == 0 {
				every = 1 << 30 // no crash: every refusal must be one of the store
			}
			faulty := connections.New(crashing(w.db, every, rand.New(rand.NewPCG(seed, 1))), w.table, w.clock.Now)
			conns := connections.Limits{Key: 2, Distributor: 3}
			subs := connections.Limits{Key: 5, Distributor: 8}

			var passed atomic.Bool
			watching, stop := context.WithCancel(t.Context())
			var watcher sync.WaitGroup
			watcher.Go(func() {
				for watching.Err() == nil {
					for i := range keys {
						u, _ := w.KeyUsage(watching, fmt.Sprint("key", i))
						d, _ := w.DistributorUsage(watching, "acme")
						if u.Connections > 2 || u.Subscriptions > 5 || d.Connections > 3 || d.Subscriptions > 8 ||
							min(u.Connections, u.Subscriptions, d.Connections, d.Subscriptions) < 0 {
							passed.Store(true)
						}
					}
				}
			})

			var all sync.WaitGroup
			for n := range workers {
				rnd := rand.New(rand.NewPCG(seed, uint64(n)+2))
				all.Go(func() {
					for range steps {
						if err := act(t.Context(), faulty, rnd, ids, keys, conns, subs); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			stop()
			watcher.Wait()
			if passed.Load() {
				t.Error("a cap was passed")
			}
			balanced(t, w)
			for i := range ids {
				if _, err := w.Remove(t.Context(), fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
			r := balanced(t, w)
			for who, u := range r.counters {
				if u != (connections.Usage{}) {
					t.Errorf("%s still counts %+v", who, u)
				}
			}
		})
	}
}

// act makes one random call. What a client may get as an answer is no error of the test.
func act(ctx context.Context, s *connections.Store, rnd *rand.Rand, ids, keys int, conns, subs connections.Limits) error {
	n := rnd.IntN(ids)
	id := fmt.Sprint(n)
	some := func() (list []string) {
		for range 1 + rnd.IntN(3) {
			list = append(list, address(rnd.IntN(6)))
		}
		return list
	}
	var err error
	switch rnd.IntN(10) {
	case 0, 1:
		err = s.Connect(ctx, connection(id, fmt.Sprint("key", n%keys), channel.FeedChannels), conns)
	case 2, 3:
		_, err = s.Subscribe(ctx, id, trades(fmt.Sprint(rnd.IntN(4))), subs, reply)
	case 4:
		_, err = s.Unsubscribe(ctx, id, trades(fmt.Sprint(rnd.IntN(4))))
	case 5:
		err = s.AddAddresses(ctx, id, some(), subs, nil)
	case 6:
		err = s.RemoveAddresses(ctx, id, some())
	case 7:
		err = s.AskStat(ctx, id)
	case 8:
		_, err = s.RemoveIdle(ctx, id, start.Add(time.Millisecond))
	case 9:
		if rnd.IntN(2) == 0 {
			_, err = s.Remove(ctx, id)
		} else {
			err = s.Touch(ctx, id)
		}
	}
	var limit *connections.LimitError
	if errors.Is(err, connections.ErrGone) || errors.Is(err, errCrash) || errors.As(err, &limit) {
		return nil
	}
	return err
}

// TestARemovalThatCrashesHalfwayIsFinishedLater removes a connection whose
// subscriptions take several transactions, and dies in every one of them.
func TestARemovalThatCrashesHalfwayIsFinishedLater(t *testing.T) {
	t.Parallel()
	w := open(t)
	must(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), free))
	for i := range 220 {
		if _, err := w.Subscribe(t.Context(), "a=", trades(fmt.Sprint(i)), free, reply); err != nil {
			t.Fatal(err)
		}
	}
	left := int64(220)
	for seed := uint64(0); left > 0; seed++ {
		dying := connections.New(crashing(w.db, 1, rand.New(rand.NewPCG(seed, 5))), w.table, w.clock.Now)
		if removed, err := dying.Remove(t.Context(), "a="); removed || !errors.Is(err, errCrash) {
			t.Fatalf("%t, %v, want a crash", removed, err)
		}
		r := balanced(t, w)
		if r.subs["k#key"] > left {
			t.Fatalf("%d slots after %d", r.subs["k#key"], left)
		}
		left = r.subs["k#key"]
	}
	if removed, err := w.Remove(t.Context(), "a="); removed || err != nil {
		t.Errorf("%t, %v, want that it was removed before", removed, err)
	}
	if used, err := w.KeyUsage(t.Context(), "key"); err != nil || used != (connections.Usage{}) {
		t.Errorf("%+v, %v", used, err)
	}
}
