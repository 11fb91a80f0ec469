package feeds

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// Everything that is asked about the connections of another distributor stays without an
// answer until the neighbour is closed.
func TestRemovalsThatGetNoAnswerHoldUpNoNeighbour(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2 * atOnce} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			answer := make(chan struct{})
			release := sync.OnceFunc(func() { close(answer) })
			var mu sync.Mutex
			held := map[string]bool{}
			db := storetest.Intercept(w.db, func(in any, send func() (any, error)) (any, error) {
				if q, ok := in.(*dynamodb.QueryInput); ok {
					if pk, ok := q.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS); ok && pk.Value != "c#neighbour" {
						mu.Lock()
						held[pk.Value] = true
						mu.Unlock()
						<-answer
					}
				}
				return send()
			})
			w.config = func(c *Config) { c.Connections = connections.New(db, w.prefix+schema.ConnectionsTable, w.clock) }
			f, _ := w.run()
			t.Cleanup(release) // before the feeds end
			w.caughtUp(f)
			w.connect("neighbour", channel.FeedFills)
			for i := range n { // of a key that does not exist
				must.Do(t, w.table.Connect(t.Context(), connections.Connection{ID: fmt.Sprint(i), Key: "other", Distributor: "other", Feed: channel.FeedFills, Endpoint: "http://127.0.0.1/api"}, connections.Limits{}))
			}
			testenv.Until(t, "as many are being removed as may be", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(held) == min(n, removedOfOne)
			})
			w.mu.Lock()
			w.keys["key"] = keys.Status{Disabled: true}
			w.mu.Unlock()
			w.eventually("the neighbour is closed", func() bool { return w.isClosed("neighbour") })
			release()
			w.eventually("the others are closed", func() bool {
				for i := range n {
					if !w.isClosed(fmt.Sprint(i)) {
						return false
					}
				}
				return true
			})
		})
	}
}

func TestDistributorsTakeTurnsPageByPage(t *testing.T) {
	t.Parallel()
	r := newRemovals()
	add := func(of string, from, n int) {
		for i := range n {
			r.add(hub.Conn{ID: fmt.Sprint(of, from+i), Of: of}, connections.ReasonGone, false)
		}
	}
	begin := func() (began []*removal) {
		for one := r.next(); one != nil; one = r.next() {
			began = append(began, one)
		}
		return began
	}
	ids := func(list []*removal) (ids []string) {
		for _, one := range list {
			ids = append(ids, one.conn.ID)
		}
		return ids
	}
	add("a", 0, 20)
	first := begin()
	if len(first) != removedOfOne {
		t.Fatalf("%d of one distributor are removed at a time, want %d", len(first), removedOfOne)
	}
	add("b", 0, 3)
	add("c", 0, 3)
	if got := ids(begin()); !slices.Equal(got, []string{"b0", "c0", "b1", "c1"}) {
		t.Fatalf("then begin %v", got)
	}
	r.ended(first[0], removedPage)
	r.ended(first[1], removeFailed)
	r.ended(first[2], removedAll)
	if got := ids(begin()); !slices.Equal(got, []string{"a12", "b2", "c2"}) {
		t.Errorf("then begin %v", got)
	}
	add("a", 0, 3) // of which one was removed
	r.retry()
	var rest []*removal
	for one := first[3]; one != nil; one = r.next() {
		rest = append(rest, one)
		r.ended(one, removedAll)
	}
	if got, want := ids(rest[1:]), []string{"a13", "a14", "a15", "a16", "a17", "a18", "a19", "a0", "a2", "a1"}; !slices.Equal(got, want) {
		t.Errorf("of the first distributor go on %v, want %v", got, want)
	}
}
