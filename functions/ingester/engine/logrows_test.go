package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// debuts is a vocabulary that also has a log row of the first time that a word was
// used: what it knows already, from its rows, makes none.
type debuts struct {
	*vocabulary
	fresh []store.Row
}

const debutDataset = "debut"

func newDebuts() *debuts { return &debuts{vocabulary: newVocabulary("debuts")} }

func (d *debuts) Apply(w *words, r *Reads, now time.Time) error {
	for _, word := range w.list {
		known, err := d.known(word[:1], r)
		if err != nil {
			return err
		}
		if !known[word] {
			d.fresh = append(d.fresh, store.Row{Subject: word[:1], Time: wordTime, ID: word, Body: encode(word)})
		}
	}
	return d.vocabulary.Apply(w, r, now)
}

func (d *debuts) Changes(now time.Time, settle bool) Changes {
	c := d.vocabulary.Changes(now, settle)
	c.Log = []LogRows{{Dataset: debutDataset, Rows: d.fresh}}
	d.fresh = nil
	return c
}

// debutRows are the words with a log row, sorted.
func debutRows(t testing.TB, s Stores) (list []string) {
	t.Helper()
	page := must.Get(s.Log.Scan(t.Context(), []string{debutDataset}, "", 0))(t)
	for _, r := range page.Rows[debutDataset] {
		list = append(list, r.ID)
	}
	slices.Sort(list)
	return list
}

// isDebut reports whether a request writes such log rows.
func isDebut(in any) bool {
	batch, ok := in.(*dynamodb.BatchWriteItemInput)
	if !ok {
		return false
	}
	for _, requests := range batch.RequestItems {
		for _, r := range requests {
			if strings.HasPrefix(attr.Text(r.PutRequest.Item, "pk"), debutDataset+"#") {
				return true
			}
		}
	}
	return false
}

// TestLogRowsOfAProjectionAreWrittenBeforeWhatKnowsOfThem: while they are refused,
// neither its rows nor the checkpoint are there.
func TestLogRowsOfAProjectionAreWrittenBeforeWhatKnowsOfThem(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	stores := storesOn(t, db, prefix)
	var allowed atomic.Bool
	tried := make(chan struct{}, 1)
	p := newPipeline(storesOn(t, storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		if isDebut(in) && !allowed.Load() {
			select {
			case tried <- struct{}{}:
			default:
			}
			return (*dynamodb.BatchWriteItemOutput)(nil), errors.New("no answer")
		}
		return send()
	}), prefix), say("source", "ant"))
	p.Projections = []Projection[*words]{newDebuts()}
	stop := run(t, p)
	<-tried
	checkpoint := func() string {
		body := must.Get(stores.Series.Checkpoint(t.Context(), Checkpoint("small", "source", "")))(t)
		return string(body)
	}
	if got := stored(t, stores, "debuts", "a") + checkpoint(); got != "" {
		t.Errorf("before the log row there is %s", got)
	}
	allowed.Store(true)
	testenv.Until(t, "all is stored", func() bool { return checkpoint() == "1" })
	must.Do(t, stop())
	if got := debutRows(t, stores); !slices.Equal(got, []string{"ant"}) {
		t.Errorf("the log rows are %v", got)
	}
}

// TestInvalidLogRowsOfAProjectionAreQuarantined like any others.
func TestInvalidLogRowsOfAProjectionAreQuarantined(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	quarantine := &kept{QuarantineObjects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	long := "ape" + strings.Repeat("-", 1100)
	p := newPipeline(stores, say("source", "ant", long))
	p.Logs, p.Projections = nil, []Projection[*words]{newDebuts()}
	stop := run(t, p)
	testenv.Until(t, "both are taken", func() bool { return p.Stats.Events.Load() == 2 })
	must.Do(t, stop())
	if got := debutRows(t, stores); len(quarantine.rows) != 1 || !slices.Equal(got, []string{"ant"}) {
		t.Errorf("%d rows are quarantined, the log rows are %v", len(quarantine.rows), got)
	}
}

// TestLogRowsOfAProjectionEndTheSameWhateverHappens: words come late and twice, the
// process dies before any write, and the projection is there from the start or added
// to a domain that has run.
func TestLogRowsOfAProjectionEndTheSameWhateverHappens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		added bool
	}{{"there from the start", false}, {"added later", true}} {
		for seed := range testenv.Amount(3, 100) {
			t.Run(fmt.Sprint(c.name, " ", seed), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(seed), 1))
				db := storetest.DynamoDB(t)
				prefix := storetest.Tables(t, db)
				stores := storesOn(t, db, prefix)
				want := make([]string, 60)
				for i := range want {
					want[i] = fmt.Sprintf("%c%02d", 'a'+i%5, i)
				}
				list := slices.Concat(want, want[:20])
				r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				slices.Sort(want)
				if c.added {
					p := newPipeline(stores, inBatches("source", list[:50], 5))
					p.Projections = nil
					stop := run(t, p)
					testenv.Until(t, "the first words are taken", func() bool { return p.Stats.Events.Load() == 50 })
					must.Do(t, stop())
				}
				for range 4 {
					dieBeforeAWrite(t, db, stores, prefix, list, int64(r.IntN(30)))
				}
				p := newPipeline(stores, inBatches("source", list, 7))
				p.Projections = []Projection[*words]{newDebuts()}
				stop := run(t, p)
				testenv.Until(t, "all is stored", func() bool {
					body, err := stores.Series.Checkpoint(t.Context(), Checkpoint("small", "source", ""))
					return err == nil && string(body) == fmt.Sprint(len(list)) && p.Stats.Flushed.Load() > 0 && p.Stats.CatchingUp.Load() == 0
				})
				must.Do(t, stop())
				check.Equalf(t, want, debutRows(t, stores), "log rows")
			})
		}
	}
}

// dieBeforeAWrite runs a life that ends before its nth write, or with its words.
func dieBeforeAWrite(t *testing.T, db *dynamodb.Client, stores Stores, prefix string, list []string, nth int64) {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	var writes atomic.Int64
	mortal := storetest.Intercept(db, func(in any, send func() (any, error)) (any, error) {
		switch in.(type) {
		case *dynamodb.BatchWriteItemInput, *dynamodb.PutItemInput:
			if writes.Add(1) > nth {
				kill()
				return nil, errors.New("the process died")
			}
		}
		return send()
	})
	p := newPipeline(storesOn(t, mortal, prefix), inBatches("source", list, 7))
	p.Projections = []Projection[*words]{newDebuts()}
	p.StopWithin = time.Nanosecond
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Run(ctx) // it dies
	}()
	testenv.Until(t, "it dies, or has nothing left to write", func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		body, err := stores.Series.Checkpoint(t.Context(), Checkpoint("small", "source", ""))
		return err == nil && string(body) == fmt.Sprint(len(list)) && p.Stats.CatchingUp.Load() == 0
	})
	kill()
	<-ended
}
