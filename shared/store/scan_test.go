package store_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/aws/attr"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// scanAll scans to the end, on a new store for each page, as after a restart.
func scanAll(t *testing.T, open func() *store.Log, datasets []string, pageSize int) (all map[string][]store.Row, pages int) {
	t.Helper()
	all = map[string][]store.Row{}
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		page := must.Get(open().Scan(t.Context(), datasets, cursor, pageSize))(t)
		for dataset, r := range page.Rows {
			all[dataset] = append(all[dataset], r...)
		}
		cursor = page.Next
	}
	for _, rows := range all {
		slices.SortFunc(rows, func(a, b store.Row) int {
			return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Subject, b.Subject))
		})
	}
	return all, pages
}

func TestAScanReadsEachRowOfItsDatasetsOnce(t *testing.T) {
	t.Parallel()
	log, db, table := newLog(t)
	want := map[string][]store.Row{}
	for _, dataset := range []string{"fill", "filled", "fi#ll%", "order"} {
		for i := range 40 {
			want[dataset] = append(want[dataset], store.Row{
				Subject: fmt.Sprint("0x", i%7), Time: at(int64(1000 + i)), ID: fmt.Sprint(i % 3), Seq: int64(i), Body: fmt.Appendf(nil, `"%s %d"`, dataset, i),
				Index: [4]string{"i#1", "", fmt.Sprint(i), ""},
			})
		}
		must.Do(t, log.Put(t.Context(), dataset, want[dataset]))
	}
	delete(want, "filled")
	for _, pageSize := range []int{0, 1, 9, 160} {
		got, pages := scanAll(t, func() *store.Log { return store.NewLog(db, table) }, []string{"order", "fill", "fi#ll%"}, pageSize)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("in pages of %d: %s", pageSize, diff)
		}
		if pageSize > 0 && pages < 160/pageSize {
			t.Errorf("%d pages of %d rows, of 160", pages, pageSize)
		}
	}
	if page, err := log.Scan(t.Context(), nil, "", 0); len(page.Rows) != 0 || page.Next != "" || err != nil {
		t.Errorf("a scan of no dataset: %+v, %v", page, err)
	}
}

func TestAScanOutlastsThrottling(t *testing.T) {
	t.Parallel()
	log, db, _ := newLog(t)
	must.Do(t, log.Put(t.Context(), "fill", manyRows(3)))
	db.refuse.Store(2)
	page, err := log.Scan(t.Context(), []string{"fill"}, "", 0)
	if err != nil || len(page.Rows["fill"]) != 3 || db.refuse.Load() >= 0 {
		t.Errorf("%d rows, error %v", len(page.Rows["fill"]), err)
	}
}

// TestAScanReportsWhatIsNoRow, and reads the others of its page.
func TestAScanReportsWhatIsNoRow(t *testing.T) {
	t.Parallel()
	log, db, table := newLog(t)
	must.Do(t, log.Put(t.Context(), "fill", manyRows(3)))
	strange := map[string]attr.Item{
		"fill#0x1 yesterday":     {"body": attr.S("{}")},
		"fill#0x2 0000000001000": {"body": attr.B([]byte{0xff}), "seq": attr.N(7)},
	}
	for key, it := range strange {
		pk, sk, _ := strings.Cut(key, " ")
		it["pk"], it["sk"] = attr.S(pk), attr.S(sk)
		must.Get(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}))(t)
	}
	page, err := log.Scan(t.Context(), []string{"fill"}, "", 0)
	if err != nil || len(page.Rows["fill"]) != 3 || len(page.Unreadable) != len(strange) {
		t.Fatalf("%+v, %v", page, err)
	}
	for _, u := range page.Unreadable {
		if strange[u.Key] == nil || u.Dataset != "fill" || u.Reason == nil {
			t.Errorf("reported is %+v", u)
		}
		if want := `{"body":{"B":"/w=="},"pk":{"S":"fill#0x2"},"seq":{"N":"7"},"sk":{"S":"0000000001000"}}`; u.Key == "fill#0x2 0000000001000" && u.Item != want {
			t.Errorf("it holds %s, want %s", u.Item, want)
		}
	}
}

func TestAStrangeCursorIsRefused(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	for _, cursor := range []string{"x", "!", "WyIiLCIiXQ", time.Now().String()} {
		if _, err := log.Scan(t.Context(), []string{"fill"}, cursor, 0); err == nil {
			t.Errorf("the cursor %q is accepted", cursor)
		}
	}
}
