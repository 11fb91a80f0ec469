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
	Levels int           // of a side that are delivered, the best
	Every  time.Duration // between two deliveries of a book, which has changed

	// FetchSnapshot asks for a snapshot. It is nil where the stream itself begins with one: it is
	// then connected again where an update is missing.
	FetchSnapshot func(ctx context.Context, pair market.Pair) (BookUpdate, error)
}

// errGap is why a stream is connected again.
var errGap = errors.New("an update of a book is missing")

// errBehind is why a snapshot is asked for again.
var errBehind = errors.New("the snapshot is older than the changes of it")

// keptBooks are the books of one connection.
type keptBooks struct {
	*Books
	follower *follower

	mu       sync.Mutex
	bySymbol map[string]*keptBook
	order    []*keptBook // in which they are asked for and delivered
	weight   int         // of all updates that wait

	wanted chan struct{} // holds a token when a snapshot is waited for
}

type keptBook struct {
	book
	market.Pair
	delivered int64 // number of the change that was delivered last

	// They belong to who asks for books.
	tries int       // to ask for it that have failed
	next  time.Time // when it may be asked for again
}

func (f *follower) keepBooks() *keptBooks {
	k := &keptBooks{Books: f.Books, follower: f, bySymbol: make(map[string]*keptBook, len(f.pairs)), wanted: make(chan struct{}, 1)}
	for symbol, pair := range f.pairs {
		one := &keptBook{Pair: pair.Pair}
		k.bySymbol[symbol] = one
		k.order = append(k.order, one)
	}
	return k
}

// apply applies an update. The error is [errGap] where the books can be known again only by
// another connection.
func (k *keptBooks) apply(u *BookUpdate) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.bySymbol[u.Symbol]
	if one == nil { // it was not asked for
		k.follower.Stats.Malformed.Add(1)
		return nil
	}
	before := one.weight
	was := one.accept(u)
	k.weight += one.weight - before
	k.dropOldest()
	if was == old && (k.FetchSnapshot == nil || !one.atSnapshot) {
		// Behind another change a stream says nothing twice: numbers began again in an update
		// that is missing.
		one.lose() // nothing of it waits
		was = gap
	}
	switch was {
	case applied, old:
		return nil
	case gap:
		if !u.Snapshot { // else it is older than changes of it
			k.follower.Stats.Gaps.Add(1)
		}
	case kept:
	}
	if k.FetchSnapshot == nil {
		return fmt.Errorf("%w: of %s before number %d", errGap, one.Key, u.Last)
	}
	signal(k.wanted)
	return nil
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
// is asked for again after a pause of its own.
func (k *keptBooks) ask(ctx context.Context) error {
	if k.FetchSnapshot == nil {
		return nil
	}
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
			err := k.askFor(ctx, one)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err == nil {
				one.tries = 0
				continue
			}
			again := reconnects.Delay(one.tries)
			k.follower.Log.Warn("cannot ask for a book; trying again", "pair", one.Key, "error", excerpt(err), "in", again.String())
			one.tries, one.next = one.tries+1, time.Now().Add(again)
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
	snapshot, err := k.FetchSnapshot(ctx, one.Pair)
	if err != nil {
		return err
	}
	snapshot.Symbol, snapshot.Snapshot = one.Symbol, true
	if err := k.apply(&snapshot); err != nil {
		return err
	}
	if k.waitsFor(one) {
		return errBehind
	}
	return nil
}

// waitsFor reports whether a book waits for a snapshot, and changes of it have come.
func (k *keptBooks) waitsFor(one *keptBook) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return one.last == 0 && len(one.waiting) > 0
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
// known for its next change. What is said of the future is left out.
func (k *keptBooks) changed(one *keptBook, latest int64) (b market.PairBook, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one.last == 0 || one.last == one.delivered || one.time == 0 || one.time > latest {
		return b, false
	}
	bids, enoughBids := one.bids.best(k.Levels)
	asks, enoughAsks := one.asks.best(k.Levels)
	if !enoughBids || !enoughAsks {
		one.lose()
		return b, false
	}
	one.delivered = one.last
	for _, side := range [...][]market.PairLevel{bids, asks} {
		for i := range side {
			side[i].Sz, _ = Sizes(&one.Pair, side[i].Px, side[i].Sz)
		}
	}
	return market.PairBook{Pair: one.Key, Time: one.time, Bids: bids, Asks: asks}, true
}
