package exchange

import (
	"fmt"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairs"
)

// listings keeps the view of the pairs of all exchanges.
type listings struct {
	engine.Defaults[*Batch]
	view    pairs.View
	changed bool
}

func newListings() *listings { return new(listings) }

// Name is that of the view.
func (l *listings) Name() string { return pairs.Name }

// Restores has its own view.
func (l *listings) Restores() []engine.RestoredView {
	return []engine.RestoredView{{Name: pairs.Name, Check: func(body []byte) error {
		_, err := pairs.Published.Decode(body)
		return err
	}}}
}

// Restore takes the lists of all exchanges from the view.
func (l *listings) Restore(views map[string][]byte) (err error) {
	body, ok := views[pairs.Name]
	if !ok {
		return nil
	}
	if l.view, err = pairs.Published.Decode(body); err != nil {
		return fmt.Errorf("read view %s: %w", pairs.Name, err)
	}
	return nil
}

// Apply replaces the list of each market that was listed.
func (l *listings) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Listings {
		list := &b.Listings[i]
		l.view.Pairs = slices.DeleteFunc(l.view.Pairs, func(p pairs.Pair) bool {
			return p.Platform == list.Platform && p.Swap == list.Swap && p.Inverse == list.Inverse
		})
		for _, p := range list.Pairs {
			l.view.Pairs = append(l.view.Pairs, pairs.Pair{Pair: p, Followed: list.Followed[p.Key]})
		}
		l.view.Time, l.changed = max(l.view.Time, list.Time), true
	}
	return nil
}

// Changes returns the view when a list has come.
func (l *listings) Changes(time.Time, bool) engine.Changes {
	if !l.changed {
		return engine.Changes{}
	}
	l.changed = false
	return engine.Changes{Views: []engine.View{engine.ViewOf(pairs.Published, l.view)}}
}
