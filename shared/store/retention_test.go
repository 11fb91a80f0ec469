package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/aws/attr"
	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
)

// daily are rows of so many days, one a day at noon, under one subject.
func daily(days int) (rows []store.Row) {
	for day := range days {
		rows = append(rows, store.Row{Subject: "s", Time: at(0).AddDate(0, 0, day).Add(12 * time.Hour), ID: fmt.Sprint(day), Index: [4]string{"a"}, Body: []byte(`{}`)})
	}
	return rows
}

func TestRowsThatAreNoLongerRetainedAreNotReadThoughTheyAreStored(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	rows := daily(10)
	for _, dataset := range []string{"fill", "order"} {
		must.Do(t, log.Put(t.Context(), dataset, rows))
	}
	clock := testclock.At(at(0).AddDate(0, 0, 9).Add(6 * time.Hour))
	log.Retention, log.Now = retention.Setting{"fill": 3}, clock.Now
	since := at(0).AddDate(0, 0, 6)
	read := func(ctx context.Context, q store.Query, take int) (ids []string) {
		for r := range must.All(t, log.Rows(ctx, q)) {
			if ids = append(ids, r.ID); len(ids) == take {
				break
			}
		}
		return ids
	}
	for name, c := range map[string]struct {
		q     store.Query
		take  int // 0 takes all
		want  []string
		since time.Time // that is reported
	}{
		"all, oldest first":             {store.Query{}, 0, []string{"6", "7", "8", "9"}, since},
		"the oldest":                    {store.Query{}, 1, []string{"6"}, since},
		"all, newest first":             {store.Query{Newest: true}, 0, []string{"9", "8", "7", "6"}, since},
		"the newest":                    {store.Query{Newest: true}, 2, []string{"9", "8"}, time.Time{}},
		"by an index":                   {store.Query{Subject: "a", Index: store.A}, 0, []string{"6", "7", "8", "9"}, since},
		"a window at the edge":          {store.Query{From: since}, 0, []string{"6", "7", "8", "9"}, time.Time{}},
		"a window over the edge":        {store.Query{From: since.Add(-1), To: since.AddDate(0, 0, 1)}, 0, []string{"6"}, since},
		"a window that is gone":         {store.Query{From: at(0), To: at(0).AddDate(0, 0, 2)}, 0, nil, since},
		"nobody's":                      {store.Query{Subject: "nobody", Newest: true}, 0, nil, since},
		"a dataset without a retention": {store.Query{Dataset: "order"}, 2, []string{"0", "1"}, time.Time{}},
	} {
		if c.q.Dataset == "" {
			c.q.Dataset = "fill"
		}
		if c.q.Subject == "" {
			c.q.Subject = "s"
		}
		ctx, report := retention.WithReport(t.Context())
		if diff := gocmp.Diff(c.want, read(ctx, c.q, c.take)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := report.Since(); !got.Equal(c.since) {
			t.Errorf("%s: reported since %s, want %s", name, got, c.since)
		}
	}
	clock.Move(18 * time.Hour) // midnight
	if got := read(t.Context(), store.Query{Dataset: "fill", Subject: "s"}, 1); gocmp.Diff([]string{"7"}, got) != "" {
		t.Errorf("the day after, the oldest is %v", got)
	}
}

// A longer retention, and none, brings nothing back: what has expired under another one
// is not read, though the table may still hold it.
func TestRowsThatHaveExpiredUnderAnotherRetentionAreNotRead(t *testing.T) {
	t.Parallel()
	log, db, table := newLog(t)
	must.Do(t, log.Put(t.Context(), "fill", daily(10)))
	clock := testclock.At(at(0).AddDate(0, 0, 8).Add(6 * time.Hour))
	oldest := func(log *store.Log) (id string, since time.Time) {
		t.Helper()
		ctx, report := retention.WithReport(t.Context())
		for r := range must.All(t, log.Rows(ctx, store.Query{Dataset: "fill", Subject: "s"})) {
			return r.ID, report.Since()
		}
		return "", report.Since()
	}
	expect := func(log *store.Log, wantID string, wantSince time.Time) {
		t.Helper()
		if id, since := oldest(log); id != wantID || !since.Equal(wantSince) {
			t.Errorf("on %s the oldest is %s since %s, want %s since %s", clock.Now(), id, since, wantID, wantSince)
		}
	}
	reopen := func(s retention.Setting) *store.Log {
		log := store.NewLog(db, table)
		log.Retention, log.Now = s, clock.Now
		return log
	}
	forever, longer := reopen(nil), reopen(retention.Setting{"fill": 7})
	expect(forever, "0", time.Time{})
	for writer, e := range map[string]retention.Expiries{
		"perp":    retention.Expiries(nil).With("fill", retention.Expiry{Days: 3, Before: at(0).AddDate(0, 0, 6)}).With("fill", retention.Expiry{Days: 7, Before: at(0).AddDate(0, 0, 8)}),
		"content": retention.Expiries(nil).With("news", retention.Expiry{Days: 1, Before: at(0).AddDate(0, 0, 8)}),
	} {
		must.Do(t, log.SaveExpiries(t.Context(), writer, e))
	}
	clock.Move(9 * time.Minute)
	expect(forever, "0", time.Time{}) // it has what it read
	clock.Move(time.Minute)
	for _, log := range []*store.Log{forever, longer, reopen(nil)} {
		expect(log, "5", at(0).AddDate(0, 0, 5)) // three days back
	}
	clock.Move(4 * 24 * time.Hour)
	for _, log := range []*store.Log{forever, longer, reopen(nil)} {
		expect(log, "6", at(0).AddDate(0, 0, 6)) // no row of a later day was given three days
	}
	expect(reopen(retention.Setting{"fill": 4}), "8", at(0).AddDate(0, 0, 8))

	must.Get(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: attr.Item{"pk": attr.S("expiries"), "sk": attr.S("perp"), "body": attr.S("{")}}))(t)
	clock.Move(time.Hour)
	expect(forever, "6", at(0).AddDate(0, 0, 6)) // what it knew
	for _, err := range reopen(nil).Rows(t.Context(), store.Query{Dataset: "fill", Subject: "s"}) {
		if err == nil {
			t.Error("it is read without knowing what has expired")
		}
	}
}

func TestAScanOfWhatIsNotArchivedLeavesOutWhatExpires(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	rows := daily(6)
	for i := range rows {
		if i%2 == 0 {
			rows[i].Expires = time.Unix(2_000_000_000, 0).UTC()
		}
	}
	must.Do(t, log.Put(t.Context(), "fill", rows))
	for before, want := range map[time.Time]int{{}: 3, at(0).AddDate(0, 0, 5): 2, rows[3].Time: 1, rows[3].Time.Add(time.Nanosecond): 2} {
		page, err := log.ScanUnarchived(t.Context(), store.Unarchived{Datasets: []string{"fill", "order"}, Before: before}, "")
		if err != nil || len(page.Rows["fill"]) != want {
			t.Errorf("before %s: %v, error %v; want %d rows", before, page.Rows, err, want)
		}
		for _, r := range page.Rows["fill"] {
			if !r.Expires.IsZero() {
				t.Errorf("row %s expires", r.ID)
			}
		}
	}
	page, err := log.Scan(t.Context(), []string{"fill"}, "", 0)
	if err != nil || len(page.Rows["fill"]) != 6 {
		t.Fatalf("%v, error %v", page.Rows, err)
	}
	if diff := gocmp.Diff(rows, page.Rows["fill"]); diff != "" {
		t.Error(diff)
	}
}

// The segments of a table have each of its rows once, whatever their number and the
// size of a page.
func TestSegmentsShareOutATable(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	want := map[string]int{}
	for s := range 30 {
		rows := daily(4)
		for i := range rows {
			rows[i].Subject = fmt.Sprint("0x", s)
			want[rows[i].Subject+rows[i].ID] = 1
		}
		must.Do(t, log.Put(t.Context(), "fill", rows))
	}
	for _, of := range []store.Unarchived{{}, {Segments: 1}, {Segments: 3}, {Segments: 8, PageSize: 5}, {Segments: 64}} {
		of.Datasets, of.Before = []string{"fill"}, at(0).AddDate(1, 0, 0)
		got, filled := map[string]int{}, 0
		for of.Segment = range max(1, of.Segments) {
			n := 0
			for cursor, first := "", true; first || cursor != ""; first = false {
				page := must.Get(log.ScanUnarchived(t.Context(), of, cursor))(t)
				for _, r := range page.Rows["fill"] {
					got[r.Subject+r.ID]++
					n++
				}
				cursor = page.Next
			}
			if n > 0 {
				filled++
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("in %d segments: %s", of.Segments, diff)
		}
		if of.Segments > 1 && filled < 2 {
			t.Errorf("of %d segments %d have rows", of.Segments, filled)
		}
	}
}
