// Package relaybudget counts what functions ask of the venue on behalf of callers: all instances
// of all functions together ask for at most so much weight in any minute, and it is dealt out by
// distributor.
//
// The count is one document. A minute has six slots of ten seconds, and what may be spent in one
// of them is a seventh of the budget, as any minute touches seven. A slot is shared evenly by the
// distributors that have asked in the last minute, granted or not, but for a part that is kept for
// whoever has spent nothing in it: so one that asks rarely is served beside one that asks all the
// time, and one that comes anew has its share from the next slot on. What is granted is written
// before anything is asked, so that no more than the budget is ever spent, whatever fails.
//
// All distributors write that document, so none writes it often: the instances of a distributor take
// turns at it by a document of its own, and each turn takes as much again as the distributor has, of
// which its instances then spend.
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

	// Owners of the documents: of that of all, and before its name of that of a distributor.
	common, ownedBy = "venue", "distributor "

	id = "spent"

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

// count is the document of all.
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
		granted, err := b.spendOwn(ctx, distributor, weight, now)
		switch {
		case raced(err):
			if err := pause(ctx, try); err != nil {
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

// raced reports whether another instance was faster.
func raced(err error) bool {
	return errors.Is(err, store.ErrDocumentChanged) || errors.Is(err, store.ErrDocumentExists) || errors.Is(err, errTurn)
}

// pause is that after a try at which another instance was faster.
func pause(ctx context.Context, try int) error {
	return backoff.Sleep(ctx, time.Duration(rand.IntN(10<<try))*time.Millisecond)
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

// take takes weight in a slot of what all distributors have: most of it, or half, a quarter and so on
// down to least; 0 where not even that is left. Others that are faster it lets go first.
func (b *Budget) take(ctx context.Context, distributor string, least, most int, at int64) (taken int, err error) {
	for try := range tries {
		taken, err = b.tryTake(ctx, distributor, least, most, at)
		if !raced(err) {
			return taken, err
		}
		if err := pause(ctx, try); err != nil {
			return 0, err
		}
	}
	return 0, err
}

func (b *Budget) tryTake(ctx context.Context, distributor string, least, most int, at int64) (taken int, err error) {
	var c count
	revision, err := b.read(ctx, common, &c)
	if err != nil || c.Slot > at { // another clock is ahead: its slot is not spent twice
		return 0, err
	}
	known := c.Asked[distributor] == at
	c.begin(at)
	c.Asked[distributor] = at
	for taken = max(least, most); taken > least && !c.allows(distributor, taken, b.perSlot); {
		taken = max(least, taken/2)
	}
	if c.allows(distributor, taken, b.perSlot) {
		c.Spent[distributor] += taken
	} else if taken = 0; known {
		return 0, nil
	}
	_, err = b.write(ctx, common, revision, &c)
	return taken, err
}

// read reads a document into what it holds; without one its revision is "".
func (b *Budget) read(ctx context.Context, owner string, to any) (revision string, err error) {
	document, err := b.documents.Get(ctx, owner, id)
	if errors.Is(err, store.ErrNoDocument) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(document.Body, to); err != nil {
		return "", fmt.Errorf("read the count: %w", err)
	}
	return document.Revision, nil
}

// write writes a document in the place of a revision.
func (b *Budget) write(ctx context.Context, owner, revision string, of any) (next string, err error) {
	body, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	if revision == "" {
		return b.documents.Create(ctx, owner, id, body)
	}
	return b.documents.Replace(ctx, owner, id, revision, body)
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
