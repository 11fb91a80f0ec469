package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/archive"
	"quotary/shared/aws/attr"
	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
)

// archiveWorld is a log and an archive that outlive the processes that work on them.
type archiveWorld struct {
	t      *testing.T
	db     *dynamodb.Client
	prefix string
	s3     http.Handler
	client *s3.Client // which never dies
	clock  *testclock.Clock

	steps atomic.Int64 // requests until the process dies; beyond it none does
	lost  bool         // its last request is done, and the answer lost
	kill  context.CancelFunc
}

func newArchiveWorld(t *testing.T) *archiveWorld {
	db := storetest.DynamoDB(t)
	w := &archiveWorld{t: t, db: db, prefix: storetest.Tables(t, db), s3: storetest.S3Handler(), clock: testclock.At(firstDay.AddDate(0, 0, 3).Add(12 * time.Hour))}
	w.client = storetest.S3Client(t, w.s3)
	must.Do(t, schema.CreateBucket(t.Context(), w.client, "views"))
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
func (w *archiveWorld) archive(stores Stores) bool { return w.archives(w.process(stores)) }

func (w *archiveWorld) archives(a *archiver[*words]) bool {
	ctx, kill := context.WithCancel(w.t.Context())
	defer kill()
	w.kill = kill
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
	must.Do(w.t, store.NewLog(w.db, w.prefix+schema.LogTable).Put(w.t.Context(), dataset, rows))
}

// archived are the rows of the dataset's files, by file.
func (w *archiveWorld) archived(dataset string) map[string][]store.Row {
	w.t.Helper()
	files := archive.Files{Objects: w.client, Bucket: "views"}
	keys := must.Get(files.List(w.t.Context(), archive.Folder(dataset)))(w.t)
	all := map[string][]store.Row{}
	for _, key := range keys {
		for r := range must.All(w.t, files.Rows(w.t.Context(), key)) {
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
		page := must.Get(log.Scan(w.t.Context(), []string{dataset}, cursor, 0))(w.t)
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

// delete removes a row, as the table does when it expires.
func (w *archiveWorld) delete(dataset string, r store.Row) {
	w.t.Helper()
	must.Get(w.db.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(w.prefix + schema.LogTable), Key: attr.Item{
		schema.PK: attr.S(dataset + "#" + r.Subject), schema.SK: attr.S(fmt.Sprintf("%013d#%s", r.Time.UnixMilli(), r.ID)),
	}}))(w.t)
}
