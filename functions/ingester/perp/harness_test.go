package perp

import (
	"encoding/json"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// set is the projections of the domain, or some of them, without an engine.
type set struct {
	all   []Projection
	reads *engine.Reads
	logs  func(engine.LogAt) engine.LogPart // nil where nothing is stored
}

func newSet() *set {
	all, _ := Projections()
	s := &set{all: all}
	s.join()
	return s
}

func (s *set) join() {
	for _, one := range s.all {
		one.Joined()
	}
}

// of is the projection of a type in a set.
func of[P Projection](s *set) P {
	for _, one := range s.all {
		if p, ok := one.(P); ok {
			return p
		}
	}
	panic("it is not listed")
}

// stateOf is the state of the projection that keeps a view.
func stateOf[V any, S engine.ViewState[*Batch, V]](s *set) S {
	return of[*engine.ViewProjection[*Batch, V, S]](s).State
}

// restore gives the views that a projection restores from.
func (s *set) restore(views map[string][]byte) error {
	for _, one := range s.all {
		wanted := map[string][]byte{}
		for _, view := range one.Restores() {
			if body, ok := views[view.Name]; ok {
				wanted[view.Name] = body
			}
		}
		if err := one.Restore(wanted); err != nil {
			return err
		}
	}
	return nil
}

// wants asks what must be read for a batch.
func (s *set) wants(b *Batch) (latest []store.SeriesKey, rows []store.SeriesAt) {
	if s.reads == nil {
		s.reads = engine.NewReads()
	}
	for _, one := range s.all {
		one.Prefetch(b, s.reads)
	}
	return s.reads.Wanted()
}

// apply folds a batch; what load does not return does not exist.
func (s *set) apply(b *Batch, now time.Time, load func(latest []store.SeriesKey, rows []store.SeriesAt) (map[store.SeriesKey]time.Time, map[store.SeriesAt]store.Point)) (rounds int, err error) {
	for {
		latestOf, rowsAt := s.wants(b)
		if len(latestOf)+len(rowsAt)+len(s.reads.WantedLogs()) == 0 {
			break
		}
		rounds++
		var latest map[store.SeriesKey]time.Time
		var rows map[store.SeriesAt]store.Point
		if load != nil {
			latest, rows = load(latestOf, rowsAt)
		}
		s.reads.Fill(latest, rows)
		parts := map[engine.LogAt]engine.LogPart{}
		for _, at := range s.reads.WantedLogs() {
			if s.logs != nil {
				parts[at] = s.logs(at)
			}
		}
		s.reads.FillLogs(parts)
	}
	for _, one := range s.all {
		if err := one.Apply(b, s.reads, now); err != nil {
			return rounds, err
		}
	}
	s.reads = nil
	return rounds, nil
}

func (s *set) changes(now time.Time, settle bool) (all engine.Changes) {
	for _, one := range s.all {
		c := one.Changes(now, settle)
		all.Log = append(all.Log, c.Log...)
		all.Coarse = append(all.Coarse, c.Coarse...)
		all.Fine = append(all.Fine, c.Fine...)
		all.Views = append(all.Views, c.Views...)
		all.Held = all.Held || c.Held
	}
	return all
}

// applied applies events and returns what they change at a time.
func applied(t *testing.T, s *set, now time.Time, settle bool, e market.Events) engine.Changes {
	t.Helper()
	must.Get(s.apply(&Batch{Events: e}, now, nil))(t)
	return s.changes(now, settle)
}

// mustJSON encodes what can be encoded.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
