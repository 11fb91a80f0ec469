// Package anchors holds which accounts clients ask for: one document an account. The
// ingester reads them, asks the venue for the state of those accounts, and corrects by
// it what it has folded of them ([market.Anchor]).
package anchors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"quotary/shared/store"
)

// Kind is that of the documents, owner the one owner of all of them. The ID is the
// account's address, the body {"time":ms} when it was last asked for.
const (
	Kind  = "anchors"
	owner = "wanted"
)

// Limits bound the documents: at most so many accounts are wanted at a time.
var Limits = store.DocumentLimits{Bytes: 256, Count: 10_000}

const (
	// Refresh is how old a document gets before it is written again.
	Refresh = time.Minute

	// Wanted is for how long an account is wanted after it was asked for.
	Wanted = 10 * time.Minute
)

type document struct {
	Time int64 `json:"time"` // ms
}

// Want has an account anchored for as long as somebody asks for it. It may be called
// with every request: it writes at most once a minute for an account. The error may be
// [store.ErrTooManyDocuments].
func Want(ctx context.Context, d *store.Documents, address string, now time.Time) error {
	body, err := json.Marshal(document{now.UnixMilli()})
	if err != nil {
		return fmt.Errorf("want the state of an account: %w", err)
	}
	have, err := d.Get(ctx, owner, address)
	switch {
	case err == nil:
		if asked, fault := read(have); fault == nil && now.Sub(asked) < Refresh {
			return nil
		}
		_, err = d.Replace(ctx, owner, address, have.Revision, body)
	case errors.Is(err, store.ErrNoDocument):
		_, err = d.Create(ctx, owner, address, body)
	}
	if errors.Is(err, store.ErrDocumentExists) || errors.Is(err, store.ErrDocumentChanged) {
		return nil // somebody else asked for it at this moment
	}
	return err
}

// List returns the addresses of all wanted accounts, in their order, and deletes the
// documents of those that nobody has asked for within [Wanted].
func List(ctx context.Context, d *store.Documents, now time.Time) (addresses []string, err error) {
	var forgotten []store.Document
	for one, err := range d.List(ctx, owner) {
		if err != nil {
			return nil, err
		}
		if asked, fault := read(one); fault != nil || now.Sub(asked) > Wanted {
			forgotten = append(forgotten, one)
			continue
		}
		addresses = append(addresses, one.ID)
	}
	for _, one := range forgotten {
		err := d.Delete(ctx, owner, one.ID, one.Revision)
		if err != nil && !errors.Is(err, store.ErrNoDocument) && !errors.Is(err, store.ErrDocumentChanged) {
			return addresses, err
		}
	}
	return addresses, nil
}

func read(one store.Document) (asked time.Time, err error) {
	var body document
	if err := json.Unmarshal(one.Body, &body); err != nil {
		return time.Time{}, fmt.Errorf("read a wanted account: %w", err)
	}
	return time.UnixMilli(body.Time), nil
}
