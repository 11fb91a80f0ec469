package hub

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"quotary/shared/sigv4"
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
			if err := c.Subscribe(id, c.topics[(i*perConn+j)%topics], nil); err != nil {
				b.Fatal(err)
			}
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
			c := newCrowd(b, PostFunc(sink.Post), shape.topics, shape.conns, shape.perConn, shape.stalled)
			frame := make([]byte, 512)
			b.ReportAllocs()
			b.ResetTimer()
			var due int64
			for i := 0; due < int64(b.N); i++ {
				c.Publish(c.topics[i%len(c.topics)], frame, Event)
				due += c.each
				// At most some hundred events may wait for a connection, or they would be
				// dropped instead of sent.
				for due-sink.sent.Load() > 256*int64(shape.conns)/int64(shape.perConn) {
					runtime.Gosched()
				}
			}
			for sink.sent.Load() < due {
				runtime.Gosched()
			}
			b.StopTimer()
			b.ReportMetric(float64(due)/b.Elapsed().Seconds(), "frames/s")
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
			c := newCrowd(b, PostFunc(sink.Post), shape.topics, shape.conns, shape.perConn, shape.stalled)
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
				h := New(Config{Sink: PostFunc((&counter{}).Post)})
				for i := range conns {
					id := fmt.Sprint("conn ", i)
					h.Connect(Conn{ID: id})
					if err := h.Subscribe(id, "topic", nil); err != nil {
						b.Fatal(err)
					}
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

// BenchmarkSign compares signing here with the SDK's signer.
func BenchmarkSign(b *testing.B) {
	m := managementOf(b, "", nil)
	frame := make([]byte, 1024)
	b.Run("here", func(b *testing.B) {
		key, err := m.keys.At(b.Context(), sigv4.StampOf(noon))
		if err != nil {
			b.Fatal(err)
		}
		var s sigv4.Signer
		var out []byte
		b.ReportAllocs()
		for b.Loop() {
			out = s.AppendHeader(out[:0], key, sigv4.Request{
				Method: "POST", Host: "abc.execute-api.eu-central-1.amazonaws.com", Path: []byte("/prod/@connections/L0SM9cOFvHcCIhw%3D"),
				Length: len(frame), Payload: m.digests.of(frame), Now: sigv4.StampOf(noon),
			})
		}
	})
	b.Run("SDK", func(b *testing.B) {
		signer := v4.NewSigner()
		key, err := m.config.Credentials.Retrieve(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.NewRequest("POST", "https://abc.execute-api.eu-central-1.amazonaws.com/prod/@connections/L0SM9cOFvHcCIhw%3D", nil)
			if err != nil {
				b.Fatal(err)
			}
			r.ContentLength = int64(len(frame))
			hash := newDigest(frame).hash
			if err := signer.SignHTTP(b.Context(), key, r, string(hash[:]), "execute-api", "eu-central-1", noon); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPost measures a signed request over loopback, whose other end does
// the least that it can: what signing, HTTP and the system's calls cost. The
// last one is net/http with the SDK's signer.
func BenchmarkPost(b *testing.B) {
	api := plainAPI(b)
	frame := make([]byte, 1024)
	b.Run("here", func(b *testing.B) {
		m := managementOf(b, "", func(c *ManagementConfig) { c.Now = time.Now })
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := m.post(b.Context(), Conn{ID: "L0SM9cOFvHcCIhw=", Endpoint: api}, frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("here_64_at_a_time", func(b *testing.B) {
		m := managementOf(b, "", func(c *ManagementConfig) { c.Now, c.Pipeline = time.Now, 64 })
		all := make([]Delivery, m.Batch())
		b.ReportAllocs()
		for left := b.N; left > 0; left -= len(all) {
			all = all[:min(left, len(all))]
			for i := range all {
				all[i] = Delivery{Conn: Conn{ID: "L0SM9cOFvHcCIhw=", Endpoint: api}, Frame: frame}
			}
			m.PostAll(b.Context(), all)
			for i := range all {
				if all[i].Err != nil {
					b.Fatal(all[i].Err)
				}
			}
		}
	})
	b.Run("net_http_and_SDK_signer", func(b *testing.B) {
		signer := v4.NewSigner()
		key, err := managementOf(b, "", nil).config.Credentials.Retrieve(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
		b.Cleanup(client.CloseIdleConnections)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				r, err := http.NewRequest("POST", api+"/@connections/L0SM9cOFvHcCIhw%3D", strings.NewReader(string(frame)))
				if err != nil {
					b.Fatal(err)
				}
				hash := newDigest(frame).hash
				if err := signer.SignHTTP(b.Context(), key, r, string(hash[:]), "execute-api", "eu-central-1", time.Now()); err != nil {
					b.Fatal(err)
				}
				response, err := client.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				response.Body.Close()
			}
		})
	})
}

// plainAPI answers every request with 200, with as little work as it can.
func plainAPI(b *testing.B) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var serving sync.WaitGroup
	b.Cleanup(func() { listener.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in, out := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 16<<10)
				for {
					if in.Buffered() == 0 && out.Flush() != nil {
						return
					}
					for length := 0; ; {
						line, err := in.ReadSlice('\n')
						if err != nil {
							return
						}
						if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
							length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
						}
						if len(line) == 2 {
							in.Discard(length)
							break
						}
					}
					out.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}()
		}
	})
	return "http://" + listener.Addr().String()
}
