package content

import (
	"fmt"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/flashes"
	"quotary/shared/data/flashindex"
	"quotary/shared/search"
	"quotary/shared/store"
)

// flashIndex keeps the indexes of flashes and of posts. Which state of a flash is in them is
// stored for each ([flashes.PlaceRow]), as an older one may come later.
type flashIndex struct {
	engine.Defaults[*Batch]
	trees map[string]*flashindex.Builder // by platform
	rows  []store.SeriesRow              // of places, to be written
}

// platforms are those that have an index.
var platforms = []string{flashes.House, flashes.Social}

func newFlashIndex() *flashIndex {
	p := &flashIndex{trees: map[string]*flashindex.Builder{}}
	for _, platform := range platforms {
		p.trees[platform] = new(flashindex.Builder)
	}
	return p
}

// Name is that of the series of places.
func (*flashIndex) Name() string { return "flashindex" }

// Folds has the log of flashes.
func (*flashIndex) Folds() []engine.Fold[*Batch] { return flashEntries.folds() }

// Restores has its views.
func (*flashIndex) Restores() (all []engine.RestoredView) {
	for _, platform := range platforms {
		for level := range flashindex.Levels {
			all = append(all, engine.Restores(flashindex.Published(platform, level)))
		}
	}
	return all
}

// Restore takes the indexes from the views.
func (p *flashIndex) Restore(views map[string][]byte) error {
	for platform, tree := range p.trees {
		for level := range flashindex.Levels {
			l, err := engine.Restored(views, flashindex.Published(platform, level))
			if err != nil {
				return err
			}
			tree.Restore(level, l)
		}
	}
	return nil
}

// Prefetch asks which states of flashes are indexed.
func (p *flashIndex) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Flashes {
		r.Prefetch(flashes.IndexedAt(b.Flashes[i].ID), checkPlace)
	}
}

// checkPlace reports why a stored row cannot be read.
func checkPlace(_ store.SeriesAt, p *store.Point) error {
	_, err := flashes.DecodeIndexed(p.Body)
	return err
}

// Apply indexes flashes of a later place than what is indexed. One that is hidden has no
// words, and so has one on a platform that it has left.
func (p *flashIndex) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	documents := map[string][]search.Document{}
	indexed := map[int64]flashes.Indexed{} // of this batch
	for i := range b.Flashes {
		f := &b.Flashes[i]
		have, ok := indexed[f.ID]
		if row := r.Row(flashes.IndexedAt(f.ID)); row != nil && !ok {
			var err error
			if have, err = flashes.DecodeIndexed(row.Body); err != nil {
				return fmt.Errorf("read which state of flash %d is indexed: %w", f.ID, err)
			}
			if have.Platforms == nil {
				have.Platforms = platforms
			}
		}
		if have.Compare(f.Place) > 0 { // the same one again may not be in a view yet
			continue
		}
		for _, platform := range platforms {
			one := search.Document{ID: f.ID, Time: f.Time}
			switch {
			case platform == f.Platform && !f.Hidden:
				one.Title, one.Text = f.Title+" "+f.TransTitle, f.Content+" "+f.TransContent+" "+f.Source
			case !slices.Contains(have.Platforms, platform): // it was not in this index
				continue
			}
			documents[platform] = append(documents[platform], one)
		}
		have.Place = f.Place
		if !slices.Contains(have.Platforms, f.Platform) {
			have.Platforms = append(slices.Clone(have.Platforms), f.Platform)
		}
		indexed[f.ID] = have
	}
	for id, one := range indexed {
		p.rows = append(p.rows, flashes.IndexedRow(id, one))
	}
	for platform, list := range documents {
		p.trees[platform].Add(list)
	}
	return nil
}

// Changes returns the rows of places, and the views of levels that have changed: large ones
// first, as what leaves a level is in the next one then.
func (p *flashIndex) Changes(time.Time, bool) engine.Changes {
	changes := engine.Changes{Fine: p.rows}
	p.rows = nil
	for platform, tree := range p.trees {
		bodies := tree.Changed()
		for level := flashindex.Levels - 1; level >= 0; level-- {
			if bodies[level] != nil {
				changes.Views = append(changes.Views, engine.View{Name: flashindex.Name(platform, level), Body: bodies[level]})
			}
		}
	}
	return changes
}
