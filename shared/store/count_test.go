package store_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// TestRowsAreCountedInTheStore also over pages, at the edges of a window, and no further
// than is asked for.
func TestRowsAreCountedInTheStore(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.LogTable
	queries := 0
	counting := storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		if q, ok := in.(*dynamodb.QueryInput); ok && q.Select == types.SelectCount {
			queries++
		}
		return send()
	})
	l := store.NewLog(counting, table)
	body := make([]byte, 10_000)
	for i := range body {
		body[i] = 'x'
	}
	var rows []store.Row
	for i := range 150 { // a megabyte and a half
		rows = append(rows, store.Row{Subject: "alice", Index: [4]string{"a"}, Time: at(1000 + int64(i)), ID: fmt.Sprint(i), Body: body})
	}
	must.Do(t, l.Put(t.Context(), "word", rows))
	for name, c := range map[string]struct {
		q    store.Query
		most int
		want int
	}{
		"all":           {store.Query{Subject: "alice"}, 1000, 150},
		"both edges":    {store.Query{Subject: "alice", From: at(1001), To: at(1003)}, 1000, 3},
		"an index":      {store.Query{Subject: "a", Index: store.A, From: at(1149)}, 1000, 1},
		"at most":       {store.Query{Subject: "alice"}, 7, 7},
		"nobody":        {store.Query{Subject: "bob"}, 1000, 0},
		"an empty span": {store.Query{Subject: "alice", From: at(5), To: at(4)}, 1000, 0},
	} {
		c.q.Dataset = "word"
		if n, err := l.Count(t.Context(), c.q, c.most); err != nil || n != c.want {
			t.Errorf("%s: %d, %v, want %d", name, n, err, c.want)
		}
	}
	if queries < 6 {
		t.Errorf("%d queries, one of more than a megabyte", queries)
	}
	l.Retention = retention.Setting{"word": 1} // the rows are of 1970
	if n, err := l.Count(t.Context(), store.Query{Dataset: "word", Subject: "alice"}, 1000); err != nil || n != 0 {
		t.Errorf("%d are counted that are no longer retained, %v", n, err)
	}
}
