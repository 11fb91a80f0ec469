package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.uber.org/goleak"

	"quotary/functions/ingester/source"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

var quiet = slog.New(slog.DiscardHandler)

// words is the batch of a small domain: each event is a word.
type words struct{ list []string }

func newWords() *words { return new(words) }

func (w *words) Merge(later *words) {
	if later != nil {
		w.list = append(w.list, later.list...)
	}
}

func (w *words) Len() int { return len(w.list) }

var wordTime = time.UnixMilli(1_800_000_000_000).UTC()

// wordLog has a row of each word.
var wordLog = Log[*words]{Dataset: "word", Append: func(rows []store.Row, w *words) []store.Row {
	for _, word := range w.list {
		rows = append(rows, store.Row{Subject: "all", Time: wordTime, ID: word, Body: encode(word)})
	}
	return rows
}}

// vocabulary keeps which words there are of each first letter, as rows, and all of
// them as a view. What it is made of can be stored or not.
type vocabulary struct {
	Defaults[*words]
	name    string
	byFirst map[string]map[string]bool
	changed map[string]bool
}

func newVocabulary(name string) *vocabulary {
	return &vocabulary{name: name, byFirst: map[string]map[string]bool{}, changed: map[string]bool{}}
}

func (v *vocabulary) Name() string { return v.name }

func (v *vocabulary) Folds() []Fold[*words] {
	return []Fold[*words]{{Dataset: wordLog.Dataset, Append: func(to *words, row store.Row) error {
		var word string
		if err := json.Unmarshal(row.Body, &word); err != nil {
			return fmt.Errorf("read a word: %w", err)
		}
		to.list = append(to.list, word)
		return nil
	}}}
}

func (v *vocabulary) at(first string) store.SeriesAt {
	return store.SeriesAt{SeriesKey: store.SeriesKey{Name: v.name, Key: first, Interval: "1h"}, Time: wordTime}
}

func (v *vocabulary) Prefetch(w *words, r *Reads) {
	for _, word := range w.list {
		if v.byFirst[word[:1]] == nil {
			r.Prefetch(v.at(word[:1]), func(_ store.SeriesAt, p *store.Point) error { return json.Unmarshal(p.Body, new(map[string]bool)) })
		}
	}
}

func (v *vocabulary) Apply(w *words, r *Reads, _ time.Time) error {
	for _, word := range w.list {
		first := word[:1]
		known, err := v.known(first, r)
		if err != nil {
			return err
		}
		if !known[word] {
			known[word], v.changed[first] = true, true
		}
	}
	return nil
}

// known are the words of a first letter.
func (v *vocabulary) known(first string, r *Reads) (map[string]bool, error) {
	if v.byFirst[first] == nil {
		known := map[string]bool{}
		if stored := r.Row(v.at(first)); stored != nil {
			if err := json.Unmarshal(stored.Body, &known); err != nil {
				return nil, fmt.Errorf("read words: %w", err)
			}
		}
		v.byFirst[first] = known
	}
	return v.byFirst[first], nil
}

func (v *vocabulary) Changes(time.Time, bool) (c Changes) {
	for first := range v.changed {
		at := v.at(first)
		c.Fine = append(c.Fine, store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: encode(v.byFirst[first])}})
	}
	clear(v.changed)
	return c
}

// newStores returns stores on tables of their own.
func newStores(t testing.TB) Stores {
	t.Helper()
	db := storetest.DynamoDB(t)
	return storesOn(t, db, storetest.Tables(t, db))
}

// storesOn returns stores on tables that there are.
func storesOn(t testing.TB, db *dynamodb.Client, prefix string) Stores {
	t.Helper()
	objects, bucket := storetest.S3(t)
	return Stores{Log: store.NewLog(db, prefix+schema.LogTable), Series: store.NewSeries(db, prefix+schema.SeriesTable), Views: store.NewViews(objects, bucket),
		Quarantine: Quarantine{Objects: objects, Bucket: bucket}}
}

// newPipeline is the small domain with a vocabulary.
func newPipeline(stores Stores, sources ...Source[*words]) *Pipeline[*words] {
	return &Pipeline[*words]{Domain: "small", Stores: stores, NewBatch: newWords, Logs: []Log[*words]{wordLog},
		Projections: []Projection[*words]{newVocabulary("vocabulary")}, Sources: sources, Logger: quiet, StopWithin: 5 * time.Minute}
}

// say is a source of words, one a delivery; its position is how many were taken.
// It goes on in an endless silence.
func say(name string, list ...string) Source[*words] { return inBatches(name, list, 1) }

// inBatches is say with so many words a delivery.
func inBatches(name string, list []string, most int) Source[*words] {
	return Source[*words]{Name: name, Stats: new(source.Stats), Follow: func(ctx context.Context, from Position, sink Sink[*words]) error {
		at := 0
		if from != nil {
			if err := json.Unmarshal(from, &at); err != nil {
				return err
			}
		}
		for at < len(list) {
			n := min(most, len(list)-at)
			if err := sink(ctx, Delivery[*words]{Batch: &words{slices.Clone(list[at : at+n])}, Position: encode(at + n)}); err != nil {
				return err
			}
			at += n
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}}
}

// run runs a work and returns what stops it.
func run(t testing.TB, w Work) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// stored is what a vocabulary has of a first letter, as a sorted text.
func stored(t testing.TB, s Stores, vocabulary, first string) string {
	t.Helper()
	at := newVocabulary(vocabulary).at(first)
	points := must.Get(s.Series.Load(t.Context(), []store.SeriesAt{at}))(t)
	return strings.NewReplacer(`"`, "", ":true", "", "{", "", "}", "").Replace(string(points[at].Body))
}
