package connections_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/testclock"
)

// start lies in the future: some engines delete rows whose expiry has passed.
var start = time.Date(2100, 11, 21, 10, 0, 0, 0, time.UTC)

// world is a table of its own with a clock that stands until it is moved.
type world struct {
	*connections.Store
	db    *dynamodb.Client
	table string
	clock *testclock.Clock

	messages atomic.Int64 // made
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

// reply is a reply into which the number of trades is counted.
var reply = connections.Reply{Frame: []byte(`{"data":{"method":"subscribe"}}`), Count: channel.Trades}

// says is a reply as it is.
func says(text string) connections.Reply { return connections.Reply{Frame: []byte(text)} }

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

// message is the next message of a connection, a millisecond after the one before.
func (w *world) message(id string) connections.Message { return w.messageOf(id, "key") }

func (w *world) messageOf(id, accessKey string) connections.Message {
	n := w.messages.Add(1)
	return connections.Message{Connection: id, Key: accessKey, Distributor: "acme", At: start.Add(time.Duration(n) * time.Millisecond), ID: fmt.Sprint("m", n)}
}

// balanced fails the test when a counter differs from the items it counts.
func balanced(t testing.TB, w *world) *connectionstest.Table {
	t.Helper()
	r := connectionstest.Look(t, w.db, w.table)
	r.Balanced(t)
	return r
}

// used is what a sub-key has.
func (w *world) used(t testing.TB, accessKey string) connectionstest.Usage {
	t.Helper()
	return connectionstest.UsageOf(t, w.db, w.table, accessKey)
}

// removeIdle removes a connection whose last recorded message is older, as the ingester does.
func removeIdle(ctx context.Context, s *connections.Store, id string, before time.Time) (removed bool, err error) {
	began, others, err := s.BeginRemoval(ctx, id, before)
	if err != nil || others {
		return false, err
	}
	return began, finishRemoval(ctx, s, id)
}

// finishRemoval goes on with a removal until its end.
func finishRemoval(ctx context.Context, s *connections.Store, id string) (err error) {
	for done := false; !done && err == nil; {
		done, err = s.RemovePage(ctx, id)
	}
	return err
}

var errCrash = errors.New("crashed")

// crashing returns an engine whose client dies at random in one write of so many:
// before a request leaves, or after it was carried out, so that its answer is lost.
func crashing(db *dynamodb.Client, every int, rnd *rand.Rand) *dynamodb.Client {
	var mu sync.Mutex
	return storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		switch in.(type) {
		case *dynamodb.TransactWriteItemsInput, *dynamodb.UpdateItemInput, *dynamodb.PutItemInput, *dynamodb.DeleteItemInput:
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
