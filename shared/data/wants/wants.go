// Package wants holds what clients ask for and the ingester does not follow by itself: the
// accounts whose state the venue is to be asked for ([market.Anchor]), and the pairs of
// exchanges whose K-lines are to be filled back. It is one document for each distributor and
// thing.
//
// The documents of all distributors are in one list, which the ingester reads with one
// query, and no two of them share anything: no request of one distributor waits for
// another, or for one of its own. Each distributor may want a small number of things,
// so that none takes the others' part of an upstream's budget.
package wants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

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

// owner is the one owner of all documents of a kind. The ID of one is the distributor and
// the thing's, the body {"time":ms} when it was last asked for.
const owner = "wanted"

// Limits bound the documents. Their number is bounded by [Kind.Most].
var Limits = store.DocumentLimits{Bytes: 256}

// wantsAtOnce is how many documents are read or written at a time.
const wantsAtOnce = 16

// Item is a thing that is wanted.
type Item struct {
	ID           string   // the address of an account, the key of a pair
	Distributors []string // who want it, sorted
}

type document struct {
	Time int64 `json:"time"` // ms
}

// Want has things, each named once, followed for as long as a distributor asks for them. It
// may be called with every request: it reads a document for each thing, and writes where
// that is missing or will end soon. Refused is how many things are beyond [Kind.Most] and
// stay without.
func (k Kind) Want(ctx context.Context, d *store.Documents, distributor string, things []string, now time.Time) (refused int, err error) {
	body, err := json.Marshal(document{now.UnixMilli()})
	if err != nil {
		return 0, fmt.Errorf("want %s: %w", k.Name, err)
	}
	missing := make([]bool, len(things))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(wantsAtOnce)
	for i, id := range things {
		group.Go(func() (err error) {
			missing[i], err = k.refresh(within, d, idOf(distributor, id), body, now)
			return err
		})
	}
	if err := group.Wait(); err != nil || !slices.Contains(missing, true) {
		return 0, err
	}
	room, err := k.roomOf(ctx, d, distributor)
	if err != nil {
		return 0, err
	}
	group, within = errgroup.WithContext(ctx)
	group.SetLimit(wantsAtOnce)
	for i, id := range things {
		switch {
		case !missing[i]:
		case room <= 0:
			refused++
		default:
			room--
			group.Go(func() error {
				_, err := d.Create(within, owner, idOf(distributor, id), body)
				return unlessRaced(err)
			})
		}
	}
	return refused, group.Wait()
}

// refresh writes a document again if it will end soon; missing reports that there is none.
func (k Kind) refresh(ctx context.Context, d *store.Documents, id string, body []byte, now time.Time) (missing bool, err error) {
	have, err := d.Get(ctx, owner, id)
	if errors.Is(err, store.ErrNoDocument) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if written, fault := read(have); fault == nil && now.Sub(written) < k.Refresh {
		return false, nil
	}
	_, err = d.Replace(ctx, owner, id, have.Revision, body)
	return errors.Is(err, store.ErrNoDocument), unlessRaced(err)
}

// roomOf is how many more things a distributor may want. Requests of one moment may
// find the same room: what is too much then is not listed.
func (k Kind) roomOf(ctx context.Context, d *store.Documents, distributor string) (room int, err error) {
	room = k.Most
	for _, err := range d.ListPrefix(ctx, owner, idOf(distributor, "")) {
		if err != nil {
			return 0, err
		}
		room--
	}
	return room, nil
}

// unlessRaced is an error but for those by which another request has just written the
// same, or the ingester has just deleted it.
func unlessRaced(err error) error {
	for _, raced := range []error{store.ErrDocumentExists, store.ErrDocumentChanged, store.ErrNoDocument} {
		if errors.Is(err, raced) {
			return nil
		}
	}
	return err
}

// List returns what is wanted in the order of the IDs, at most [Kind.Most] of each
// distributor, and deletes the documents of what nobody has asked for within [Kind.Lasts].
func (k Kind) List(ctx context.Context, d *store.Documents, now time.Time) ([]Item, error) {
	var ended []store.Document
	by := map[string][]string{} // distributors by ID
	count, last := 0, ""
	for one, err := range d.List(ctx, owner) {
		if err != nil {
			return nil, err
		}
		distributor, id, ok := cutID(one.ID)
		if written, fault := read(one); !ok || fault != nil || now.Sub(written) > k.Lasts {
			ended = append(ended, one)
			continue
		}
		if distributor != last {
			count, last = 0, distributor
		}
		if count++; count <= k.Most {
			by[id] = append(by[id], distributor)
		}
	}
	items := make([]Item, 0, len(by))
	for id, distributors := range by {
		items = append(items, Item{id, distributors})
	}
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(wantsAtOnce)
	for _, one := range ended {
		group.Go(func() error { return unlessRaced(d.Delete(within, owner, one.ID, one.Revision)) })
	}
	return items, group.Wait()
}

// idOf is the ID of a document. Neither an address nor the key of a pair has a slash.
func idOf(distributor, thing string) string { return distributor + "/" + thing }

func cutID(id string) (distributor, thing string, ok bool) {
	i := strings.LastIndexByte(id, '/')
	if i < 0 {
		return "", "", false
	}
	return id[:i], id[i+1:], true
}

func read(one store.Document) (written time.Time, err error) {
	var body document
	if err := json.Unmarshal(one.Body, &body); err != nil {
		return time.Time{}, fmt.Errorf("read what is wanted: %w", err)
	}
	return time.UnixMilli(body.Time), nil
}
