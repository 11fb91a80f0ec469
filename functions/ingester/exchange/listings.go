package exchange

import (
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairs"
)

// listings keeps the view of the pairs of all exchanges.
type listings struct {
	view pairs.View
}

func newListings() Projection {
	return engine.KeepView(pairs.Published, func() *listings { return new(listings) })
}

// Restore takes the lists of all exchanges from the view.
func (l *listings) Restore(v pairs.View) error {
	l.view = v
	return nil
}

// Apply replaces the list of each market that was listed.
func (l *listings) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Listings {
		list := &b.Listings[i]
		l.view.Pairs = slices.DeleteFunc(l.view.Pairs, func(p pairs.Pair) bool {
			return p.Platform == list.Platform && p.Swap == list.Swap && p.Inverse == list.Inverse
		})
		for _, p := range list.Pairs {
			l.view.Pairs = append(l.view.Pairs, pairs.Pair{Pair: p, Followed: list.Followed[p.Key]})
		}
		l.view.Time, changed = max(l.view.Time, list.Time), true
	}
	return changed
}

// View has the pairs of all exchanges.
func (l *listings) View(time.Time) pairs.View { return l.view }
