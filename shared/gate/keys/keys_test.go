package keys

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
)

// bed is a store on an empty table of a real engine, with a clock that stands
// still until it is moved and a count of the requests made.
type bed struct {
	*Store
	t     testing.TB
	clock *testclock.Clock
	db    *dynamodb.Client

	gets, batches atomic.Int64
	conflicts     atomic.Int64 // so many writes meet other transactions
}

func newBed(t testing.TB) *bed {
	t.Helper()
	return newBedOn(t, storetest.DynamoDB(t))
}

func newBedOn(t testing.TB, client *dynamodb.Client) *bed {
	t.Helper()
	b := &bed{t: t, clock: testclock.At(time.Date(2026, 3, 4, 5, 6, 7, 890e6, time.UTC))}
	b.db = storetest.Intercept(client, b.meet)
	table := storetest.Tables(t, client) + schema.KeysTable
	b.Store = New(b.db, table, testRing(t), b.clock.Now)
	return b
}

func testRing(t testing.TB) *Ring {
	t.Helper()
	ring := must.Get(OpenRing(t.Context(), func(context.Context) (DataKeys, error) {
		return DataKeys{Current: "a", Keys: map[string][]byte{"a": bytes.Repeat([]byte{7}, 32)}}, nil
	}))(t)
	return ring
}

// move moves the clock.
func (b *bed) move(d time.Duration) { b.clock.Move(d) }

// fresh returns the same table as an instance sees it that has just started.
func (b *bed) fresh() *Store { return New(b.db, b.table, b.ring, b.now) }

// distributor registers one with the preset of an ordinary contract, changed.
func (b *bed) distributor(change ...func(*Preset)) Registration {
	b.t.Helper()
	preset := Preset{Name: "Acme", Level: "gold", MaxSubKeys: 10, MaxTotalQuota: 10_000, WSConnLimit: 5, WSSubLimit: 50}
	for _, c := range change {
		c(&preset)
	}
	token, _ := must.Get2(b.CreateInvite(b.t.Context(), preset, 0))(b.t)
	return must.Get(b.Register(b.t.Context(), token))(b.t)
}

// subKey creates one of the distributor.
func (b *bed) subKey(distributor string, in NewSubKey) (SubKey, Secret) {
	b.t.Helper()
	if in.Name == "" {
		in.Name = "client"
	}
	return must.Get2(b.CreateSubKey(b.t.Context(), distributor, in))(b.t)
}

// level puts one with these actions.
func (b *bed) level(distributor, name string, actions ...string) {
	b.t.Helper()
	must.Do(b.t, b.PutLevel(b.t.Context(), distributor, name, Allow(actions...)))
}

// wantInvalid checks that the error is the caller's and that its sentence
// holds all parts.
func wantInvalid(t testing.TB, err error, parts ...string) {
	t.Helper()
	var bad *InvalidError
	if !errors.As(err, &bad) {
		t.Fatalf("got error %v, want an InvalidError", err)
	}
	for _, part := range parts {
		if !strings.Contains(bad.Message, part) {
			t.Errorf("the message %q does not hold %q", bad.Message, part)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// reads returns the reads since the last call.
func (b *bed) reads() (gets, batches int64) { return b.gets.Swap(0), b.batches.Swap(0) }

// meet is what requests of a bed go through: they are counted, and the next writes
// meet other transactions under way, which the engine of these tests never shows by
// itself.
func (b *bed) meet(in any, send func() (any, error)) (any, error) {
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		b.gets.Add(1)
		return send()
	case *dynamodb.BatchGetItemInput:
		b.batches.Add(1)
		return send()
	case *dynamodb.TransactWriteItemsInput:
		if b.conflicts.Add(-1) >= 0 {
			reasons := make([]types.CancellationReason, len(in.TransactItems))
			for i := range reasons {
				reasons[i].Code = aws.String("None")
			}
			reasons[0].Code = aws.String("TransactionConflict")
			return nil, &types.TransactionCanceledException{CancellationReasons: reasons}
		}
	case *dynamodb.UpdateItemInput, *dynamodb.PutItemInput, *dynamodb.DeleteItemInput:
		if b.conflicts.Add(-1) >= 0 {
			return nil, &types.TransactionConflictException{}
		}
	}
	return send()
}

// listAll returns all selected sub-keys of a distributor, the newest first.
func (b *bed) listAll(distributor string, filter Filter) []SubKey {
	b.t.Helper()
	list, total, err := b.SubKeys(b.t.Context(), distributor, filter, 0, 1<<19)
	if err != nil || int64(len(list)) != total {
		b.t.Fatalf("%d of %d sub-keys are listed, %v", len(list), total, err)
	}
	return list
}
