package connections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/gate/channel"
	"quotary/shared/lru"
)

// DynamoDB is the part of the client that the store uses.
type DynamoDB interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// Store writes the table. Its methods are safe for concurrent use, by any
// number of processes.
type Store struct {
	db    DynamoDB
	table string
	clock func() time.Time

	full lru.Cache[counter, time.Time] // caps that had no slot left, and until when that is remembered
}

// New returns a store over the named table.
func New(db DynamoDB, table string, clock func() time.Time) *Store {
	return &Store{db: db, table: table, clock: clock}
}

// Connection is one client of a feed.
type Connection struct {
	ID          string // as the gateway names it
	Key         string // access key of the sub-key
	Distributor string // primary access key
	Feed        channel.Feed
	Dex         string    // "" is the main dex
	Endpoint    string    // URL of the management API that reaches the client
	At          time.Time // when it connected
	Seen        time.Time // its last message that was recorded, or At
	Generation  int64     // of the secret that opened it
}

// Message is what the gateway says of one message of a client.
type Message struct {
	Connection       string    // id
	Key, Distributor string    // of the connection
	At               time.Time // when the gateway received it
	ID               string    // of the request: no other message of the connection has it
}

// Reply is a frame that the ingester sends to a client.
type Reply struct {
	Frame []byte // an object; empty for none
	// Count, unless empty, is the channel whose subscriptions the ingester counts into
	// the frame when it sends it: see [Reply.Counting].
	Count channel.Name
	// From is where what the message adds begins, with the reply to a message that adds something.
	From channel.Resume
}

// Counting is the frame with the member activeCount at the end of the object that ends
// the frame, where the reply wants that, else as it is.
func (r Reply) Counting(active int) []byte {
	end := len(r.Frame) - len(`}}`)
	if r.Count == "" || end < 0 {
		return r.Frame
	}
	return fmt.Appendf(nil, `%s,"activeCount":%d}}`, r.Frame[:end], active)
}

// Limits are the caps in force for one request; 0 means no cap.
type Limits struct {
	Key         int64 // of the sub-key
	Distributor int64 // of all sub-keys of its distributor

	// When each was set where there was none, ms; 0 where there was never none.
	KeySince, DistributorSince int64
}

// LimitError is the error of a request that a cap refuses; nothing was taken.
type LimitError struct {
	Limit   int64
	Current int64 // what is taken, at least Limit
}

// Error says what the cap is.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%d of %d are taken", e.Current, e.Limit)
}

// ErrCounting is the error of a request under a cap that was set where there was none,
// while what was made before is counted: that takes some seconds.
var ErrCounting = errors.New("what was open before the limit was set is being counted: try again in a few seconds")

// ErrGone is the error of a request for a connection that is not in the table, or is
// being removed.
var ErrGone = errors.New("the connection is gone")
