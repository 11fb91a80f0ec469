package batch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/batch"
	"quotary/shared/backoff"
)

// table is one that processes at most `most` items a request and throttles every
// other request while throttles are left.
type table struct {
	mu        sync.Mutex
	items     map[string]attr.Item
	most      int
	throttles int
	requests  int
	err       error
}

func (t *table) enter() error {
	t.requests++
	if t.throttles > 0 && t.requests%2 == 1 {
		t.throttles--
		return &types.ProvisionedThroughputExceededException{}
	}
	return t.err
}

func (t *table) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.enter(); err != nil {
		return nil, err
	}
	want := in.RequestItems["t"]
	if len(want.Keys) > batch.MaxGet {
		return nil, &smithy.GenericAPIError{Code: "ValidationException"}
	}
	n := min(t.most, len(want.Keys))
	var out dynamodb.BatchGetItemOutput
	out.Responses = map[string][]map[string]types.AttributeValue{}
	for _, key := range want.Keys[:n] {
		if it, ok := t.items[attr.Text(key, "pk")]; ok {
			out.Responses["t"] = append(out.Responses["t"], it)
		}
	}
	if want.Keys = want.Keys[n:]; len(want.Keys) > 0 {
		out.UnprocessedKeys = map[string]types.KeysAndAttributes{"t": want}
	}
	return &out, nil
}

func (t *table) BatchWriteItem(_ context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.enter(); err != nil {
		return nil, err
	}
	writes := in.RequestItems["t"]
	n := min(t.most, len(writes))
	for _, w := range writes[:n] {
		t.items[attr.Text(w.PutRequest.Item, "pk")] = w.PutRequest.Item
	}
	var out dynamodb.BatchWriteItemOutput
	if n < len(writes) {
		out.UnprocessedItems = map[string][]types.WriteRequest{"t": writes[n:]}
	}
	return &out, nil
}

func items(n int) []attr.Item {
	all := make([]attr.Item, n)
	for i := range all {
		all[i] = attr.Item{"pk": attr.S(fmt.Sprint(i))}
	}
	return all
}

var quick = batch.Retry{Pauses: backoff.Backoff{Min: time.Microsecond, Max: time.Millisecond}, Timeout: time.Minute}

func TestWhatIsLeftIsRepeatedUntilAllIsDone(t *testing.T) {
	t.Parallel()
	db := &table{items: map[string]attr.Item{}, most: 7, throttles: 3}
	if err := batch.Put(t.Context(), db, "t", items(batch.MaxPut), quick); err != nil || len(db.items) != batch.MaxPut {
		t.Fatalf("%d items are written, error %v", len(db.items), err)
	}
	db.throttles = 3
	for _, n := range []int{0, 1, 100, 101, 350} { // more than there are
		found, err := batch.GetAll(t.Context(), db, "t", items(n), types.KeysAndAttributes{}, 3, quick)
		seen := map[string]bool{}
		for _, it := range found {
			seen[attr.Text(it, "pk")] = true
		}
		if want := min(n, batch.MaxPut); err != nil || len(found) != want || len(seen) != want {
			t.Errorf("of %d keys, %d items are found, %d of them different, error %v; want %d", n, len(found), len(seen), err, want)
		}
	}
}

func TestATableThatProcessesNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, db := range map[string]*table{"unprocessed": {}, "throttled": {err: &types.ProvisionedThroughputExceededException{}}} {
		three := quick
		three.Tries = 3
		if err := batch.Put(t.Context(), db, "t", items(1), three); err == nil || db.requests != 3 {
			t.Errorf("%s: error %v after %d requests, want one after 3", name, err, db.requests)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err := batch.GetAll(ctx, db, "t", items(150), types.KeysAndAttributes{}, 2, quick)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v, want the context's", name, err)
		}
	}
}

// slow has a table that processes one item a request take a while for each.
type slow struct{ *table }

func (s slow) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if err := backoff.Sleep(ctx, 100*time.Millisecond); err != nil {
		return nil, err
	}
	return s.table.BatchGetItem(ctx, in, o...)
}

func TestACallThatMayTakeASecondIsGivenUpThenAlsoWithProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, brief := time.Now(), quick
		brief.Within = time.Second
		_, err := batch.GetAll(t.Context(), slow{&table{most: 1}}, "t", items(150), types.KeysAndAttributes{}, 1, brief)
		if took := time.Since(began); !batch.Throttled(err) || took < time.Second || took > 1200*time.Millisecond {
			t.Errorf("after %v: %v", took, err)
		}
		db := &table{items: map[string]attr.Item{}, most: batch.MaxGet}
		if _, err := batch.GetAll(t.Context(), slow{db}, "t", items(2000), types.KeysAndAttributes{}, 1, brief); err != nil {
			t.Errorf("two seconds of which nothing was left: %v", err)
		}
	})
}

func TestAnyOtherErrorIsReturnedAtOnce(t *testing.T) {
	t.Parallel()
	db := &table{err: &types.ResourceNotFoundException{}}
	_, get := batch.GetAll(t.Context(), db, "t", items(1), types.KeysAndAttributes{}, 1, quick)
	for _, err := range []error{get, batch.Put(t.Context(), db, "t", items(1), quick)} {
		if !errors.Is(err, db.err) {
			t.Errorf("error %v", err)
		}
	}
	if db.requests != 2 {
		t.Errorf("%d requests, want 2", db.requests)
	}
}
