package engine

import (
	"testing"
	"time"

	"quotary/shared/testing/must"
)

// hurried is a projection with changes that somebody waits for.
type hurried struct {
	holder
	urgent bool
}

func (p *hurried) Urgent() bool { return p.urgent }

func (p *hurried) Changes(now time.Time, settle bool) Changes {
	p.urgent = false
	return p.holder.Changes(now, settle)
}

// TestUrgentChangesAreWrittenWithoutThoseOfOthers: behind the batch that made them, but
// no more often than ten times a second.
func TestUrgentChangesAreWrittenWithoutThoseOfOthers(t *testing.T) {
	t.Parallel()
	one, other := &hurried{holder: holder{name: "urgent"}}, &holder{name: "other"}
	p := newPipeline(newStores(t))
	p.Projections = []Projection[*words]{one, other}
	now := wordTime
	p.Now = func() time.Time { return now }
	p.flushed = now
	for i, step := range []struct {
		urgent  bool
		passes  time.Duration
		flushes int
	}{{false, 200 * time.Millisecond, 0}, {true, 0, 1}, {true, 50 * time.Millisecond, 1}, {true, 100 * time.Millisecond, 2}, {false, 100 * time.Millisecond, 2}} {
		now, one.urgent = now.Add(step.passes), step.urgent
		must.Do(t, p.flushWhenDue(t.Context(), 1))
		if one.flushes != step.flushes || other.flushes != 0 {
			t.Errorf("step %d: %d changes are written, want %d, and %d of others", i, one.flushes, step.flushes, other.flushes)
		}
	}
}
