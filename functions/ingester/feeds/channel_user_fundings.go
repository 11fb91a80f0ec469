package feeds

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/payments"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/text/jsontext"
)

// fundingsKept is how many payments a snapshot has at most, as /info has of them in an answer.
const fundingsKept = 500

// userFundings publishes what the accounts that are followed pay and receive for funding, and keeps
// the last of each.
type userFundings struct {
	base
	addressTopic
	mu     sync.Mutex
	latest recent[market.FundingPayment]
	cache  refCache[*fundingList] // by address
}

// fundingList is the last payments of one account. Of one that was shed there are those that a
// source may deliver once more.
type fundingList struct {
	payments []market.FundingPayment // oldest first
	recent   bool                    // the others were shed
	since    func() int64            // ms of the oldest payment that may be delivered once more
}

// fundingSize is what a payment takes in memory, bytes.
const fundingSize = 192

func (l *fundingList) size() int { return fundingSize * len(l.payments) }

func (l *fundingList) shed() {
	l.recent = true
	l.cut()
	l.payments = slices.Clone(l.payments) // the array of all is let go
}

func newUserFundings(b base) publisher {
	fs := &userFundings{base: b}
	fs.cache = newRefCache[*fundingList](&fs.mu, b.loads.turn)
	fs.cache.pastIsRead = b.pastIsRead
	return fs
}

func (fs *userFundings) topic(address string) hub.Topic {
	return hub.Topic{Guard: &fs.mu, Snapshot: func() [][]byte {
		l, ok := fs.cache.shown(address)
		if !ok {
			return nil
		}
		return hub.Single(fs.snapshot(address, l))
	}}
}

// snapshot is the frame of a snapshot. The caller holds fs.mu.
func (fs *userFundings) snapshot(address string, l *fundingList) []byte {
	kind := snapshotMembers
	if fs.cache.incomplete(address) {
		kind = incompleteMembers
	}
	return fundingsFrame(address, kind, l.payments)
}

func (*userFundings) history() bool { return true }

// run publishes new snapshots of those that were incomplete, when the past is read.
func (fs *userFundings) run(ctx context.Context) error {
	return fs.completeSnapshots(ctx, func(ctx context.Context) error {
		return fs.cache.complete(ctx, fs.recentOf, fs.load, func(address string, l *fundingList) {
			fs.hub.PublishSnapshot(fs.topicName(address), hub.Single(fs.snapshot(address, l)), 0)
		})
	})
}

// consume publishes the payments that are new, in one frame an account.
func (fs *userFundings) consume(e *market.Events) {
	if len(e.Payments) == 0 {
		return
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	now := fs.Now()
	fs.latest.forget(now)
	fresh := map[string][]market.FundingPayment{}
	for i := range e.Payments {
		p := &e.Payments[i]
		fs.latest.add(now, *p)
		if l, ok := fs.cache.get(p.Address); ok && l.add(p) {
			fresh[p.Address] = append(fresh[p.Address], *p)
		}
	}
	for address, list := range fresh {
		l, _ := fs.cache.get(address)
		l.cut()
		fs.cache.changed(address)
		for some := range slices.Chunk(list, fundingsKept) {
			fs.hub.Publish(fs.topicName(address), fundingsFrame(address, updateMembers, some), hub.Event)
		}
	}
}

func (fs *userFundings) consumeHour(e *market.Events) { fs.consume(e) }

// keep adds payments that are published to nobody.
func (fs *userFundings) keep(list []market.FundingPayment) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := range list {
		p := &list[i]
		if l, ok := fs.cache.get(p.Address); ok && l.add(p) {
			l.cut()
			fs.cache.changed(p.Address)
		}
	}
}

// prepare reads the last payments of an account.
func (fs *userFundings) prepare(of string, s *channel.Subscription) (load func(context.Context) error, release func()) {
	address := s.User
	return func(ctx context.Context) error {
		return fs.cache.acquire(ctx, of, address,
			func() *fundingList { return fs.recentOf(address) },
			func(ctx context.Context, l *fundingList) error { return fs.load(ctx, address, l) })
	}, func() { fs.cache.release(address) }
}

func (fs *userFundings) prune() {
	fs.mu.Lock()
	fs.latest.forget(fs.Now())
	fs.mu.Unlock()
	fs.cache.prune(func(address string) bool { return fs.hub.Watched(fs.topicName(address)) })
}

// recentOf lists the recent payments of an account. The caller holds fs.mu.
func (fs *userFundings) recentOf(address string) *fundingList {
	l := &fundingList{since: fs.comesSince}
	for i := range fs.latest.list {
		if p := &fs.latest.list[i].one; p.Address == address {
			l.add(p)
		}
	}
	return l
}

// load adds the newest stored payments of an account.
func (fs *userFundings) load(ctx context.Context, address string, l *fundingList) error {
	var stored []market.FundingPayment
	for hour, err := range payments.Newest(ctx, fs.Log, address) {
		if err != nil {
			return fmt.Errorf("read the last funding payments of an account: %w", err)
		}
		if stored = append(stored, hour...); len(stored) >= fundingsKept {
			break
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := range stored {
		l.add(&stored[i])
	}
	l.cut()
	return nil
}

// add puts a payment into the list at its place, and reports whether it is new to it; one that is
// older than a full list, or than all that may be delivered once more to one that was shed, is not.
func (l *fundingList) add(p *market.FundingPayment) bool {
	at := len(l.payments)
	for at > 0 && orderOfPayments(&l.payments[at-1], p) > 0 {
		at--
	}
	switch {
	case at > 0 && orderOfPayments(&l.payments[at-1], p) == 0,
		at == 0 && len(l.payments) >= fundingsKept,
		l.recent && p.Time < l.since():
		return false
	}
	l.payments = slices.Insert(l.payments, at, *p)
	return true
}

func orderOfPayments(a, b *market.FundingPayment) int {
	return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Coin, b.Coin))
}

// cut drops the oldest payments beyond what a snapshot has, or beyond what is kept without one.
func (l *fundingList) cut() {
	first := max(0, len(l.payments)-fundingsKept)
	if l.recent {
		for since := l.since(); first < len(l.payments) && l.payments[first].Time < since; {
			first++
		}
	}
	l.payments = append(l.payments[:0], l.payments[first:]...)
}

func fundingsFrame(address, kind string, list []market.FundingPayment) []byte {
	bodies := make([][]byte, len(list))
	for i := range list {
		bodies[i] = fundingBody(&list[i])
	}
	open := append(append(inChannel(channel.UserFundings), kind...), `"user":`...)
	return append(appendList(append(jsontext.AppendString(open, address), `,"fundings":`...), bodies), `}}`...)
}
