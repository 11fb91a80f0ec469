package engine

import (
	"fmt"
	"time"

	"quotary/functions/ingester/archive"
	"quotary/shared/store"
)

// Projection folds the batches of its domain into rows and views. It does no
// input or output, and is used by one goroutine.
//
// Its series rows and views are its state. What it keeps in memory is a cache that may be
// lost at any time, so every fold must be a set union: batches come late, twice, in
// any order and from several sources, and the rows must end the same. A projection
// that can keep that only for what a view holds says so by [Changes.Held].
//
// Embed [Defaults] for the methods that a projection does not need.
type Projection[B any] interface {
	// Name is unique in the domain. It names the projection's checkpoint: a
	// projection that gets another name is folded again.
	Name() string

	// Folds lists the log datasets that the projection can be folded from. One
	// that is added to a domain later is caught up from them; with none it begins
	// with what comes.
	Folds() []Fold[B]

	// Restores lists the views that Restore reads.
	Restores() []RestoredView

	// Restore brings back what the views hold, by name; those that were never
	// published, or cannot be read, are missing. It is called once, before everything else.
	Restore(views map[string][]byte) error

	// Joined is called when nothing that is stored is still to be folded, and no source
	// is still to deliver of its past: after Restore, or at the end of catching up, and
	// again if the projection has to be folded again. What is right only of everything, such as
	// a sample of a sum, must not be returned before.
	Joined()

	// Prefetch asks for the rows that must be read before b can be applied. It is
	// called again after they were read until it asks for nothing more. After a
	// restart it is called with empty batches, until it asks for nothing.
	Prefetch(b B, r *Reads)

	// Apply folds b in. It fails on nothing that Prefetch could check.
	Apply(b B, r *Reads, now time.Time) error

	// Changes returns what differs from what is stored, and counts it as stored:
	// the pipeline writes it, however often it must try. With settle nothing may
	// be held back, and buckets that have ended by the clock are closed without
	// waiting for more events.
	Changes(now time.Time, settle bool) Changes
}

// RestoredView is a view from which a projection is restored.
type RestoredView struct {
	Name  string
	Check func(body []byte) error // why it cannot be read, as Restore would
}

// Restores is a view from which a projection is restored.
func Restores[T any](of store.ViewType[T]) RestoredView {
	return RestoredView{Name: of.Name, Check: func(body []byte) error {
		_, err := of.Decode(body)
		return err
	}}
}

// Restored decodes a view among those that Restore is given, the zero value where there is
// none.
func Restored[T any](views map[string][]byte, of store.ViewType[T]) (view T, err error) {
	body, ok := views[of.Name]
	if !ok {
		return view, nil
	}
	if view, err = of.Decode(body); err != nil {
		return view, fmt.Errorf("read view %s: %w", of.Name, err)
	}
	return view, nil
}

// ViewOf is a version of a view, to be published.
func ViewOf[T any](of store.ViewType[T], version T) View {
	return View{Name: of.Name, Body: of.Encode(version)}
}

// Fold is a log dataset from which a projection can be folded.
type Fold[B any] struct {
	Dataset string

	// Append adds a stored row to a batch as if a source had emitted it.
	Append func(to B, row store.Row) error
}

// Changes is what must be written, in the order of its fields.
type Changes struct {
	// Log has immutable rows, such as those of what has come to an end. They are there
	// before the rows and views that know of them, so that a crash between makes them
	// again: their keys and bodies must follow from the events alone, and from such rows
	// as they are. No projection is folded from them, as they are in no batch.
	Log []LogRows

	// Coarse rows are written before Fine ones: where coarse rows are closed from
	// memory only, the finer ones show after a crash which of them were
	// written.
	Coarse []store.SeriesRow
	Fine   []store.SeriesRow
	Views  []View

	// Held reports that something applied is in memory only: the checkpoints of the
	// sources must not move yet. They move when no projection holds anything back, for
	// which all are settled at one time, twice a minute.
	Held bool
}

// Urgent is a projection some of whose changes somebody may wait for: while it reports
// true, its changes are written behind the next batch, ten times a second at most, and not
// with those of all others each second.
type Urgent interface {
	Urgent() bool
}

// LogRows are rows of a log dataset.
type LogRows struct {
	Dataset string
	Rows    []store.Row
}

// View is a view to publish.
type View struct {
	Name string
	Body []byte // JSON
}

// Log maps a batch to the rows that its events have for themselves in a log
// dataset. They are stored before the batch is applied.
type Log[B any] struct {
	Dataset string
	Append  func(rows []store.Row, b B) []store.Row

	// Archive is how the rows are archived where their dataset has a retention; nil is
	// for a log that is kept for ever.
	Archive *archive.Dataset
}

// Defaults has the methods that not every projection needs: it folds nothing that
// is stored, restores nothing, returns the same whether it has joined or not, and
// reads nothing.
type Defaults[B any] struct{}

// Folds returns none.
func (Defaults[B]) Folds() []Fold[B] { return nil }

// Restores returns none.
func (Defaults[B]) Restores() []RestoredView { return nil }

// Restore does nothing.
func (Defaults[B]) Restore(map[string][]byte) error { return nil }

// Joined does nothing: every row and view is right as far as it goes.
func (Defaults[B]) Joined() {}

// Prefetch asks for nothing.
func (Defaults[B]) Prefetch(B, *Reads) {}
