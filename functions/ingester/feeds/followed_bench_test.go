package feeds

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
)

// BenchmarkFollowedAddresses measures what each address takes of all that the connections of
// one distributor may follow, beside what the follower of the table keeps of it.
func BenchmarkFollowedAddresses(b *testing.B) {
	for _, feed := range []channel.Feed{channel.FeedFills, channel.FeedFilledOrders, channel.FeedClearinghouseState} {
		b.Run(string(feed), func(b *testing.B) {
			var followed uint64
			for b.Loop() {
				before := heapInUse()
				f := New(Config{Venue: &world{}})
				for i := range connections.MostAddressesTogether {
					id := fmt.Sprint(i / connections.MostAddresses)
					if f.clients[id] == nil {
						f.clients[id] = &client{Connection: connections.Connection{ID: id, Distributor: "acme", Feed: feed}, addresses: map[string]bool{}}
						f.hub.Connect(hub.Conn{ID: id, Of: "acme"})
					}
					f.follows(f.clients[id], []string{fmt.Sprintf("0x%040x", i)}, true, true)
				}
				for len(f.accounts.changes) > 0 {
					f.accounts.applyChanges(time.Now())
				}
				followed = heapInUse() - before
				runtime.KeepAlive(f)
			}
			b.ReportMetric(float64(followed)/connections.MostAddressesTogether, "B/address")
		})
	}
}

// heapInUse is how many bytes of the heap are in use.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// pushes says of each frame that it was posted.
type pushes chan struct{}

func (p pushes) Post(context.Context, hub.Conn, []byte) error { p <- struct{}{}; return nil }
func (pushes) Disconnect(context.Context, hub.Conn) error     { return nil }
func (pushes) Probe(context.Context, hub.Conn) error          { return nil }

// BenchmarkProvisionalFill measures how long after a public trade was delivered its fill is on its way to who
// follows one of its accounts on /ws/fills: the aim is 100 ms.
func BenchmarkProvisionalFill(b *testing.B) {
	posted := make(pushes, 1)
	f := New(Config{Venue: &world{}, Gateway: posted, Logger: slog.New(slog.DiscardHandler)})
	f.caughtUp.Store(true)
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { f.hub.Run(ctx) })
	defer running.Wait()
	defer cancel()
	one := &client{Connection: connections.Connection{ID: "one", Distributor: "acme", Feed: channel.FeedFills}, addresses: map[string]bool{}}
	f.clients["one"] = one
	f.hub.Connect(hub.Conn{ID: "one", Of: "acme"})
	f.follows(one, []string{alice}, true, true)
	sink := f.Tap(func(context.Context, hyperliquid.Delivery) error { return nil }, false)
	tid := int64(0)
	for b.Loop() {
		tid++
		trades := make([]market.Trade, 50) // of one frame of the venue, one of them Alice's
		for i := range trades {
			trades[i] = publicly(b, fill(tid*100+int64(i), time.Now(), "BTC"))
			if i > 0 {
				trades[i].Users[0] = bob
			}
		}
		if err := sink(ctx, hyperliquid.Delivery{Events: market.Events{Trades: trades, Provisional: market.AppendProvisional(nil, trades)}}); err != nil {
			b.Fatal(err)
		}
		<-posted
	}
}
