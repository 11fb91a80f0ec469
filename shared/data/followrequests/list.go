package followrequests

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/store"
)

// List is what is wanted, by distributor.
type List[T comparable] []OfDistributor[T]

// OfDistributor is what one distributor wants, in the order in which it was asked for first.
type OfDistributor[T comparable] struct {
	Distributor string
	Things      []T
}

// ListOf lists what each distributor wants, the distributors sorted.
func ListOf[T comparable](by map[string][]T) (list List[T]) {
	for _, of := range slices.Sorted(maps.Keys(by)) {
		list = append(list, OfDistributor[T]{Distributor: of, Things: by[of]})
	}
	return list
}

// By returns who wants each thing, each distributor once, in the order of the list.
func (l List[T]) By() map[T][]string {
	by := map[T][]string{}
	for _, of := range l {
		for _, thing := range of.Things {
			if !slices.Contains(by[thing], of.Distributor) {
				by[thing] = append(by[thing], of.Distributor)
			}
		}
	}
	return by
}

// Things returns what is wanted, each once, in the order in which [List.Deal] does.
func (l List[T]) Things() []T {
	things, _ := l.Deal(math.MaxInt, func(T) bool { return true })
	return things
}

// Deal returns which things that somebody has are followed where only so many can be: in
// rounds, one of each distributor in each, so that none takes the places of another. Left is
// how many are not.
func (l List[T]) Deal(most int, has func(T) bool) (dealt []T, left int) {
	taken := map[T]bool{}
	for round, more := 0, true; more; round++ {
		more = false
		for _, of := range l {
			if round >= len(of.Things) {
				continue
			}
			more = true
			switch thing := of.Things[round]; {
			case taken[thing] || !has(thing):
			case len(dealt) < most:
				taken[thing] = true
				dealt = append(dealt, thing)
			default:
				taken[thing] = true
				left++
			}
		}
	}
	return dealt, left
}

// listed is what List has read of a distributor.
type listed struct {
	revision string // of the document that says that there is any
	read     time.Time
	things   map[string]request
}

// List returns what is wanted, the distributors sorted, and deletes the documents of what nobody has asked for within
// [Kind.Lasts]. Of distributors whose documents cannot be read, for which there is an error,
// it is what it was.
func (s *Store) List(ctx context.Context, now time.Time) (List[string], error) {
	known := map[string]*listed{}
	var errs []error
	var mu sync.Mutex
	group := new(errgroup.Group)
	group.SetLimit(atOnce)
	fail := func(err error) {
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		}
	}
	for one, err := range s.distributors.List(ctx, distributors) {
		if err != nil {
			return s.list(), errors.Join(err, group.Wait())
		}
		of := s.listed[one.ID]
		if of == nil {
			of = &listed{}
		}
		known[one.ID] = of
		if of.revision == one.Revision && now.Sub(of.read) < relistAfter && !of.ends(now, s.Lasts) {
			continue
		}
		group.Go(func() error {
			fail(s.relist(ctx, of, one, now))
			return nil
		})
	}
	err := group.Wait()
	s.listed = known
	return s.list(), errors.Join(append(errs, err)...)
}

// relist reads what a distributor wants, and deletes what has ended: of a distributor who
// wants nothing any more, that it does.
func (s *Store) relist(ctx context.Context, of *listed, who store.Document, now time.Time) error {
	things, err := s.read(ctx, who.ID)
	if err != nil {
		return err
	}
	var noted body
	_ = json.Unmarshal(who.Body, &noted) // as of a thing
	of.revision, of.read, of.things = who.Revision, now, things
	if len(things) == 0 && (request{body: noted}).age(now) > s.Lasts {
		return unlessRaced(s.distributors.Delete(ctx, distributors, who.ID, who.Revision))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for id, t := range things {
		if t.age(now) > s.Lasts {
			delete(things, id)
			group.Go(func() error { return unlessRaced(s.things.Delete(ctx, who.ID, id, t.revision)) })
		}
	}
	return group.Wait()
}

// ends reports whether something of a distributor has ended.
func (of *listed) ends(now time.Time, lasts time.Duration) bool {
	for _, t := range of.things {
		if t.age(now) > lasts {
			return true
		}
	}
	return false
}

func (s *Store) list() (l List[string]) {
	for distributor, of := range s.listed {
		if len(of.things) == 0 {
			continue
		}
		ids := make([]string, 0, len(of.things))
		for id := range of.things {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b string) int {
			return cmp.Or(cmp.Compare(of.things[a].Since, of.things[b].Since), cmp.Compare(a, b))
		})
		l = append(l, OfDistributor[string]{distributor, ids})
	}
	slices.SortFunc(l, func(a, b OfDistributor[string]) int { return cmp.Compare(a.Distributor, b.Distributor) })
	return l
}

// unlessRaced is an error but for those by which another request has just written the
// document, or deleted it.
func unlessRaced(err error) error {
	if errors.Is(err, store.ErrDocumentChanged) || errors.Is(err, store.ErrNoDocument) {
		return nil
	}
	return err
}
