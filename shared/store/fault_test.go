package store_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// faulty passes requests on to the engine and does to them what DynamoDB does
// under load, which no engine on one machine does by itself.
type faulty struct {
	*dynamodb.Client

	refuse   atomic.Int64 // so many batch requests and writes are throttled as a whole
	partial  bool         // batches are processed in part
	starve   bool         // batches are not processed at all
	reads    atomic.Int64 // Query requests
	mu       sync.Mutex
	running  int // batch requests under way
	parallel int // the most there were
}

func (f *faulty) enter() func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running++
	f.parallel = max(f.parallel, f.running)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running--
	}
}

func (f *faulty) throttle() error {
	if f.refuse.Add(-1) >= 0 {
		return &types.ProvisionedThroughputExceededException{}
	}
	return nil
}

// kept returns how many of n are processed.
func (f *faulty) kept(n int) int {
	switch {
	case f.starve:
		return 0
	case f.partial:
		return rand.IntN(n + 1)
	}
	return n
}

func (f *faulty) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	defer f.enter()()
	if err := f.throttle(); err != nil {
		return nil, err
	}
	left := map[string][]types.WriteRequest{}
	pass := map[string][]types.WriteRequest{}
	for table, writes := range in.RequestItems {
		n := f.kept(len(writes))
		if n > 0 {
			pass[table] = writes[:n]
		}
		if n < len(writes) {
			left[table] = writes[n:]
		}
	}
	if len(pass) > 0 {
		if _, err := f.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: pass}); err != nil {
			return nil, err
		}
	}
	return &dynamodb.BatchWriteItemOutput{UnprocessedItems: left}, nil
}

func (f *faulty) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if err := f.throttle(); err != nil {
		return nil, err
	}
	return f.Client.PutItem(ctx, in)
}

func (f *faulty) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	defer f.enter()()
	if err := f.throttle(); err != nil {
		return nil, err
	}
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}
	left := map[string]types.KeysAndAttributes{}
	for table, want := range in.RequestItems {
		n := f.kept(len(want.Keys))
		rest := want
		rest.Keys = want.Keys[n:]
		want.Keys = want.Keys[:n]
		if n > 0 {
			got, err := f.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: want}})
			if err != nil {
				return nil, err
			}
			out.Responses[table] = got.Responses[table]
		}
		if len(rest.Keys) > 0 {
			left[table] = rest
		}
	}
	out.UnprocessedKeys = left
	return out, nil
}

func (f *faulty) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	f.reads.Add(1)
	return f.Client.Query(ctx, in)
}

func (f *faulty) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if err := f.throttle(); err != nil {
		return nil, err
	}
	return f.Client.Scan(ctx, in)
}
