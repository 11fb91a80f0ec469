package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/shared/aws/attr"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// counting is a vocabulary that reports how many words were applied to it.
type counting struct {
	*vocabulary
	applied func(words int)
}

func (c counting) Apply(w *words, r *Reads, now time.Time) error {
	c.applied(len(w.list))
	return c.vocabulary.Apply(w, r, now)
}

// vocabularyOf is everything that a vocabulary has stored.
func vocabularyOf(t *testing.T, s Stores, name string) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	for first := 'a'; first <= 'e'; first++ {
		at := newVocabulary(name).at(string(first))
		points := must.Get(s.Series.Load(t.Context(), []store.SeriesAt{at}))(t)
		var list map[string]bool
		if body := points[at].Body; body != nil {
			must.Do(t, json.Unmarshal(body, &list))
		}
		all[string(first)] = list
	}
	return all
}

// TestAProjectionThatIsAddedLaterEndsAsIfItHadAlwaysBeenThere: a domain stores
// words, gets another projection, and is killed again and again while that catches
// up and more words come.
func TestAProjectionThatIsAddedLaterEndsAsIfItHadAlwaysBeenThere(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	list := make([]string, 4500) // some pages of a scan
	for i := range list {
		list[i] = fmt.Sprintf("%c%d", 'a'+i%5, i)
	}
	before := len(list) - 500
	p := newPipeline(stores, inBatches("source", list[:before], 100))
	p.Projections = []Projection[*words]{newVocabulary("old")}
	stop := run(t, p)
	testenv.Until(t, "the first words are taken", func() bool { return p.Stats.Events.Load() == int64(before) })
	must.Do(t, stop())

	scanned := 0
	for life := 1; ; life++ {
		ctx, kill := context.WithCancel(t.Context())
		applied := 0
		var once sync.Once
		added := counting{newVocabulary("added"), func(n int) {
			applied += n
			if applied > 1000*life && life < 4 {
				once.Do(kill) // within a batch: its rows are not written, or without the cursor
			}
		}}
		p := newPipeline(stores, inBatches("source", list, 7))
		p.StopWithin = time.Nanosecond
		p.Projections = []Projection[*words]{newVocabulary("old"), added}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.Run(ctx) // it is killed
		}()
		if life < 4 {
			testenv.Until(t, "it is killed, or has caught up as a slow one may that writes each batch", func() bool {
				select {
				case <-ended:
					return true
				default:
					return p.Stats.Batches.Load() > 0 && p.Stats.CatchingUp.Load() == 0
				}
			})
			kill()
			<-ended
			scanned += applied
			continue
		}
		testenv.Until(t, "the projection has caught up", func() bool {
			return p.Stats.CatchingUp.Load() == 0 && len(vocabularyOf(t, stores, "added")["e"]) == len(list)/5 && len(vocabularyOf(t, stores, "added")["a"]) == len(list)/5
		})
		kill()
		<-ended
		scanned += applied
		break
	}
	if diff := cmp.Diff(vocabularyOf(t, stores, "old"), vocabularyOf(t, stores, "added")); diff != "" {
		t.Errorf("the added projection differs:\n%s", diff)
	}
	if scanned >= 4*len(list) {
		t.Errorf("%d words were read in four lives: the cursor was not used", scanned)
	}

	// It has joined: nothing is scanned again. A domain that does not list it for a
	// while forgets that.
	again := func(names ...string) (catching int64) {
		t.Helper()
		p := newPipeline(stores, say("other"))
		p.Projections = nil
		for _, name := range names {
			p.Projections = append(p.Projections, newVocabulary(name))
		}
		p.positions, p.Now, p.reads = map[string]checkpointed{}, time.Now, NewReads()
		must.Do(t, p.startProgress(t.Context(), true))
		return p.Stats.CatchingUp.Load()
	}
	for _, c := range []struct {
		listed []string
		want   int64
	}{{[]string{"old", "added"}, 0}, {[]string{"old"}, 0}, {[]string{"old", "added"}, 1}} {
		if got := again(c.listed...); got != c.want {
			t.Errorf("with %v listed %d are caught up, want %d", c.listed, got, c.want)
		}
	}
}

// TestAProjectionOfADomainThatNeverRanJoinsAtOnce, also when the first run died
// before its source had a checkpoint.
func TestAProjectionOfADomainThatNeverRanJoinsAtOnce(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	for range 2 {
		p := newPipeline(stores, say("source", "ant"))
		stop := run(t, p)
		testenv.Until(t, "the word is stored", func() bool { return stored(t, stores, "vocabulary", "a") == "ant" })
		if n := p.Stats.CatchingUp.Load(); n != 0 {
			t.Errorf("%d projections catch up", n)
		}
		must.Do(t, stop())
		must.Do(t, stores.Series.SaveCheckpoint(t.Context(), Checkpoint("small", "source", ""), []byte("0")))
	}
}

// TestAStoredRowThatCannotBeReadIsQuarantined where a projection is caught up: one
// that its dataset cannot read, and one that the store cannot.
func TestAStoredRowThatCannotBeReadIsQuarantined(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	db := storetest.DynamoDB(t)
	table := storetest.Tables(t, db) + schema.LogTable
	stores.Log = store.NewLog(db, table)
	quarantine := &kept{QuarantineObjects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	must.Get(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: attr.Item{"pk": attr.S("word#all"), "sk": attr.S("yesterday")}}))(t)
	rows := wordLog.Append(nil, &words{[]string{"ant", "ape"}})
	rows[0].Body = []byte("no word")
	must.Do(t, stores.Log.Put(t.Context(), wordLog.Dataset, rows))
	must.Do(t, stores.Series.SaveCheckpoint(t.Context(), Checkpoint("small", "source", ""), []byte("0")))
	p := newPipeline(stores, say("source"))
	stop := run(t, p)
	testenv.Until(t, "the other row is folded", func() bool { return stored(t, stores, "vocabulary", "a") == "ape" })
	must.Do(t, stop())
	if n := p.Stats.Quarantined.Load(); n != 2 {
		t.Errorf("%d rows are quarantined", n)
	}
	kept := map[string]string{}
	for _, row := range quarantine.rows {
		kept[row.Key] = row.Body + row.Item
	}
	want := map[string]string{"all " + fmt.Sprint(wordTime.UnixMilli()) + " ant": "no word", `"word#all yesterday"`: `{"pk":{"S":"word#all"},"sk":{"S":"yesterday"}}`}
	check.Equalf(t, want, kept, "kept are")
}

// TestCatchingUpGoesOnWhileASourceNeverPauses, and the source goes on meanwhile.
func TestCatchingUpGoesOnWhileASourceNeverPauses(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	list := make([]string, 3*storedEvents)
	for i := range list {
		list[i] = fmt.Sprintf("%c%d", 'a'+i%5, i)
	}
	must.Do(t, stores.Log.Put(t.Context(), wordLog.Dataset, wordLog.Append(nil, &words{list})))
	must.Do(t, stores.Series.SaveCheckpoint(t.Context(), Checkpoint("small", "source", ""), []byte("0")))
	var joinedAt int64 // batches
	var ending atomic.Bool
	p := newPipeline(stores, Source[*words]{Name: "source", Stats: new(source.Stats), Follow: func(ctx context.Context, _ Position, sink Sink[*words]) error {
		for {
			if err := sink(ctx, Delivery[*words]{Batch: &words{[]string{"zebra"}}}); err != nil {
				return err
			}
		}
	}})
	p.Applied = func(*words) {
		for len(p.live) < cap(p.live) && !ending.Load() {
			runtime.Gosched() // the queue is full again before the next batch
		}
	}
	joined := make(chan struct{})
	p.Projections = []Projection[*words]{joining{newVocabulary("vocabulary"), func() { joinedAt = p.Stats.Batches.Load(); close(joined) }}}
	stop := run(t, p)
	<-joined
	testenv.Until(t, "all is stored", func() bool { return len(vocabularyOf(t, stores, "vocabulary")["e"]) == len(list)/5 })
	testenv.Until(t, "the source goes on", func() bool { return p.Stats.Batches.Load() > joinedAt })
	ending.Store(true)
	must.Do(t, stop())
}

// joining is a vocabulary that reports when it has joined.
type joining struct {
	*vocabulary
	joined func()
}

func (j joining) Joined() { j.joined() }

// TestAProjectionLearnsWhenItHasJoined: at the start, or behind the last stored row.
func TestAProjectionLearnsWhenItHasJoined(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	for _, c := range []struct {
		name    string
		letters int // of which it holds words when it joins
	}{{"there from the start", 0}, {"added", 2}} {
		v, letters, times := newVocabulary(c.name), -1, 0
		p := newPipeline(stores, say("source", "ant", "bee"))
		p.Projections = []Projection[*words]{joining{v, func() { letters, times = len(v.byFirst), times+1 }}}
		stop := run(t, p)
		testenv.Until(t, "its words are stored", func() bool {
			return p.Stats.CatchingUp.Load() == 0 && stored(t, stores, c.name, "a")+stored(t, stores, c.name, "b") == "antbee"
		})
		must.Do(t, stop())
		if letters != c.letters || times != 1 {
			t.Errorf("the one %s joined %d times, with %d letters, want once with %d", c.name, times, letters, c.letters)
		}
	}
}
