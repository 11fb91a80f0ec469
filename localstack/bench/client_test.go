package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// listen connects clients that count what comes, until the benchmark ends.
func listen(b *testing.B, t *tally, url string, clients int) []*websocket.Conn {
	ctx, stop := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	b.Cleanup(func() { stop(); reading.Wait() })
	all := make([]*websocket.Conn, clients)
	for i := range all {
		conn, _, err := websocket.Dial(ctx, url, nil)
		if err != nil {
			b.Fatal(err)
		}
		conn.SetReadLimit(16 << 20)
		all[i] = conn
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

func pause() { time.Sleep(time.Millisecond) }
