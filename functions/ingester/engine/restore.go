package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"quotary/shared/store"
)

// restore claims the checkpoints of the sources, brings the projections back from
// their views, and decides which of them must be caught up. It returns where the
// sources go on.
func (p *Pipeline[B]) restore(ctx context.Context) (map[string]Position, error) {
	from, err := p.claim(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.recallQuarantined(ctx); err != nil {
		return nil, err
	}
	if err := p.restoreDelivered(ctx); err != nil {
		return nil, err
	}
	views, err := p.restoredViews(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range p.Projections {
		if err := one.Restore(views); err != nil {
			return nil, fmt.Errorf("restore %s: %w", one.Name(), err)
		}
	}
	for {
		read, err := p.apply(ctx, p.Projections, p.NewBatch())
		if err != nil {
			return nil, err
		}
		if !read {
			break
		}
	}
	return from, p.startProgress(ctx, len(from) > 0)
}

// claim reads the positions of the sources and takes them from every earlier
// writer.
func (p *Pipeline[B]) claim(ctx context.Context) (map[string]Position, error) {
	from := map[string]Position{}
	for _, s := range p.Sources {
		if s.NoCheckpoint {
			continue
		}
		err := p.retry(ctx, "claim the checkpoint of "+s.Name, func() error {
			position, err := p.Stores.Series.ClaimCheckpoint(ctx, Checkpoint(p.Domain, s.Name, ""))
			if err == nil && position != nil {
				from[s.Name] = position
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return from, nil
}

// restoredViews fetches the views from which the projections are restored, nil for
// those that are not there. One that cannot be read is quarantined and nil too: what comes
// makes it again, or the logs, from which the projections that restore from it are folded
// again. So they are where it was there before, see startProgress.
func (p *Pipeline[B]) restoredViews(ctx context.Context) (map[string][]byte, error) {
	views, unreadable := map[string][]byte{}, map[string]error{}
	for _, one := range p.Projections {
		for _, view := range one.Restores() {
			if _, fetched := views[view.Name]; fetched {
				continue
			}
			if err := p.fetch(ctx, view.Name, views, unreadable); err != nil {
				return nil, err
			}
		}
	}
	for _, one := range p.Projections {
		for _, view := range one.Restores() {
			if body := views[view.Name]; body != nil && unreadable[view.Name] == nil {
				unreadable[view.Name] = view.Check(body)
			}
		}
	}
	for name, reason := range unreadable {
		if reason == nil {
			continue
		}
		row := QuarantinedRow{Dataset: "view", Key: keyPart(name), Reason: "read to restore from it: " + reason.Error()}.withBody(views[name])
		err := p.retry(ctx, "quarantine a stored view", func() error { return p.quarantine(ctx, &p.quarantined, "", row) })
		if err != nil {
			return nil, err
		}
		delete(views, name)
		for _, one := range p.Projections {
			if len(one.Folds()) > 0 && slices.ContainsFunc(one.Restores(), func(v RestoredView) bool { return v.Name == name }) {
				p.refold[one.Name()] = true
			}
		}
	}
	maps.DeleteFunc(views, func(_ string, body []byte) bool { return body == nil })
	for name := range views {
		p.views[name] = true
	}
	return views, nil
}

// fetch adds a view to views, or why it is damaged to unreadable.
func (p *Pipeline[B]) fetch(ctx context.Context, name string, views map[string][]byte, unreadable map[string]error) error {
	return p.retry(ctx, "fetch view "+name, func() error {
		body, _, _, err := p.Stores.Views.Fetch(ctx, name, "")
		if err == nil || errors.Is(err, store.ErrNoView) {
			views[name] = body
			return nil
		}
		var damaged *store.UnreadableViewError
		if errors.As(err, &damaged) {
			views[name], unreadable[name] = damaged.Packed, damaged
			return nil
		}
		return err
	})
}
