// Package batch reads and writes many DynamoDB items at once.
//
// DynamoDB may process only a part of a batch, or throttle all of it. Get, GetAll
// and Put repeat what was left, after a pause, for as long as a [Retry] says.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/readunits"
	"quotary/shared/backoff"
)

// Limits of DynamoDB.
const (
	MaxGet = 100 // keys of a request
	MaxPut = 25  // items of a request
)

// Retry is how long what was left is tried again.
type Retry struct {
	Tries   int             // in a row without any progress; 0 is without end, until the context ends
	Pauses  backoff.Backoff // after a try without progress
	Timeout time.Duration   // of one request, the SDK's own tries included; 0 is without

	// Within is how long after the beginning of the first request that left anything another one
	// may begin, with progress or without, of all requests of a call together; 0 is without end.
	Within time.Duration
	left   *atomic.Pointer[time.Time] // when that was, which requests of one call share
}

// Getter is the part of DynamoDB's client that reads.
type Getter interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Putter is the part of DynamoDB's client that writes.
type Putter interface {
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// Get reads the items of one request, of at most MaxGet keys of one table, in no
// particular order. Those that do not exist are absent.
func Get(ctx context.Context, db Getter, in *dynamodb.BatchGetItemInput, retry Retry) ([]attr.Item, error) {
	var items []attr.Item
	keys := countKeys(in.RequestItems)
	err := retry.run(ctx, func(ctx context.Context) (progress, done bool, err error) {
		for {
			out, err := db.BatchGetItem(ctx, in)
			if err != nil {
				return false, false, err
			}
			for _, found := range out.Responses {
				if items == nil {
					items = found
				} else {
					items = append(items, found...)
				}
			}
			left := countKeys(out.UnprocessedKeys)
			progress, keys = left < keys, left
			if left > 0 {
				in = &dynamodb.BatchGetItemInput{RequestItems: out.UnprocessedKeys}
			}
			if left == 0 || !progress || !readunits.Cut(out) {
				return progress, left == 0, nil
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read %d items: %w", keys, err)
	}
	return items, nil
}

func countKeys(requests map[string]types.KeysAndAttributes) (n int) {
	for _, of := range requests {
		n += len(of.Keys)
	}
	return n
}

// GetAll reads any number of items of a table, `parallel` requests at a time. The
// other fields of want say what to read of each and how consistently.
func GetAll(ctx context.Context, db Getter, table string, keys []attr.Item, want types.KeysAndAttributes, parallel int, retry Retry) ([]attr.Item, error) {
	retry.left = new(atomic.Pointer[time.Time])
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	found := make([][]attr.Item, (len(keys)+MaxGet-1)/MaxGet)
	for i := range found {
		want := want
		want.Keys = keys[i*MaxGet : min((i+1)*MaxGet, len(keys))]
		group.Go(func() (err error) {
			in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: want}}
			found[i], err = Get(ctx, db, in, retry)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// Put writes at most MaxPut items with different keys, each whole. After an error
// any part of them may have been written.
func Put(ctx context.Context, db Putter, table string, items []attr.Item, retry Retry) error {
	writes := make([]types.WriteRequest, len(items))
	for i, item := range items {
		writes[i].PutRequest = &types.PutRequest{Item: item}
	}
	err := retry.run(ctx, func(ctx context.Context) (progress, done bool, err error) {
		out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
		if err != nil {
			return false, false, err
		}
		left := out.UnprocessedItems[table]
		progress, writes = len(left) < len(writes), left
		return progress, len(left) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("write %d items: %w", len(writes), err)
	}
	return nil
}

var errLeft = errors.New("the table keeps leaving them unprocessed")

// run makes a request until it is done.
func (r Retry) run(ctx context.Context, request func(context.Context) (progress, done bool, err error)) error {
	if r.left == nil {
		r.left = new(atomic.Pointer[time.Time])
	}
	for try := 0; ; try++ {
		began := time.Now()
		progress, done, err := r.once(ctx, request)
		switch {
		case done:
			return nil
		case err != nil && !Throttled(err):
			return err
		case progress:
			try = 0 // it goes on: no need to slow down further
		}
		r.left.CompareAndSwap(nil, &began)
		if r.Tries > 0 && try+1 >= r.Tries || r.Within > 0 && time.Since(*r.left.Load()) >= r.Within {
			return cmp.Or(err, errLeft)
		}
		if err := r.Pauses.Wait(ctx, try); err != nil {
			return fmt.Errorf("%w: %w", errLeft, err)
		}
	}
}

func (r Retry) once(ctx context.Context, request func(context.Context) (progress, done bool, err error)) (progress, done bool, err error) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	return request(ctx)
}

// Throttled reports whether DynamoDB refuses a whole request for now, or kept refusing a part of
// one until that was given up.
func Throttled(err error) bool {
	var api smithy.APIError
	return errors.Is(err, errLeft) || errors.As(err, &api) && slices.Contains([]string{
		"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException",
	}, api.ErrorCode())
}

// WhileThrottled makes a request again, after a pause, as long as DynamoDB refuses it
// for lack of capacity and ctx goes on.
func WhileThrottled(ctx context.Context, pauses backoff.Backoff, request func() error) error {
	for try := 0; ; try++ {
		err := request()
		if !Throttled(err) {
			return err
		}
		if err := pauses.Wait(ctx, try); err != nil {
			return fmt.Errorf("DynamoDB throttles: %w", err)
		}
	}
}
