package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"

	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/store"
)

// deliveries are of which datasets the sources of a domain have ever spoken, and which of
// them is awaited for each. Once a source has, that stays so. It belongs to the goroutine
// that owns the projections.
type deliveries struct {
	view delivered.View
	said []string // keys of what was spoken of first, to be published

	periodic map[string][]string // sources by the keys of what none but periodic ones bring
	until    map[string]int64    // up to when these have delivered, ms; by name
	missing  map[string][]int64  // hours before that of which they have not delivered all, ms; by name
	reached  bool                // one has delivered more, to be published
}

// say notes that a source has spoken of a dataset or of a part of one.
func (d *deliveries) say(need catalog.Need) {
	for _, key := range []string{need.Key(), need.Name} {
		if d.view[key].Since == 0 && !slices.Contains(d.said, key) {
			d.said = append(d.said, key)
		}
	}
}

// reach notes up to when, ms, a source has delivered what it brings, and of which hours before not all.
func (d *deliveries) reach(source string, until int64, missing []int64) {
	if until == 0 {
		return
	}
	if until > d.until[source] {
		d.until[source], d.reached = until, true
	}
	if !slices.Equal(missing, d.missing[source]) {
		d.missing[source], d.reached = missing, true
	}
}

// news reports that something was spoken of for the first time, or up to a later time.
func (d *deliveries) news() bool { return len(d.said) > 0 || d.reached }

// sourcesOf are the sources of what none but periodic ones bring, by its key.
func sourcesOf[B any](all []Source[B]) map[string][]string {
	live, periodic := map[string]bool{}, map[string][]string{}
	for _, s := range all {
		for _, need := range s.Brings {
			for _, key := range []string{need.Key(), need.Name} {
				live[key] = live[key] || !s.Periodic
				if !slices.Contains(periodic[key], s.Name) {
					periodic[key] = append(periodic[key], s.Name)
				}
			}
		}
	}
	maps.DeleteFunc(periodic, func(key string, _ []string) bool { return live[key] })
	return periodic
}

// restoreDelivered reads what sources have spoken of before, and publishes which are
// configured now.
func (p *Pipeline[B]) restoreDelivered(ctx context.Context) error {
	var before delivered.View
	name := delivered.Name(p.Domain)
	err := p.retry(ctx, "fetch view "+name, func() error {
		body, _, _, err := p.Stores.Views.Fetch(ctx, name, "")
		var damaged *store.UnreadableViewError
		switch {
		case errors.Is(err, store.ErrNoView), errors.As(err, &damaged):
			return nil // sources speak again
		case err != nil:
			return err
		}
		if before, err = delivered.Published(p.Domain).Decode(body); err != nil {
			p.Logger.Warn("what sources have spoken of cannot be read; they speak again", "error", err.Error())
			before = nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.delivered.view, p.delivered.periodic, p.delivered.until, p.delivered.missing = delivered.View{}, sourcesOf(p.Sources), map[string]int64{}, map[string][]int64{}
	for key, state := range before {
		state.Sources = nil
		if len(p.delivered.periodic[key]) == 0 {
			state.Until, state.Missing = 0, nil
		}
		if state.Since > 0 || state.Until > 0 {
			p.delivered.view[key] = state
		}
	}
	for _, s := range p.Sources {
		name := cmp.Or(s.Group, s.Name)
		for _, need := range s.Brings {
			for _, key := range []string{need.Key(), need.Name} {
				state := p.delivered.view[key]
				if at, have := slices.BinarySearch(state.Sources, name); !have {
					state.Sources = slices.Insert(state.Sources, at, name)
				}
				p.delivered.view[key] = state
			}
		}
	}
	if before != nil && reflect.DeepEqual(before, p.delivered.view) {
		return nil
	}
	return p.writeDelivered(ctx)
}

// publishDelivered publishes what sources have spoken of first, and up to when. All of it is written.
func (p *Pipeline[B]) publishDelivered(ctx context.Context) error {
	if !p.delivered.news() {
		return nil
	}
	for _, key := range p.delivered.said {
		state := p.delivered.view[key]
		state.Since = p.Now().UnixMilli()
		p.delivered.view[key] = state
	}
	if len(p.delivered.said) > 0 {
		p.Logger.Info("sources have spoken for the first time", "of", p.delivered.said)
	}
	for key, sources := range p.delivered.periodic {
		state, until, missing := p.delivered.view[key], int64(math.MaxInt64), []int64(nil)
		for _, name := range sources {
			until = min(until, p.delivered.until[name])
			missing = append(missing, p.delivered.missing[name]...)
		}
		if state.Until = max(state.Until, until); until > 0 { // else one has not said yet what is missing
			slices.Sort(missing)
			state.Missing = slices.Compact(missing)
		}
		p.delivered.view[key] = state
	}
	p.delivered.said, p.delivered.reached = nil, false
	return p.writeDelivered(ctx)
}

func (p *Pipeline[B]) writeDelivered(ctx context.Context) error {
	name := delivered.Name(p.Domain)
	return p.retry(ctx, "publish view "+name, func() error {
		return p.Stores.Views.Publish(ctx, name, delivered.Published(p.Domain).Encode(p.delivered.view))
	})
}
