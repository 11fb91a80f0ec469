package reference

import (
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/othervenues"
	"quotary/shared/store"
)

// droppedVenues has a row of each entry of a drop.
var droppedVenues = engine.Log[*Batch]{Dataset: othervenues.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return othervenues.AppendRows(rows, b.Venues)
}}

// storedVenues are the entries for who is folded from their log.
var storedVenues = []engine.Fold[*Batch]{{Dataset: othervenues.Name, Append: func(to *Batch, row store.Row) error {
	entry, err := othervenues.DecodeRow(row)
	if err == nil {
		to.Venues = append(to.Venues, entry)
	}
	return err
}}}

// venuesEvery is between two versions of the view while a file is loaded: it may have 50 MB.
const venuesEvery = 30 * time.Second

// leftOut is how many lines of drops found no room.
type leftOut struct{ venues atomic.Int64 }

// otherVenues keeps the view of who trades on which other venues: of each address the line of the last
// place.
type otherVenues struct {
	book *othervenues.Book
	left *leftOut
}

// newOtherVenues is folded from what was dropped.
func newOtherVenues(left *leftOut) Projection {
	return engine.KeepView(othervenues.Published, func() *otherVenues { return &otherVenues{othervenues.NewBook(), left} }).
		Every(venuesEvery).Held().FoldedFrom(storedVenues)
}

// Restore takes what the view holds.
func (p *otherVenues) Restore(v othervenues.View) error {
	p.book = othervenues.BookOf(&v)
	return nil
}

// Apply takes entries that are newer than what is known.
func (p *otherVenues) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Venues {
		took, fits := p.book.Take(&b.Venues[i])
		if changed = changed || took; !fits {
			p.left.venues.Add(1)
		}
	}
	return changed
}

// View has all addresses.
func (p *otherVenues) View(time.Time) othervenues.View { return p.book.View() }
