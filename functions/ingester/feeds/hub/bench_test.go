package hub

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

// counter is a sink that counts, and does not answer for stalled connections.
type counter struct {
	sent atomic.Int64
	seen func(frame []byte) // may be nil
}

func (s *counter) Post(ctx context.Context, c Conn, frame []byte) error {
	if strings.HasPrefix(c.ID, "stalled") {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.seen != nil {
		s.seen(frame)
	}
	s.sent.Add(1)
	return nil
}

// crowd connects conns to a hub that runs: each to some of the topics, so that
// all topics have as many subscribers.
type crowd struct {
	*Hub
	topics []string
	each   int64 // subscribers per topic that are not stalled
}

func newCrowd(b *testing.B, sink Sink, topics, conns, perConn int, stalled float64) *crowd {
	b.Helper()
	c := &crowd{Hub: New(Config{Sink: sink})}
	for i := range topics {
		c.topics = append(c.topics, fmt.Sprint("topic ", i))
	}
	sick := int(stalled * float64(conns))
	for i := range conns {
		id := fmt.Sprint("conn ", i)
		if i < sick {
			id = fmt.Sprint("stalled ", i)
		}
		c.Connect(Conn{ID: id})
		for j := range perConn {
			must.Do(b, c.Subscribe(id, c.topics[(i*perConn+j)%topics], nil))
		}
	}
	c.each = int64((conns - sick) * perConn / topics)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	b.Cleanup(func() { stop(); running.Wait() })
	return c
}

var shapes = []struct {
	topics, conns, perConn int
	stalled                float64
}{
	{1, 1, 1, 0},
	{1, 100, 1, 0},
	{1, 1000, 1, 0},
	{1, 5000, 1, 0},
	{1, 5000, 1, 0.01},
	{500, 5000, 10, 0},
	{500, 5000, 10, 0.01},
}

func shapeName(topics, conns int, stalled float64) string {
	return fmt.Sprintf("topics=%d/conns=%d/stalled=%d%%", topics, conns, int(100*stalled))
}

// BenchmarkFanOut measures events from Publish to a sink that counts them: one
// operation is one frame to one connection. Run it with -cpu 1 for the figure
// per core.
func BenchmarkFanOut(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shapeName(shape.topics, shape.conns, shape.stalled), func(b *testing.B) {
			sink := &counter{}
			c := newCrowd(b, sink, shape.topics, shape.conns, shape.perConn, shape.stalled)
			frame := make([]byte, 512)
			b.ReportAllocs()
			b.ResetTimer()
			var want int64
			for i := 0; want < int64(b.N); i++ {
				c.Publish(c.topics[i%len(c.topics)], frame, Event)
				want += c.each
				// At most some hundred events may wait for a connection, or they would be
				// dropped instead of sent.
				for want-sink.sent.Load() > 256*int64(shape.conns)/int64(shape.perConn) {
					runtime.Gosched()
				}
			}
			for sink.sent.Load() < want {
				runtime.Gosched()
			}
			b.StopTimer()
			b.ReportMetric(float64(want)/b.Elapsed().Seconds(), "frames/s")
			b.ReportMetric(0, "ns/op")
			if got := c.Totals(); shape.stalled == 0 && got.Discarded > 0 {
				b.Errorf("%d frames were dropped and not measured", got.Discarded)
			}
		})
	}
}

// BenchmarkLatency publishes at a steady pace of 50,000 frames a second and
// measures the time from Publish to the sink. The slowest subscriber of a topic
// waits for all the others.
func BenchmarkLatency(b *testing.B) {
	for _, shape := range shapes[1:] {
		b.Run(shapeName(shape.topics, shape.conns, shape.stalled), func(b *testing.B) {
			var mu sync.Mutex
			var took []time.Duration
			began := time.Now()
			sink := &counter{seen: func(frame []byte) {
				d := time.Since(began) - time.Duration(binary.LittleEndian.Uint64(frame))
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
			}}
			c := newCrowd(b, sink, shape.topics, shape.conns, shape.perConn, shape.stalled)
			pace := time.NewTicker(time.Second * time.Duration(c.each) / 50_000)
			defer pace.Stop()
			if shape.stalled > 0 {
				c.publishAll(began)
				time.Sleep(500 * time.Millisecond) // each stalled connection held up a sender
				mu.Lock()
				took = took[:0]
				mu.Unlock()
			}
			b.ResetTimer()
			for i := range b.N {
				<-pace.C
				c.Publish(c.topics[i%len(c.topics)], stamped(began), Event)
			}
			time.Sleep(50 * time.Millisecond)
			b.StopTimer()
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func stamped(began time.Time) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(time.Since(began)))
}

func (c *crowd) publishAll(began time.Time) {
	for _, topic := range c.topics {
		c.Publish(topic, stamped(began), Event)
	}
}

// BenchmarkMemory measures what a connection with its subscriptions takes, idle,
// and with full queues of events.
func BenchmarkMemory(b *testing.B) {
	for _, waiting := range []int{0, 1024} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			const conns = 2000
			for b.Loop() {
				before := heapInUse()
				h := New(Config{Sink: &counter{}})
				for i := range conns {
					id := fmt.Sprint("conn ", i)
					h.Connect(Conn{ID: id})
					must.Do(b, h.Subscribe(id, "topic", nil))
				}
				frame := make([]byte, 512)
				for range waiting {
					h.Publish("topic", frame, Event)
				}
				b.ReportMetric(float64(heapInUse()-before)/conns, "B/conn")
				runtime.KeepAlive(h)
			}
		})
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
