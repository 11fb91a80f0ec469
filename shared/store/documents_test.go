package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

var few = store.DocumentLimits{Bytes: 100, Count: 5}

func newDocuments(t *testing.T, limits store.DocumentLimits) (*store.Documents, *dynamodb.Client, string) {
	t.Helper()
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.DocumentsTable
	return store.NewDocuments(db, table, "alert", limits), db, table
}

func create(t fataler, d *store.Documents, owner, id, body string) store.Document {
	t.Helper()
	revision := must.Get(d.Create(context.Background(), owner, id, []byte(body)))(t)
	return store.Document{Owner: owner, ID: id, Revision: revision, Body: []byte(body)}
}

func list(t fataler, d *store.Documents, owner string) (all []store.Document) {
	t.Helper()
	all = slices.AppendSeq(all, must.All(t, d.List(context.Background(), owner)))
	return all
}

func TestADocumentIsCreatedReplacedAndDeletedAtItsRevision(t *testing.T) {
	t.Parallel()
	d, _, _ := newDocuments(t, few)
	doc := create(t, d, "key#1", "a/b#%é", `{"n":1}`)
	if got, err := d.Get(t.Context(), doc.Owner, doc.ID); err != nil || gocmp.Diff(doc, got) != "" {
		t.Errorf("got %+v, error %v; want %+v", got, err, doc)
	}
	first := doc.Revision
	revision, err := d.Replace(t.Context(), doc.Owner, doc.ID, first, []byte(`{"n":2}`))
	if err != nil || revision == first {
		t.Fatalf("revision %q, error %v", revision, err)
	}
	if got, err := d.Get(t.Context(), doc.Owner, doc.ID); err != nil || got.Revision != revision || string(got.Body) != `{"n":2}` {
		t.Errorf("got %+v, error %v", got, err)
	}
	for what, err := range map[string]error{
		"replaced": second(d.Replace(t.Context(), doc.Owner, doc.ID, first, []byte(`3`))),
		"deleted":  d.Delete(t.Context(), doc.Owner, doc.ID, first),
	} {
		if !errors.Is(err, store.ErrDocumentChanged) {
			t.Errorf("an old revision was %s: %v", what, err)
		}
	}
	must.Do(t, d.Delete(t.Context(), doc.Owner, doc.ID, revision))
	for what, err := range map[string]error{
		"read":     second(d.Get(t.Context(), doc.Owner, doc.ID)),
		"replaced": second(d.Replace(t.Context(), doc.Owner, doc.ID, revision, []byte(`3`))),
		"deleted":  d.Delete(t.Context(), doc.Owner, doc.ID, revision),
	} {
		if !errors.Is(err, store.ErrNoDocument) {
			t.Errorf("a deleted document was %s: %v", what, err)
		}
	}
}

func TestARevisionIsNeverThatOfALaterDocumentOfTheSameID(t *testing.T) {
	t.Parallel()
	d, _, _ := newDocuments(t, few)
	old := create(t, d, "key", "a", `1`)
	must.Do(t, d.Delete(t.Context(), "key", "a", old.Revision))
	create(t, d, "key", "a", `1`)
	if _, err := d.Replace(t.Context(), "key", "a", old.Revision, []byte(`2`)); !errors.Is(err, store.ErrDocumentChanged) {
		t.Errorf("error is %v, want ErrDocumentChanged", err)
	}
}

func TestOwnersAndKindsAreApart(t *testing.T) {
	t.Parallel()
	d, db, table := newDocuments(t, few)
	mine := create(t, d, "a", "1", `1`)
	create(t, d, "a#1", "1", `2`)
	create(t, store.NewDocuments(db, table, "note", few), "a", "1", `3`)
	if _, err := d.Create(t.Context(), "a", "1", []byte(`4`)); !errors.Is(err, store.ErrDocumentExists) {
		t.Errorf("error is %v, want ErrDocumentExists", err)
	}
	if diff := gocmp.Diff([]store.Document{mine}, list(t, d, "a")); diff != "" {
		t.Error(diff)
	}
	if all := list(t, d, "nobody"); len(all) > 0 {
		t.Errorf("an owner of nothing has %+v", all)
	}
}

func TestWhatIsNoDocumentIsRefused(t *testing.T) {
	t.Parallel()
	d, _, _ := newDocuments(t, few)
	for body, want := range map[string]string{
		`"` + strings.Repeat("x", 99) + `"`: "it has 101 bytes, and may have 100",
		`{`:                                 "not JSON",
		``:                                  "not JSON",
	} {
		if _, err := d.Create(t.Context(), "key", "a", []byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("create %.10q: error is %v, want one that says %q", body, err, want)
		}
	}
	if _, err := d.Replace(t.Context(), "key", "a", "r", make([]byte, 101)); !errors.Is(err, store.ErrDocumentTooLarge) {
		t.Errorf("error is %v, want ErrDocumentTooLarge", err)
	}
	for _, c := range []struct{ owner, id, want string }{
		{"", "a", "needs an owner and an ID"}, {"key", "", "needs an owner and an ID"},
		{"key", strings.Repeat("i", 1100), "1102 bytes"}, {"key", "\xff", "UTF-8"},
	} {
		for _, err := range []error{
			second(d.Create(t.Context(), c.owner, c.id, []byte(`1`))), second(d.Get(t.Context(), c.owner, c.id)),
			second(d.Replace(t.Context(), c.owner, c.id, "r", []byte(`1`))), d.Delete(t.Context(), c.owner, c.id, "r"),
		} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.10q of %q: error is %v, want one that says %q", c.id, c.owner, err, c.want)
			}
		}
	}
	for _, err := range d.List(t.Context(), "") {
		if err == nil {
			t.Error("the documents of nobody were listed")
		}
	}
}

func TestAListIsReadToItsEndInPages(t *testing.T) {
	t.Parallel()
	d, _, _ := newDocuments(t, store.DocumentLimits{Bytes: 300_000, Count: 10})
	var want []string
	for i := range 8 { // 2.4 MB, where a page ends at 1 MB
		id := fmt.Sprint(i)
		create(t, d, "key", id, `"`+strings.Repeat("x", 299_000)+`"`)
		want = append(want, id)
	}
	var got []string
	for _, doc := range list(t, d, "key") {
		got = append(got, doc.ID)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for doc := range d.List(t.Context(), "key") {
		if doc.ID != "0" {
			t.Errorf("went on to %s", doc.ID)
		}
		break
	}
}

func TestOfManyWritersOfARevisionOneWins(t *testing.T) {
	t.Parallel()
	d, _, _ := newDocuments(t, few)
	const writers, rounds = 8, 5
	doc := create(t, d, "key", "a", `0`)
	for range rounds {
		var won atomic.Pointer[string]
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				revision, err := d.Replace(t.Context(), "key", "a", doc.Revision, []byte(`1`)) // the same body: no writer may take another's for its own
				switch {
				case err == nil && !won.CompareAndSwap(nil, &revision):
					t.Errorf("writer %d won too", i)
				case err != nil && !errors.Is(err, store.ErrDocumentChanged):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() == nil {
			t.Fatal("no writer won")
		}
		var err error
		if doc, err = d.Get(t.Context(), "key", "a"); err != nil || doc.Revision != *won.Load() {
			t.Fatalf("the document has revision %s, error %v; want the winner's", doc.Revision, err)
		}
	}
}

func TestCreatorsTogetherDoNotExceedTheLimit(t *testing.T) {
	t.Parallel()
	d, _, _ := newDocuments(t, few)
	var made, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			_, err := d.Create(t.Context(), "key", fmt.Sprint(i), []byte(`1`))
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, store.ErrTooManyDocuments):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	docs := list(t, d, "key")
	if made.Load() != 5 || refused.Load() != 7 || len(docs) != 5 {
		t.Errorf("%d made, %d refused, %d listed", made.Load(), refused.Load(), len(docs))
	}
	must.Do(t, d.Delete(t.Context(), "key", docs[0].ID, docs[0].Revision))
	create(t, d, "key", "in its place", `1`)
}

func TestDocumentsThatAreNotCountedAreListedByTheBeginningOfTheirIDs(t *testing.T) {
	t.Parallel()
	d, _, _ := newDocuments(t, store.DocumentLimits{Bytes: 100})
	for _, id := range []string{"a/1", "a/2", "ab/1", "b/1"} {
		create(t, d, "owner", id, `{}`)
	}
	if _, err := d.Create(t.Context(), "owner", "a/1", []byte(`{}`)); !errors.Is(err, store.ErrDocumentExists) {
		t.Errorf("created again: %v", err)
	}
	var ids []string
	for one := range must.All(t, d.ListPrefix(t.Context(), "owner", "a/")) {
		ids = append(ids, one.ID)
		if err := d.Delete(t.Context(), "owner", one.ID, one.Revision); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(ids, []string{"a/1", "a/2"}) || len(list(t, d, "owner")) != 2 {
		t.Errorf("listed are %q", ids)
	}
}

func TestDocumentsAreCreatedTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	d, _, _ := newDocuments(t, few)
	create(t, d, "key", "b", `1`)
	for _, tt := range []struct {
		ids  []string
		want error
		left int
	}{
		{[]string{"a", "b", "c"}, store.ErrDocumentExists, 1},
		{[]string{"c", "d", "e", "f", "g"}, store.ErrTooManyDocuments, 1},
		{[]string{"c", "d", "e", "f", "g", "h"}, store.ErrTooManyDocuments, 1},
		{[]string{"c", "d", "e", "f"}, nil, 5},
		{[]string{"g"}, store.ErrTooManyDocuments, 5},
	} {
		revisions, err := d.CreateAll(t.Context(), "key", []byte(`2`), tt.ids...)
		docs := list(t, d, "key")
		if !errors.Is(err, tt.want) || len(docs) != tt.left || err == nil && len(revisions) != len(tt.ids) {
			t.Errorf("%s: %v, %d revisions, %d documents", tt.ids, err, len(revisions), len(docs))
		}
		for i, revision := range revisions {
			if docs[i+1].ID != tt.ids[i] || docs[i+1].Revision != revision {
				t.Errorf("%+v has not the revision %s", docs[i+1], revision)
			}
		}
	}
}

func TestADocumentThatIsNotCountedIsSetWhateverThereIs(t *testing.T) {
	t.Parallel()
	counted, db, table := newDocuments(t, few)
	if _, err := counted.Set(t.Context(), "key", "a", []byte(`1`)); err == nil {
		t.Error("one that is counted is set")
	}
	d := store.NewDocuments(db, table, "mark", store.DocumentLimits{Bytes: 100})
	for _, body := range []string{`1`, `2`} {
		revision, err := d.Set(t.Context(), "key", "a", []byte(body))
		if docs := list(t, d, "key"); err != nil || len(docs) != 1 || docs[0].Revision != revision || string(docs[0].Body) != body {
			t.Errorf("%+v, %v", docs, err)
		}
	}
}

func TestALostAnswerIsNoConflict(t *testing.T) {
	t.Parallel()
	d, db, table := newDocuments(t, few)
	doc := create(t, d, "key", "a", `1`)
	lossy := store.NewDocuments(storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		if _, ok := in.(*dynamodb.PutItemInput); ok {
			if _, err := send(); err != nil {
				t.Error(err)
			}
		}
		return send() // as the SDK repeats a request without an answer
	}), table, "alert", few)
	revision := must.Get(lossy.Replace(t.Context(), "key", "a", doc.Revision, []byte(`2`)))(t)
	if got, err := d.Get(t.Context(), "key", "a"); err != nil || got.Revision != revision {
		t.Errorf("got %+v, error %v; want revision %s", got, err, revision)
	}
}

func TestWritesOutlastConflictsAndThrottling(t *testing.T) {
	t.Parallel()
	_, db, table := newDocuments(t, few)
	reasons := func(codes ...string) error {
		err := &types.TransactionCanceledException{}
		for _, code := range codes {
			err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return err
	}
	var troubles []error
	d := store.NewDocuments(storetest.Intercept(db, func(_ any, send func() (any, error)) (any, error) {
		if len(troubles) == 0 {
			return send()
		}
		err := troubles[0]
		troubles = troubles[1:]
		return nil, err
	}), table, "alert", few)

	troubles = []error{reasons("TransactionConflict", "None"), reasons("None", "ThrottlingError"), &types.ProvisionedThroughputExceededException{}}
	doc := create(t, d, "key", "a", `1`)
	troubles = []error{&types.TransactionConflictException{}}
	if _, err := d.Replace(t.Context(), "key", "a", doc.Revision, []byte(`2`)); err != nil {
		t.Error(err)
	}
	troubles = []error{reasons("ValidationError", "None")}
	var canceled *types.TransactionCanceledException
	if _, err := d.Create(t.Context(), "key", "b", []byte(`1`)); !errors.As(err, &canceled) {
		t.Errorf("error is %v, want DynamoDB's", err)
	}
}

// Any sequence of calls does to the store what it does to a map.
func TestDocumentsAreAMap(t *testing.T) {
	t.Parallel()
	limits := store.DocumentLimits{Bytes: 20, Count: 3}
	_, db, table := newDocuments(t, limits)
	kinds := 0
	rapid.Check(t, func(rt *rapid.T) {
		kinds++
		d := store.NewDocuments(db, table, fmt.Sprint("kind", kinds), limits)
		model := map[string]map[string]store.Document{"a": {}, "b": {}}
		revisions := []string{"never"}
		draw := func() (owner, id, revision string, body []byte) {
			return rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "owner"), rapid.SampledFrom([]string{"1", "2", "#", "é", "count"}).Draw(rt, "id"),
				rapid.SampledFrom(revisions).Draw(rt, "revision"), fmt.Append(nil, rapid.IntRange(0, 9).Draw(rt, "body"))
		}
		// at is what a call on a revision is to end with.
		at := func(owner, id, revision string) error {
			doc, ok := model[owner][id]
			switch {
			case !ok:
				return store.ErrNoDocument
			case doc.Revision != revision:
				return store.ErrDocumentChanged
			}
			return nil
		}
		write := func(owner, id, revision string, body []byte, err, want error) {
			if !errors.Is(err, want) {
				rt.Fatalf("error is %v, want %v", err, want)
			}
			if err == nil {
				model[owner][id] = store.Document{Owner: owner, ID: id, Revision: revision, Body: body}
				revisions = append(revisions, revision)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(*rapid.T) {
				owner, id, _, body := draw()
				var want error
				if _, ok := model[owner][id]; ok {
					want = store.ErrDocumentExists
				} else if len(model[owner]) == limits.Count {
					want = store.ErrTooManyDocuments
				}
				revision, err := d.Create(t.Context(), owner, id, body)
				write(owner, id, revision, body, err, want)
			},
			"replace": func(*rapid.T) {
				owner, id, old, body := draw()
				want := at(owner, id, old)
				revision, err := d.Replace(t.Context(), owner, id, old, body)
				write(owner, id, revision, body, err, want)
			},
			"delete": func(*rapid.T) {
				owner, id, revision, _ := draw()
				err, want := d.Delete(t.Context(), owner, id, revision), at(owner, id, revision)
				if !errors.Is(err, want) {
					rt.Fatalf("error is %v, want %v", err, want)
				}
				if err == nil {
					delete(model[owner], id)
				}
			},
			"": func(*rapid.T) {
				for owner, docs := range model {
					want := slices.SortedFunc(maps.Values(docs), func(a, b store.Document) int { return strings.Compare(a.ID, b.ID) })
					if diff := gocmp.Diff(want, list(rt, d, owner), cmpopts.EquateEmpty()); diff != "" {
						rt.Fatal(diff)
					}
				}
			},
		})
	})
}

func second[T any](_ T, err error) error { return err }
