package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/localstack/stack"
	"quotary/shared/testing/must"
)

// BenchmarkVenueToClient is the time from when a client of the simulated venue
// itself has a book, or a trade, to when clients of /ws have it: what the source,
// the ingester and the gateway add, while one client of a hundred does not read.
// Books come over the venue's WebSocket, trades out of the node's files, which are
// looked at every 100 ms. Clients, gateway and venue are this process; an operation
// is one frame.
func BenchmarkVenueToClient(b *testing.B) {
	live := must.Get(stack.Start(b.Context(), stack.Config{
		Data: b.TempDir(), Programs: programs, Tools: filepath.Join(root, "localstack"),
		IngesterEnv: []string{"QUOTARY_FEED_IDLE=1h"},
	}))(b)
	defer func() {
		if err := live.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	seen := listenTo(b, live.State.VenueURL)
	for _, conns := range []int{100, 1000} {
		// The connections are made once for all the runs of a benchmark.
		b.Run(fmt.Sprint("conns=", conns), func(b *testing.B) {
			arrivals := follow(b, live, conns, seen)
			for _, channel := range []string{"l2Book", "trades"} {
				b.Run(channel, func(b *testing.B) { report(b, arrivals[channel]) })
			}
		})
	}
}

// report takes b.N arrivals and reports how long the frames took.
func report(b *testing.B, arrivals chan time.Duration) {
	for len(arrivals) > 0 {
		<-arrivals // of the time before
	}
	took := make([]time.Duration, b.N)
	b.ResetTimer()
	for i := range took {
		select {
		case took[i] = <-arrivals:
		case <-time.After(30 * time.Second):
			b.Fatal("no frame within 30 s")
		}
	}
	b.StopTimer()
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[int(math.Ceil(q*float64(len(took))))-1].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
	b.ReportMetric(0, "ns/op")
}

// follow has clients follow books and trades until the benchmark ends, and returns
// by channel how long each frame after a snapshot took.
func follow(b *testing.B, live *stack.Stack, conns int, seen *sync.Map) map[string]chan time.Duration {
	arrivals := map[string]chan time.Duration{"l2Book": make(chan time.Duration, 1<<16), "trades": make(chan time.Duration, 1<<16)}
	ctx, stop := context.WithCancel(context.Background())
	var running, connecting sync.WaitGroup
	b.Cleanup(func() { stop(); running.Wait() })
	stalled := &http.Client{Transport: &http.Transport{DialContext: dialSmall}}
	turn := make(chan struct{}, 6) // as many as the local functions serve at a time
	for i := range conns {
		connecting.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			var options *websocket.DialOptions
			if i%100 == 0 {
				options = &websocket.DialOptions{HTTPClient: stalled}
			}
			conn, err := dialBusy(ctx, live, live.State.Demo.SubKey, options)
			if err != nil {
				b.Error(err)
				return
			}
			for channel := range arrivals {
				message := subscription("subscribe", map[string]any{"type": channel, "coin": "BTC"})
				if err := conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
					b.Error(err)
				}
			}
			running.Go(func() {
				defer conn.CloseNow()
				if options != nil {
					<-ctx.Done()
					return
				}
				receive(ctx, conn, seen, arrivals)
			})
		})
	}
	connecting.Wait()
	return arrivals
}

// listenTo follows the venue itself until the benchmark ends: it notes when a frame
// of a channel and a time came, by the two.
func listenTo(b *testing.B, venue string) *sync.Map {
	seen := new(sync.Map)
	ctx, stop := context.WithCancel(context.Background())
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(venue, "http")+"/ws", nil) //nolint:bodyclose // there is none to close, says Dial
	if err != nil {
		b.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	for _, channel := range []string{"l2Book", "trades"} {
		message := subscription("subscribe", map[string]any{"type": channel, "coin": "BTC"})
		must.Do(b, conn.Write(ctx, websocket.MessageText, []byte(message)))
	}
	var running sync.WaitGroup
	b.Cleanup(func() { stop(); running.Wait() })
	running.Go(func() {
		defer conn.CloseNow()
		for pinged := time.Now(); ; {
			_, frame, err := conn.Read(ctx)
			if err != nil {
				return
			}
			now := time.Now()
			for _, channel := range []string{"l2Book", "trades"} {
				if at, ok := lastTime(frame); ok && of(channel, frame) {
					seen.LoadOrStore(fmt.Sprint(channel, at.UnixMilli()), now)
				}
			}
			if now.Sub(pinged) > soakPing {
				pinged = now
				_ = conn.Write(ctx, websocket.MessageText, []byte(`{"method":"ping"}`)) // the next read notices an end
			}
		}
	})
	return seen
}

func of(channel string, frame []byte) bool {
	return bytes.HasPrefix(frame, []byte(`{"channel":"`+channel+`"`))
}

// receive notes how long frames took until the connection ends.
func receive(ctx context.Context, conn *websocket.Conn, seen *sync.Map, arrivals map[string]chan time.Duration) {
	begun := map[string]bool{}
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			return
		}
		now := time.Now()
		for channel, into := range arrivals {
			if !of(channel, frame) {
				continue
			}
			at, _ := lastTime(frame)
			if came, ok := seen.Load(fmt.Sprint(channel, at.UnixMilli())); ok && begun[channel] {
				select {
				case into <- now.Sub(came.(time.Time)):
				default: // nobody measures
				}
			}
			begun[channel] = true // with its snapshot
		}
	}
}

// lastTime is the last time in a frame.
func lastTime(frame []byte) (time.Time, bool) {
	const member = `"time":`
	i := bytes.LastIndex(frame, []byte(member))
	if i < 0 {
		return time.Time{}, false
	}
	digits, _, _ := bytes.Cut(frame[i+len(member):], []byte(","))
	ms, err := strconv.ParseInt(string(digits), 10, 64)
	return time.UnixMilli(ms), err == nil
}

// dialSmall connects with a receive buffer as small as the system allows, so that
// a client that does not read holds up who sends to it.
func dialSmall(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) { set = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return errors.Join(err, set)
	}}
	return dialer.DialContext(ctx, network, address)
}
