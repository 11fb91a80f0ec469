package followrequests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/store"
)

// remembered is what is remembered of a distributor's things by who writes them.
type remembered struct {
	mu     sync.Mutex
	things map[string]request
	read   time.Time // when all of them were
	noted  time.Time // when it was written that there are any
	added  int       // how many times things were added to it
	known  int       // of these times those that are noted
	rests  time.Time // until then nothing is tried
	full   time.Time // until then no further request may wait
}

// Want has things, each named once, followed for as long as a distributor asks for them. It
// may be called with every request: it writes nothing for what is known to be followed for
// a while. Refused are those beyond [Kind.Most]. An error is no reason to fail a request, and
// comes after a quarter of a second at most: what was not written is with the next request.
func (s *Store) Want(ctx context.Context, distributor string, ids []string, now time.Time) (refused []string, err error) {
	of := s.rememberedOf(distributor)
	missing, old, rests := of.look(ids, now, s.Refresh)
	if len(missing)+len(old) == 0 && !of.unnoted() {
		return nil, nil
	}
	if rests {
		return nil, errRests
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if refused, err = s.want(within, of, distributor, ids, now); err != nil {
		of.rest(now.Add(pause))
		return refused, fmt.Errorf("want %s: %w", s.Name, err)
	}
	return refused, nil
}

func (s *Store) rememberedOf(distributor string) *remembered {
	of, ok := s.asked.Get(distributor)
	if !ok {
		of = &remembered{things: map[string]request{}}
		s.asked.Set(distributor, of)
	}
	return of
}

var errRests = errors.New("the store has just refused to say what is wanted")

func (s *Store) want(ctx context.Context, of *remembered, distributor string, ids []string, now time.Time) (refused []string, err error) {
	if of.older(now, rereadAfter) {
		if err := s.reread(ctx, of, distributor, now); err != nil {
			return nil, err
		}
	}
	_, old, _ := of.look(ids, now, s.Refresh)
	if err := s.refresh(ctx, of, distributor, old, now); err != nil {
		return nil, err
	}
	for missing, _, _ := of.look(ids, now, s.Refresh); len(missing) > 0; missing, _, _ = of.look(missing, now, s.Refresh) {
		room := s.Most - of.count()
		if room <= 0 {
			refused = missing
			break
		}
		some := missing[:min(room, createdAtOnce, len(missing))]
		b := body{now.UnixMilli(), now.UnixMilli()}
		revisions, err := s.things.CreateAll(ctx, distributor, b.json(), some...)
		switch {
		case err == nil:
			of.add(some, revisions, b)
		case errors.Is(err, store.ErrDocumentExists) || errors.Is(err, store.ErrTooManyDocuments):
			// Another request has just written some: it is known then which.
			if err := s.reread(ctx, of, distributor, now); err != nil {
				return nil, err
			}
			if s.Most-of.count() >= len(some) && !of.any(some) { // what has ended is counted until the ingester deletes it
				return missing, nil
			}
		default:
			return nil, err
		}
	}
	added, due := of.toNote(now, s.Refresh/2)
	if !due {
		return refused, nil
	}
	if _, err := s.distributors.Set(ctx, distributors, distributor, body{Time: now.UnixMilli()}.json()); err != nil {
		return refused, err
	}
	of.note(now, added)
	return refused, nil
}

// reread reads the documents of a distributor, which are as many as it may want at most.
func (s *Store) reread(ctx context.Context, of *remembered, distributor string, now time.Time) error {
	things, err := s.read(ctx, distributor)
	if err != nil {
		return err
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.things, of.read = things, now
	return nil
}

// refresh writes documents again that would end soon. One that is gone is forgotten.
func (s *Store) refresh(ctx context.Context, of *remembered, distributor string, old map[string]request, now time.Time) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for id, t := range old {
		group.Go(func() error {
			t.Time = now.UnixMilli()
			revision, err := s.things.Replace(ctx, distributor, id, t.revision, t.json())
			switch {
			case errors.Is(err, store.ErrNoDocument):
				of.forget(id)
				return nil
			case err == nil:
				t.revision = revision
			case !errors.Is(err, store.ErrDocumentChanged): // which another request has done
				return err
			}
			of.set(id, t)
			return nil
		})
	}
	return group.Wait()
}

// look returns which things have no document, and which have one that is to be written
// again; rests reports that nothing is to be tried now.
func (a *remembered) look(ids []string, now time.Time, refresh time.Duration) (missing []string, old map[string]request, rests bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old = map[string]request{}
	for _, id := range ids {
		if t, ok := a.things[id]; !ok {
			missing = append(missing, id)
		} else if t.age(now) >= refresh {
			old[id] = t
		}
	}
	return missing, old, now.Before(a.rests)
}

func (a *remembered) any(ids []string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(ids, func(id string) bool { _, ok := a.things[id]; return ok })
}

func (a *remembered) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.things)
}

func (a *remembered) older(now time.Time, age time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Sub(a.read) >= age
}

func (a *remembered) add(ids, revisions []string, b body) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, id := range ids {
		a.things[id] = request{b, revisions[i]}
	}
	a.added++
}

func (a *remembered) set(id string, t request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.things[id] = t
}

func (a *remembered) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.things, id)
}

func (a *remembered) unnoted() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.added > a.known
}

// toNote reports whether it is due to be written that a distributor wants anything: where there
// is more, or it was written so long ago. What was added so far is noted by that, and what another
// request adds while it is written is not.
func (a *remembered) toNote(now time.Time, every time.Duration) (added int, due bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.added, a.added > a.known || len(a.things) > 0 && now.Sub(a.noted) >= every
}

func (a *remembered) note(now time.Time, added int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.noted, a.known = now, max(a.known, added)
}

func (a *remembered) rest(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rests = until
}
