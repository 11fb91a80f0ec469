package engine

import (
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// holder holds the checkpoints at every second flush, unless all is settled.
type holder struct {
	Defaults[*words]
	name    string
	flushes int
	settled atomic.Int64
}

func (p *holder) Name() string { return p.name }

func (*holder) Apply(*words, *Reads, time.Time) error { return nil }

func (p *holder) Changes(_ time.Time, settle bool) Changes {
	p.flushes++
	if settle {
		p.settled.Add(1)
		return Changes{}
	}
	return Changes{Held: p.flushes%2 == 0}
}

// TestCheckpointsThatAreHeldInTurnsAreSavedInTheEnd: of two projections, one or the other
// holds them at every flush. After a while both are settled at one time.
func TestCheckpointsThatAreHeldInTurnsAreSavedInTheEnd(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	a, b := &holder{name: "a"}, &holder{name: "b", flushes: 1}
	p := newPipeline(stores, say("source", "ant"))
	p.Projections = []Projection[*words]{a, b}
	var clock atomic.Int64
	p.Now = func() time.Time { return wordTime.Add(time.Duration(clock.Add(1)) * time.Second) }
	stop := run(t, p)
	testenv.Until(t, "the checkpoint is saved", func() bool {
		body, err := stores.Series.Checkpoint(t.Context(), Checkpoint("small", "source", ""))
		return err == nil && string(body) == "1"
	})
	if a.settled.Load() == 0 || b.settled.Load() == 0 {
		t.Error("it is saved though one of them held it")
	}
	must.Do(t, stop())
}
