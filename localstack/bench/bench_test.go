package bench

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fanOut is one of the libraries, with so many subscribers to each topic.
type fanOut interface {
	publish(topic int, frame []byte)
}

// tally is what arrived.
type tally struct {
	frames atomic.Int64
	began  time.Time
	mu     sync.Mutex
	took   []time.Duration // nil until latencies are wanted
}

// Every frame holds the time of its publication after marker, and is otherwise
// about as long as a book with ten levels.
var marker = []byte(`"sent":`)

func (t *tally) frame() []byte {
	b := append([]byte(`{"channel":"l2Book","data":{`), marker...)
	b = strconv.AppendInt(b, int64(time.Since(t.began)), 10)
	b = append(b, `,"levels":"`...)
	b = append(b, bytes.Repeat([]byte("x"), 400)...)
	return append(b, `"}}`...)
}

// count adds the frames that a message holds: centrifuge puts several of them
// into one where they wait.
func (t *tally) count(message []byte) {
	n := bytes.Count(message, marker)
	t.frames.Add(int64(n))
	if n == 0 || t.took == nil {
		return
	}
	_, rest, _ := bytes.Cut(message, marker)
	digits, _, _ := bytes.Cut(rest, []byte(","))
	sent, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return
	}
	d := time.Since(t.began) - time.Duration(sent)
	t.mu.Lock()
	t.took = append(t.took, d)
	t.mu.Unlock()
}

// flood publishes as fast as frames arrive, with at most window frames on their
// way to each subscriber.
func flood(b *testing.B, f fanOut, t *tally, topics int, each, window int64) {
	frame := t.frame()
	b.ReportAllocs()
	b.ResetTimer()
	due := int64(0)
	for i := 0; due < int64(b.N); i++ {
		f.publish(i%topics, frame)
		t.await(b, due-(window-1)*each*int64(topics))
		due += each
	}
	t.await(b, due)
	b.StopTimer()
	b.ReportMetric(float64(due)/b.Elapsed().Seconds(), "frames/s")
	b.ReportMetric(0, "ns/op")
}

func (t *tally) await(b *testing.B, frames int64) {
	for begun := time.Now(); t.frames.Load() < frames; {
		time.Sleep(20 * time.Microsecond)
		if time.Since(begun) > 30*time.Second {
			b.Fatalf("%d frames arrived, %d were published", t.frames.Load(), frames)
		}
	}
}

// pace publishes so many frames a second and reports how long they took.
func pace(b *testing.B, f fanOut, t *tally, topics int, each int64, perSecond int) {
	t.took = make([]time.Duration, 0, 1<<20)
	every := time.NewTicker(time.Second * time.Duration(each) / time.Duration(perSecond))
	defer every.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-every.C
		f.publish(i%topics, t.frame())
	}
	t.await(b, int64(b.N)*each)
	b.StopTimer()
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(t.took)
	at := func(q float64) float64 {
		return float64(t.took[int(math.Ceil(q*float64(len(t.took))))-1].Microseconds())
	}
	b.ReportMetric(at(0.50), "p50-µs")
	b.ReportMetric(at(0.99), "p99-µs")
	b.ReportMetric(0, "ns/op")
}

// library starts one of the two, with conns subscribers to each of its topics in
// turn, perConn topics each.
type library struct {
	name  string
	start func(b *testing.B, t *tally, topics, conns, perConn int) fanOut
}

// BenchmarkCore is the fan-out up to a sink that counts.
func BenchmarkCore(b *testing.B) {
	for _, shape := range []struct{ topics, conns, perConn int }{
		{1, 1, 1}, {1, 100, 1}, {1, 1000, 1}, {1, 5000, 1}, {500, 5000, 10},
	} {
		for _, library := range []library{{"quotary", startHub}, {"centrifuge", startNode}} {
			b.Run(fmt.Sprintf("topics=%d/conns=%d/%s", shape.topics, shape.conns, library.name), func(b *testing.B) {
				t := &tally{began: time.Now()}
				f := library.start(b, t, shape.topics, shape.conns, shape.perConn)
				flood(b, f, t, shape.topics, int64(shape.conns*shape.perConn/shape.topics), max(1, 128/int64(shape.topics)))
			})
		}
	}
}

var sockets = []library{{"quotary", startGateway}, {"centrifuge", startServer}}

// BenchmarkSockets is the fan-out up to WebSocket clients, which run in the same
// process as all else. With window=1 no frame waits behind another of its
// connection; with window=16 some do, which centrifuge then sends as one message,
// where a client of ours gets a message each.
func BenchmarkSockets(b *testing.B) {
	for _, conns := range []int{1, 100, 1000, 5000} {
		for _, window := range []int64{1, 16} {
			for _, library := range sockets {
				b.Run(fmt.Sprintf("conns=%d/window=%d/%s", conns, window, library.name), func(b *testing.B) {
					t := &tally{began: time.Now()}
					f := library.start(b, t, 1, conns, 1)
					flood(b, f, t, 1, int64(conns), window)
				})
			}
		}
	}
}

// BenchmarkSocketsLatency is the time from Publish to the client, at a pace of
// 5,000 frames a second. With b.N publications it wants -benchtime 200x or so.
func BenchmarkSocketsLatency(b *testing.B) {
	for _, conns := range []int{100, 1000} {
		for _, library := range sockets {
			b.Run(fmt.Sprintf("conns=%d/%s", conns, library.name), func(b *testing.B) {
				t := &tally{began: time.Now()}
				f := library.start(b, t, 1, conns, 1)
				pace(b, f, t, 1, int64(conns), 5000)
			})
		}
	}
}

// running starts a function that ends with the benchmark.
func running(b *testing.B, run func(ctx context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { run(ctx) })
	b.Cleanup(func() { stop(); all.Wait() })
}
