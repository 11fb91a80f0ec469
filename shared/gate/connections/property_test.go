package connections_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
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
					all := connectionstest.Look(t, w.db, w.table)
					for i := range keys {
						u, d := all.Items[fmt.Sprint("k#key", i)], all.Items["d#acme"]
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
						if err := act(t.Context(), w, faulty, rnd, ids, keys, conns, subs); err != nil {
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
			w.clock.Move(time.Minute) // who began a removal and crashed is taken for dead
			for i := range ids {
				if _, err := w.Remove(t.Context(), fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
			r := balanced(t, w)
			if len(r.Live)+len(r.Strays) > 0 {
				t.Errorf("left are %v and %v", r.Live, r.Strays)
			}
			for who, u := range r.Taken {
				if u != (connectionstest.Usage{}) {
					t.Errorf("%s still counts %+v", who, u)
				}
			}
		})
	}
}

// act makes one random call. What a client may get as an answer is no error of the test.
func act(ctx context.Context, w *world, s *connections.Store, rnd *rand.Rand, ids, keys int, conns, subs connections.Limits) error {
	n := rnd.IntN(ids)
	id := fmt.Sprint(n)
	message := w.messageOf(id, fmt.Sprint("key", n%keys))
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
		_, err = s.Subscribe(ctx, message, trades(fmt.Sprint(rnd.IntN(4))), subs, reply)
	case 4:
		_, err = s.Unsubscribe(ctx, message, trades(fmt.Sprint(rnd.IntN(4))))
	case 5:
		err = s.AddAddresses(ctx, message, some(), subs, connections.Reply{})
	case 6:
		err = s.RemoveAddresses(ctx, message, some())
	case 7:
		err = s.AskStat(ctx, message)
	case 8:
		_, err = removeIdle(ctx, s, id, start.Add(time.Millisecond))
	case 9:
		if rnd.IntN(2) == 0 {
			_, err = s.Remove(ctx, id)
		} else {
			err = connections.NewMeter(s, connections.Budget{}).Message(ctx, id, 10)
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
	limits := connections.Limits{Key: 500, Distributor: 1000}
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), limits))
	for i := range 130 {
		must.Get(w.Subscribe(t.Context(), w.message("a="), trades(fmt.Sprint(i)), limits, reply))(t)
	}
	wins := 0
	for seed := uint64(0); ; seed++ {
		dying := connections.New(crashing(w.db, 4, rand.New(rand.NewPCG(seed, 5))), w.table, w.clock.Now)
		removed, err := dying.Remove(t.Context(), "a=")
		if err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		if removed {
			wins++
		}
		r := connectionstest.Look(t, w.db, w.table)
		r.Balanced(t)
		if len(r.Live) == 0 {
			break
		}
		w.clock.Move(time.Minute) // who began the removal is dead
	}
	if removed, err := w.Remove(t.Context(), "a="); removed || err != nil || wins > 1 {
		t.Errorf("%t, %v, want that it was removed before, once, not %d times", removed, err, wins)
	}
	if used := balanced(t, w).Taken["k#key"]; used != (connectionstest.Usage{}) {
		t.Errorf("%+v", used)
	}
}

// A process that began a removal, and could not finish it, does not have to wait until it
// is taken for dead.
func TestARemovalThatFailsHalfwayIsFinishedAtOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	limits := connections.Limits{Key: 500, Distributor: 1000}
	for seed := uint64(0); ; seed++ {
		must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), limits))
		for i := range 5 {
			_, err := w.Subscribe(t.Context(), w.message("a="), trades(fmt.Sprint(i)), limits, reply)
			must.Do(t, err)
		}
		began, err := connections.New(crashing(w.db, 3, rand.New(rand.NewPCG(seed, 7))), w.table, w.clock.Now).Remove(t.Context(), "a=")
		if !began || err == nil { // as a whole, or not begun for all one knows
			w.clock.Move(time.Minute)
			_, err := w.Remove(t.Context(), "a=")
			must.Do(t, err)
			continue
		}
		if again, err := w.Remove(t.Context(), "a="); again || err != nil {
			t.Errorf("another process: %t, %v", again, err)
		}
		must.Do(t, finishRemoval(t.Context(), w.Store, "a="))
		if r := balanced(t, w); len(r.Live) > 0 || r.Taken["k#key"] != (connectionstest.Usage{}) {
			t.Errorf("left are %v, taken %+v", r.Live, r.Taken)
		}
		return
	}
}

// However much a connection has, a page of its removal is bounded, and the connection itself
// goes with the last one.
func TestAConnectionIsRemovedPageByPage(t *testing.T) {
	t.Parallel()
	const most = 91 // items
	for name, tt := range map[string]struct {
		limits connections.Limits
		items  int
		each   int // addresses; 0 for subscriptions
		pages  int
	}{
		"nothing":                     {free, 0, 0, 1},
		"many subscriptions":          {free, 200, 0, 3},
		"many subscriptions with cap": {connections.Limits{Key: 500, Distributor: 1000}, 200, 0, 3},
		"many addresses":              {free, 11, 2700, 1},
		"many addresses with cap":     {connections.Limits{Key: 500, Distributor: 1000}, 11, 2700, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedFills), tt.limits))
			for i := range tt.items {
				if tt.each > 0 {
					must.Do(t, w.AddAddresses(t.Context(), w.message("a="), addressRange(i*tt.each, (i+1)*tt.each), tt.limits, reply))
				} else {
					must.Get(w.Subscribe(t.Context(), w.message("a="), trades(fmt.Sprint(i)), tt.limits, reply))(t)
				}
			}
			if began, others, err := w.BeginRemoval(t.Context(), "a=", time.Time{}); !began || others || err != nil {
				t.Fatal(began, others, err)
			}
			left := balanced(t, w)
			for page := 1; ; page++ {
				done, err := w.RemovePage(t.Context(), "a=")
				now := balanced(t, w)
				if removed := len(left.Below) - len(now.Below); err != nil || removed > most || len(now.Strays) > 0 {
					t.Fatalf("page %d removed %d items, %v, and left %v", page, removed, err, now.Strays)
				}
				if gone := len(now.Live) == 0; done != gone || done != (page == tt.pages) {
					t.Fatalf("page %d: done is %t, the connection gone is %t; want that of page %d", page, done, gone, tt.pages)
				}
				if done {
					break
				}
				left = now
			}
			if taken := w.used(t, "key"); taken != (connectionstest.Usage{}) {
				t.Errorf("taken are %+v", taken)
			}
		})
	}
}

// TestNoCapIsPassedWhileCapsChange has workers connect and remove at random, under caps
// that are raised, lowered, set and taken away between rounds: after none is there more
// than its cap, or than there was before it.
func TestNoCapIsPassedWhileCapsChange(t *testing.T) {
	t.Parallel()
	const workers = 8
	rounds := testenv.Amount(6, 24)
	w := open(t)
	w.counting(t)
	rnd := rand.New(rand.NewPCG(1, 11))
	before, caps := connectionstest.Usage{}, free
	for round := range rounds {
		last := caps
		caps.Key, caps.Distributor = int64(max(rnd.IntN(40)-10, 0)), int64(max(rnd.IntN(80)-20, 0))
		if round == 0 {
			caps = free
		}
		if last.Key == 0 {
			caps.KeySince = int64(round)
		}
		if last.Distributor == 0 {
			caps.DistributorSince = int64(round)
		}
		var all sync.WaitGroup
		for n := range workers {
			seed := rand.New(rand.NewPCG(uint64(round), uint64(n)))
			all.Go(func() {
				for range 12 {
					id := fmt.Sprint(n, "-", seed.IntN(6))
					var err error
					if seed.IntN(3) == 0 {
						_, err = w.Remove(t.Context(), id)
					} else {
						err = untilCounted(t, func() error { return w.Connect(t.Context(), connection(id, "key", channel.FeedChannels), caps) })
					}
					var limit *connections.LimitError
					if err != nil && !errors.As(err, &limit) {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		now := balanced(t, w).Items["k#key"]
		for _, limit := range []int64{caps.Key, caps.Distributor} {
			if limit > 0 && now.Connections > max(limit, before.Connections) {
				t.Errorf("round %d: %d connections under %+v, %d before", round, now.Connections, caps, before.Connections)
			}
		}
		if smallest := min(cmp.Or(caps.Key, 1000), cmp.Or(caps.Distributor, 1000)); before.Connections < smallest {
			err := untilCounted(t, func() error {
				return w.Connect(t.Context(), connection(fmt.Sprint("one more ", round), "key", channel.FeedChannels), caps)
			})
			if (err == nil) != (now.Connections < smallest) {
				t.Errorf("round %d: with %d of %d: %v", round, now.Connections, smallest, err)
			}
			now = balanced(t, w).Items["k#key"]
		}
		before = now
	}
}
