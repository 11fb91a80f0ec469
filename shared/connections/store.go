package connections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/channel"
)

// DynamoDB is the part of the client that the store uses.
type DynamoDB interface {
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
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
	Seen        time.Time // its last message, or At
}

// Limits are the caps in force for one request; 0 means no cap.
type Limits struct {
	Key         int64 // of the sub-key
	Distributor int64 // of all sub-keys of its distributor
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

// ErrGone is the error of a request for a connection that is not in the table:
// it never was, or it was removed.
var ErrGone = errors.New("the connection is gone")
