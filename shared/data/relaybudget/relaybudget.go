// Package relaybudget counts what functions ask of the venue on behalf of callers: all instances
// of all functions together ask for at most so much weight in any minute, and it is dealt out by
// distributor.
//
// The count is one document. A minute has six slots of ten seconds, and what may be spent in one
// of them is a seventh of the budget, as any minute touches seven. A slot is shared evenly by the
// distributors that have asked in the last minute, granted or not, but for a part that is kept for
// whoever has spent nothing in it: so one that asks rarely is served beside one that asks all the
// time, and one that comes anew has its share from the next slot on. What is granted is written before anything is asked, so that no more than the budget is ever spent, whatever fails.
package relaybudget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/store"
)

const (
	slot    = 10 * time.Second
	slots   = 6 // that a distributor counts as one that asks
	minutes = 7 // slots that any minute touches

	usual = 20 // what most questions weigh

	owner, id = "venue", "spent"

	largest = 200 << 10 // bytes of the document: some 4,000 distributors
	tries   = 6
)

// Budget is what may be spent. It is safe for concurrent use, by any number of processes.
type Budget struct {
	perSlot   int
	documents *store.Documents
	clock     func() time.Time

	mu      sync.Mutex
	at      int64           // a slot
	refused map[string]bool // distributors that nothing is left for in it, which nobody needs to read again
}

// Open returns the budget of so much weight in any minute in documents, which open opens.
func Open(open func(kind string, limits store.DocumentLimits) *store.Documents, perMinute int, clock func() time.Time) *Budget {
	return &Budget{perSlot: perMinute / minutes, documents: open("relayed", store.DocumentLimits{Bytes: largest}), clock: clock, refused: map[string]bool{}}
}

// count is the document.
type count struct {
	Slot  int64            `json:"slot"`
	Spent map[string]int   `json:"spent"` // weight, by distributor
	Asked map[string]int64 `json:"asked"` // the newest slot in which each asked
}

// Spend takes weight for a distributor. Where nothing is left for it, wait is how long it is until
// there may be; else it is 0. An error is that of the store: then nothing may be asked.
func (b *Budget) Spend(ctx context.Context, distributor string, weight int) (wait time.Duration, err error) {
	for try := range tries {
		now := b.clock()
		at := now.UnixNano() / int64(slot)
		wait = time.Duration((at+1)*int64(slot) - now.UnixNano())
		if b.isRefused(distributor, at) {
			return wait, nil
		}
		granted, err := b.spend(ctx, distributor, weight, at)
		switch {
		case errors.Is(err, store.ErrDocumentChanged) || errors.Is(err, store.ErrDocumentExists):
			if err := backoff.Sleep(ctx, time.Duration(rand.IntN(10<<try))*time.Millisecond); err != nil {
				return 0, err
			}
			continue
		case err != nil:
			return 0, fmt.Errorf("count what is asked of the venue: %w", err)
		case granted:
			return 0, nil
		}
		b.refuse(distributor, at)
		return wait, nil
	}
	return wait, nil // everybody else was faster
}

func (b *Budget) isRefused(distributor string, at int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at == at && b.refused[distributor]
}

func (b *Budget) refuse(distributor string, at int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at != at {
		clear(b.refused)
		b.at = at
	}
	b.refused[distributor] = true
}

// spend tries to take weight in a slot.
func (b *Budget) spend(ctx context.Context, distributor string, weight int, at int64) (granted bool, err error) {
	document, err := b.documents.Get(ctx, owner, id)
	missing := errors.Is(err, store.ErrNoDocument)
	if err != nil && !missing {
		return false, err
	}
	var c count
	if !missing {
		if err := json.Unmarshal(document.Body, &c); err != nil {
			return false, fmt.Errorf("read the count: %w", err)
		}
	}
	if c.Slot > at { // another clock is ahead: its slot is not spent twice
		return false, nil
	}
	known := c.Asked[distributor] == at
	c.begin(at)
	c.Asked[distributor] = at
	if granted = c.allows(distributor, weight, b.perSlot); granted {
		c.Spent[distributor] += weight
	} else if known {
		return false, nil
	}
	body, err := json.Marshal(c)
	if err != nil {
		return false, err
	}
	if missing {
		_, err = b.documents.Create(ctx, owner, id, body)
	} else {
		_, err = b.documents.Replace(ctx, owner, id, document.Revision, body)
	}
	return granted, err
}

// begin has the count be of a slot.
func (c *count) begin(at int64) {
	if c.Asked == nil {
		c.Asked = map[string]int64{}
	}
	if c.Slot != at || c.Spent == nil {
		c.Slot, c.Spent = at, map[string]int{}
	}
	for distributor, asked := range c.Asked {
		if asked <= at-slots {
			delete(c.Asked, distributor)
		}
	}
}

// allows reports whether a distributor may spend weight: as its first in the slot within all of
// it, else within its share of what is not kept for those that have spent nothing.
func (c *count) allows(distributor string, weight, perSlot int) bool {
	all := 0
	for _, spent := range c.Spent {
		all += spent
	}
	own := c.Spent[distributor]
	if own == 0 {
		return all+weight <= perSlot
	}
	shared := perSlot - max(perSlot/4, usual)
	return all+weight <= shared && own+weight <= shared/len(c.Asked)
}
