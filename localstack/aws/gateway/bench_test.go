package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/localstack/aws/gateway"
	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
)

// BenchmarkRequest is a whole request over TCP: gateway, authorizer process,
// function process, answer. ns/op is the time between answers, the p50 and p99
// are what one of the concurrent clients waits. BenchmarkPlainHandler is the
// same client against net/http alone.
func BenchmarkRequest(b *testing.B) {
	s := start(b, func(c *gateway.Config, f map[string]lambdahost.Function) {
		probe := f["probe"]
		probe.MaxQueue = 1024
		probe.Env = []string{actAs + "=trivial authorizer"}
		f["authorizer"] = probe
		probe.Env = []string{actAs + "=trivial"}
		f["probe"] = probe
		c.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	measure(b, s.client, s.url+"/guarded/BTC?AccessKeyId=975988f45090561684b7d8f4e45b85c2&SignatureNonce=2&Timestamp=1612149637&Signature=M2Y0ODNlYTUwNDFiMTg5MjRmMGQxNmY1YTMyMzc1NTc5NTUzNDAzYw%3D%3D")
}

func BenchmarkPlainHandler(b *testing.B) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"hello":"world"}`)
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	b.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-served
	})
	measure(b, &http.Client{Transport: transport}, "http://"+listener.Addr().String()+"/api/guarded/BTC")
}

// BenchmarkPost is a message from the AWS SDK's client, signing included, through the
// management API to clients that read whatever comes, all over loopback and in one
// process.
func BenchmarkPost(b *testing.B) {
	s := start(b, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	const clients = 50
	var readers sync.WaitGroup
	var ids []string
	for range clients {
		var wire net.Conn
		_, r := s.dial(b, "/ws", network(func(c net.Conn) { wire = c }))
		if r.StatusCode != http.StatusSwitchingProtocols {
			b.Fatalf("refused with %d", r.StatusCode)
		}
		readers.Go(func() { _, _ = io.Copy(io.Discard, wire) })
		b.Cleanup(func() { _ = wire.Close() })
	}
	b.Cleanup(func() {
		s.stop()
		readers.Wait()
	})
	for _, e := range s.received(b, "CONNECT", "") {
		ids = append(ids, e["requestContext"].(map[string]any)["connectionId"].(string))
	}
	client := s.management()
	message := bytes.Repeat([]byte("0123456789"), 40) // about a book with ten levels
	var next atomic.Int64
	b.SetParallelism(8)
	b.ReportAllocs()
	b.RunParallel(func(loop *testing.PB) {
		for loop.Next() {
			if err := post(client, ids[next.Add(1)%clients], message); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
}

func measure(b *testing.B, client *http.Client, url string) {
	get := func() error {
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return nil
	}
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			fan := func(each func() bool) { // runs each in every client until it is false
				var all sync.WaitGroup
				for range clients {
					all.Go(func() {
						for each() {
						}
					})
				}
				all.Wait()
			}
			var warm atomic.Int64
			fan(func() bool { // every process that will be needed is there afterwards
				if err := get(); err != nil {
					b.Error(err)
				}
				return warm.Add(1) < 500
			})
			took := make([]time.Duration, b.N)
			var next atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			fan(func() bool {
				i := next.Add(1) - 1
				if i >= int64(b.N) {
					return false
				}
				began := time.Now()
				if err := get(); err != nil {
					b.Error(err)
					return false
				}
				took[i] = time.Since(began)
				return true
			})
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
		})
	}
}
