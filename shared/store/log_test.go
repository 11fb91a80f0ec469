package store_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func newLog(t *testing.T) (*store.Log, *faulty, string) {
	t.Helper()
	db := &faulty{Client: storetest.DynamoDB(t)}
	table := storetest.Tables(t, db.Client) + schema.LogTable
	return store.NewLog(db, table), db, table
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// fataler is a testing.T or a rapid.T.
type fataler interface {
	Helper()
	Fatal(...any)
}

func collect(t fataler, rows iter.Seq2[store.Row, error]) []store.Row {
	t.Helper()
	var all []store.Row
	all = slices.AppendSeq(all, must.All(t, rows))
	return all
}

func manyRows(n int) []store.Row {
	rows := make([]store.Row, n)
	for i := range rows {
		rows[i] = store.Row{Subject: fmt.Sprint("0x", i%7), Time: at(int64(1000 + i/10)), ID: fmt.Sprint(i), Body: []byte(`{}`)}
	}
	return rows
}

func TestARowIsFoundUnderItsSubjectAndInEveryIndex(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	row := store.Row{
		Subject: "0xabc",
		Time:    at(1700000000123),
		ID:      "77#88",
		Seq:     -5,
		Index:   [4]string{"0xabc/xyz:GOLD", "88", "", "0xb#1%23"},
		Body:    []byte(`{"px":"1.0","note":"é \" \\ <&>"}`),
	}
	must.Do(t, log.Put(t.Context(), "fill", []store.Row{row}))
	for _, q := range []store.Query{
		{Subject: "0xabc"},
		{Subject: "0xabc/xyz:GOLD", Index: store.A},
		{Subject: "88", Index: store.B},
		{Subject: "0xb#1%23", Index: store.D},
	} {
		q.Dataset = "fill"
		check.Equalf(t, []store.Row{row}, collect(t, log.Rows(t.Context(), q)), "index %d, subject %s", q.Index, q.Subject)
	}
	for _, q := range []store.Query{
		{Dataset: "fill", Subject: "88"},
		{Dataset: "order", Subject: "0xabc"},
		{Dataset: "order", Subject: "88", Index: store.B},
		{Dataset: "fill", Subject: "0xabc", Index: store.C},
	} {
		if rows := collect(t, log.Rows(t.Context(), q)); len(rows) != 0 {
			t.Errorf("%+v finds %v", q, rows)
		}
	}
}

func TestLogKeysOnTheTable(t *testing.T) {
	t.Parallel()
	log, db, table := newLog(t)
	must.Do(t, log.Put(t.Context(), "fill", []store.Row{{
		Subject: "a#b%", Time: at(42), ID: "1#2", Seq: 9, Index: [4]string{"x/@107", "", "", "y"}, Body: []byte(`{}`),
	}}))
	got := rawItem(t, db, table, "fill#a%23b%25", "0000000000042#1#2")
	want := map[string]types.AttributeValue{
		"pk":   &types.AttributeValueMemberS{Value: "fill#a%23b%25"},
		"sk":   &types.AttributeValueMemberS{Value: "0000000000042#1#2"},
		"seq":  &types.AttributeValueMemberN{Value: "9"},
		"body": &types.AttributeValueMemberS{Value: "{}"},
		"a":    &types.AttributeValueMemberS{Value: "fill#x/@107"},
		"d":    &types.AttributeValueMemberS{Value: "fill#y"},
	}
	if diff := gocmp.Diff(want, got, attributeValues); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
}

func rawItem(t *testing.T, db *faulty, table, pk, sk string) map[string]types.AttributeValue {
	t.Helper()
	out := must.Get(db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: pk},
		"sk": &types.AttributeValueMemberS{Value: sk},
	}}))(t)
	return out.Item
}

var attributeValues = gocmp.Comparer(func(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberB:
		b, ok := b.(*types.AttributeValueMemberB)
		return ok && bytes.Equal(a.Value, b.Value)
	}
	return false
})

func TestRowsPutTwiceAreThereOnce(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	rows := manyRows(130)
	for range 2 {
		must.Do(t, log.Put(t.Context(), "fill", append(rows, rows...)))
	}
	n := 0
	for s := range 7 {
		n += len(collect(t, log.Rows(t.Context(), store.Query{Dataset: "fill", Subject: fmt.Sprint("0x", s)})))
	}
	if n != len(rows) {
		t.Errorf("%d rows, want %d", n, len(rows))
	}
}

func TestOfRowsWithTheSameKeyTheLastStays(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	row := store.Row{Subject: "s", Time: at(1), ID: "1"}
	first, last := row, row
	first.Body, last.Body = []byte(`1`), []byte(`2`)
	last.Time = last.Time.Add(999 * time.Microsecond) // is cut off
	must.Do(t, log.Put(t.Context(), "fill", []store.Row{first, last}))
	rows := collect(t, log.Rows(t.Context(), store.Query{Dataset: "fill", Subject: "s"}))
	if len(rows) != 1 || string(rows[0].Body) != "2" {
		t.Errorf("rows are %v, want the last one only", rows)
	}
}

// Those of one call are written whatever becomes of the others.
func TestANewRowTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	log, db, _ := newLog(t)
	row := func(id, body string) store.Row {
		return store.Row{Subject: "s", Time: at(1), ID: id, Index: [4]string{"a"}, Body: []byte(body)}
	}
	must.Do(t, log.Put(t.Context(), "fill", []store.Row{row("1", "1")}))
	list := []store.Row{row("1", "2"), row("2", "2"), row("", "2"), row("3", "2"), row("4", "1"), row("4", "2")}
	for _, i := range []int{0, 1, 2, 4} {
		list[i].New = true
	}
	list[2].Subject = ""
	db.refuse.Store(3)
	var invalid *store.InvalidRowsError
	if err := log.Put(t.Context(), "fill", list); !errors.As(err, &invalid) || len(invalid.Rows) != 1 || invalid.Rows[0].Index != 2 {
		t.Errorf("refused is %v", err)
	}
	got := map[string]string{}
	for _, r := range collect(t, log.Rows(t.Context(), store.Query{Dataset: "fill", Subject: "s"})) {
		got[r.ID] = string(r.Body)
	}
	check.Equal(t, map[string]string{"1": "1", "2": "2", "3": "2", "4": "2"}, got)
}

func TestSubjectsThatShareTextNeverMeet(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	names := []string{"a", "a#b", "a%23b", "a%2523b", "b", "#", "##", "%", "a:b", "@1", "PURR/USDC", "ключ"}
	put := 0
	for _, dataset := range names {
		for _, subject := range names {
			row := store.Row{Subject: subject, Time: at(1), ID: dataset + " " + subject, Index: [4]string{subject}, Body: []byte(`{}`)}
			must.Do(t, log.Put(t.Context(), dataset, []store.Row{row}))
			put++
		}
	}
	for _, dataset := range names {
		for _, subject := range names {
			for _, index := range []store.Index{store.Main, store.A} {
				rows := collect(t, log.Rows(t.Context(), store.Query{Dataset: dataset, Subject: subject, Index: index}))
				if len(rows) != 1 || rows[0].ID != dataset+" "+subject || rows[0].Subject != subject || rows[0].Index[0] != subject {
					t.Errorf("dataset %q, subject %q, index %d: rows are %v", dataset, subject, index, rows)
				}
			}
		}
	}
}

// The model is a sorted slice: whatever the page size, direction and window,
// and wherever page borders fall within a millisecond, the log says the same.
func TestRowsComeInExactOrderWhateverThePageSize(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	dataset := 0
	rapid.Check(t, func(rt *rapid.T) {
		dataset++
		name := fmt.Sprint("d", dataset)
		rows := rapid.SliceOfNDistinct(rapid.Custom(func(rt *rapid.T) store.Row {
			return store.Row{
				Subject: rapid.SampledFrom([]string{"s", "t"}).Draw(rt, "subject"),
				Time:    at(rapid.Int64Range(1, 6).Draw(rt, "ms")),
				ID:      fmt.Sprint(rapid.IntRange(0, 30).Draw(rt, "id")),
				Seq:     rapid.Int64Range(-2, 2).Draw(rt, "seq"),
				Index:   [4]string{"shared"},
				Body:    []byte(`{}`),
			}
		}), 0, 40, func(r store.Row) string { return fmt.Sprint(r.Subject, r.Time, r.ID) }).Draw(rt, "rows")
		must.Do(rt, log.Put(t.Context(), name, rows))
		q := store.Query{
			Dataset:  name,
			Newest:   rapid.Bool().Draw(rt, "newest"),
			PageSize: rapid.IntRange(0, 9).Draw(rt, "page size"),
			From:     edge(rt, "from"),
			To:       edge(rt, "to"),
		}
		q.Subject, q.Index = "s", store.Main
		if rapid.Bool().Draw(rt, "by index") {
			q.Subject, q.Index = "shared", store.A
		}
		if diff := gocmp.Diff(model(rows, q), collect(rt, log.Rows(t.Context(), q))); diff != "" {
			rt.Fatalf("%+v (-want +got):\n%s", q, diff)
		}
	})
}

// edge draws an open border, a whole millisecond or one within a millisecond.
func edge(rt *rapid.T, label string) time.Time {
	µs := rapid.Int64Range(0, 14).Draw(rt, label) * 500
	if µs == 0 {
		return time.Time{}
	}
	return time.UnixMicro(µs)
}

func model(rows []store.Row, q store.Query) []store.Row {
	var want []store.Row
	for _, r := range rows {
		if q.Index == store.Main && r.Subject != q.Subject ||
			!q.From.IsZero() && r.Time.Before(q.From) || !q.To.IsZero() && r.Time.After(q.To) {
			continue
		}
		want = append(want, r)
	}
	slices.SortFunc(want, func(a, b store.Row) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Subject, b.Subject))
	})
	if q.Newest {
		slices.Reverse(want)
	}
	return want
}

func TestPagesAreReadOnlyAsRowsAreTaken(t *testing.T) {
	t.Parallel()
	log, db, _ := newLog(t)
	var rows []store.Row
	for i := range 50 {
		rows = append(rows, store.Row{Subject: "s", Time: at(int64(i)), ID: "1", Body: []byte(`{}`)})
	}
	must.Do(t, log.Put(t.Context(), "fill", rows))
	collect(t, log.Rows(t.Context(), store.Query{Dataset: "fill", Subject: "nobody"})) // the first read finds out what has expired
	taken, before := 0, db.reads.Load()
	for range must.All(t, log.Rows(t.Context(), store.Query{Dataset: "fill", Subject: "s", Newest: true, PageSize: 10})) {
		if taken++; taken == 9 { // the page's tenth row may not be the last of its millisecond
			break
		}
	}
	if n := db.reads.Load() - before; n != 1 {
		t.Errorf("%d requests for 9 rows, want 1", n)
	}
}

func TestWhatDynamoDBLeavesUnprocessedIsWrittenInTheEnd(t *testing.T) {
	t.Parallel()
	log, db, _ := newLog(t)
	rows := manyRows(120)
	db.partial = true
	db.refuse.Store(2)
	must.Do(t, log.Put(t.Context(), "fill", rows))
	db.refuse.Store(2)
	if missing, err := log.Missing(t.Context(), "fill", rows); err != nil || missing != 0 {
		t.Errorf("%d rows are missing, error %v", missing, err)
	}
}

func TestPutGivesUpWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	log, db, _ := newLog(t)
	db.starve = true
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := log.Put(ctx, "fill", manyRows(30)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want the context's", err)
	}
	if _, err := log.Missing(ctx, "fill", manyRows(30)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want the context's", err)
	}
}

func TestAtMostFourBatchesRunAtATime(t *testing.T) {
	t.Parallel()
	log, db, _ := newLog(t)
	rows := manyRows(600)
	must.Do(t, log.Put(t.Context(), "fill", rows))
	if db.parallel > 4 {
		t.Errorf("%d batches ran at a time", db.parallel)
	}
	log.Parallel, db.parallel = 1, 0
	must.Do(t, log.Put(t.Context(), "fill", rows))
	if db.parallel != 1 {
		t.Errorf("%d batches ran at a time, want 1", db.parallel)
	}
}

func TestHasCountsEachMissingRowOnce(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	rows := manyRows(230)
	must.Do(t, log.Put(t.Context(), "fill", rows[:200]))
	missing, err := log.Missing(t.Context(), "fill", append(rows, rows[190:]...))
	if err != nil || missing != 30 {
		t.Errorf("%d rows are missing, error %v; want 30", missing, err)
	}
	if missing, err := log.Missing(t.Context(), "order", rows); err != nil || missing != 230 {
		t.Errorf("in another dataset %d rows are missing, error %v; want 230", missing, err)
	}
	if missing, err := log.Missing(t.Context(), "fill", nil); err != nil || missing != 0 {
		t.Errorf("of no rows %d are missing, error %v", missing, err)
	}
}

func TestAQueryThatFailsEndsWithItsError(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx context.Context
		q   store.Query
	}{
		"no index 5":       {t.Context(), store.Query{Dataset: "fill", Subject: "s", Index: store.D + 1}},
		"no index -1":      {t.Context(), store.Query{Dataset: "fill", Subject: "s", Index: -1}},
		"subject is empty": {t.Context(), store.Query{Dataset: "fill"}},
		"context canceled": {ended, store.Query{Dataset: "fill", Subject: "s"}},
	} {
		n := 0
		for _, err := range log.Rows(c.ctx, c.q) {
			if n++; err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error is %v, want one that says %q", err, name)
			}
		}
		if n != 1 {
			t.Errorf("%s: the sequence has %d elements, want the error only", name, n)
		}
	}
}
