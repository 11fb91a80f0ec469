package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/shared/data/drop"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// wordDrops takes lines that are each a JSON text of one word.
var wordDrops = DropDataset[*words]{Name: "words", Append: func(to *words, line []byte, _ drop.Place) error {
	var word string
	if string(line) == poison {
		panic("a line with a sting")
	}
	if err := json.Unmarshal(line, &word); err != nil || word == "" {
		return errors.New("the line must be a word")
	}
	to.list = append(to.list, word)
	return nil
}}

const poison = `"wasp"`

// TestALineThatPanicsIsRefusedLikeOthers: its file is consumed all the same.
func TestALineThatPanicsIsRefusedLikeOthers(t *testing.T) {
	t.Parallel()
	w := newDropWorld(t)
	key := drop.Key("words", "a.ndjson")
	w.put(key, []byte("\"ant\"\n"+poison+"\n\"ape\""))
	if _, finished := w.live(1<<40, key); !finished {
		t.Fatal("it never ends")
	}
	if got := w.words("a"); got != "ant,ape" {
		t.Errorf("stored are %s", got)
	}
	r := w.report(key)
	if r.Taken != 2 || r.Refused != 1 || len(r.Faults) != 1 || r.Faults[0].Line != 2 || !strings.Contains(r.Faults[0].Reason, "a line with a sting") {
		t.Errorf("the report is %+v", r)
	}
}

// dropWorld is tables and a bucket that outlive the processes of a test.
type dropWorld struct {
	t      *testing.T
	db     *dynamodb.Client
	prefix string
	s3     *s3.Client
	bucket string
}

func newDropWorld(t *testing.T) *dropWorld {
	t.Helper()
	db := storetest.DynamoDB(t)
	w := &dropWorld{t: t, db: db, prefix: storetest.Tables(t, db)}
	w.s3, w.bucket = storetest.S3(t)
	return w
}

func (w *dropWorld) put(key string, body []byte) {
	w.t.Helper()
	must.Get(w.s3.PutObject(w.t.Context(), &s3.PutObjectInput{Bucket: &w.bucket, Key: &key, Body: bytes.NewReader(body)}))(w.t)
}

// get is an object, empty where there is none.
func (w *dropWorld) get(key string) string {
	out, err := w.s3.GetObject(w.t.Context(), &s3.GetObjectInput{Bucket: &w.bucket, Key: &key})
	if err != nil {
		return ""
	}
	defer out.Body.Close()
	text := must.Get(io.ReadAll(out.Body))(w.t)
	return string(text)
}

// report is that of a drop, the zero value where there is none.
func (w *dropWorld) report(key string) (r drop.Report) {
	w.t.Helper()
	if text := w.get(key + drop.Suffix); text != "" {
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			w.t.Fatalf("%v: %s", err, text)
		}
		r.ETag = ""
	}
	return r
}

// done reports whether a drop is checkpointed as consumed with its present content.
func (w *dropWorld) done(key string) bool {
	w.t.Helper()
	head := must.Get(w.s3.HeadObject(w.t.Context(), &s3.HeadObjectInput{Bucket: &w.bucket, Key: &key}))(w.t)
	body := must.Get(store.NewSeries(w.db, w.prefix+schema.SeriesTable).Checkpoint(w.t.Context(), Checkpoint("small", dropsName, key)))(w.t)
	var at dropProgress
	if body != nil {
		must.Do(w.t, json.Unmarshal(body, &at))
	}
	return at.Done && at.ETag == aws.ToString(head.ETag)
}

// mortal counts requests, and after so many of them refuses all others: the process
// is dead for the world.
type mortal struct {
	DropObjects
	left atomic.Int64
	die  func()
}

var errDead = errors.New("the process is dead")

func (m *mortal) alive() error {
	if left := m.left.Add(-1); left < 0 {
		m.die()
		return errDead
	}
	return nil
}

func (m *mortal) GetObject(ctx context.Context, in *s3.GetObjectInput, o ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.DropObjects.GetObject(ctx, in, o...)
}

func (m *mortal) PutObject(ctx context.Context, in *s3.PutObjectInput, o ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return m.DropObjects.PutObject(ctx, in, o...)
}

// live runs a process for so many requests, or until all drops are consumed. It
// reports how many it made.
func (w *dropWorld) live(requests int64, keys ...string) (made int64, finished bool) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	m := &mortal{DropObjects: w.s3, die: cancel}
	m.left.Store(requests)
	db := storetest.Intercept(w.db, func(_ any, send func() (any, error)) (any, error) {
		if err := m.alive(); err != nil {
			return nil, err
		}
		return send()
	})
	stores := storesOn(w.t, db, w.prefix)
	drops := &Drops[*words]{Domain: "small", Datasets: []DropDataset[*words]{wordDrops}, NewBatch: newWords, Objects: m, Bucket: w.bucket,
		Series: stores.Series, Every: time.Millisecond, Stats: new(source.Stats), Logger: quiet, entries: 3}
	p := newPipeline(stores, drops.Source())
	p.StopWithin = time.Nanosecond
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	pending := func() bool {
		for _, key := range keys {
			if !w.done(key) {
				return true
			}
		}
		return false
	}
	testenv.Until(w.t, "the process dies or consumes all drops", func() bool {
		finished = !pending()
		return finished || ctx.Err() != nil
	})
	cancel()
	<-ended
	return requests - m.left.Load(), !pending()
}

// words are those that are stored of a first letter, as a text.
func (w *dropWorld) words(first string) string {
	w.t.Helper()
	return stored(w.t, storesOn(w.t, w.db, w.prefix), "vocabulary", first)
}

// lines is a file of words with lines that are none.
const lines = "\"ant\"\n\"ape\"\nbad\n\"asp\"\n\n\"ape\"\n\"auk\"\n{}\n\"ass\"\n\"torn\n\"adder\""

var linesReport = drop.Report{Dataset: "words", File: "a.ndjson", Lines: 10, Taken: 7, Refused: 3, Faults: []drop.Fault{
	{Line: 3, Reason: "the line must be a word"}, {Line: 8, Reason: "the line must be a word"}, {Line: 10, Reason: "the line must be a word"},
}}

const allWords = "adder,ant,ape,asp,ass,auk"

// TestADropIsTakenOnceWhereverAProcessDies kills a process after each number of
// requests that it can make, and lets others go on.
func TestADropIsTakenOnceWhereverAProcessDies(t *testing.T) {
	t.Parallel()
	key := drop.Key("words", "a.ndjson")
	for requests := int64(1); ; requests++ {
		w := newDropWorld(t)
		w.put(key, []byte(lines))
		_, finished := w.live(requests, key)
		if _, after := w.live(1<<40, key); !after {
			t.Fatal("it never ends")
		}
		if got := w.words("a"); got != allWords {
			t.Errorf("killed after %d requests: %s", requests, got)
		}
		check.Equalf(t, linesReport, w.report(key), "killed after %d requests", requests)
		if finished {
			t.Logf("%d requests", requests)
			break
		}
		if t.Failed() {
			break
		}
	}
}

func TestADropIsTakenAgainOnlyWithOtherContent(t *testing.T) {
	t.Parallel()
	w := newDropWorld(t)
	key := drop.Key("words", "a.ndjson")
	w.put(key, []byte(lines))
	w.live(1<<40, key)
	w.put(key+drop.Suffix, []byte(`{"file":"untouched"}`))
	w.put(key, []byte(lines))
	if _, finished := w.live(1<<40, key); !finished || w.report(key).File != "untouched" {
		t.Errorf("it was taken twice: %+v", w.report(key))
	}
	w.put(key, []byte(`"bee"`))
	w.live(1<<40, key)
	if got := w.words("b"); got != "bee" || w.report(key).Taken != 1 {
		t.Errorf("other content: %s, %+v", got, w.report(key))
	}
}

// TestAContentIsTakenOnceInADataset also kills the process after each number of requests
// between the first drop and the second.
func TestAContentIsTakenOnceInADataset(t *testing.T) {
	t.Parallel()
	w := newDropWorld(t)
	first, second, again := drop.Key("words", "a.ndjson"), drop.Key("words", "b.ndjson"), drop.Key("words", "reload-a.ndjson")
	w.put(first, []byte(lines))
	w.live(1<<40, first)
	w.put(second, []byte(lines))
	finished := false
	for requests := int64(1); !finished; requests++ {
		_, finished = w.live(requests, second)
	}
	check.Equalf(t, drop.Report{Dataset: "words", File: "b.ndjson", SameAs: "a.ndjson", Faults: []drop.Fault{}}, w.report(second), "the same under another name")
	w.put(again, []byte(lines))
	w.live(1<<40, again)
	if r := w.report(again); r.SameAs != "" || r.Taken != 7 {
		t.Errorf("loaded again on purpose: %+v", r)
	}
	w.put(second, []byte(lines+"\n"))
	w.live(1<<40, second)
	if r := w.report(second); r.SameAs != "" || r.Taken != 7 {
		t.Errorf("with one byte more: %+v", r)
	}
}

func TestThePaceOfADropIsSaidSeldom(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_795_000_000, 0)
	p := newPace(1000, began)
	if got := p.rate(1000, began); got != 0 {
		t.Errorf("at once: %d lines/s", got)
	}
	if got := p.rate(21_000, began.Add(2*time.Second)); got != 10_000 {
		t.Errorf("20,000 lines in two seconds: %d lines/s", got)
	}
	var said []int
	for s := range 25 {
		if p.due(began.Add(time.Duration(s)*time.Second), 10*time.Second) {
			said = append(said, s)
		}
	}
	if diff := cmp.Diff([]int{10, 20}, said); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoDropIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newDropWorld(t)
	for _, key := range []string{"drop/other/a", "drop/words", "drop/words/below/a", "views/words/a", "drop/words/b.report.json"} {
		w.put(key, []byte(`"bee"`))
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for n := range 100 {
		fmt.Fprintf(z, "\"a%03d\"\n", n)
	}
	z.Close()
	keys := []string{drop.Key("words", "empty"), drop.Key("words", "no.gz"), drop.Key("words", "torn.gz"), drop.Key("words", "whole.gz")}
	w.put(keys[0], nil)
	w.put(keys[1], []byte("no gzip"))
	w.put(keys[2], zipped.Bytes()[:zipped.Len()-5])
	w.put(keys[3], zipped.Bytes())
	if _, finished := w.live(1<<40, keys...); !finished {
		t.Fatal("not all are taken")
	}
	if got := strings.Count(w.words("a"), ",") + 1; got != 100 {
		t.Errorf("%d words of a gzip", got)
	}
	if got := w.words("b"); got != "" {
		t.Errorf("what is no drop was read: %s", got)
	}
	for i, want := range []struct {
		taken   int64
		stopped bool
	}{{0, false}, {0, true}, {100, true}, {100, false}} {
		if r := w.report(keys[i]); r.Taken != want.taken || (r.Stopped != "") != want.stopped {
			t.Errorf("%s: %+v", keys[i], r)
		}
	}
}
