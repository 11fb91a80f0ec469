package anchors

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

const alice, bob = "0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"

func TestAnAccountIsWantedForTenMinutesAfterItWasAskedFor(t *testing.T) {
	t.Parallel()
	db := &counted{Client: storetest.DynamoDB(t)}
	d := store.NewDocuments(db, storetest.Tables(t, db.Client)+schema.DocumentsTable, Kind, Limits)
	now := time.UnixMilli(1_800_000_000_000)
	want := func(address string, after time.Duration) {
		t.Helper()
		if err := Want(t.Context(), d, address, now.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	list := func(after time.Duration, want ...string) {
		t.Helper()
		if got, err := List(t.Context(), d, now.Add(after)); err != nil || !slices.Equal(got, want) {
			t.Errorf("after %s: %v, %v, want %v", after, got, err, want)
		}
	}
	list(0)
	want(alice, 0)
	want(bob, 0)
	writes := db.writes
	for second := range 50 {
		want(alice, time.Duration(second)*time.Second)
	}
	if db.writes != writes {
		t.Errorf("%d writes within a minute", db.writes-writes)
	}
	want(alice, 2*time.Minute)
	list(Wanted, alice, bob)
	list(Wanted+time.Second, alice)
	list(0, alice) // bob's document is deleted
	list(Wanted + 3*time.Minute)
}

func TestNoMoreAccountsAreWantedThanMayBe(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	d := store.NewDocuments(db, storetest.Tables(t, db)+schema.DocumentsTable, Kind, store.DocumentLimits{Bytes: Limits.Bytes, Count: 2})
	for i := range 3 {
		err := Want(t.Context(), d, fmt.Sprintf("0x%040d", i), time.Now())
		if (err != nil) != (i == 2) {
			t.Errorf("account %d: %v", i, err)
		}
	}
}

// counted counts writes.
type counted struct {
	*dynamodb.Client
	writes int
}

func (c *counted) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c.writes++
	return c.Client.PutItem(ctx, in, options...)
}

func (c *counted) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.writes++
	return c.Client.TransactWriteItems(ctx, in, options...)
}
