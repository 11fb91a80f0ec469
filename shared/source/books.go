package source

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/market"
)

// Books says how the order books of a [Stream]'s pairs are kept.
type Books struct {
	Levels int           // of a side that are delivered, the best
	Every  time.Duration // between two deliveries of a book, which has changed

	// Whole asks for a whole book. It is nil where the stream itself begins with one: it is
	// then connected anew where an update is missing.
	Whole func(ctx context.Context, pair market.Pair) (BookUpdate, error)
}

// errGap is why a stream is connected anew.
var errGap = errors.New("an update of a book is missing")

// errBehind is why a whole book is asked for again.
var errBehind = errors.New("the whole book is older than the changes of it")

// keptBooks are the books of one connection.
type keptBooks struct {
	*Books
	follower *follower

	mu       sync.Mutex
	bySymbol map[string]*keptBook
	order    []*keptBook // in which they are asked for and delivered

	wanted chan struct{} // holds a token when a whole book is waited for
}

type keptBook struct {
	book
	market.Pair
	delivered int64 // number of the change that was delivered last
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

// take applies an update. The error is [errGap] where the books can be known again only by
// another connection.
func (k *keptBooks) take(u *BookUpdate) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.bySymbol[u.Symbol]
	if one == nil { // it was not asked for
		k.follower.Stats.Malformed.Add(1)
		return nil
	}
	was := one.take(u)
	if was == old && k.Whole == nil {
		// Such a stream says nothing twice: numbers began again in an update that is missing.
		one.lose()
		was = gap
	}
	switch was {
	case applied, old:
		return nil
	case gap:
		k.follower.Stats.Gaps.Add(1)
	case kept:
	}
	if k.Whole == nil {
		return fmt.Errorf("%w: of %s before number %d", errGap, one.Key, u.Last)
	}
	signal(k.wanted)
	return nil
}

// ask asks for the whole books that are waited for, one after another.
func (k *keptBooks) ask(ctx context.Context) error {
	if k.Whole == nil {
		return nil
	}
	for try := 0; ; {
		var failed error
		for _, one := range k.order {
			if !k.waitsFor(one) {
				continue
			}
			whole, err := k.Whole(ctx, one.Pair)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err == nil {
				whole.Symbol, whole.Whole = one.Symbol, true
				err = k.take(&whole)
			}
			if err == nil && k.waitsFor(one) {
				err = errBehind
			}
			if err != nil {
				failed = err
			}
		}
		if failed != nil {
			k.follower.Log.Warn("cannot ask for the books of some pairs; trying again", "error", excerpt(failed))
			if err := reconnects.Wait(ctx, try); err != nil {
				return err
			}
			try++
			continue
		}
		try = 0
		select {
		case <-k.wanted:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// waitsFor reports whether a book waits for a whole one, and changes of it have come.
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
// delivered. One of which too few are known waits for a whole one, and one whose time is not
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
