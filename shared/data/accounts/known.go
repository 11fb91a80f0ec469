package accounts

import (
	"context"
	"fmt"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Known is what the row of an account says of it.
type Known struct {
	// Confirmed is what its events have made of it, up to when they are known. What it did, and what
	// it was worth then, is of that.
	Confirmed *market.Account

	// Ahead is what the venue has said of it behind its events, where these come an hour or two later, or not at
	// all: what it holds now. It has no events of its own, and ends when they have come to its time. Nil where
	// there is none.
	Ahead *market.Account
}

// Now is what the account holds as far as anybody knows; nil where nobody does.
func (k Known) Now() *market.Account {
	if k.Ahead != nil {
		return k.Ahead
	}
	return k.Confirmed
}

// LoadKnown is [Load] of all that the rows say.
func LoadKnown(ctx context.Context, series *store.Series, addresses ...string) (map[string]Known, error) {
	return load(ctx, series, addresses, func(address string, p store.Point) (k Known, err error) {
		if k.Confirmed, err = Decode(address, p); err == nil {
			k.Ahead, err = AheadOf(address, p)
		}
		return k, err
	})
}

// AheadOf is what the venue has said of an account behind its events, by its row; nil for nothing.
func AheadOf(address string, p store.Point) (*market.Account, error) {
	b, err := dataset.FromJSON[body](p.Body)
	if err != nil || b.Ahead == nil {
		return nil, err
	}
	a, err := decode(b.Ahead)
	if err != nil {
		return nil, fmt.Errorf("read what the venue has said of account %.42s: %w", address, err)
	}
	a.Address = address
	return a, nil
}
