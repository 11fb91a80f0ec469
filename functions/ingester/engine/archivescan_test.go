package engine

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/functions/ingester/archive"
	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// Wherever a process dies, before or behind a request, and the next one too, another
// goes on, and each row is archived once. What is delivered again behind the scan's back
// is found by the next day's.
func TestAProcessMayDieAnywhereBetweenTwoSteps(t *testing.T) {
	t.Parallel()
	rows := slices.Concat(wordsOf(0, 7, "x"), wordsOf(1, 24, "x"), wordsOf(2, 4, "x"), wordsOf(3, 2, "x"))
	// Who dies before an answer leaves what one leaves who dies before the next request: some
	// places show that.
	for lost, every := range map[bool]int64{false: 1, true: testenv.Amount[int64](3, 1)} {
		t.Run(fmt.Sprint("the last answer is lost ", lost), func(t *testing.T) {
			t.Parallel()
			died := int64(0)
			for at, done := int64(0), false; !done; at += every {
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
			if died*every < 40 {
				t.Errorf("it died at %d steps", died)
			}
		})
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
	must.Do(t, a.claim(t.Context()))
	must.Do(t, a.archive(t.Context()))
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
		must.Do(b, store.NewLog(db, prefix+schema.LogTable).Put(b.Context(), "word", rows))
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
		must.Do(b, schema.CreateBucket(b.Context(), objects, "views"))
		p := newPipeline(Stores{Log: store.NewLog(counted, prefix+schema.LogTable), Series: store.NewSeries(counted, prefix+schema.SeriesTable), Archive: archive.Files{Objects: objects, Bucket: "views"}})
		p.Logs, p.Retention = []Log[*words]{archivedLog("word")}, retention.Setting{"word": 30}
		p.Now = func() time.Time { return firstDay.AddDate(0, 0, 5) }
		a := p.newArchiver()
		b.StartTimer()
		must.Do(b, a.claim(b.Context()))
		must.Do(b, a.archive(b.Context()))
		if got := p.Stats.Archived.Load(); got != n {
			b.Fatalf("%d rows are archived", got)
		}
		b.ReportMetric(float64(requests.Load())/n*1e6, "requests/Mrow")
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
}
