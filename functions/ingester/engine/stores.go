package engine

import (
	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/lease"
	"quotary/shared/store"
)

// Stores is what a pipeline writes to.
type Stores struct {
	Log        *store.Log
	Series     *store.Series
	Views      *store.Views
	Quarantine Quarantine
	Archive    archive.Files // of rows that may have left the log
}

// Under returns the stores for the writer of a term: what it writes too late is
// refused, or harmless; see package lease.
func (s Stores) Under(t *lease.Term) Stores {
	s.Series, s.Views = s.Series.Under(t.Epoch), s.Views.Owned(t.Confirm)
	return s
}
