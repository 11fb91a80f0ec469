package feeds

import (
	"encoding/json"
	"iter"
	"time"

	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/service/clearinghouse"
)

// Where a node is followed, accounts are shown as the pipeline has folded them: at once where
// they had an event, and at new marks in the turns in which they would be polled, without a
// question to the venue. One that is not folded is polled.

// Folded is what the pipeline has folded. It belongs to the pipeline and is valid during the
// call that it is given to.
type Folded interface {
	Candles
	// State is the perp side of an account in a dex, at the newest marks; false where it is
	// not known, or events may be missing.
	State(address, dex string) (market.AccountState, bool)
	// OpenOrders are those of an account in a dex, newest first; false likewise.
	OpenOrders(address, dex string) ([]market.OrderStatus, bool)
	WhaleFolds
}

// WhaleFolds are what whales did, as far as it is folded.
type WhaleFolds interface {
	// KnownWhaleEvents are those that are kept.
	KnownWhaleEvents() whales.Newest
	// WhaleEvents calls take with each that is new, to give it its place before it is kept.
	WhaleEvents(take func(*whales.Event))
}

const (
	// foldsAtOnce is how many accounts have their turn at a look, and are shown with a batch
	// because they had an event: each takes some 30 us of the pipeline's time.
	foldsAtOnce = 64
	// foldedAgain is for how long an account is polled that is not folded.
	foldedAgain = 10 * time.Second
	// foldsWait is how long a batch is waited for before accounts are polled.
	foldsWait = 5 * time.Second
)

// letFold has an account shown with the next batch.
func (as *accounts) letFold(a *account, now time.Time) (cost int, ok bool) {
	if len(as.folds) >= foldsAtOnce {
		return 0, false
	}
	as.rest(a)
	if len(as.folds) == 0 {
		as.foldsAt = now
	}
	a.polling, a.folding, a.next = true, true, now.Add(accountEvery)
	as.folds = append(as.folds, a)
	return 1, true
}

// unfold has accounts polled for which no batch has come.
func (as *accounts) unfold(now time.Time) {
	if len(as.folds) == 0 || now.Sub(as.foldsAt) < foldsWait {
		return
	}
	for _, a := range as.folds {
		as.unfolds(a, now)
	}
	as.folds = as.folds[:0]
}

// unfolds has an account polled for a while.
func (as *accounts) unfolds(a *account, now time.Time) {
	a.unfolded, a.next = now.Add(foldedAgain), now
	if as.Venue == nil {
		a.next = now.Add(accountEvery)
	}
	as.folded(a)
}

// folded ends the turn of an account.
func (as *accounts) folded(a *account) {
	a.polling, a.folding = false, false
	as.sleep(a)
}

// applied shows accounts whose turn it is, and those that a batch has changed.
func (as *accounts) applied(e *market.Events, folded Folded) {
	if !as.Folds {
		return
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	now := as.Now()
	for _, a := range as.folds {
		if body, ok := a.folded(folded); ok {
			as.folded(a)
			as.show(a, body)
		} else {
			as.unfolds(a, now)
		}
	}
	as.folds = as.folds[:0]
	if len(as.of) == 0 {
		return
	}
	some, seen := foldsAtOnce, map[string]bool{}
	for address := range addressesOf(e) {
		followed := as.of[address]
		if len(followed) == 0 || seen[address] {
			continue
		}
		seen[address] = true
		for _, a := range followed {
			if len(a.followers) > 0 && !now.Before(a.unfolded) {
				some--
				if body, ok := a.folded(folded); ok {
					as.show(a, body)
				}
			}
		}
		if some <= 0 { // the others have their turns
			return
		}
	}
}

// addressesOf are the addresses of the accounts that had events, one for each event.
func addressesOf(e *market.Events) iter.Seq[string] {
	return func(yield func(address string) bool) {
		_ = each(e.Fills, func(f *market.Fill) bool { return yield(f.Address) }) &&
			each(e.Orders, func(o *market.OrderStatus) bool { return yield(o.Address) }) &&
			each(e.Ledgers, func(l *market.Ledger) bool { return yield(l.Address) }) &&
			each(e.Payments, func(p *market.FundingPayment) bool { return yield(p.Address) }) &&
			each(e.Anchors, func(a *market.Anchor) bool { return yield(a.Address) })
	}
}

// each calls do with each element until it returns false, and reports whether it never did.
func each[T any](list []T, do func(*T) bool) bool {
	for i := range list {
		if !do(&list[i]) {
			return false
		}
	}
	return true
}

// folded is what the venue would answer about an account.
func (a *account) folded(folded Folded) (body []byte, ok bool) {
	if !a.orders {
		state, ok := folded.State(a.address, a.dex)
		if !ok {
			return nil, false
		}
		body, err := json.Marshal(clearinghouse.Perps(&state))
		return body, err == nil
	}
	orders, ok := folded.OpenOrders(a.address, a.dex)
	if !ok {
		return nil, false
	}
	b := []byte{'['}
	for i := range orders {
		before := len(b)
		if b = append(orders[i].AppendOrder(b), ','); len(b) > frameMost {
			b = b[:before]
			break
		}
	}
	return closeList(b), true
}
