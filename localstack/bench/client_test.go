package bench

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/shared/testing/must"
)

// listen connects clients that count what comes, until the benchmark ends. The
// last stalled ones never read, and their system takes little for them.
func listen(b *testing.B, t *tally, url string, clients, stalled int) []*websocket.Conn {
	ctx, stop := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	b.Cleanup(func() { stop(); reading.Wait() })
	all := make([]*websocket.Conn, clients)
	small := &http.Client{Transport: &http.Transport{DialContext: dialSmall}}
	for i := range all {
		var options *websocket.DialOptions
		if i >= clients-stalled {
			options = &websocket.DialOptions{HTTPClient: small}
		}
		conn, _ := must.Get2(websocket.Dial(ctx, url, options))(b)
		conn.SetReadLimit(16 << 20)
		all[i] = conn
		if options != nil {
			b.Cleanup(func() { conn.CloseNow() })
			continue
		}
		reading.Go(func() {
			defer conn.CloseNow()
			for {
				_, message, err := conn.Read(ctx)
				if err != nil {
					return
				}
				t.count(message)
			}
		})
	}
	return all
}

// dialSmall connects with a receive buffer as small as the system allows.
func dialSmall(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) { set = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return errors.Join(err, set)
	}}
	return dialer.DialContext(ctx, network, address)
}

func pause() { time.Sleep(time.Millisecond) }
