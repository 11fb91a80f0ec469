package connections_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/testing/must"
)

// BenchmarkStore measures each call from four clients at a time, the engine
// included.
func BenchmarkStore(b *testing.B) {
	run := func(name string, call func(b *testing.B, w *world, n int64) error) {
		b.Run(name, func(b *testing.B) {
			w := open(b)
			for i := range 8 {
				must.Do(b, w.Connect(b.Context(), connection(fmt.Sprint(i), "key", channel.FeedChannels), free))
			}
			var n atomic.Int64
			b.SetParallelism(2)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := call(b, w, n.Add(1)); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
	run("connect", func(b *testing.B, w *world, n int64) error {
		return w.Connect(b.Context(), connection(fmt.Sprint("new", n), fmt.Sprint("key", n%50), channel.FeedChannels), free)
	})
	run("subscribe", func(b *testing.B, w *world, n int64) error {
		_, err := w.Subscribe(b.Context(), w.message(fmt.Sprint(n%8)), trades(fmt.Sprint(n)), free, reply)
		return err
	})
	run("add one address", func(b *testing.B, w *world, n int64) error {
		return w.AddAddresses(b.Context(), w.message(fmt.Sprint(n%8)), addressRange(int(n%8), int(n%8)+1), free, connections.Reply{})
	})
}

// BenchmarkFollow measures how long a subscription is on its way to a follower.
func BenchmarkFollow(b *testing.B) {
	w := open(b)
	must.Do(b, w.Connect(b.Context(), connection("a=", "key", channel.FeedChannels), free))
	var mu sync.Mutex
	sent := make(map[string]time.Time)
	var delays []time.Duration
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		follower := connections.NewFollower(connections.New(w.db, w.table, time.Now), w.db, streams(b))
		for e, err := range follower.Follow(b.Context()) {
			if err != nil {
				b.Error(err)
				return
			}
			if s, ok := e.(connections.Subscribed); ok {
				mu.Lock()
				delays = append(delays, time.Since(sent[s.Coin]))
				done := len(delays) == b.N
				mu.Unlock()
				if done {
					return
				}
			}
		}
	}()
	b.ResetTimer()
	for i := range b.N {
		coin := fmt.Sprint(i)
		mu.Lock()
		sent[coin] = time.Now()
		mu.Unlock()
		must.Get(w.Subscribe(b.Context(), w.message("a="), trades(coin), free, reply))(b)
	}
	<-followed
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds())/1000, "ms-p99")
}
