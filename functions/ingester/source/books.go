package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/market"
)

// Books says how the order books of a [Stream]'s pairs are kept.
type Books struct {
	Levels int           // of a side that must be known, the best: a book of which fewer are is asked for again
	Most   int           // of a side that are delivered where more are known; 0 is Levels
	Every  time.Duration // between two deliveries of a book, which has changed

	// FetchSnapshot asks for a snapshot. It is nil where the stream itself begins with one: the
	// topic of the book is then left and subscribed to again where an update is missing.
	FetchSnapshot func(ctx context.Context, pair market.Pair) (BookUpdate, error)

	// Topic is what the topic of a pair's book is called, of a stream that begins with a snapshot.
	Topic func(market.Pair) any

	// Checksum is what the venue makes of the best [ChecksumLevels] of each side, the best first,
	// to tell it with updates; nil where it tells none.
	Checksum func(bids, asks []market.PairLevel) int32

	// LargeFrom is the value in US dollars from which a level of a pair is large, and its changes
	// delivered as [market.LargeLevels]; nil delivers none.
	LargeFrom func(market.Pair) market.Decimal
}

// ChecksumLevels is of how many levels of a side checksums are, where as many are known.
const ChecksumLevels = 25

// errBehind is why a snapshot is asked for again.
var errBehind = errors.New("the snapshot is older than the changes of it")

// errNotRenewed is why a topic is renewed again, and at last the whole connection.
var errNotRenewed = errors.New("no snapshot has come")

const (
	renewWithin  = 10 * time.Second // a topic that is renewed begins with its snapshot
	mostRenewals = 4                // of a topic that bring no snapshot, before the connection is made again

	// mostOld is how many updates behind a snapshot may be old, which is a minute of them or two: the
	// stream is behind the answer by a moment.
	mostOld = 100

	// fineFor is how long a book must have followed its updates so that it is asked for at once
	// where one is missing. Else pauses grow: who sends no two updates that belong together is
	// not asked all the time.
	fineFor = time.Minute
)

// keptBooks are the books of one connection.
type keptBooks struct {
	*Books
	follower *follower

	mu       sync.Mutex
	bySymbol map[string]*keptBook
	order    []*keptBook // in which they are asked for and delivered
	weight   int         // of all updates that wait

	wanted chan struct{} // holds a token when a snapshot is waited for
	renew  chan renewal  // topics that are to be subscribed to again
}

type keptBook struct {
	book
	market.Pair
	delivered     int64        // number of the change that was delivered last
	deliveredTime int64        // time of it, ms
	saidLost      bool         // that it is not known, since it was delivered
	begun         bool         // it was known on this connection
	old           int          // updates in a row that were
	large         *largeLevels // nil where nobody wants them

	// They belong to who asks for books.
	tries int       // to ask for it in a row, none of which made it fine for long
	next  time.Time // when it may be asked for again
}

func (f *follower) keepBooks() *keptBooks {
	k := &keptBooks{Books: f.Books, follower: f, bySymbol: make(map[string]*keptBook, len(f.pairs)), wanted: make(chan struct{}, 1), renew: make(chan renewal)}
	for symbol, pair := range f.pairs {
		one := &keptBook{Pair: pair.Pair}
		if k.LargeFrom != nil {
			one.large = newLargeLevels(&one.Pair, k.LargeFrom(one.Pair))
		}
		k.bySymbol[symbol] = one
		k.order = append(k.order, one)
	}
	return k
}

// apply applies an update, and has a book whose updates do not follow be asked for.
func (k *keptBooks) apply(u *BookUpdate) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.bySymbol[u.Symbol]
	if one == nil { // it was not asked for
		k.follower.Stats.Malformed.Add(1)
		return
	}
	before := one.weight
	was := one.accept(u)
	if was == applied && !k.agrees(one, u) {
		one.lose()
		was = gap
	}
	k.weight += one.weight - before
	k.dropOldest()
	if one.old++; was != old {
		one.old = 0
	}
	if was == old && (k.FetchSnapshot == nil || !one.atSnapshot || one.old > mostOld) {
		// Behind another change a stream says nothing twice: numbers began again in an update
		// that is missing, or the snapshot had a number of its own.
		one.lose() // nothing of it waits
		was = gap
	}
	switch was {
	case applied:
		one.begun = true
		if one.large != nil {
			one.large.note(u, &one.book)
		}
		return
	case old:
		return
	case gap:
		if !u.Snapshot { // else it is older than changes of it
			k.follower.Stats.Gaps.Add(1)
		}
	case kept:
	}
	signal(k.wanted)
}

// agrees reports whether a book has the checksum that the venue told with an update. Where that of
// a snapshot is none of what it says itself, checksums are not looked at up to the next.
func (k *keptBooks) agrees(one *keptBook, u *BookUpdate) bool {
	if k.Checksum == nil || !u.Summed {
		return true
	}
	if !u.Snapshot && one.sumsWrong {
		return true
	}
	right := k.Checksum(one.bids.top(), one.asks.top()) == u.Checksum
	if u.Snapshot {
		one.sumsWrong = !right && one.last == u.Last // else it is older than what waited for it
		if one.sumsWrong && k.follower.Stats.Malformed.Add(1) == 1 {
			k.follower.Log.Warn("a snapshot has another checksum than the venue says; those of its book are not looked at", "pair", one.Key)
		}
		return true
	}
	return right
}

// dropOldest drops what waits for too long where too much does: the oldest of the book of which
// most waits, so that no pair whose snapshot is refused takes the room of all others.
func (k *keptBooks) dropOldest() {
	for k.weight > maxWaitingTogether {
		most := slices.MaxFunc(k.order, func(a, b *keptBook) int { return cmp.Compare(a.weight, b.weight) })
		k.weight -= most.waiting[0].weight()
		most.dropOldest()
	}
}

// ask asks for the snapshots that are waited for, one after another. One that cannot be had
// is asked for again after a pause of its own. It ends with an error where the books can be known
// again only by another connection.
func (k *keptBooks) ask(ctx context.Context) error {
	for {
		pause := time.Hour
		for _, one := range k.order {
			if !k.waitsFor(one) {
				continue
			}
			if until := time.Until(one.next); until > 0 {
				pause = min(pause, until)
				continue
			}
			if time.Since(one.next) > fineFor {
				one.tries = 0
			}
			again := reconnects.Delay(one.tries)
			err := k.askFor(ctx, one)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if one.tries++; err == nil && one.tries == 1 {
				again = 0 // it was fine until now
			}
			one.next = time.Now().Add(again)
			switch {
			case err == nil:
				continue
			case errors.Is(err, errNotRenewed) && one.tries >= mostRenewals:
				return fmt.Errorf("the book of %s: %w", one.Key, err)
			}
			k.follower.Log.Warn("cannot ask for a book; trying again", "pair", one.Key, "error", excerpt(err), "in", again.String())
			pause = min(pause, again)
		}
		select {
		case <-k.wanted:
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// askFor asks for a snapshot, and takes it.
func (k *keptBooks) askFor(ctx context.Context, one *keptBook) error {
	if k.FetchSnapshot == nil {
		return k.renewTopic(ctx, one)
	}
	snapshot, err := k.FetchSnapshot(ctx, one.Pair)
	if err != nil {
		return err
	}
	snapshot.Symbol, snapshot.Snapshot = one.Symbol, true
	k.apply(&snapshot)
	if k.waitsFor(one) {
		return errBehind
	}
	return nil
}

// renewal is a topic that is to be left and subscribed to again.
type renewal struct {
	topic any
	done  chan<- error // has room for the answer
}

// renewTopic has the topic of a book begin again, with its snapshot.
func (k *keptBooks) renewTopic(ctx context.Context, one *keptBook) error {
	within, cancel := context.WithTimeout(ctx, renewWithin)
	defer cancel()
	done := make(chan error, 1)
	select {
	case k.renew <- renewal{k.Topic(one.Pair), done}:
	case <-within.Done():
		return errNotRenewed
	}
	select {
	case err := <-done:
		if err != nil {
			return err
		}
	case <-within.Done():
		return errNotRenewed
	}
	for k.waitsFor(one) {
		if backoff.Sleep(within, renewPoll) != nil {
			return errNotRenewed
		}
	}
	return nil
}

// renewPoll is how often it is looked whether a snapshot has come.
const renewPoll = 20 * time.Millisecond

// waitsFor reports whether a book waits for a snapshot that is to be asked for: changes of it have
// come or, of a stream that begins with snapshots, it was known before.
func (k *keptBooks) waitsFor(one *keptBook) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return one.last == 0 && (len(one.waiting) > 0 || k.FetchSnapshot == nil && one.begun)
}

// deliver passes the books that have changed to the queue.
func (k *keptBooks) deliver(ctx context.Context, queue *eventQueue) error {
	for {
		if err := backoff.Sleep(ctx, k.Every); err != nil {
			return err
		}
		var changed market.PairEvents
		latest := k.follower.now().Add(MostAhead).UnixMilli()
		for _, one := range k.order {
			if book, ok := k.changed(one, latest); ok {
				changed.Books = append(changed.Books, book)
			}
		}
		if err := queue.add(ctx, &changed); err != nil {
			return err
		}
	}
}

// changed returns the best levels of a book, in base coins, that has changed since it was
// delivered. One of which too few are known waits for a snapshot, and one whose time is not
// known for its next change. One that is not known is said to be lost, once. What is said of the
// future is left out.
func (k *keptBooks) changed(one *keptBook, latest int64) (b market.PairBook, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case one.last == 0:
		return k.lost(one)
	case one.last == one.delivered && one.time == one.deliveredTime || one.time == 0 || one.time > latest:
		return b, false
	}
	most := max(k.Levels, k.Most)
	bids, allBids := one.bids.best(most)
	asks, allAsks := one.asks.best(most)
	if !allBids && len(bids) < k.Levels || !allAsks && len(asks) < k.Levels {
		one.lose()
		signal(k.wanted) // for a topic that is to begin again; else it waits for the next change
		return k.lost(one)
	}
	one.delivered, one.deliveredTime, one.saidLost = one.last, one.time, false
	for _, side := range [...][]market.PairLevel{bids, asks} {
		for i := range side {
			side[i].Sz, _ = Sizes(&one.Pair, side[i].Px, side[i].Sz)
		}
	}
	return market.PairBook{Pair: one.Key, Time: one.time, Bids: bids, Asks: asks}, true
}

// lost says that a book is not known, once until it is delivered again.
func (k *keptBooks) lost(one *keptBook) (b market.PairBook, ok bool) {
	if one.saidLost {
		return b, false
	}
	one.saidLost = true
	return market.PairBook{Pair: one.Key, Time: k.follower.now().UnixMilli(), Lost: true}, true
}
