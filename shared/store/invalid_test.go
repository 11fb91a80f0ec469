package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// spoil sends the engine rows whose body is spoiledBody with an empty key, so that
// only the engine finds them invalid.
func spoil(in any, send func() (any, error)) (any, error) {
	switch in := in.(type) {
	case *dynamodb.PutItemInput:
		spoilItem(in.Item)
	case *dynamodb.BatchWriteItemInput:
		for _, writes := range in.RequestItems {
			for _, w := range writes {
				spoilItem(w.PutRequest.Item)
			}
		}
	}
	return send()
}

const spoiledBody = `"spoiled"`

func spoilItem(item attr.Item) {
	if attr.Text(item, "body") == spoiledBody {
		item["pk"] = attr.S("")
	}
}

// invalid returns the indexes of the rows that an error calls invalid.
func invalid(t *testing.T, err error) (indexes []int, reasons string) {
	t.Helper()
	var report *store.InvalidRowsError
	if !errors.As(err, &report) {
		t.Fatalf("the error is %v, want one that names invalid rows", err)
	}
	for _, r := range report.Rows {
		indexes = append(indexes, r.Index)
		reasons += r.Reason.Error() + "\n"
	}
	return indexes, reasons
}

func TestAllRowsButTheInvalidOnesAreWritten(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	good := store.Row{Subject: "s", Time: at(1), ID: "1", Body: []byte(`{}`)}
	for want, change := range map[string]func(*store.Row){
		"subject is empty":      func(r *store.Row) { r.Subject = "" },
		"between 1970 and 2286": func(r *store.Row) { r.Time = at(-1) },
		"and 2286":              func(r *store.Row) { r.Time = at(1e13) },
		"not UTF-8":             func(r *store.Row) { r.Body = []byte{'"', 0xff, '"'} },
		"text is not UTF-8":     func(r *store.Row) { r.ID = "\xff" },
		`"sk" has 1025 bytes`:   func(r *store.Row) { r.ID = strings.Repeat("x", 1024-13) },
		`"pk" has 2049 bytes`:   func(r *store.Row) { r.Subject = strings.Repeat("x", 2049-len("fill#")) },
		`"b" has 2049 bytes`:    func(r *store.Row) { r.Index[1] = strings.Repeat("x", 2049-len("fill#")) },
		"more than 409600":      func(r *store.Row) { r.Body = bytes.Repeat([]byte("x"), 400<<10) },
	} {
		first, bad, last := good, good, good
		first.ID, last.ID = want+"/first", want+"/last"
		change(&bad)
		indexes, reasons := invalid(t, log.Put(t.Context(), "fill", []store.Row{first, bad, last}))
		if !slices.Equal(indexes, []int{1}) || !strings.Contains(reasons, want) {
			t.Errorf("invalid are rows %v: %s; want row 1: %s", indexes, reasons, want)
		}
		if missing, err := log.Missing(t.Context(), "fill", []store.Row{first, last}); err != nil || missing != 0 {
			t.Errorf("%s: %d of the other rows are missing, error %v", want, missing, err)
		}
	}
	if _, err := log.Missing(t.Context(), "fill", []store.Row{{}}); err == nil {
		t.Error("Has accepts a row without subject")
	}
}

// What the store accepts, the engine accepts: at each limit.
func TestTheLargestRowsAreWritten(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	long := strings.Repeat("x", 2048-len("fill#"))
	for name, row := range map[string]store.Row{
		"keys": {Subject: long, Time: at(1), ID: strings.Repeat("x", 1024-14), Seq: 1 << 62, Index: [4]string{long, long, long, long}, Body: []byte(`{}`)},
		"body": {Subject: "s", Time: at(2), ID: "1", Body: bytes.Repeat([]byte("x"), 400<<10-len("pkfill#sskbody")-15)},
	} {
		if err := log.Put(t.Context(), "fill", []store.Row{row}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if missing, err := log.Missing(t.Context(), "fill", []store.Row{row}); err != nil || missing != 0 {
			t.Errorf("%s: %d rows are missing, error %v", name, missing, err)
		}
	}
}

func TestRowsThatTheEngineRefusesAreFound(t *testing.T) {
	t.Parallel()
	db := storetest.Intercept(storetest.DynamoDB(t), spoil)
	prefix := storetest.Tables(t, db)
	log := store.NewLog(db, prefix+schema.LogTable)
	rows := manyRows(70)
	want := []int{0, 24, 25, 69}
	for _, i := range want {
		rows[i].Body = []byte(spoiledBody)
	}
	if got, _ := invalid(t, log.Put(t.Context(), "fill", rows)); !slices.Equal(got, want) {
		t.Errorf("of the log, rows %v are invalid, want %v", got, want)
	}
	if missing, err := log.Missing(t.Context(), "fill", rows); err != nil || missing != len(want) {
		t.Errorf("%d rows are missing, error %v; want %d", missing, err, len(want))
	}

	series := store.NewSeries(db, prefix+schema.SeriesTable).Under(3)
	points := make([]store.SeriesRow, 40)
	keys := make([]store.SeriesAt, len(points))
	for i := range points {
		points[i] = seriesRow(btc, int64(i))
		keys[i] = store.SeriesAt{SeriesKey: btc, Time: at(int64(i))}
	}
	want = []int{3, 39}
	for _, i := range want {
		points[i].Body = []byte(spoiledBody)
	}
	if got, _ := invalid(t, series.Put(t.Context(), points)); !slices.Equal(got, want) {
		t.Errorf("of the series, rows %v are invalid, want %v", got, want)
	}
	if found, err := series.Load(t.Context(), keys); err != nil || len(found) != len(points)-len(want) {
		t.Errorf("%d points were written, error %v; want %d", len(found), err, len(points)-len(want))
	}
}

func TestAllPointsButTheInvalidOnesAreWritten(t *testing.T) {
	t.Parallel()
	series, _, _ := newSeries(t)
	for want, change := range map[string]func(*store.SeriesRow){
		"needs a name":          func(r *store.SeriesRow) { r.Key = "" },
		"a key and an interval": func(r *store.SeriesRow) { r.Interval = "" },
		"between 1970 and 2286": func(r *store.SeriesRow) { r.Time = at(-1) },
		"not UTF-8":             func(r *store.SeriesRow) { r.Body = []byte{0xff} },
		"more than 409600":      func(r *store.SeriesRow) { r.Extra = make([]byte, 400<<10) },
	} {
		key := btc
		key.Key = want
		row := seriesRow(key, 60000)
		change(&row)
		indexes, reasons := invalid(t, series.Put(t.Context(), []store.SeriesRow{row, seriesRow(key, 0)}))
		if !slices.Equal(indexes, []int{0}) || !strings.Contains(reasons, want) {
			t.Errorf("invalid are rows %v: %s; want row 0: %s", indexes, reasons, want)
		}
		if _, ok, err := series.Latest(t.Context(), key); !ok || err != nil {
			t.Errorf("%s: the other point is missing, error %v", want, err)
		}
	}
}

// A row that could not be written is not there, and nothing beside it is missing: whoever reads
// for an event with an impossible name goes on.
func TestWhatCannotBeWrittenIsReadAsAbsent(t *testing.T) {
	t.Parallel()
	series := store.NewSeries(storetest.DynamoDB(t), storetest.Tables(t, storetest.DynamoDB(t))+schema.SeriesTable)
	log := store.NewLog(storetest.DynamoDB(t), storetest.Tables(t, storetest.DynamoDB(t))+schema.LogTable)
	must.Do(t, series.Put(t.Context(), []store.SeriesRow{seriesRow(btc, 0)}))
	good := store.SeriesAt{SeriesKey: btc, Time: at(0)}
	for _, name := range []string{"", strings.Repeat("x", 2100), "\xff"} {
		key := btc
		key.Key = name
		got, err := series.Load(t.Context(), []store.SeriesAt{{SeriesKey: key, Time: at(0)}, {SeriesKey: btc, Time: at(-1)}, good})
		if _, ok := got[good]; err != nil || !ok || len(got) != 1 {
			t.Errorf("%.10q: loaded %d rows, error %v; want the one that is there", name, len(got), err)
		}
		if _, ok, err := series.Latest(t.Context(), key); ok || err != nil {
			t.Errorf("%.10q: a latest point %t, error %v", name, ok, err)
		}
		if name == "" {
			continue // a log without a subject is its caller's fault
		}
		if part, err := log.Part(t.Context(), "fill", name, time.Time{}, 5); err != nil || len(part.Rows) != 0 {
			t.Errorf("%.10q: %d rows of a log, error %v", name, len(part.Rows), err)
		}
	}
}

// Nothing but a fault of a row is called one.
func TestAMissingTableIsNoFaultOfARow(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	for name, err := range map[string]error{
		"log":    store.NewLog(db, "no-such-table").Put(t.Context(), "fill", append(manyRows(3), store.Row{})),
		"series": store.NewSeries(db, "no-such-table").Put(t.Context(), []store.SeriesRow{seriesRow(btc, 0), {}}),
	} {
		var report *store.InvalidRowsError
		if err == nil || errors.As(err, &report) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestAnErrorNamesTheFirstInvalidRows(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t)
	for n, want := range map[int]string{
		1: "1 invalid rows: row 0: the subject is empty",
		2: "2 invalid rows: row 0: the subject is empty; row 1: the subject is empty",
		5: "row 2: the subject is empty; and more",
	} {
		err := log.Put(t.Context(), "fill", make([]store.Row, n))
		if err == nil || !strings.HasSuffix(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
