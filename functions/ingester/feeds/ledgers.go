package feeds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/market"
)

const (
	ledgerBack = 90 * 24 * time.Hour // how far a snapshot of ledger updates goes back
	ledgerKept = 200                 // updates of a snapshot at most
)

// ledgers keeps the last ledger updates of the accounts that are followed.
type ledgers struct {
	hub   *hub.Hub
	venue Venue // nil: snapshots have only what was heard since somebody followed
	now   func() time.Time

	mu    sync.Mutex
	shelf shelf[*ledgerList] // by address
	told  told[ledgerKey]
}

type ledgerKey struct {
	address, hash string
	time          int64
	delta         string
}

type ledgerList struct{ updates []listedUpdate } // oldest first

type listedUpdate struct {
	Time  int64           `json:"time"`
	Hash  string          `json:"hash"`
	Delta json.RawMessage `json:"delta"`
}

// take pushes ledger updates, one frame each: they are few.
func (ls *ledgers) take(list []market.Ledger) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i := range list {
		u := &list[i]
		l, ok := ls.shelf.get(u.Address)
		if !ok || !ls.told.add(ledgerKey{u.Address, u.Hash, u.Time, string(u.Delta)}, recentMost/10) {
			continue
		}
		one := listedUpdate{u.Time, u.Hash, u.Delta}
		if !l.add(one) {
			continue
		}
		ls.hub.Publish(topicOf(ledgerTopic, u.Address), ledgerFrame(u.Address, false, []listedUpdate{one}), hub.Event)
	}
}

// add puts an update into the list unless it is there.
func (l *ledgerList) add(u listedUpdate) bool {
	if slices.ContainsFunc(l.updates, func(o listedUpdate) bool {
		return o.Time == u.Time && o.Hash == u.Hash && string(o.Delta) == string(u.Delta)
	}) {
		return false
	}
	l.updates = append(l.updates, u)
	l.updates = append(l.updates[:0], l.updates[max(0, len(l.updates)-ledgerKept):]...)
	return true
}

// prepare makes the ledger updates of an account ready for a snapshot.
func (ls *ledgers) prepare(ctx context.Context, address string) error {
	return ls.shelf.acquire(ctx, address, func() *ledgerList { return &ledgerList{} },
		func(ctx context.Context, l *ledgerList) error {
			if ls.venue == nil {
				return nil
			}
			raw, err := ls.venue.LedgerUpdates(ctx, address, ls.now().Add(-ledgerBack))
			if err != nil {
				return err
			}
			ls.mu.Lock()
			defer ls.mu.Unlock()
			for _, r := range raw[max(0, len(raw)-ledgerKept):] {
				var u listedUpdate
				if err := json.Unmarshal(r, &u); err != nil {
					return fmt.Errorf("read a ledger update: %w", err)
				}
				l.add(u)
			}
			slices.SortStableFunc(l.updates, func(a, b listedUpdate) int { return int(a.Time - b.Time) })
			return nil
		})
}

// snapshot is the last updates of an account. The hub holds the lock.
func (ls *ledgers) snapshot(address string) []byte {
	l, ok := ls.shelf.get(address)
	if !ok {
		return nil
	}
	return ledgerFrame(address, true, l.updates)
}

func ledgerFrame(address string, snapshot bool, list []listedUpdate) []byte {
	b := inChannel("userNonFundingLedgerUpdates")
	if snapshot {
		b = append(b, `{"isSnapshot":true,"user":`...)
	} else {
		b = append(b, `{"user":`...)
	}
	b = append(appendText(b, address), `,"nonFundingLedgerUpdates":[`...)
	// The newest are the ones to keep when not all fit.
	size, first := len(b), len(list)
	for first > 0 && size+len(list[first-1].Delta)+256 < frameMost {
		first--
		size += len(list[first].Delta) + 256
	}
	for i := first; i < len(list); i++ {
		if i > first {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"time":`...), list[i].Time, 10)
		b = appendText(append(b, `,"hash":`...), list[i].Hash)
		b = append(append(append(b, `,"delta":`...), list[i].Delta...), '}')
	}
	return append(b, `]}}`...)
}
