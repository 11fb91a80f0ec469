package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/objects"
	"quotary/shared/store"
	"quotary/shared/store/columns"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

type note struct {
	columns.Row
	Text string `parquet:"text,dict"`
}

var errBad = errors.New("a bad row")

var notes = archive.NewDataset(func(r store.Row) (note, error) {
	if string(r.Body) == "bad" {
		return note{}, errBad
	}
	return note{columns.FromRow(r), "text " + r.ID}, nil
})

func encode(t must.T, rows []store.Row) []byte {
	file, _ := must.Get2(notes.Encode(rows, func(i int, err error) { t.Fatal(i, err) }))(t)
	return file
}

func collect(t must.T, rows iter.Seq2[store.Row, error]) (all []store.Row) {
	all = slices.AppendSeq(all, must.All(t, rows))
	return all
}

func rows(n int) []store.Row {
	rows := make([]store.Row, n)
	for i := range rows {
		rows[i] = store.Row{Subject: fmt.Sprint("0x", i%7), Time: time.UnixMilli(1_700_000_000_000 + int64(i)).UTC(), ID: fmt.Sprint(i), Seq: int64(-i), Body: fmt.Appendf(nil, `{"n":%d}`, i)}
	}
	return rows
}

func TestAFileHoldsRowsAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(0, 20, 40)
		want := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) store.Row {
			return store.Row{
				Subject: text.Draw(rt, "subject"), Time: time.UnixMilli(rapid.Int64Range(0, 9_999_999_999_999).Draw(rt, "time")).UTC(), ID: text.Draw(rt, "id"), Seq: rapid.Int64().Draw(rt, "seq"),
				Index: [4]string{text.Draw(rt, "a"), text.Draw(rt, "b"), text.Draw(rt, "c"), text.Draw(rt, "d")}, Body: []byte("=" + text.Draw(rt, "body")),
			}
		}), 0, 600).Draw(rt, "rows")
		got := collect(rt, archive.Decode(encode(rt, want)))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestAFileHasTheColumnsOfItsDataset(t *testing.T) {
	t.Parallel()
	file := must.Get(parquet.OpenFile(bytes.NewReader(encode(t, rows(3))), int64(len(encode(t, rows(3))))))(t)
	want := []string{"subject", "time", "id", "seq", "index_a", "index_b", "index_c", "index_d", "body", "text"}
	var got []string
	for _, f := range file.Schema().Fields() {
		got = append(got, f.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRowsThatCannotBeReadAreLeftOut(t *testing.T) {
	t.Parallel()
	all := rows(1000)
	all[3].Body, all[999].Body = []byte("bad"), []byte("bad")
	var refused []int
	file, kept, err := notes.Encode(all, func(i int, err error) {
		if !errors.Is(err, errBad) {
			t.Error(err)
		}
		refused = append(refused, i)
	})
	if err != nil || cmp.Diff([]int{3, 999}, refused) != "" || len(kept) != 998 {
		t.Errorf("refused %v, kept %d, error %v", refused, len(kept), err)
	}
	if diff := cmp.Diff(kept, collect(t, archive.Decode(file))); diff != "" {
		t.Error(diff)
	}
}

// odd has a column whose values the writer may be unable to write.
type odd struct {
	columns.Row
	Mark any `parquet:"mark,json"`
}

var odds = archive.NewDataset(func(r store.Row) (odd, error) {
	switch string(r.Body) {
	case "bad":
		return odd{}, errBad
	case "panic":
		panic("not expected")
	case "no JSON":
		return odd{columns.FromRow(r), math.NaN()}, nil
	}
	return odd{columns.FromRow(r), 1.5}, nil
})

// Rows that the encoding fails of are reported as such, wherever they stand, and the
// others are kept.
func TestARowThatCannotBeEncodedIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, bad := range []map[int]string{
		{}, {0: "no JSON"}, {999: "no JSON"}, {255: "no JSON", 256: "no JSON", 700: "bad"}, {3: "panic", 4: "no JSON", 5: "bad"},
	} {
		all := rows(1000)
		for i, body := range bad {
			all[i].Body = []byte(body)
		}
		refused := map[int]string{}
		file, kept, err := odds.Encode(all, func(i int, err error) {
			if refused[i] != "" || err == nil {
				t.Errorf("row %d is refused twice, or for nothing: %v", i, err)
			}
			refused[i] = string(all[i].Body)
		})
		if diff := cmp.Diff(bad, refused); err != nil || diff != "" {
			t.Fatalf("error %v, refused %s", err, diff)
		}
		if diff := cmp.Diff(kept, collect(t, archive.Decode(file))); len(kept) != len(all)-len(bad) || diff != "" {
			t.Errorf("kept %d: %s", len(kept), diff)
		}
	}
}

func newFiles(t *testing.T) archive.Files {
	client, bucket := storetest.S3(t)
	return archive.Files{Objects: client, Bucket: bucket}
}

func TestAFileIsCreatedOnceAndListedByDay(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	day := time.Date(2026, 3, 9, 23, 0, 0, 0, time.UTC)
	key := archive.DayFolder("notes", day) + "1.parquet"
	if key != "archive/notes/date=2026-03-09/1.parquet" || archive.DatasetOf(key) != "notes" || archive.DatasetOf("views/notes/x") != "" {
		t.Errorf("key %s", key)
	}
	must.Do(t, f.Create(t.Context(), key, encode(t, rows(700))))
	for _, err := range []error{f.Create(t.Context(), key, encode(t, rows(1))), f.Occupy(t.Context(), key)} {
		if !errors.Is(err, objects.ErrExists) {
			t.Errorf("error is %v, want ErrExists", err)
		}
	}
	if diff := cmp.Diff(rows(700), collect(t, f.Rows(t.Context(), key))); diff != "" {
		t.Error(diff)
	}
	occupied := archive.DayFolder("notes", day) + "0.parquet"
	must.Do(t, f.Occupy(t.Context(), occupied))
	if got := collect(t, f.Rows(t.Context(), occupied)); len(got) > 0 {
		t.Errorf("an occupied name has %d rows", len(got))
	}
	next := archive.DayFolder("notes", day.Add(time.Hour)) + "1.parquet"
	for _, other := range []string{next, archive.DayFolder("notes2", day) + "1.parquet", archive.Folder("notes") + "_SUCCESS"} {
		must.Do(t, f.Create(t.Context(), other, encode(t, nil)))
	}
	if got, err := f.List(t.Context(), archive.DayFolder("notes", day)); err != nil || cmp.Diff([]string{occupied, key}, got) != "" {
		t.Errorf("the day has %v, error %v", got, err)
	}
	after := ""
	for _, want := range []string{occupied, key, next, ""} {
		var err error
		if after, err = f.Next(t.Context(), archive.Folder("notes"), after); err != nil || after != want {
			t.Errorf("the next file is %q, error %v; want %q", after, err, want)
		}
	}
}

func TestWhatIsNoFileIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	for _, key := range []string{"archive/notes/date=2026-03-09/absent.parquet", "archive/notes/date=2026-03-09/broken.parquet"} {
		if strings.Contains(key, "broken") {
			must.Get(f.Objects.PutObject(context.Background(), &s3.PutObjectInput{Bucket: &f.Bucket, Key: aws.String(key), Body: strings.NewReader("PAR1 no PAR1")}))(t)
		}
		n := 0
		for _, err := range f.Rows(t.Context(), key) {
			if n++; err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("error is %v", err)
			}
		}
		if n != 1 {
			t.Errorf("%d results", n)
		}
	}
}
