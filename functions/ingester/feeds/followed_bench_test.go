package feeds

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
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
