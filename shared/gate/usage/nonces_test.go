package usage_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/gate/usage"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestANonceIsAcceptedOnceUntilItExpires(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	db := storetest.DynamoDB(t)
	n := usage.NewNonces(db, storetest.Tables(t, db)+schema.UsageTable, now.Now)
	use := func(key, nonce string) error {
		return n.Use(t.Context(), key, nonce, "", now.Now().Add(31*time.Second))
	}
	must.Do(t, use("k", "1"))
	if err := use("k", "1"); !errors.Is(err, usage.ErrNonceUsed) {
		t.Fatalf("second use: %v", err)
	}
	if err := use("other", "1"); err != nil {
		t.Fatalf("the same nonce of another key: %v", err)
	}
	now.Move(31 * time.Second)
	if err := use("k", "1"); !errors.Is(err, usage.ErrNonceUsed) {
		t.Fatalf("in the last second: %v", err)
	}
	now.Move(time.Second)
	if err := use("k", "1"); err != nil {
		t.Fatalf("after its expiry, which the engine has not deleted: %v", err)
	}
}

func TestANonceBelongsToTheRequestThatUsedItFirst(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	db := storetest.DynamoDB(t)
	n := usage.NewNonces(db, storetest.Tables(t, db)+schema.UsageTable, now.Now)
	for _, step := range []struct {
		nonce, request string
		used           bool
	}{
		{"1", "/a?x=1", false},
		{"1", "/a?x=1", false},
		{"1", "/a?x=2", true},
		{"1", "", true},
		{"1", "/a?x=1", false},
		{"2", "", false},
		{"2", "", true},
		{"2", "/a?x=1", true},
	} {
		err := n.Use(t.Context(), "k", step.nonce, step.request, now.Now().Add(31*time.Second))
		if errors.Is(err, usage.ErrNonceUsed) != step.used || err != nil && !step.used {
			t.Errorf("%+v: %v", step, err)
		}
	}
}

func TestOfManyWithOneNonceExactlyOnePasses(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T10:00:00Z")
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.UsageTable
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			err := usage.NewNonces(db, table, now.Now).Use(t.Context(), "k", "n", "", now.Now().Add(time.Minute))
			if err == nil {
				passed.Add(1)
			} else if !errors.Is(err, usage.ErrNonceUsed) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 1 {
		t.Errorf("%d passed", passed.Load())
	}
}
