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
	"quotary/shared/channel"
	"quotary/shared/jsontext"
	"quotary/shared/market"
)

const (
	ledgerBack = 90 * 24 * time.Hour // how far a snapshot of ledger updates goes back
	ledgerKept = 200                 // updates of a snapshot at most
	ledgerSeen = 10_000              // updates that are remembered as published
)

// ledgerUpdates publishes the ledger updates of the accounts that are followed, and
// keeps the last of each. Without a venue to ask, a snapshot has only what was
// received since somebody followed.
type ledgerUpdates struct {
	base
	addressTopic
	mu    sync.Mutex
	cache refCache[*ledgerList] // by address
	seen  seen[ledgerKey]
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

func newLedgerUpdates(b base) publisher {
	ls := &ledgerUpdates{base: b}
	ls.cache = newRefCache[*ledgerList](&ls.mu)
	return ls
}

func (ls *ledgerUpdates) topic(address string) hub.Topic {
	return hub.Topic{Guard: &ls.mu, Snapshot: func() [][]byte {
		l, ok := ls.cache.get(address)
		if !ok {
			return nil
		}
		return hub.Single(ledgerFrame(address, true, l.updates))
	}}
}

// consume publishes ledger updates, one frame each: they are few.
func (ls *ledgerUpdates) consume(e *market.Events) {
	if len(e.Ledgers) == 0 {
		return
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for i := range e.Ledgers {
		u := &e.Ledgers[i]
		l, ok := ls.cache.get(u.Address)
		if !ok || !ls.seen.add(ledgerKey{u.Address, u.Hash, u.Time, string(u.Delta)}, ledgerSeen) {
			continue
		}
		one := listedUpdate{u.Time, u.Hash, u.Delta}
		if !l.add(one) {
			continue
		}
		ls.hub.Publish(ls.topicName(u.Address), ledgerFrame(u.Address, false, []listedUpdate{one}), hub.Event)
	}
}

// prepare reads the last ledger updates of an account.
func (ls *ledgerUpdates) prepare(s *channel.Subscription) (load func(context.Context) error, release func()) {
	address := s.User
	return func(ctx context.Context) error {
		return ls.cache.acquire(ctx, address,
			func() *ledgerList { return &ledgerList{} },
			func(ctx context.Context, l *ledgerList) error { return ls.load(ctx, address, l) })
	}, func() { ls.cache.release(address) }
}

func (ls *ledgerUpdates) prune() {
	ls.cache.prune(func(address string) bool { return ls.hub.Watched(ls.topicName(address)) })
}

func (ls *ledgerUpdates) load(ctx context.Context, address string, l *ledgerList) error {
	if ls.Venue == nil {
		return nil
	}
	raw, err := ls.Venue.LedgerUpdates(ctx, address, ls.Now().Add(-ledgerBack))
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

func ledgerFrame(address string, snapshot bool, list []listedUpdate) []byte {
	b := inChannel(channel.UserNonFundingLedgerUpdates)
	if snapshot {
		b = append(b, `{"isSnapshot":true,"user":`...)
	} else {
		b = append(b, `{"user":`...)
	}
	b = append(jsontext.AppendString(b, address), `,"nonFundingLedgerUpdates":[`...)
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
		b = jsontext.AppendString(append(b, `,"hash":`...), list[i].Hash)
		b = append(append(append(b, `,"delta":`...), list[i].Delta...), '}')
	}
	return append(b, `]}}`...)
}
