package engine

import (
	"time"

	"quotary/shared/store"
)

// ViewState is the state of a projection that keeps one view and nothing else, of which
// [KeepView] makes the projection.
type ViewState[B, V any] interface {
	// Restore takes what the view holds, the zero value where there is none. It is called
	// once, before everything else.
	Restore(view V) error

	// Apply folds a batch in, and reports whether the view is another one now.
	Apply(b B, now time.Time) (changed bool)

	// View is the view as it is to be published. What it does not hold may be forgotten.
	View(now time.Time) V
}

// ViewProjection keeps one view, from which it is restored.
type ViewProjection[B, V any, S ViewState[B, V]] struct {
	Defaults[B]
	State S

	of        store.ViewType[V]
	empty     func() S
	every     time.Duration // between two versions at least
	held      bool          // checkpoints wait for the next version
	folds     []Fold[B]
	changed   bool
	published time.Time
}

// KeepView returns the projection that keeps a view of a state, which begins empty.
func KeepView[B, V any, S ViewState[B, V]](of store.ViewType[V], empty func() S) *ViewProjection[B, V, S] {
	return &ViewProjection[B, V, S]{of: of, empty: empty, State: empty()}
}

// Every has a view that changes all the time published once in so long.
func (p *ViewProjection[B, V, S]) Every(d time.Duration) *ViewProjection[B, V, S] {
	p.every = d
	return p
}

// Held has checkpoints wait for the version that is to come, where what they stand for comes once.
func (p *ViewProjection[B, V, S]) Held() *ViewProjection[B, V, S] {
	p.held = true
	return p
}

// FoldedFrom names the logs that the view can be folded from.
func (p *ViewProjection[B, V, S]) FoldedFrom(folds []Fold[B]) *ViewProjection[B, V, S] {
	p.folds = folds
	return p
}

// Name is that of the view.
func (p *ViewProjection[B, V, S]) Name() string { return p.of.Name }

// Folds has the logs that were named.
func (p *ViewProjection[B, V, S]) Folds() []Fold[B] { return p.folds }

// Restores has the view.
func (p *ViewProjection[B, V, S]) Restores() []RestoredView {
	return []RestoredView{{Name: p.of.Name, Check: func(body []byte) error {
		return KeepView[B](p.of, p.empty).Restore(map[string][]byte{p.of.Name: body})
	}}}
}

// Restore takes what the view holds.
func (p *ViewProjection[B, V, S]) Restore(views map[string][]byte) error {
	v, err := Restored(views, p.of)
	if err != nil {
		return err
	}
	return p.State.Restore(v)
}

// Apply folds a batch in.
func (p *ViewProjection[B, V, S]) Apply(b B, _ *Reads, now time.Time) error {
	p.changed = p.State.Apply(b, now) || p.changed
	return nil
}

// Changes returns the view where it has changed.
func (p *ViewProjection[B, V, S]) Changes(now time.Time, settle bool) Changes {
	if !p.changed || p.every > 0 && !settle && now.Sub(p.published) < p.every {
		return Changes{Held: p.held && p.changed}
	}
	p.changed, p.published = false, now
	return Changes{Views: []View{ViewOf(p.of, p.State.View(now))}}
}
