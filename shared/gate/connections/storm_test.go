package connections_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/store/schema"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// ruled is a world whose engine obeys the rules of AWS, for a bubble of virtual time.
type ruled struct {
	*world
	rules *awsrules.Rules
	aws   *connections.Store
}

func openRuled(t *testing.T) *ruled {
	t.Helper()
	w := open(t)
	r := &ruled{world: w, rules: awsrules.New(t)}
	r.aws = connections.New(r.rules.DynamoDB(w.db), w.table, time.Now)
	r.Store = connections.New(w.db, w.table, time.Now)
	return r
}

// withoutStream replaces the table by one that nobody follows: of tens of thousands of
// changes the engine's stream is slow to write.
func (w *ruled) withoutStream(t *testing.T) {
	t.Helper()
	w.table += "-unfollowed"
	must.Do(t, schema.Create(t.Context(), w.db, []schema.Table{{Name: w.table}}))
	w.Store = connections.New(w.db, w.table, time.Now)
	w.aws = connections.New(w.rules.DynamoDB(w.db), w.table, time.Now)
}

// TestAllSocketsOfADistributorReconnect has each socket's connection removed, at 500 a
// second, and then made again, under the rules of AWS, in virtual time.
func TestAllSocketsOfADistributorReconnect(t *testing.T) {
	t.Parallel()
	n := testenv.Amount(100, 10_000)
	for name, tt := range map[string]struct {
		keys   int
		limits connections.Limits // of connections; those of subscriptions are twice that
	}{
		"without caps":              {4, free},
		"of few sub-keys":           {4, connections.Limits{Key: int64(n), Distributor: int64(2 * n)}},
		"of few sub-keys, all full": {4, connections.Limits{Key: int64(n / 4), Distributor: int64(n)}},
		"of many sub-keys":          {n / 5, connections.Limits{Key: 8, Distributor: int64(n + n/20)}},
	} {
		t.Run(name, func(t *testing.T) {
			if !testenv.Prove() { // the engine has enough to do with one
				t.Parallel()
			}
			w := openRuled(t)
			w.withoutStream(t)
			subs := connections.Limits{Key: 2 * tt.limits.Key, Distributor: 2 * tt.limits.Distributor}
			of := func(i int) string { return fmt.Sprint("key", i%tt.keys) }
			join := func(s *connections.Store, ctx context.Context, i int, id string) error {
				if err := s.Connect(ctx, connection(id, of(i), channel.FeedChannels), tt.limits); err != nil {
					return err
				}
				_, err := s.Subscribe(ctx, w.messageOf(id, of(i)), trades("BTC"), subs, reply)
				return err
			}
			var all sync.WaitGroup
			for worker := range 8 { // the first time, in real time and without rules
				all.Go(func() {
					for i := worker; i < n; i += 8 {
						if err := join(w.Store, t.Context(), i, fmt.Sprint("old", i)); err != nil {
							t.Errorf("socket %d: %v", i, err)
						}
					}
				})
			}
			all.Wait()
			var mu sync.Mutex
			var connects []time.Duration
			synctest.Test(t, func(t *testing.T) {
				var all sync.WaitGroup
				for i := range n {
					time.Sleep(time.Second / 500)
					all.Go(func() {
						if removed, err := w.aws.Remove(t.Context(), fmt.Sprint("old", i)); !removed || err != nil {
							t.Errorf("remove socket %d: %t, %v", i, removed, err)
						}
						began := time.Now()
						if err := join(w.aws, t.Context(), i, fmt.Sprint("new", i)); err != nil {
							t.Errorf("socket %d: %v", i, err)
						}
						mu.Lock()
						defer mu.Unlock()
						connects = append(connects, time.Since(began))
					})
				}
				all.Wait()
			})
			slices.Sort(connects)
			p99 := connects[len(connects)*99/100]
			c := w.rules.Take()
			t.Logf("p50 %s, p99 %s, most %s for a connection and a subscription; %d conflicts, %d throttled; of each socket %.1f write units, %.1f read units",
				connects[len(connects)/2], p99, connects[len(connects)-1], c.Conflicts, c.Throttled, c.Writes/float64(n), c.Reads/float64(n))
			if p99 >= time.Second {
				t.Errorf("p99 is %s, want less than 1s", p99)
			}
			if tt.limits == free && c.Conflicts > 0 {
				t.Errorf("%d conflicts where nothing is shared", c.Conflicts)
			}
			r := connectionstest.Look(t, w.db, w.table)
			r.Balanced(t)
			if len(r.Live) != n || len(r.Strays) > 0 {
				t.Errorf("%d connections, %d strays", len(r.Live), len(r.Strays))
			}
		})
	}
}
