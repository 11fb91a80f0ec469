// Package followrequests holds what clients ask for and the ingester does not follow by itself: the
// accounts whose state the venue is to be asked for ([market.Anchor]), and the pairs of
// exchanges whose past and present are to be read.
//
// Each distributor has documents of its own, one a thing, and may want a small number of
// things, so that none takes the others' part of an upstream's budget. Besides, one small
// document says of each distributor that there are any, and has another revision whenever
// there are more: by those the ingester finds what is wanted. No request of one distributor
// writes an item or a partition that those of another depend on, but for that document,
// which it writes once for many requests.
//
// A function remembers what it has written: requests for the same things write nothing for
// minutes. Where the store refuses, the request goes on without ([Store.Want]).
package followrequests

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/lru"
	"quotary/shared/store"
)

// Kind is one kind of what is wanted: Accounts or Pairs.
type Kind struct {
	Name string // of its documents
	Most int    // things that a distributor may want at a time

	// Lasts is for how long a thing is wanted after its document was written, and Refresh
	// from what age on that is written again when the thing is asked for.
	Lasts, Refresh time.Duration
}

var (
	// Accounts are wanted by their addresses.
	Accounts = Kind{Name: "anchors", Most: 500, Lasts: 10 * time.Minute, Refresh: 5 * time.Minute}

	// Pairs are wanted by their keys.
	Pairs = Kind{Name: "pairs", Most: 20, Lasts: 24 * time.Hour, Refresh: 6 * time.Hour}
)

const (
	// distributors is the owner of the documents that say who wants anything; their IDs are
	// the distributors, who own those of the things.
	distributors = "all"

	largest = 256 // bytes of a document

	// atOnce is how many documents are read or written at a time, and createdAtOnce how many
	// in one transaction.
	atOnce        = 16
	createdAtOnce = 50

	// patience is how long a request is held up at most by documents, and pause for how long
	// those of its distributor are not after a failure.
	patience = 250 * time.Millisecond
	pause    = time.Second

	// rereadAfter is from what age on the documents of a distributor are read again before
	// something new is added to them, or where there is no room.
	rereadAfter = 10 * time.Second

	// relistAfter is from what age on they are read again by the ingester though there are no
	// new ones: to see which are wanted still.
	relistAfter = time.Minute
)

// Store is what is wanted of a kind. Want is safe for concurrent use; List is not.
type Store struct {
	Kind
	things       *store.Documents // by distributor
	distributors *store.Documents // see distributors

	asked  lru.Cache[string, *remembered]
	listed map[string]*listed
}

// Open returns what is wanted of the kind in documents, which open opens.
func (k Kind) Open(open func(kind string, limits store.DocumentLimits) *store.Documents) *Store {
	return &Store{
		Kind: k, things: open(k.Name, store.DocumentLimits{Bytes: largest, Count: k.Most}), distributors: open(k.Name+" wanted by", store.DocumentLimits{Bytes: largest}),
		asked: lru.Cache[string, *remembered]{Size: 200}, listed: map[string]*listed{},
	}
}

// body is that of a document.
type body struct {
	Since int64 `json:"since,omitempty"` // ms: when it was written first
	Time  int64 `json:"time"`            // ms: and last
}

func (b body) json() []byte { return fmt.Appendf(nil, `{"since":%d,"time":%d}`, b.Since, b.Time) }

// request is a document of one.
type request struct {
	body
	revision string
}

func (t request) age(now time.Time) time.Duration { return now.Sub(time.UnixMilli(t.Time)) }

// remembered is what is remembered of a distributor's things by who writes them.
type remembered struct {
	mu     sync.Mutex
	things map[string]request
	read   time.Time // when all of them were
	noted  time.Time // when it was written that there are any
	added  int       // how many times things were added to it
	known  int       // of these times those that are noted
	rests  time.Time // until then nothing is tried
}

// Want has things, each named once, followed for as long as a distributor asks for them. It
// may be called with every request: it writes nothing for what is known to be followed for
// a while. Refused are those beyond [Kind.Most]. An error is no reason to fail a request, and
// comes after a quarter of a second at most: what was not written is with the next request.
func (s *Store) Want(ctx context.Context, distributor string, ids []string, now time.Time) (refused []string, err error) {
	of, ok := s.asked.Get(distributor)
	if !ok {
		of = &remembered{things: map[string]request{}}
		s.asked.Set(distributor, of)
	}
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

func (s *Store) read(ctx context.Context, distributor string) (map[string]request, error) {
	things := map[string]request{}
	for one, err := range s.things.List(ctx, distributor) {
		if err != nil {
			return nil, err
		}
		var b body // of the beginning of time where it cannot be read: it has ended
		_ = json.Unmarshal(one.Body, &b)
		things[one.ID] = request{b, one.Revision}
	}
	return things, nil
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

// List is what is wanted, by distributor.
type List[T comparable] []OfDistributor[T]

// OfDistributor is what one distributor wants, in the order in which it was asked for first.
type OfDistributor[T comparable] struct {
	Distributor string
	Things      []T
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
