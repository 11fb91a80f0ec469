package keys

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// cut returns a store whose process ends before its nth transaction: what it would
// write from then on is lost.
func (b *bed) cut(n int) *Store {
	db := storetest.Intercept(b.db, func(in any, send func() (any, error)) (any, error) {
		if _, is := in.(*dynamodb.TransactWriteItemsInput); is {
			n--
		}
		if n <= 0 {
			return nil, errors.New("ended")
		}
		return send()
	})
	return New(db, b.table, b.ring, b.now)
}

// TestABatchThatEndsHalfWayIsWholeInEveryList ends its process between its writes.
func TestABatchThatEndsHalfWayIsWholeInEveryList(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		transactions int // that are made
		failed       bool
		active       int64
	}{
		"before its transaction":           {0, true, 80},
		"after it":                         {1, false, 2},
		"after the first half of its rows": {2, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			d := b.distributor(many).AccessKey
			var all []string
			for range 80 {
				k, _ := b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(1))})
				all = append(all, k.AccessKey)
			}
			err := b.cut(tt.transactions+1).SetActive(t.Context(), d, all[2:], false)
			if (err != nil) != tt.failed {
				t.Fatalf("got error %v", err)
			}
			before, err := b.readAccount(t.Context(), d)
			if err != nil || len(before.unlisted) == 0 {
				t.Fatalf("%+v, %v: want marks", before, err)
			}
			for range 2 { // as long as it may still run, and when it cannot any more
				got, err := b.Distributor(t.Context(), d)
				if err != nil || got.ActiveSubKeys != tt.active {
					t.Errorf("%d are active, %v; want %d", got.ActiveSubKeys, err, tt.active)
				}
				b.wantSums(d, 80, 80)
				b.move(abandoned + time.Second)
			}
			if after, err := b.readAccount(t.Context(), d); err != nil || len(after.unlisted) > 0 {
				t.Errorf("%d marks are left, %v", len(after.unlisted), err)
			}
		})
	}
}

// TestAChangeBesideABatchStands changes a sub-key whose row a batch has left behind.
func TestAChangeBesideABatchStands(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bed, d, accessKey string) error{
		"enable": func(b *bed, d, accessKey string) error {
			return b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, Status: ptr(int64(1))})
		},
		"disable": func(b *bed, d, accessKey string) error {
			return b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, Status: ptr(int64(0))})
		},
		"rename": func(b *bed, d, accessKey string) error {
			return b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, Name: ptr("new")})
		},
		"delete": func(b *bed, d, accessKey string) error { return b.DeleteSubKey(t.Context(), d, accessKey) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			d := b.distributor(many).AccessKey
			one, _ := b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(1))})
			two, _ := b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(2))})
			must.Do(t, b.cut(2).SetActive(t.Context(), d, []string{one.AccessKey, two.AccessKey}, false))
			must.Do(t, change(b, d, one.AccessKey))
			if name == "delete" {
				b.wantSums(d, 1, 2)
			} else {
				b.wantSums(d, 2, 3)
			}
		})
	}
}

// TestPagesAreCutsOfTheList turns pages, by a store that remembers where parts began and by one that
// does not, while the list changes in between.
func TestPagesAreCutsOfTheList(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor(many).AccessKey
	var all []string
	for i := range 60 {
		k, _ := b.subKey(d, NewSubKey{Name: []string{"Alpha", "beta", "ALPINE"}[i%3], MonthlyQuota: ptr(int64(1))})
		all = append(all, k.AccessKey)
		if i%4 > 0 {
			b.move(time.Millisecond)
		}
	}
	pages := func(when string) {
		t.Helper()
		for _, filter := range []Filter{{}, {Status: ptr(int64(1))}, {Status: ptr(int64(0))}, {Keyword: "alp"}, {Keyword: "alp", Status: ptr(int64(1))}, {Keyword: "none"}} {
			want := b.fresh()
			list, total := must.Get2(want.SubKeys(t.Context(), d, filter, 0, 1000))(t)
			for _, size := range []int64{7, 20} {
				for _, offset := range []int64{0, size, 2 * size, 3 * size, size, 10 * size} {
					got, n, err := b.SubKeys(t.Context(), d, filter, offset, size)
					if err != nil || n != total {
						t.Fatalf("%s: a total of %d, %v; want %d", when, n, err, total)
					}
					part := list[min(offset, total):min(offset+size, total)]
					if diff := cmp.Diff(part, got, cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("%s: %+v from %d on (-want +got):\n%s", when, filter, offset, diff)
					}
				}
			}
		}
	}
	pages("at first")
	must.Do(t, b.SetActive(t.Context(), d, all[10:30], false))
	pages("after a batch")
	for _, accessKey := range all[40:45] {
		must.Do(t, b.DeleteSubKey(t.Context(), d, accessKey))
	}
	pages("after deletions")
	must.Do(t, b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: all[1], Name: ptr("alps")}))
	pages("after another name")
	b.subKey(d, NewSubKey{Name: "alpaca", MonthlyQuota: ptr(int64(1))})
	pages("after a new one")
}
