package connections_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"quotary/shared/channel"
	"quotary/shared/connections"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testclock"
)

// start lies in the future: some engines delete rows whose expiry has passed.
var start = time.Date(2100, 11, 21, 10, 0, 0, 0, time.UTC)

// world is a table of its own with a clock that stands until it is moved.
type world struct {
	*connections.Store
	db    *dynamodb.Client
	table string
	clock *testclock.Clock
}

func open(t testing.TB) *world {
	t.Helper()
	db := storetest.DynamoDB(t)
	w := &world{db: db, table: storetest.Tables(t, db) + schema.ConnectionsTable, clock: testclock.At(start)}
	w.Store = connections.New(db, w.table, w.clock.Now)
	return w
}

func streams(t testing.TB) *dynamodbstreams.Client {
	endpoint := storetest.Endpoint(t)
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: &endpoint,
		Region:       "eu-west-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:   &http.Client{Transport: transport},
	})
}

var free connections.Limits

func reply(active int) []byte { return fmt.Appendf(nil, `{"activeCount":%d}`, active) }

func connection(id, accessKey string, feed channel.Feed) connections.Connection {
	return connections.Connection{ID: id, Key: accessKey, Distributor: "acme", Feed: feed, Endpoint: "http://127.0.0.1/api"}
}

func trades(coin string) channel.Subscription {
	return channel.Subscription{Type: channel.Trades, Coin: coin}
}

func address(i int) string { return fmt.Sprintf("0x%040x", i) }

func addressRange(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, address(i))
	}
	return all
}

// must fails the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rows is what a look at the whole table shows.
type rows struct {
	conns, subs map[string]int64 // by "k#key" and "d#distributor", counted from the items
	counters    map[string]connections.Usage
	live        map[string]map[string]bool // connection id -> keys and addresses that it follows
}

func look(t testing.TB, w *world) rows {
	t.Helper()
	r := rows{
		conns: map[string]int64{}, subs: map[string]int64{},
		counters: map[string]connections.Usage{}, live: map[string]map[string]bool{},
	}
	text := func(it map[string]types.AttributeValue, name string) string {
		if v, ok := it[name].(*types.AttributeValueMemberS); ok {
			return v.Value
		}
		return ""
	}
	number := func(it map[string]types.AttributeValue, name string) (n int64) {
		if v, ok := it[name].(*types.AttributeValueMemberN); ok {
			fmt.Sscan(v.Value, &n)
		}
		return n
	}
	var items []map[string]types.AttributeValue
	pages := dynamodb.NewScanPaginator(w.db, &dynamodb.ScanInput{TableName: &w.table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.WithoutCancel(t.Context()))
		must(t, err)
		items = append(items, page.Items...)
	}
	owner := map[string][2]string{}
	for _, it := range items {
		pk, sk := text(it, "pk"), text(it, "sk")
		switch {
		case strings.HasPrefix(pk, "c#") && sk == "c":
			who := [2]string{"k#" + text(it, "key"), "d#" + text(it, "dist")}
			owner[pk] = who
			r.conns[who[0]]++
			r.conns[who[1]]++
			r.live[pk[2:]] = map[string]bool{}
		case !strings.HasPrefix(pk, "c#"):
			r.counters[pk] = connections.Usage{Connections: number(it, "conns"), Subscriptions: number(it, "subs")}
		}
	}
	active := map[string]int64{}
	for _, it := range items {
		pk, sk := text(it, "pk"), text(it, "sk")
		if !strings.HasPrefix(pk, "c#") || sk == "c" {
			continue
		}
		who, ok := owner[pk]
		if !ok {
			t.Errorf("%s %s has no connection", pk, sk)
			continue
		}
		if strings.HasPrefix(sk, "s#") || strings.HasPrefix(sk, "g#") {
			r.subs[who[0]]++
			r.subs[who[1]]++
		}
		if key, ok := strings.CutPrefix(sk, "s#"); ok {
			r.live[pk[2:]][key] = true
			name, _, _ := strings.Cut(sk[len("s#"):], "#")
			active[pk+name]++
		}
		if set, ok := it["addrs"].(*types.AttributeValueMemberSS); ok {
			for _, a := range set.Value {
				if r.live[pk[2:]][a] {
					t.Errorf("%s holds %s twice", pk, a)
				}
				r.live[pk[2:]][a] = true
			}
		}
	}
	for _, it := range items {
		for name := range it {
			if channel, ok := strings.CutPrefix(name, "n_"); ok && number(it, name) != active[text(it, "pk")+channel] {
				t.Errorf("%s counts %d of %s, has %d", text(it, "pk"), number(it, name), channel, active[text(it, "pk")+channel])
			}
		}
	}
	return r
}

// balanced fails the test when a counter differs from the items it counts.
func balanced(t testing.TB, w *world) rows {
	t.Helper()
	r := look(t, w)
	for who, counted := range r.counters {
		if counted.Connections != r.conns[who] || counted.Subscriptions != r.subs[who] {
			t.Errorf("%s counts %+v, the items are %d connections and %d slots", who, counted, r.conns[who], r.subs[who])
		}
	}
	for who := range r.conns {
		if _, ok := r.counters[who]; !ok {
			t.Errorf("%s has connections and no counter", who)
		}
	}
	return r
}

var errCrash = errors.New("crashed")

// crashing returns an engine whose client dies at random in one write of so many:
// before a request leaves, or after it was carried out, so that its answer is lost.
func crashing(db *dynamodb.Client, every int, rnd *rand.Rand) *dynamodb.Client {
	var mu sync.Mutex
	return storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		switch in.(type) {
		case *dynamodb.TransactWriteItemsInput, *dynamodb.UpdateItemInput:
		default:
			return send()
		}
		mu.Lock()
		crashes := rnd.IntN(every) == 0
		before := crashes && rnd.IntN(2) == 0
		mu.Unlock()
		if before {
			return nil, errCrash
		}
		out, err := send()
		if crashes && err == nil {
			return nil, errCrash
		}
		return out, err
	})
}
