package gateway_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/localstack/gateway"
	"quotary/localstack/lambdahost"
)

// audience is a gateway with so many clients that read whatever comes, in the
// cheapest way there is.
func audience(b *testing.B, clients int) (*stage, []string) {
	s := start(b, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	var readers sync.WaitGroup
	for range clients {
		var wire net.Conn
		conn, r := s.dial(b, "/ws", network(func(c net.Conn) { wire = c }))
		if conn == nil {
			b.Fatalf("refused with %d", r.StatusCode)
		}
		readers.Go(func() { _, _ = io.Copy(io.Discard, wire) })
		b.Cleanup(func() { _ = wire.Close() })
	}
	b.Cleanup(func() {
		s.stop()
		readers.Wait()
	})
	ids := make([]string, 0, clients)
	for _, e := range s.told(b, "CONNECT", "") {
		ids = append(ids, e["requestContext"].(map[string]any)["connectionId"].(string))
	}
	return s, ids
}

var frame = bytes.Repeat([]byte("0123456789"), 40) // about a book with ten levels

// BenchmarkPost is a message from a request to the management API into the socket
// of a client, all over loopback and in one process with who posts and who reads.
// SDK is the AWS SDK's client, signing included. Lean writes requests that are
// signed before; with depth=16 it sends so many before it reads their answers.
func BenchmarkPost(b *testing.B) {
	s, ids := audience(b, 200)
	rate := func(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s") }
	b.Run("client=SDK", func(b *testing.B) {
		client := s.management()
		var next atomic.Int64
		var senders sync.WaitGroup
		b.ReportAllocs()
		for range 16 {
			senders.Go(func() {
				for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
					if err := post(client, ids[n%int64(len(ids))], frame); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		senders.Wait()
		rate(b)
	})
	for _, depth := range []int{1, 16} {
		b.Run(fmt.Sprintf("client=lean/depth=%d", depth), func(b *testing.B) {
			var next atomic.Int64
			var senders sync.WaitGroup
			b.ReportAllocs()
			for range 8 {
				wire, err := net.Dial("tcp", s.addr)
				if err != nil {
					b.Fatal(err)
				}
				senders.Go(func() {
					defer wire.Close()
					if err := leanPosts(wire, ids, &next, int64(b.N), depth); err != nil {
						b.Error(err)
					}
				})
			}
			senders.Wait()
			rate(b)
		})
	}
}

// leanPosts sends depth requests at a time and reads as many answers.
func leanPosts(wire net.Conn, ids []string, next *atomic.Int64, until int64, depth int) error {
	requests := make([][]byte, len(ids))
	for i, id := range ids {
		requests[i] = fmt.Appendf(nil, "POST /api/@connections/%s HTTP/1.1\r\nHost: x\r\n%sX-Amz-Date: 20260102T030405Z\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n%s",
			strings.ReplaceAll(id, "=", "%3D"), signature, len(frame), frame)
	}
	end := []byte("\r\n\r\n") // an answer to a post has no body
	out, in := make([]byte, 0, depth*1024), make([]byte, 64<<10)
	for {
		sent := 0
		out = out[:0]
		for ; sent < depth; sent++ {
			n := next.Add(1)
			if n > until {
				break
			}
			out = append(out, requests[n%int64(len(ids))]...)
		}
		if sent == 0 {
			return nil
		}
		if _, err := wire.Write(out); err != nil {
			return err
		}
		for have, answers := 0, 0; answers < sent; {
			n, err := wire.Read(in[have:])
			if err != nil {
				return err
			}
			have += n
			if answers = bytes.Count(in[:have], end); bytes.Count(in[:have], []byte("HTTP/1.1 200 OK")) < answers {
				return errors.New("a post was refused")
			}
		}
	}
}

// BenchmarkIdleConnection tells what an open connection takes of the gateway's
// memory. Its client takes nearly none of it: it is a socket without buffers.
func BenchmarkIdleConnection(b *testing.B) {
	s := start(b, func(c *gateway.Config, f map[string]lambdahost.Function) {
		socket := f["socket"]
		socket.Env = []string{actAs + "=trivial"}
		f["socket"] = socket
		c.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := used()
	const many = 1000
	answer := make([]byte, 512)
	for b.Loop() {
		wires := make([]net.Conn, 0, many)
		for range many {
			wire, err := net.Dial("tcp", s.addr)
			if err != nil {
				b.Fatal(err)
			}
			wires = append(wires, wire)
			if _, err := io.WriteString(wire, "GET /api/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"); err != nil {
				b.Fatal(err)
			}
			if n, err := wire.Read(answer); err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 101 ") {
				b.Fatalf("%q, %v", answer[:n], err)
			}
		}
		b.ReportMetric(float64(int64(used()-before))/many, "B/connection")
		for _, wire := range wires {
			_ = wire.Close()
		}
	}
}

// BenchmarkMessage is a client's message, the function's answer and its way back.
func BenchmarkMessage(b *testing.B) {
	s := start(b, func(c *gateway.Config, f map[string]lambdahost.Function) {
		socket := f["socket"]
		socket.Env = []string{actAs + "=trivial"}
		f["socket"] = socket
		c.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	conn, _ := s.dial(b, "/ws")
	if conn == nil {
		b.Fatal("refused")
	}
	b.ReportAllocs()
	for b.Loop() {
		say(b, conn, `{"method":"ping"}`)
		expect(b, conn, `{"hello":"world"}`)
	}
}

// BenchmarkHandshake is a connection with authorizer and function, and its end.
func BenchmarkHandshake(b *testing.B) {
	s := start(b, func(c *gateway.Config, f map[string]lambdahost.Function) {
		socket := f["socket"]
		socket.Env = []string{actAs + "=trivial"}
		f["socket"] = socket
		socket.Env = []string{actAs + "=trivial authorizer"}
		f["authorizer"] = socket
		c.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	for b.Loop() {
		conn, r := s.dial(b, "/ws/guarded")
		if conn == nil {
			b.Fatalf("refused with %d", r.StatusCode)
		}
		_ = conn.Close(1000, "")
	}
	b.ReportMetric(float64(time.Second)*float64(b.N)/float64(b.Elapsed()), "connections/s")
}
