// Package anchors holds which accounts clients ask for: one document for each distributor
// and account. The ingester reads them, asks the venue for the state of those accounts,
// and corrects by it what it has folded of them ([market.Anchor]).
//
// The documents of all distributors are in one list, which the ingester reads with one
// query, and no two of them share anything: no request of one distributor waits for
// another, or for one of its own. Each distributor may want a small number of accounts,
// so that none takes the others' part of the venue's budget.
package anchors

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

// Kind is that of the documents, owner the one owner of all of them. The ID is the
// distributor and the account's address, the body {"time":ms} when it was last asked for.
const (
	Kind  = "anchors"
	owner = "wanted"
)

// Limits bound the documents. Their number is bounded by [Most].
var Limits = store.DocumentLimits{Bytes: 256}

const (
	// Most is how many accounts a distributor may want at a time.
	Most = 500

	// Wanted is for how long an account is wanted after its document was written, and
	// Refresh from what age on that is written again when the account is asked for.
	Wanted  = 10 * time.Minute
	Refresh = 5 * time.Minute

	// wantsAtOnce is how many documents are read or written at a time.
	wantsAtOnce = 16
)

// Account is one that is wanted.
type Account struct {
	Address      string
	Distributors []string // who want it, sorted
}

type document struct {
	Time int64 `json:"time"` // ms
}

// Want has accounts, each named once, anchored for as long as a distributor asks for
// them. It may be called with every request: it reads a document for each account, and
// writes where that is missing or will end soon. Refused is how many accounts are beyond
// [Most] and stay without.
func Want(ctx context.Context, d *store.Documents, distributor string, addresses []string, now time.Time) (refused int, err error) {
	body, err := json.Marshal(document{now.UnixMilli()})
	if err != nil {
		return 0, fmt.Errorf("want the state of accounts: %w", err)
	}
	missing := make([]bool, len(addresses))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(wantsAtOnce)
	for i, address := range addresses {
		group.Go(func() (err error) {
			missing[i], err = refresh(within, d, idOf(distributor, address), body, now)
			return err
		})
	}
	if err := group.Wait(); err != nil || !slices.Contains(missing, true) {
		return 0, err
	}
	room, err := roomOf(ctx, d, distributor)
	if err != nil {
		return 0, err
	}
	group, within = errgroup.WithContext(ctx)
	group.SetLimit(wantsAtOnce)
	for i, address := range addresses {
		switch {
		case !missing[i]:
		case room <= 0:
			refused++
		default:
			room--
			group.Go(func() error {
				_, err := d.Create(within, owner, idOf(distributor, address), body)
				return unlessRaced(err)
			})
		}
	}
	return refused, group.Wait()
}

// refresh writes a document again if it will end soon; missing reports that there is none.
func refresh(ctx context.Context, d *store.Documents, id string, body []byte, now time.Time) (missing bool, err error) {
	have, err := d.Get(ctx, owner, id)
	if errors.Is(err, store.ErrNoDocument) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if written, fault := read(have); fault == nil && now.Sub(written) < Refresh {
		return false, nil
	}
	_, err = d.Replace(ctx, owner, id, have.Revision, body)
	return errors.Is(err, store.ErrNoDocument), unlessRaced(err)
}

// roomOf is how many more accounts a distributor may want. Requests of one moment may
// find the same room: what is too much then is not listed.
func roomOf(ctx context.Context, d *store.Documents, distributor string) (room int, err error) {
	room = Most
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

// List returns the wanted accounts in the order of their addresses, at most [Most] of each
// distributor, and deletes the documents of those that nobody has asked for within [Wanted].
func List(ctx context.Context, d *store.Documents, now time.Time) ([]Account, error) {
	var ended []store.Document
	by := map[string][]string{} // distributors by address
	count, last := 0, ""
	for one, err := range d.List(ctx, owner) {
		if err != nil {
			return nil, err
		}
		distributor, address, ok := cutID(one.ID)
		if written, fault := read(one); !ok || fault != nil || now.Sub(written) > Wanted {
			ended = append(ended, one)
			continue
		}
		if distributor != last {
			count, last = 0, distributor
		}
		if count++; count <= Most {
			by[address] = append(by[address], distributor)
		}
	}
	accounts := make([]Account, 0, len(by))
	for address, distributors := range by {
		accounts = append(accounts, Account{address, distributors})
	}
	slices.SortFunc(accounts, func(a, b Account) int { return strings.Compare(a.Address, b.Address) })
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(wantsAtOnce)
	for _, one := range ended {
		group.Go(func() error { return unlessRaced(d.Delete(within, owner, one.ID, one.Revision)) })
	}
	return accounts, group.Wait()
}

// idOf is the ID of a document. An address has no slash.
func idOf(distributor, address string) string { return distributor + "/" + address }

func cutID(id string) (distributor, address string, ok bool) {
	i := strings.LastIndexByte(id, '/')
	if i < 0 {
		return "", "", false
	}
	return id[:i], id[i+1:], true
}

func read(one store.Document) (written time.Time, err error) {
	var body document
	if err := json.Unmarshal(one.Body, &body); err != nil {
		return time.Time{}, fmt.Errorf("read a wanted account: %w", err)
	}
	return time.UnixMilli(body.Time), nil
}
