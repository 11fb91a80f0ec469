package engine

import (
	"strings"
	"testing"
	"time"

	"quotary/internal/testenv"
	"quotary/shared/store"
)

// spoil replaces the row of a first letter by one that cannot be read.
func spoil(t *testing.T, s Stores, vocabulary, first string) store.SeriesRow {
	t.Helper()
	at := newVocabulary(vocabulary).at(first)
	rows, err := s.Series.Load(t.Context(), []store.SeriesAt{at})
	if err != nil {
		t.Fatal(err)
	}
	was := store.SeriesRow{SeriesKey: at.SeriesKey, Point: rows[at]}
	bad := was
	bad.Body = []byte(`{"ant":tru`)
	if err := s.Series.Put(t.Context(), []store.SeriesRow{bad}); err != nil {
		t.Fatal(err)
	}
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
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	spoil(t, stores, "vocabulary", "a")

	p := newPipeline(stores, say("source", append(list, "axe")...))
	stop = run(t, p)
	testenv.Until(t, "all words are stored", func() bool { return stored(t, stores, "vocabulary", "a") == "ant,ape,axe" })
	testenv.Until(t, "it has caught up", func() bool { return p.Stats.CatchingUp.Load() == 0 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
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
	if err := stop(); err != nil {
		t.Fatal(err)
	}
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
	if err := stop(); err != nil {
		t.Fatal(err)
	}
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
	if err := stores.Series.Put(t.Context(), []store.SeriesRow{was}); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, "it goes on", func() bool { return stored(t, stores, "unfolded", "a") == "ant,ape" })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}
