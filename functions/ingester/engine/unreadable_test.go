package engine

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// spoil replaces the row of a first letter by one that cannot be read.
func spoil(t *testing.T, s Stores, vocabulary, first string) store.SeriesRow {
	t.Helper()
	at := newVocabulary(vocabulary).at(first)
	rows := must.Get(s.Series.Load(t.Context(), []store.SeriesAt{at}))(t)
	was := store.SeriesRow{SeriesKey: at.SeriesKey, Point: rows[at]}
	bad := was
	bad.Body = []byte(`{"ant":tru`)
	must.Do(t, s.Series.Put(t.Context(), []store.SeriesRow{bad}))
	return was
}

// TestARowThatCannotBeReadIsMadeAgainFromTheLogs, once, and is kept for a look.
func TestARowThatCannotBeReadIsMadeAgainFromTheLogs(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	quarantine := &kept{QuarantineObjects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	list := []string{"ant", "bee", "ape"}
	stop := run(t, newPipeline(stores, say("source", list...)))
	testenv.Until(t, "three words are stored", func() bool { return stored(t, stores, "vocabulary", "a") == "ant,ape" })
	must.Do(t, stop())
	spoil(t, stores, "vocabulary", "a")

	p := newPipeline(stores, say("source", append(list, "axe")...))
	stop = run(t, p)
	testenv.Until(t, "all words are stored", func() bool { return stored(t, stores, "vocabulary", "a") == "ant,ape,axe" })
	testenv.Until(t, "it has caught up", func() bool { return p.Stats.CatchingUp.Load() == 0 })
	must.Do(t, stop())
	if n := p.Stats.Quarantined.Load(); n != 1 || len(quarantine.rows) != 1 {
		t.Errorf("%d rows are quarantined, %d kept", n, len(quarantine.rows))
	}
	for _, row := range quarantine.rows {
		if row.Dataset != "vocabulary" || row.Body != `{"ant":tru` || !strings.HasPrefix(row.Reason, "read for a projection: ") {
			t.Errorf("kept is %+v", row)
		}
	}
	p = newPipeline(stores, say("source"))
	stop = run(t, p)
	testenv.Until(t, "it runs", func() bool { return p.Stats.Flushed.Load() > 0 })
	if n := p.Stats.CatchingUp.Load(); n != 0 {
		t.Error("it catches up once more")
	}
	must.Do(t, stop())
}

// unfolded is a vocabulary that cannot be folded from any log.
type unfolded struct{ *vocabulary }

func (unfolded) Folds() []Fold[*words] { return nil }

// TestARowThatNothingCanMakeAgainStopsThePipeline: it is not written over, and the
// pipeline goes on by itself when it can be read again.
func TestARowThatNothingCanMakeAgainStopsThePipeline(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	first := newPipeline(stores, say("source", "ant"))
	first.Projections = []Projection[*words]{unfolded{newVocabulary("unfolded")}}
	stop := run(t, first)
	testenv.Until(t, "the word is stored", func() bool { return stored(t, stores, "unfolded", "a") == "ant" })
	must.Do(t, stop())
	was := spoil(t, stores, "unfolded", "a")
	p := newPipeline(stores, say("source", "ant", "ape"))
	p.Projections = []Projection[*words]{unfolded{newVocabulary("unfolded")}}
	stop = run(t, p)
	testenv.Until(t, "it stops", func() bool { return strings.Join(p.Status().Refused(time.Now()), "") == "read rows" })
	if got := stored(t, stores, "unfolded", "a"); got != "ant:tru" {
		t.Errorf("the row is %s", got)
	}
	if n := p.Stats.Quarantined.Load(); n != 1 {
		t.Errorf("%d rows are quarantined", n)
	}
	must.Do(t, stores.Series.Put(t.Context(), []store.SeriesRow{was}))
	testenv.Until(t, "it goes on", func() bool { return stored(t, stores, "unfolded", "a") == "ant,ape" })
	must.Do(t, stop())
}

// curious asks besides for everything of a word, and writes a row of it.
type curious struct {
	*vocabulary
	said map[string]bool
}

func (c curious) key(word string) store.SeriesKey {
	return store.SeriesKey{Name: "curious", Key: word, Interval: "1h"}
}

func (c curious) Prefetch(w *words, r *Reads) {
	c.vocabulary.Prefetch(w, r)
	for _, word := range w.list {
		if _, ok := r.Latest(c.key(word)); ok {
			r.Prefetch(store.SeriesAt{SeriesKey: c.key(word), Time: wordTime}, func(store.SeriesAt, *store.Point) error { return nil })
			r.PrefetchLog(LogAt{Dataset: "word", Subject: word}, func(*store.Row) error { return nil })
		}
	}
}

func (c curious) Apply(w *words, r *Reads, now time.Time) error {
	for _, word := range w.list {
		c.said[word] = true
	}
	return c.vocabulary.Apply(w, r, now)
}

func (c curious) Changes(now time.Time, settle bool) Changes {
	all := c.vocabulary.Changes(now, settle)
	for word := range c.said {
		all.Fine = append(all.Fine, store.SeriesRow{SeriesKey: c.key(word), Point: store.Point{Time: wordTime, Body: encode(word)}})
	}
	clear(c.said)
	return all
}

// TestAKeyThatNoStoreWouldTakeIsQuarantinedAndTheRestGoesOn, whatever asks for rows of it:
// none can be there, and the one that would be is kept for a look.
func TestAKeyThatNoStoreWouldTakeIsQuarantinedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	quarantine := &kept{QuarantineObjects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	long := "yak" + strings.Repeat("-", 2100)
	p := newPipeline(stores, say("source", "ant", long, "ape", long, "axe"))
	p.Logs, p.Projections = nil, []Projection[*words]{curious{newVocabulary("vocabulary"), map[string]bool{}}}
	stop := run(t, p)
	testenv.Until(t, "all words are stored", func() bool { return stored(t, stores, "vocabulary", "a") == "ant,ape,axe" })
	must.Do(t, stop())
	for _, row := range quarantine.rows {
		if row.Dataset != "curious" || !strings.HasPrefix(row.Reason, `the key "pk" has `) {
			t.Errorf("kept is %+v", row)
		}
	}
	if n := p.Stats.Quarantined.Load(); n != 1 || len(quarantine.rows) != 1 {
		t.Errorf("%d rows are quarantined, %d kept", n, len(quarantine.rows))
	}
}

// shown is a vocabulary that is restored from a view, which it publishes or does not.
type shown struct {
	*vocabulary
	publishes bool
	words     map[string]bool
	changed   bool
}

func newShown(publishes bool) *shown {
	return &shown{vocabulary: newVocabulary("shown"), publishes: publishes, words: map[string]bool{}}
}

func decodeWords(body []byte) (words map[string]bool, err error) {
	return words, json.Unmarshal(body, &words)
}

var shownWords = store.ViewType[map[string]bool]{Name: "shown", Read: decodeWords}

func (s *shown) Restores() []RestoredView { return []RestoredView{Restores(shownWords)} }

func (s *shown) Restore(views map[string][]byte) error {
	words, err := Restored(views, shownWords)
	maps.Copy(s.words, words)
	return err
}

func (s *shown) Prefetch(*words, *Reads) {}

func (s *shown) Apply(w *words, _ *Reads, _ time.Time) error {
	for _, word := range w.list {
		s.words[word], s.changed = true, s.publishes
	}
	return nil
}

func (s *shown) Changes(time.Time, bool) (c Changes) {
	if s.changed {
		s.changed = false
		c.Views = []View{{Name: "shown", Body: encode(s.words)}}
	}
	return c
}

// TestAViewThatIsLostIsMadeAgainFromTheLogs: one that was there before. One that was never
// published is not looked for in the logs at every start, which may be large.
func TestAViewThatIsLostIsMadeAgainFromTheLogs(t *testing.T) {
	t.Parallel()
	for _, publishes := range []bool{true, false} {
		stores := newStores(t)
		objects, bucket := storetest.S3(t)
		stores.Views = store.NewViews(objects, bucket)
		published := func() string {
			body, _, _, err := stores.Views.Fetch(t.Context(), "shown", "")
			if err != nil && !errors.Is(err, store.ErrNoView) {
				t.Fatal(err)
			}
			return string(body)
		}
		start := func() (*Pipeline[*words], func() error) {
			p := newPipeline(stores, say("source", "ant", "bee"))
			p.Projections = []Projection[*words]{newShown(publishes)}
			return p, run(t, p)
		}
		want := ""
		if publishes {
			want = `{"ant":true,"bee":true}`
		}
		p, stop := start()
		testenv.Until(t, "the words are taken", func() bool { return p.Stats.Events.Load() == 2 && published() == want })
		must.Do(t, stop())
		for range 2 {
			must.Get(objects.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: aws.String("views/shown.json.zst")}))(t)
			p, stop = start()
			testenv.Until(t, "it runs, and has caught up", func() bool {
				return p.Stats.Flushed.Load() > 0 && p.Stats.CatchingUp.Load() == 0 && published() == want
			})
			must.Do(t, stop())
		}
		if at := p.progress["shown"]; !at.Joined || at.Published != publishes || at.Scanned != publishes {
			t.Errorf("publishes %t: %+v", publishes, at)
		}
	}
}
