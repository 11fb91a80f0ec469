package bench

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fanOut is one of the libraries, with subscribers.
type fanOut interface {
	publish(topic int, frame []byte)
}

// shape is who follows what: each connection so many topics, in turn. The last
// stalled connections have clients that never read.
type shape struct{ topics, conns, perConn, stalled int }

// each is how many subscribers of a topic read.
func (s shape) each() int64 { return int64((s.conns - s.stalled) * s.perConn / s.topics) }

func (s shape) String() string { return fmt.Sprintf("topics=%d/conns=%d", s.topics, s.conns) }

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
func flood(b *testing.B, f fanOut, t *tally, s shape, window int64) {
	topics, each := s.topics, s.each()
	frame := t.frame()
	b.ReportAllocs()
	b.ResetTimer()
	want := int64(0)
	for i := 0; want < int64(b.N); i++ {
		f.publish(i%topics, frame)
		t.await(b, want-(window-1)*each*int64(topics))
		want += each
	}
	t.await(b, want)
	b.StopTimer()
	b.ReportMetric(float64(want)/b.Elapsed().Seconds(), "frames/s")
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

// pace publishes so many frames a second, clients that do not read included, and
// reports how long they took to those who do.
func pace(b *testing.B, f fanOut, t *tally, s shape, perSecond int) {
	t.took = make([]time.Duration, 0, 1<<20)
	every := time.NewTicker(time.Second * time.Duration(s.conns*s.perConn/s.topics) / time.Duration(perSecond))
	defer every.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-every.C
		f.publish(i%s.topics, t.frame())
	}
	t.await(b, int64(b.N)*s.each())
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

// library starts one of the two.
type library struct {
	name  string
	start func(b *testing.B, t *tally, s shape) fanOut
}

// BenchmarkCore is the fan-out up to a sink that counts.
func BenchmarkCore(b *testing.B) {
	for _, s := range []shape{{1, 1, 1, 0}, {1, 100, 1, 0}, {1, 1000, 1, 0}, {1, 5000, 1, 0}, {500, 5000, 10, 0}} {
		for _, library := range []library{{"quotary", startHub}, {"centrifuge", startNode}} {
			b.Run(fmt.Sprintf("%v/%s", s, library.name), func(b *testing.B) {
				t := &tally{began: time.Now()}
				flood(b, library.start(b, t, s), t, s, max(1, 128/int64(s.topics)))
			})
		}
	}
}

var sockets = []library{{"quotary", startGateway}, {"centrifuge", startServer}}

// BenchmarkSockets is the fan-out up to WebSocket clients, which run in the same
// process as all else. With window=1 no frame waits behind another of its
// connection; with window=16 some do, which centrifuge then sends as one message,
// where a client of ours gets a message each.
//
// On 500 topics every topic has a subscriber, so that few connections follow many
// topics each, and many connections one.
func BenchmarkSockets(b *testing.B) {
	for _, topics := range []int{1, 500} {
		for _, conns := range []int{1, 100, 1000, 5000} {
			for _, window := range []int64{1, 16} {
				for _, library := range sockets {
					s := shape{topics, conns, max(1, topics/conns), 0}
					b.Run(fmt.Sprintf("%v/window=%d/%s", s, window, library.name), func(b *testing.B) {
						t := &tally{began: time.Now()}
						flood(b, library.start(b, t, s), t, s, window)
					})
				}
			}
		}
	}
}

// BenchmarkSocketsLatency is the time from Publish to the client, at a pace of
// 1,000 frames a second, while one client of a hundred does not read. Hub, gateway and
// clients share the machine, so that a faster pace would measure who waits for it.
func BenchmarkSocketsLatency(b *testing.B) {
	for _, conns := range []int{100, 1000} {
		for _, library := range sockets {
			s := shape{1, conns, 1, conns / 100}
			b.Run(fmt.Sprintf("%v/stalled=%d/%s", s, s.stalled, library.name), func(b *testing.B) {
				t := &tally{began: time.Now()}
				pace(b, library.start(b, t, s), t, s, 1000)
			})
		}
	}
}

// BenchmarkSocketsMemory is what a connection takes after its first frames, on
// both ends of the socket and in the fan-out, which run in one process.
func BenchmarkSocketsMemory(b *testing.B) {
	for _, conns := range []int{1000, 5000} {
		for _, library := range sockets {
			s := shape{1, conns, 1, 0}
			b.Run(fmt.Sprintf("%v/%s", s, library.name), func(b *testing.B) {
				t := &tally{began: time.Now()}
				before := inUse()
				f := library.start(b, t, s)
				for want := s.each(); b.Loop(); want += s.each() {
					f.publish(0, t.frame())
					t.await(b, want)
				}
				b.ReportMetric(float64(inUse()-before)/float64(conns), "B/conn")
			})
		}
	}
}

// inUse is what the process needs for heap and stacks, bytes.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what had a finalizer
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// running starts a function that ends with the benchmark.
func running(b *testing.B, run func(ctx context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { run(ctx) })
	b.Cleanup(func() { stop(); all.Wait() })
}
