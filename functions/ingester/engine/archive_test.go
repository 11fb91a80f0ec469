package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/archive"
	"quotary/shared/store"
	"quotary/shared/store/columns"
	"quotary/shared/store/retention"
	"quotary/shared/store/schema"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// spoken is the column of the small domain's words.
type spoken struct {
	columns.Row
	Word string `parquet:"word,dict"`
}

// archivedLog is the log of words as one that can be archived, under any name.
func archivedLog(name string) Log[*words] {
	return Log[*words]{Dataset: name, Append: wordLog.Append, Archive: archive.NewDataset(func(r store.Row) (s spoken, err error) {
		s.Row = columns.FromRow(r)
		return s, json.Unmarshal(r.Body, &s.Word)
	})}
}

var firstDay = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// wordsOf are n rows of the day that is so many days after the first.
func wordsOf(day, n int, note string) (rows []store.Row) {
	for i := range n {
		word := fmt.Sprintf("%c%s-%d-%d", 'a'+i%3, note, day, i)
		rows = append(rows, store.Row{
			Subject: fmt.Sprint("s", i%4), Time: firstDay.AddDate(0, 0, day).Add(time.Duration(i) * time.Hour), ID: word, Seq: int64(i), Index: [4]string{"", word},
			Body: encode(word),
		})
	}
	return rows
}

func TestDaysThatHaveEndedAreArchivedAndExpire(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	var rows []store.Row
	for day := range 4 {
		rows = append(rows, wordsOf(day, 20, "x")...)
	}
	w.put("word", rows...)
	w.put("kept", rows...)
	w.put("other", rows...)
	stores := w.stores()
	if !w.archive(stores) {
		t.Fatal("not archived")
	}
	w.check("word", 30, rows)
	w.check("other", 2, rows)
	if files := w.archived("kept"); len(files) > 0 || w.stored("kept")[rows[0].ID].Expires != (time.Time{}) {
		t.Errorf("a dataset without a retention is archived: %v", files)
	}
	if files := w.archived("word"); len(files) < 6 {
		t.Errorf("%d files of 60 rows: each was to be small", len(files))
	}

	late := wordsOf(1, 5, "late")
	w.put("word", late...)
	w.put("word", rows[3:9]...) // again, without an expiry
	before := w.archived("word")
	w.clock.Move(24 * time.Hour)
	if !w.archive(stores) {
		t.Fatal("not archived")
	}
	w.check("word", 30, append(rows, late...))
	for key, rows := range w.archived("word") {
		if old, ok := before[key]; ok && cmp.Diff(old, rows) != "" {
			t.Errorf("the file %s was changed", key)
		}
	}
}

// A row that is to be replaced yet waits for that, however old it is.
func TestWhatIsUnfinishedIsArchivedWhenItIsReplaced(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	rows := wordsOf(0, 12, "x")
	w.put("word", rows...)
	finished := false
	archiveOnce := func() {
		t.Helper()
		a := w.process(w.stores())
		a.datasets["word"].Unfinished = func(r store.Row) bool { return !finished && r.ID == rows[3].ID }
		if !w.archives(a) {
			t.Fatal("not archived")
		}
	}
	archiveOnce()
	stored := w.stored("word")
	if got := stored[rows[3].ID]; !got.Expires.IsZero() || stored[rows[4].ID].Expires.IsZero() {
		t.Errorf("the unfinished row expires at %s, another at %s", got.Expires, stored[rows[4].ID].Expires)
	}
	finished = true
	w.clock.Move(24 * time.Hour)
	archiveOnce()
	w.check("word", 30, rows)
}

// An encoding that fails is tried again, and the domain goes on meanwhile.
func TestAFaultOfTheEncodingDoesNotEndThePipeline(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	rows := wordsOf(0, 6, "x")
	w.put("word", rows...)
	p := w.process(w.stores()).Pipeline
	p.ArchiveEvery = time.Millisecond
	p.Sources = []Source[*words]{say("source", "ant")}
	right := p.Logs[0].Archive.Encode
	var fails atomic.Bool
	fails.Store(true)
	p.Logs[0].Archive = &archive.Dataset{Encode: func(rows []store.Row, refuse func(int, error)) ([]byte, []store.Row, error) {
		if fails.Load() {
			return nil, nil, errors.New("no encoding")
		}
		return right(rows, refuse)
	}}
	stop := run(t, p)
	testenv.Until(t, "the fault is reported", func() bool {
		return slices.Contains(p.Status().Refused(time.Now().AddDate(1, 0, 0)), "encode rows for the archive")
	})
	testenv.Until(t, "live words are stored", func() bool { return stored(t, p.Stores, "vocabulary", "a") == "ant" })
	fails.Store(false)
	testenv.Until(t, "the rest is archived", func() bool { return p.Status().Archived == int64(len(rows)) && p.Stats.ArchivedUntil.Load() > 0 })
	must.Do(t, stop())
}

// Whatever the retention is later, a reader knows what expires by what was given.
func TestWhatRowsAreGivenIsPublished(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	w.put("other", wordsOf(0, 5, "x")...)
	w.put("other", wordsOf(2, 5, "x")...)
	stores := w.stores()
	if !w.archive(stores) {
		t.Fatal("not archived")
	}
	later := store.NewLog(w.db, w.prefix+schema.LogTable)
	later.Retention, later.Now = retention.Setting{"other": 90}, w.clock.Now
	for _, day := range []int{1, 3, 3} { // the third day is not archived
		ctx, report := retention.WithReport(t.Context())
		for range must.All(t, later.Rows(ctx, store.Query{Dataset: "other", Subject: "s1"})) {
		}
		if want := firstDay.AddDate(0, 0, day); !report.Since().Equal(want) {
			t.Errorf("on %s all is there since %s, want %s", w.clock.Now(), report.Since(), want)
		}
		w.clock.Move(10 * 24 * time.Hour)
	}
}

// A writer that was replaced while it made a file makes none any more.
func TestAFileOfAWriterThatWasReplacedComesTooLate(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	rows := wordsOf(0, 6, "x")
	w.put("word", rows...)
	oldStores, newStores := w.stores(), w.stores()
	oldStores.Series, newStores.Series = oldStores.Series.Under(1), newStores.Series.Under(2)
	old := w.process(oldStores)
	must.Do(t, old.claim(t.Context()))
	held := &holdCreate{Objects: oldStores.Archive.Objects, before: func() {
		if !w.archive(newStores) {
			t.Error("not archived")
		}
	}}
	old.Stores.Archive.Objects = held
	if err := old.archive(t.Context()); !errors.Is(err, store.ErrFenced) {
		t.Errorf("error is %v, want ErrFenced", err)
	}
	w.check("word", 30, rows)
}

func TestWhatCannotBeReadStaysInTheTable(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	rows := wordsOf(0, 6, "x")
	bad := wordsOf(0, 1, "bad")[0]
	bad.Body = []byte("{")
	w.put("word", append(slices.Clone(rows), bad)...)
	stores := w.stores()
	for range 2 {
		if !w.archive(stores) {
			t.Fatal("not archived")
		}
		w.check("word", 30, rows)
		if got := w.stored("word")[bad.ID]; !got.Expires.IsZero() {
			t.Errorf("a row that is in no file expires at %s", got.Expires)
		}
		w.clock.Move(24 * time.Hour)
	}
	out, err := w.client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("views"), Prefix: aws.String("quarantine/small/")})
	if err != nil || len(out.Contents) != 1 { // not one a day
		t.Errorf("quarantined %v, error %v", out, err)
	}
}

func TestAProjectionIsCaughtUpFromTheArchiveToo(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	first, later := slices.Concat(wordsOf(0, 30, "x"), wordsOf(1, 30, "x")), wordsOf(3, 10, "x")
	w.put("word", slices.Concat(first, later)...)
	stores := w.stores()
	stopOld := run(t, newPipeline(stores)) // the domain has run before
	testenv.Until(t, "the domain has run", func() bool {
		body, err := stores.Series.Checkpoint(t.Context(), progressCheckpoint("small"))
		return err == nil && body != nil
	})
	must.Do(t, stopOld())
	if !w.archive(stores) {
		t.Fatal("not archived")
	}
	for _, r := range first { // as the table does when they expire
		w.delete("word", r)
	}
	w.kill = nil
	p := newPipeline(stores)
	p.Projections = append(p.Projections, newVocabulary("added"))
	stop := run(t, p)
	testenv.Until(t, "the projection is caught up", func() bool { return p.Stats.CatchingUp.Load() == 0 && p.Stats.Flushed.Load() > 0 })
	must.Do(t, stop())
	for _, letter := range []string{"a", "b", "c"} {
		var want []string
		for _, r := range slices.Concat(first, later) {
			if strings.HasPrefix(r.ID, letter) {
				want = append(want, r.ID)
			}
		}
		slices.Sort(want)
		if got := stored(t, stores, "added", letter); got != strings.Join(want, ",") {
			t.Errorf("of %s it knows %s, want %s", letter, got, want)
		}
	}
	w.check("word", 30, later, first...)
}

func TestThePipelineArchivesEachDay(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	rows := slices.Concat(wordsOf(2, 5, "x"), wordsOf(3, 5, "x"))
	w.put("word", rows...)
	p := w.process(w.stores()).Pipeline
	p.ArchiveEvery = time.Millisecond
	stop := run(t, p)
	lag := func() time.Duration { return max(0, w.clock.Now().Sub(time.UnixMilli(p.Status().ArchiveDue))) }
	until := func(day int, rows int64) {
		t.Helper()
		testenv.Until(t, fmt.Sprintf("all is archived before day %d", day), func() bool {
			return p.Stats.ArchivedUntil.Load() == firstDay.AddDate(0, 0, day).UnixMilli()
		})
		if n := p.Status().Archived; n != rows || lag() != 0 {
			t.Errorf("%d rows are archived, behind by %s", n, lag())
		}
	}
	until(3, 5)
	w.clock.Move(17 * time.Hour) // less than six hours after the day
	if lag() != 0 {
		t.Errorf("behind by %s", lag())
	}
	w.clock.Move(time.Hour)
	until(4, 10)
	must.Do(t, stop())
	w.check("word", 30, rows)
	w.clock.Move(25 * time.Hour)
	if lag() != time.Hour {
		t.Errorf("behind by %s, want an hour", lag())
	}
}

// holdCreate does something else before the first file is made.
type holdCreate struct {
	archive.Objects
	before func()
}

func (h *holdCreate) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	if before := h.before; before != nil {
		h.before = nil
		before()
	}
	return h.Objects.PutObject(ctx, in, options...)
}
