package feeds

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/ledgers"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/text/jsontext"
)

const (
	ledgerBack = 90 * 24 * time.Hour // how far a snapshot of ledger updates goes back
	ledgerKept = 200                 // updates of a snapshot at most
	ledgerSeen = 10_000              // updates that are remembered as published
)

// ledgerUpdates publishes the ledger updates of the accounts that are followed, and
// keeps the last of each. Where a node is followed or the venue's hours are read, and without a venue to ask, a snapshot
// has what is stored, as far as the past is read: the venue would tell what an hour then brings again.
type ledgerUpdates struct {
	base
	addressTopic
	mu    *sync.Mutex           // that of arriving
	cache refCache[*ledgerList] // by address
	seen  seen[ledgerKey]
}

type ledgerKey struct {
	address, hash string
	time          int64
	delta         string
}

func keyOfLedger(l *market.Ledger) ledgerKey {
	return ledgerKey{l.Address, l.Hash, l.Time, string(l.Delta)}
}

// ledgerList is the last updates of one account. Of one that was shed there are those that a
// source may deliver once more.
type ledgerList struct {
	updates []listedUpdate // oldest first
	recent  bool           // the others were shed
	since   func() int64   // ms of the oldest update that may be delivered once more
}

func (l *ledgerList) size() (bytes int) {
	for i := range l.updates {
		bytes += 128 + len(l.updates[i].Hash) + len(l.updates[i].Delta)
	}
	return bytes
}

func (l *ledgerList) shed() {
	l.recent = true
	l.cut()
	l.updates = slices.Clone(l.updates) // the array of all is let go
}

type listedUpdate struct {
	Time  int64           `json:"time"`
	Hash  string          `json:"hash"`
	Delta json.RawMessage `json:"delta"`
}

func newLedgerUpdates(b base) publisher {
	ls := &ledgerUpdates{base: b, mu: &b.arriving.mu}
	ls.cache = newRefCache[*ledgerList](ls.mu, b.loads.turn)
	if ls.history() {
		ls.cache.pastIsRead = b.pastIsRead
	} else {
		ls.cache.turn = b.accounts.readTurn
	}
	return ls
}

func (ls *ledgerUpdates) topic(address string) hub.Topic {
	return hub.Topic{Guard: ls.mu, Place: func() int64 { return ls.placeOf(!ls.cache.incomplete(address)) }, Snapshot: func() [][]byte {
		l, ok := ls.cache.shown(address)
		if !ok {
			return nil
		}
		return hub.Single(ls.snapshot(address, l))
	}}
}

// snapshot is the frame of a snapshot. The caller holds ls.mu.
func (ls *ledgerUpdates) snapshot(address string, l *ledgerList) []byte {
	kind := snapshotMembers
	if ls.cache.incomplete(address) {
		kind = incompleteMembers
	}
	return ledgerFrame(address, kind, l.updates)
}

// history is what is stored, where a source delivers updates or there is no venue to ask.
func (ls *ledgerUpdates) history() bool { return ls.Venue == nil || ls.Folds || ls.Hours }

// run publishes new snapshots of those that were incomplete, when the past is read.
func (ls *ledgerUpdates) run(ctx context.Context) error {
	return ls.completeSnapshots(ctx, func(ctx context.Context) error {
		return ls.cache.complete(ctx, ls.recentOf, ls.load, func(address string, l *ledgerList) {
			ls.hub.PublishSnapshot(ls.topicName(address), hub.Single(ls.snapshot(address, l)), ls.placeOf(!ls.cache.incomplete(address)))
		})
	})
}

// consume publishes ledger updates, one frame each: they are few.
func (ls *ledgerUpdates) consume(e *market.Events) {
	if len(e.Ledgers) == 0 {
		return
	}
	for i := range e.Ledgers {
		u := &e.Ledgers[i]
		l, ok := ls.cache.get(u.Address)
		if !ok || !ls.seen.add(keyOfLedger(u), ledgerSeen) {
			continue
		}
		one := listedUpdate{u.Time, u.Hash, u.Delta}
		if !l.add(one) {
			continue
		}
		l.cut()
		ls.cache.changed(u.Address)
		ls.hub.PublishAt(ls.topicName(u.Address), ledgerFrame(u.Address, updateMembers, []listedUpdate{one}), int64(u.Arrived.At))
	}
}

func (ls *ledgerUpdates) consumeHour(e *market.Events) { ls.consume(e) }

// keep adds updates that are published to nobody.
func (ls *ledgerUpdates) keep(list []market.Ledger) {
	for i := range list {
		u := &list[i]
		if l, ok := ls.cache.get(u.Address); ok && l.add(listedUpdate{u.Time, u.Hash, u.Delta}) {
			l.order()
			ls.cache.changed(u.Address)
		}
	}
}

// prepare reads the last ledger updates of an account.
func (ls *ledgerUpdates) prepare(of string, s *channel.Subscription) (load func(context.Context) error, release func()) {
	address := s.User
	return func(ctx context.Context) error {
		return ls.cache.acquire(ctx, of, address,
			func() *ledgerList { return ls.recentOf(address) },
			func(ctx context.Context, l *ledgerList) error { return ls.load(ctx, address, l) })
	}, func() { ls.cache.release(address) }
}

func (ls *ledgerUpdates) prune() {
	ls.cache.prune(func(address string) bool { return ls.hub.Watched(ls.topicName(address)) })
}

// recentOf lists the recent updates of an account. The caller holds ls.mu.
func (ls *ledgerUpdates) recentOf(address string) *ledgerList {
	l := &ledgerList{since: ls.comesSince}
	for i := range ls.arriving.recentLedgers.list {
		if u := &ls.arriving.recentLedgers.list[i].one; u.Address == address {
			l.add(listedUpdate{u.Time, u.Hash, u.Delta})
		}
	}
	return l
}

// load adds the last updates of an account that the venue knows, or that are stored.
func (ls *ledgerUpdates) load(ctx context.Context, address string, l *ledgerList) error {
	last := ls.atVenue
	if ls.history() {
		last = ls.stored
	}
	list, err := last(ctx, address, ls.Now().Add(-ledgerBack))
	if err != nil {
		return err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, u := range list {
		l.add(u)
	}
	l.order()
	return nil
}

// atVenue asks the venue for the last updates of an account, oldest first.
func (ls *ledgerUpdates) atVenue(ctx context.Context, address string, since time.Time) ([]listedUpdate, error) {
	raw, err := ls.Venue.LedgerUpdates(ctx, address, since)
	if err != nil {
		return nil, err
	}
	raw = raw[max(0, len(raw)-ledgerKept):]
	list := make([]listedUpdate, len(raw))
	for i := range raw {
		if err := json.Unmarshal(raw[i], &list[i]); err != nil {
			return nil, fmt.Errorf("read a ledger update: %w", err)
		}
	}
	return list, nil
}

// stored reads the last stored updates of an account, oldest first.
func (ls *ledgerUpdates) stored(ctx context.Context, address string, since time.Time) (list []listedUpdate, err error) {
	for u, err := range ledgers.Newest(ctx, ls.Log, address, since, ledgerKept) {
		if err != nil {
			return nil, fmt.Errorf("read the last ledger updates of an account: %w", err)
		}
		list = append(list, listedUpdate{u.Time, u.Hash, u.Delta})
	}
	slices.Reverse(list)
	return list, nil
}

// add puts an update into the list unless it is there.
func (l *ledgerList) add(u listedUpdate) bool {
	if slices.ContainsFunc(l.updates, func(o listedUpdate) bool {
		return o.Time == u.Time && o.Hash == u.Hash && string(o.Delta) == string(u.Delta)
	}) {
		return false
	}
	l.updates = append(l.updates, u)
	return true
}

// order brings the updates into the order of their times, and cuts them.
func (l *ledgerList) order() {
	slices.SortStableFunc(l.updates, func(a, b listedUpdate) int { return cmp.Compare(a.Time, b.Time) })
	l.cut()
}

// cut drops the oldest updates beyond what a snapshot has, or beyond what is kept without one.
func (l *ledgerList) cut() {
	first := max(0, len(l.updates)-ledgerKept)
	if l.recent {
		for since := l.since(); first < len(l.updates) && l.updates[first].Time < since; {
			first++
		}
	}
	l.updates = append(l.updates[:0], l.updates[first:]...)
}

func ledgerFrame(address, kind string, list []listedUpdate) []byte {
	b := append(append(inChannel(channel.UserNonFundingLedgerUpdates), kind...), `"user":`...)
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
		b = list[i].append(b)
	}
	return append(b, `]}}`...)
}

func (u *listedUpdate) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"time":`...), u.Time, 10)
	b = jsontext.AppendString(append(b, `,"hash":`...), u.Hash)
	return append(append(append(b, `,"delta":`...), u.Delta...), '}')
}

func (ls *ledgerUpdates) replayed(ctx context.Context, address string, from time.Time) iter.Seq2[replayed, error] {
	return replayedOf(ledgers.Newest(ctx, ls.Log, address, from, 0), ls.replay)
}

func (ls *ledgerUpdates) recent(about map[string]bool) []replayed {
	return recentlyOf(&ls.arriving.recentLedgers, about, func(l *market.Ledger) string { return l.Address }, ls.replay)
}

func (ls *ledgerUpdates) replay(l *market.Ledger) replayed {
	return replayed{l.Address, keyOfLedger(l), l.Arrived.At, l.Time, (&listedUpdate{l.Time, l.Hash, l.Delta}).append(nil)}
}

func (ls *ledgerUpdates) replayFrame(address string, bodies [][]byte) []byte {
	open := append(append(inChannel(channel.UserNonFundingLedgerUpdates), updateMembers...), `"user":`...)
	return append(appendList(append(jsontext.AppendString(open, address), `,"nonFundingLedgerUpdates":`...), bodies), `}}`...)
}

func (ls *ledgerUpdates) datasets() []string { return []string{ledgers.Name} }
