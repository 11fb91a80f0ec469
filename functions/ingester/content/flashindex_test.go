package content

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/drop"
	"quotary/shared/data/flashes"
	"quotary/shared/data/flashindex"
	"quotary/shared/search"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// TestFlashesAreFoundWhateverHappens lets states come late, twice and in any order, over
// restarts from the views and rows that were written, and compares what is found with the
// newest states.
func TestFlashesAreFoundWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(drawFlash), 1, 12).Draw(t, "flashes")
		newest := map[int64]flashes.Flash{}
		for i := range all {
			f := &all[i]
			if f.Place.Line%3 == 0 {
				f.Platform = flashes.Social
			}
			if newest[f.ID].Place.Compare(f.Place) <= 0 {
				newest[f.ID] = *f
			}
		}
		stored, views := map[store.SeriesAt]store.Point{}, map[string][]byte{}
		p := newFlashIndex()
		for _, one := range rapid.Permutation(slices.Concat(all, all)).Draw(t, "order") {
			b, r := &Batch{Flashes: []flashes.Flash{one}}, engine.NewReads()
			p.Prefetch(b, r)
			r.Fill(nil, stored)
			must.Do(t, p.Apply(b, r, time.Now()))
			changes := p.Changes(time.Now(), false)
			for _, row := range changes.Fine {
				stored[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
			}
			if rapid.Bool().Draw(t, "crash before the views") { // then the batch comes again
				p = newFlashIndex()
				must.Do(t, p.Restore(views))
				r := engine.NewReads()
				p.Prefetch(b, r)
				r.Fill(nil, stored)
				must.Do(t, p.Apply(b, r, time.Now()))
				changes = p.Changes(time.Now(), false)
			}
			for _, v := range changes.Views {
				views[v.Name] = v.Body
			}
		}
		for _, platform := range platforms {
			var tree flashindex.Builder
			for level := range flashindex.Levels {
				if body := views[flashindex.Name(platform, level)]; body != nil {
					l := must.Get(flashindex.Decode(body))(t)
					tree.Restore(level, l)
				}
			}
			for _, f := range all {
				hits, _ := tree.Index().Find(f.Title, 0, 10)
				found := slices.ContainsFunc(hits, func(h search.Hit) bool { return h.ID == f.ID })
				state := newest[f.ID]
				if want := state.Title == f.Title && state.Platform == platform && !state.Hidden; found != want {
					t.Fatalf("%s is found in %s: %t, want %t; hits %v", f.Title, platform, found, want, fmt.Sprint(hits))
				}
			}
		}
	})
}

// TestAnIndexHasWhatWasOnItsPlatform edits a flash again and again. The index of posts changes
// where it was, or may have been, in it.
func TestAnIndexHasWhatWasOnItsPlatform(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row     string // of the state before, as it is stored
		changed bool   // the index of posts
	}{
		"new":                             {"", false},
		"was on its platform alone":       {`{"time":1,"file":"a","line":1,"platforms":["house"]}`, false},
		"was a post too":                  {`{"time":1,"file":"a","line":1,"platforms":["house","social"]}`, true},
		"was indexed before it was known": {`{"time":1,"file":"a","line":1}`, true},
	} {
		stored, p := map[store.SeriesAt]store.Point{}, newFlashIndex()
		p.Changes(time.Now(), false) // the empty ones
		if c.row != "" {
			stored[flashes.IndexedAt(1)] = store.Point{Body: []byte(c.row)}
		}
		changed := false
		for line := range int64(5) {
			b, r := NewBatch(), engine.NewReads()
			b.Flashes = []flashes.Flash{{Entry: flashes.Entry{ID: 1, Time: 1_795_000_000, Language: "en", Platform: flashes.House, Title: "t"}, Place: drop.Place{Time: 2, File: "a", Line: 1 + line}}}
			p.Prefetch(b, r)
			r.Fill(nil, stored)
			must.Do(t, p.Apply(b, r, time.Now()))
			changes := p.Changes(time.Now(), false)
			for _, row := range changes.Fine {
				stored[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
			}
			changed = changed || slices.ContainsFunc(changes.Views, func(v engine.View) bool { return strings.HasPrefix(v.Name, "flashindex-"+flashes.Social) })
		}
		if changed != c.changed {
			t.Errorf("%s: the index of posts has changed: %t", name, changed)
		}
	}
}
