package wants

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

const alice, bob = "0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"

func newDocuments(t *testing.T) (*store.Documents, *counted) {
	t.Helper()
	db := &counted{Client: storetest.DynamoDB(t)}
	return store.NewDocuments(db, storetest.Tables(t, db.Client)+schema.DocumentsTable, Accounts.Name, Limits), db
}

func TestAnAccountIsWantedForTenMinutesAfterItWasAskedFor(t *testing.T) {
	t.Parallel()
	d, db := newDocuments(t)
	now := time.UnixMilli(1_800_000_000_000)
	want := func(distributor, address string, after time.Duration) {
		t.Helper()
		if refused, err := Accounts.Want(t.Context(), d, distributor, []string{address}, now.Add(after)); err != nil || refused > 0 {
			t.Fatal(refused, err)
		}
	}
	list := func(after time.Duration, want ...Item) {
		t.Helper()
		got, err := Accounts.List(t.Context(), d, now.Add(after))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("after %s: %v\n%s", after, err, diff)
		}
	}
	list(0)
	want("one", alice, 0)
	want("one", bob, 0)
	writes := db.writes.Load()
	for second := range 50 {
		want("one", alice, time.Duration(second)*time.Second)
	}
	if n := db.writes.Load(); n != writes {
		t.Errorf("%d writes within a minute", n-writes)
	}
	want("one", alice, 6*time.Minute)
	want("two", alice, 0)
	list(Accounts.Lasts, Item{alice, []string{"one", "two"}}, Item{bob, []string{"one"}})
	list(Accounts.Lasts+time.Second, Item{alice, []string{"one"}})
	list(0, Item{alice, []string{"one"}}) // the other documents are deleted
	list(Accounts.Lasts + 7*time.Minute)
}

// TestNoDistributorTakesThePlacesOfAnother: each has its own, and no document is a
// transaction with what others write too.
func TestNoDistributorTakesThePlacesOfAnother(t *testing.T) {
	t.Parallel()
	d, db := newDocuments(t)
	now := time.UnixMilli(1_800_000_000_000)
	addresses := make([]string, Accounts.Most+3)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("0x%040d", i)
	}
	for _, one := range []struct {
		distributor string
		addresses   []string
		refused     int
	}{{"one", addresses, 3}, {"one", addresses[:Accounts.Most], 0}, {"one", addresses[Accounts.Most:], 3}, {"two", addresses[Accounts.Most:], 0}} {
		refused, err := Accounts.Want(t.Context(), d, one.distributor, one.addresses, now)
		if err != nil || refused != one.refused {
			t.Errorf("%d accounts of %s: %d refused, %v, want %d", len(one.addresses), one.distributor, refused, err, one.refused)
		}
	}
	if n := db.shared.Load(); n > 0 {
		t.Errorf("%d transactions with another item", n)
	}
	// What requests of one moment write together beyond the number is not listed.
	body := []byte(fmt.Sprintf(`{"time":%d}`, now.UnixMilli()))
	if _, err := d.Create(t.Context(), owner, idOf("one", addresses[Accounts.Most]), body); err != nil {
		t.Fatal(err)
	}
	accounts, err := Accounts.List(t.Context(), d, now)
	of := 0
	for _, a := range accounts {
		if slices.Contains(a.Distributors, "one") {
			of++
		}
	}
	if err != nil || of != Accounts.Most || len(accounts) != Accounts.Most+3 {
		t.Errorf("%d accounts are listed, %d of them wanted by the first: %v", len(accounts), of, err)
	}
}

// counted counts writes, and those of more than one item.
type counted struct {
	*dynamodb.Client
	writes, shared atomic.Int64
}

func (c *counted) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c.writes.Add(1)
	return c.Client.PutItem(ctx, in, options...)
}

func (c *counted) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.writes.Add(1)
	if len(in.TransactItems) > 1 {
		c.shared.Add(1)
	}
	return c.Client.TransactWriteItems(ctx, in, options...)
}
