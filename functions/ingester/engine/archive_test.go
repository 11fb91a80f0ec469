package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"quotary/internal/testenv"
	"quotary/shared/archive"
	"quotary/shared/archive/columns"
	"quotary/shared/attr"
	"quotary/shared/retention"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testclock"
)

// spoken is the column of the small domain's words.
type spoken struct {
	columns.Row
	Word string `parquet:"word,dict"`
}

// archivedLog is the log of words as one that can be archived, under any name.
func archivedLog(name string) Log[*words] {
	return Log[*words]{Dataset: name, Append: wordLog.Append, Archive: archive.Of(func(r store.Row) (s spoken, err error) {
		s.Row = columns.Of(r)
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

// archiveWorld is a log and an archive that outlive the processes that work on them.
type archiveWorld struct {
	t      *testing.T
	db     *dynamodb.Client
	prefix string
	s3     http.Handler
	clock  *testclock.Clock

	steps atomic.Int64 // requests until the process dies; beyond it none does
	lost  bool         // its last request is done, and the answer lost
	kill  context.CancelFunc
}

func newArchiveWorld(t *testing.T) *archiveWorld {
	db := storetest.DynamoDB(t)
	w := &archiveWorld{t: t, db: db, prefix: storetest.Tables(t, db), s3: storetest.S3Handler(), clock: testclock.At(firstDay.AddDate(0, 0, 3).Add(12 * time.Hour))}
	if err := schema.CreateBucket(t.Context(), storetest.S3Client(t, w.s3), "views"); err != nil {
		t.Fatal(err)
	}
	w.steps.Store(1 << 40)
	return w
}

var errDied = errors.New("the process has died")

// step is a request of a process that may die before or behind it.
func (w *archiveWorld) step(request func()) (dead bool) {
	left := w.steps.Add(-1)
	if left >= 0 || left == -1 && w.lost {
		request()
	}
	if left < 0 && w.kill != nil {
		w.kill()
	}
	return left < 0
}

func (w *archiveWorld) stores() Stores {
	db := storetest.Intercept(w.db, func(_ any, send func() (any, error)) (out any, err error) {
		if w.step(func() { out, err = send() }) {
			return nil, errDied
		}
		return out, err
	})
	objects := storetest.S3Client(w.t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var answer bytes.Buffer
		if w.step(func() { w.s3.ServeHTTP(recorder{rw, &answer}, r) }) {
			panic(http.ErrAbortHandler)
		}
		_, _ = rw.Write(answer.Bytes())
	}))
	return Stores{
		Log: store.NewLog(db, w.prefix+schema.LogTable), Series: store.NewSeries(db, w.prefix+schema.SeriesTable), Views: store.NewViews(objects, "views"),
		Quarantine: Quarantine{Objects: objects, Bucket: "views"}, Archive: archive.Files{Objects: objects, Bucket: "views"},
	}
}

// recorder keeps a body back until it is known that it is to be sent.
type recorder struct {
	http.ResponseWriter
	body *bytes.Buffer
}

func (r recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// process is one that archives two datasets, in files of few rows.
func (w *archiveWorld) process(stores Stores) *archiver[*words] {
	p := newPipeline(stores)
	p.Logs = []Log[*words]{archivedLog("word"), archivedLog("kept"), archivedLog("other")}
	p.Now, p.Retention = w.clock.Now, retention.Setting{"word": 30, "other": 2}
	a := p.newArchiver()
	a.limits = archiveLimits{bytes: 4_000, file: 3_000, least: 500, reach: 5_000, digests: 30, segments: 2, page: 10, save: 2}
	return a
}

// archive lets a process archive what is to be by now, and reports whether it did
// before it died.
func (w *archiveWorld) archive(stores Stores) bool {
	ctx, kill := context.WithCancel(w.t.Context())
	defer kill()
	w.kill = kill
	a := w.process(stores)
	err := a.claim(ctx)
	if err == nil {
		err = a.archive(ctx)
	}
	if err != nil && ctx.Err() == nil {
		w.t.Fatal(err)
	}
	return err == nil
}

func (w *archiveWorld) put(dataset string, rows ...store.Row) {
	w.t.Helper()
	if err := store.NewLog(w.db, w.prefix+schema.LogTable).Put(w.t.Context(), dataset, rows); err != nil {
		w.t.Fatal(err)
	}
}

// archived are the rows of the dataset's files, by file.
func (w *archiveWorld) archived(dataset string) map[string][]store.Row {
	w.t.Helper()
	files := archive.Files{Objects: storetest.S3Client(w.t, w.s3), Bucket: "views"}
	keys, err := files.List(w.t.Context(), archive.Folder(dataset))
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string][]store.Row{}
	for _, key := range keys {
		for r, err := range files.Rows(w.t.Context(), key) {
			if err != nil {
				w.t.Fatal(err)
			}
			if !strings.HasPrefix(key, archive.DayFolder(dataset, r.Time)) {
				w.t.Errorf("%s has a row of %s", key, r.Time)
			}
			all[key] = append(all[key], r)
		}
	}
	return all
}

// stored are the rows of the table by ID.
func (w *archiveWorld) stored(dataset string) map[string]store.Row {
	w.t.Helper()
	all := map[string]store.Row{}
	log := store.NewLog(w.db, w.prefix+schema.LogTable)
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, err := log.Scan(w.t.Context(), []string{dataset}, cursor, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, r := range page.Rows[dataset] {
			all[r.ID] = r
		}
		cursor = page.Next
	}
	return all
}

// check compares table and archive with what must be in them: each row of a day that
// is archived in one file and with its expiry, and no others.
func (w *archiveWorld) check(dataset string, days int, rows []store.Row, ended ...store.Row) {
	w.t.Helper()
	files, inTable := map[string]int{}, w.stored(dataset)
	for _, list := range w.archived(dataset) {
		for _, r := range list {
			files[r.ID]++
		}
	}
	for _, r := range ended {
		if files[r.ID] != 1 {
			w.t.Errorf("%s %s is in %d files", dataset, r.ID, files[r.ID])
		}
		delete(files, r.ID)
	}
	for _, r := range rows {
		want := 0
		if r.Time.Before(archivedUntil(w.clock.Now())) {
			want = 1
			if r.Expires = retention.Day(r.Time).AddDate(0, 0, days+1); r.Expires.Before(w.clock.Now().Add(leastExpiry)) {
				r.Expires = inTable[r.ID].Expires // some time from now
				if r.Expires.Before(firstDay.AddDate(0, 0, 3)) {
					w.t.Errorf("%s %s expires at %s", dataset, r.ID, r.Expires)
				}
			}
		}
		if files[r.ID] != want {
			w.t.Errorf("%s %s is in %d files, want %d", dataset, r.ID, files[r.ID], want)
		}
		delete(files, r.ID)
		if diff := cmp.Diff(r, inTable[r.ID]); diff != "" {
			w.t.Errorf("%s %s in the table: %s", dataset, r.ID, diff)
		}
	}
	if len(files) > 0 {
		w.t.Errorf("the archive has besides %v", files)
	}
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

// Wherever a process dies, before or behind a request, and the next one too, another
// goes on, and each row is archived once. What is delivered again behind the scan's back
// is found by the next day's.
func TestAProcessMayDieAnywhereBetweenTwoSteps(t *testing.T) {
	t.Parallel()
	rows := slices.Concat(wordsOf(0, 7, "x"), wordsOf(1, 24, "x"), wordsOf(2, 4, "x"), wordsOf(3, 2, "x"))
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("the last answer is lost ", lost), func(t *testing.T) {
			t.Parallel()
			died := 0
			for at, done := int64(0), false; !done; at++ {
				w := newArchiveWorld(t)
				w.put("word", rows...)
				stores := w.stores()
				w.lost = lost
				w.steps.Store(at)
				if done = w.archive(stores); !done {
					died++
				}
				again := at%2 == 0
				if again { // what was archived is delivered again
					w.put("word", rows[:10]...)
				}
				w.once("word")
				w.steps.Store(at * 7 % 23)
				w.archive(stores) // which dies too, or not
				w.once("word")
				w.steps.Store(1 << 40)
				if !w.archive(stores) {
					t.Fatal("not archived")
				}
				w.once("word")
				if again {
					w.clock.Move(24 * time.Hour)
					if !w.archive(stores) {
						t.Fatal("not archived")
					}
				}
				w.check("word", 30, rows)
				if t.Failed() {
					t.Fatalf("after it had died at step %d", at)
				}
			}
			if died < 30 {
				t.Errorf("it died at %d steps", died)
			}
		})
	}
}

// once fails where a row is in two files.
func (w *archiveWorld) once(dataset string) {
	w.t.Helper()
	files := map[string]string{}
	for key, rows := range w.archived(dataset) {
		for _, r := range rows {
			if other := files[r.ID]; other != "" {
				w.t.Errorf("%s %s is in %s and %s", dataset, r.ID, other, key)
			}
			files[r.ID] = key
		}
	}
}

// A process that takes over looks through the rest of the table, and reads of the
// files that are there each once.
func TestAScanGoesOnWhereItStood(t *testing.T) {
	t.Parallel()
	var rows []store.Row
	for i := range 300 {
		rows = append(rows, store.Row{Subject: fmt.Sprint("s", i%60), Time: firstDay.Add(time.Duration(i) * time.Second), ID: fmt.Sprint(i), Body: encode(fmt.Sprint("word", i))})
	}
	run := func(steps int64) (w *archiveWorld, done bool, needed int64) {
		w = newArchiveWorld(t)
		w.put("word", rows...)
		w.steps.Store(steps)
		done = w.archive(w.stores())
		return w, done, steps - w.steps.Load()
	}
	_, done, all := run(1 << 30)
	if !done {
		t.Fatal("not archived")
	}
	w, done, _ := run(all * 2 / 3)
	if files := len(w.archived("word")); done || files < 5 {
		t.Fatalf("it had made %d files when it died, done %t", files, done)
	}
	w.steps.Store(1 << 30)
	stores := w.stores()
	reads := &countReads{Objects: stores.Archive.Objects, of: map[string]int{}}
	stores.Archive.Objects = reads
	if !w.archive(stores) {
		t.Fatal("not archived")
	}
	if needed := 1<<30 - w.steps.Load(); needed > all*2/3 {
		t.Errorf("the rest took %d requests, all takes %d", needed, all)
	}
	for key, n := range reads.of {
		if n > 2 { // to be completed, and to be compared with
			t.Errorf("%s was read %d times", key, n)
		}
	}
	w.check("word", 30, rows)
}

// countReads counts how often each file is read.
type countReads struct {
	archive.Objects
	of map[string]int
}

func (c *countReads) GetObject(ctx context.Context, in *s3.GetObjectInput, options ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	c.of[*in.Key]++
	return c.Objects.GetObject(ctx, in, options...)
}

// The first scan of many days makes no file that is too small: it leaves the newest
// days to the next scan, and that to another.
func TestManyDaysAreArchivedInFilesOfSomeSize(t *testing.T) {
	t.Parallel()
	w := newArchiveWorld(t)
	const days, each = 16, 40
	var rows []store.Row
	for i := range days * each { // every page has rows of all days
		rows = append(rows, store.Row{Subject: fmt.Sprint("s", i%each), Time: firstDay.AddDate(0, 0, -i/each).Add(time.Duration(i%each) * time.Second), ID: fmt.Sprint(i), Body: encode(fmt.Sprint("word", i))})
	}
	w.put("word", rows...)
	a := w.process(w.stores())
	a.limits.bytes, a.limits.file, a.limits.least, a.limits.reach = 24_000, 12_000, 6_000, 1<<30 // a day has about 11,000
	if err := a.claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.archive(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.check("word", 30, rows)
	files := w.archived("word")
	if len(files) > 2*days {
		t.Errorf("%d files of %d days", len(files), days)
	}
	scans := map[string]bool{}
	for key := range files {
		name := key[strings.LastIndexByte(key, '/')+1:]
		scans[name[:strings.LastIndexByte(name, '-')]] = true
	}
	if len(scans) < 4 || len(scans) > days {
		t.Errorf("%d scans of %d days", len(scans), days)
	}
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
	if err := stop(); err != nil {
		t.Fatal(err)
	}
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
		for _, err := range later.Rows(ctx, store.Query{Dataset: "other", Subject: "s1"}) {
			if err != nil {
				t.Fatal(err)
			}
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
	if err := old.claim(t.Context()); err != nil {
		t.Fatal(err)
	}
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
	out, err := storetest.S3Client(t, w.s3).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("views"), Prefix: aws.String("quarantine/small/")})
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
	if err := stopOld(); err != nil {
		t.Fatal(err)
	}
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
	if err := stop(); err != nil {
		t.Fatal(err)
	}
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
	if err := stop(); err != nil {
		t.Fatal(err)
	}
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

// delete removes a row, as the table does when it expires.
func (w *archiveWorld) delete(dataset string, r store.Row) {
	w.t.Helper()
	_, err := w.db.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(w.prefix + schema.LogTable), Key: attr.Item{
		schema.PK: attr.S(dataset + "#" + r.Subject), schema.SK: attr.S(fmt.Sprintf("%013d#%s", r.Time.UnixMilli(), r.ID)),
	}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// Made-up rows of three days, through the engine of the tests: what counts is how many
// requests they take.
func BenchmarkArchive(b *testing.B) {
	const n = 30_000
	db := storetest.DynamoDB(b)
	for b.Loop() {
		b.StopTimer()
		prefix := storetest.Tables(b, db)
		var rows []store.Row
		for i := range n {
			rows = append(rows, store.Row{Subject: fmt.Sprint("s", i%500), Time: firstDay.Add(time.Duration(i) * 8 * time.Second), ID: fmt.Sprint(i), Body: encode(strings.Repeat("word", 100))})
		}
		if err := store.NewLog(db, prefix+schema.LogTable).Put(b.Context(), "word", rows); err != nil {
			b.Fatal(err)
		}
		var requests atomic.Int64
		counted := storetest.Intercept(db, func(_ any, send func() (any, error)) (any, error) {
			requests.Add(1)
			return send()
		})
		bucket := storetest.S3Handler()
		objects := storetest.S3Client(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			bucket.ServeHTTP(w, r)
		}))
		if err := schema.CreateBucket(b.Context(), objects, "views"); err != nil {
			b.Fatal(err)
		}
		p := newPipeline(Stores{Log: store.NewLog(counted, prefix+schema.LogTable), Series: store.NewSeries(counted, prefix+schema.SeriesTable), Archive: archive.Files{Objects: objects, Bucket: "views"}})
		p.Logs, p.Retention = []Log[*words]{archivedLog("word")}, retention.Setting{"word": 30}
		p.Now = func() time.Time { return firstDay.AddDate(0, 0, 5) }
		a := p.newArchiver()
		b.StartTimer()
		if err := a.claim(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := a.archive(b.Context()); err != nil {
			b.Fatal(err)
		}
		if got := p.Stats.Archived.Load(); got != n {
			b.Fatalf("%d rows are archived", got)
		}
		b.ReportMetric(float64(requests.Load())/n*1e6, "requests/Mrow")
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
}
