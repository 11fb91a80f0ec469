package connections_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// TestWhatACrashLeavesIsReportedUntilItIsRemoved has a connection whose removal was begun
// and not ended, and subscriptions below none, for a follower that sees both happen and
// for one that finds them.
func TestWhatACrashLeavesIsReportedUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	w := open(t)
	limits := connections.Limits{Key: 5}
	leave := func() {
		t.Helper()
		must.Do(t, w.Connect(t.Context(), connection("half=", "key", channel.FeedChannels), limits))
		_, err := w.Subscribe(t.Context(), w.message("half="), trades("BTC"), limits, reply)
		must.Do(t, err)
		for seed := uint64(0); ; seed++ { // dies behind its first write, or a later one
			dying := connections.New(crashing(w.db, 2, rand.New(rand.NewPCG(seed, 9))), w.table, w.clock.Now)
			if began, err := dying.Remove(t.Context(), "half="); errors.Is(err, errCrash) && began {
				break
			} else if err == nil {
				must.Do(t, w.Connect(t.Context(), connection("half=", "key", channel.FeedChannels), limits))
			}
		}
		_, err = w.Unsubscribe(t.Context(), w.message("none="), trades("BTC"))
		must.Do(t, err)
	}
	var mu sync.Mutex
	strays := map[string]bool{}
	report := func() {
		for e, err := range connections.NewFollower(w.Store, w.db, streams(t)).Follow(t.Context()) {
			if err != nil {
				t.Error(err)
				return
			}
			switch e := e.(type) {
			case connections.Live:
				w.clock.Move(2 * time.Minute)
			case connections.Stray:
				mu.Lock()
				strays[e.Connection] = true
				done := len(strays) == 2
				mu.Unlock()
				if done {
					return
				}
			}
		}
	}
	leave()
	report()
	for id := range strays {
		if removed, err := w.Remove(t.Context(), id); removed || err != nil {
			t.Errorf("%s: %t, %v", id, removed, err)
		}
	}
	r := balanced(t, w)
	if len(r.Live)+len(r.Strays) > 0 || len(strays) != 2 {
		t.Errorf("left are %v and %v of %v", r.Live, r.Strays, strays)
	}
}

// TestAShardIsReadFiveTimesASecondAtMost follows a table under the rules of AWS, busy and
// quiet, and sees each change soon.
func TestAShardIsReadFiveTimesASecondAtMost(t *testing.T) {
	t.Parallel()
	w := open(t)
	rules := awsrules.New(t)
	db, stream := rules.DynamoDB(w.db), rules.Streams(streams(t))
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		store := connections.New(db, w.table, time.Now)
		ids, delays := 0, []time.Duration{}
		next := make(chan string, 1)
		go func() {
			for id := range next {
				if err := store.Connect(t.Context(), connection(id, "key", channel.FeedChannels), free); err != nil {
					t.Error(err)
				}
			}
		}()
		defer close(next)
		sent := time.Now()
		for e := range must.All(t, connections.NewFollower(store, db, stream).Follow(t.Context())) {
			if _, ok := e.(connections.Connected); ok {
				delays = append(delays, time.Since(sent))
			} else if _, ok := e.(connections.Live); !ok {
				continue
			}
			if ids++; ids > 60 {
				break
			}
			if ids%20 == 0 {
				time.Sleep(30 * time.Second) // the loop is slow
			}
			sent = time.Now()
			next <- "c" + string(rune('0'+ids))
		}
		c := rules.Take()
		t.Logf("%d reads in %s, delays %v", c.Calls["GetRecords"], time.Since(began), delays)
		if c.Throttled > 0 {
			t.Errorf("%d reads were refused", c.Throttled)
		}
		for _, d := range delays {
			if d > 1500*time.Millisecond {
				t.Errorf("a change was seen after %s", d)
			}
		}
	})
}
