package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// reader reads a log from its beginning once it was told a word, a part a batch.
type reader struct {
	Defaults[*words]
	subjects []string

	mu    sync.Mutex
	from  map[string]int64 // by subject, where it goes on; those that were read to the end are missing
	read  []string
	parts int // most that one batch had
}

func newReader(subjects ...string) *reader {
	return &reader{subjects: subjects, from: map[string]int64{}}
}

func (*reader) Name() string { return "reader" }

func (p *reader) at(subject string) LogAt {
	return LogAt{Dataset: wordLog.Dataset, Subject: subject, From: p.from[subject]}
}

func (p *reader) Prefetch(w *words, r *Reads) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(w.list, "read") {
		for _, subject := range p.subjects {
			p.from[subject] = 0
		}
	}
	for _, subject := range p.subjects {
		if _, reading := p.from[subject]; reading {
			r.PrefetchLog(p.at(subject), func(row *store.Row) error { return json.Unmarshal(row.Body, new(string)) })
		}
	}
}

func (p *reader) Apply(_ *words, r *Reads, _ time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := 0
	for _, subject := range p.subjects {
		part, ok := r.Log(p.at(subject))
		if _, reading := p.from[subject]; !ok || !reading {
			continue
		}
		parts++
		for _, row := range part.Rows {
			p.read = append(p.read, row.Subject+" "+row.ID)
		}
		if p.from[subject] = part.Next; part.Next == 0 {
			delete(p.from, subject)
		}
	}
	p.parts = max(p.parts, parts)
	return nil
}

func (p *reader) Changes(time.Time, bool) Changes { return Changes{} }

// TestAProjectionReadsLogsPartByPart: more parts than one batch may have, over a row
// that cannot be read, and to their end though no source emits anything.
func TestAProjectionReadsLogsPartByPart(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	quarantine := &kept{QuarantineObjects: stores.Quarantine.Objects}
	stores.Quarantine.Objects = quarantine
	var rows []store.Row
	var subjects, want []string
	for s := range logParts + 4 {
		subject := fmt.Sprintf("subject %02d", s)
		subjects = append(subjects, subject)
		n := 3
		if s == 0 {
			n = 2*logPartRows + 7
		}
		for i := range n {
			row := store.Row{Subject: subject, Time: wordTime.Add(time.Duration(i) * time.Millisecond), ID: fmt.Sprint(i), Body: encode("word")}
			if s == 1 && i == 1 {
				row.Body = []byte(`{}`)
			} else {
				want = append(want, subject+" "+row.ID)
			}
			rows = append(rows, row)
		}
	}
	must.Do(t, stores.Log.Put(t.Context(), wordLog.Dataset, rows))
	one := newReader(subjects...)
	p := newPipeline(stores, say("source", "read"))
	p.Projections = []Projection[*words]{one}
	stop := run(t, p)
	testenv.Until(t, "all rows are read", func() bool {
		one.mu.Lock()
		defer one.mu.Unlock()
		return len(one.read) >= len(want)
	})
	must.Do(t, stop())
	slices.SortStableFunc(one.read, func(a, b string) int { return strings.Compare(a[:len("subject 00")], b[:len("subject 00")]) })
	if !slices.Equal(one.read, want) {
		t.Errorf("read %d rows, want %d: %.300v", len(one.read), len(want), one.read)
	}
	if one.parts != logParts {
		t.Errorf("a batch had %d parts", one.parts)
	}
	if len(quarantine.rows) != 1 || p.Stats.Quarantined.Load() != 1 {
		t.Errorf("%d rows are quarantined", len(quarantine.rows))
	}
}
