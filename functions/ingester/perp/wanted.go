package perp

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quagmt/udecimal"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/followrequests"
	"quotary/shared/market"
)

// wantedAccounts are the accounts of which the venue is to be asked: those that clients
// and feeds follow, and those that the fold of accounts wants, because they hold much, or
// because something of them is not known. It is used by that fold and by the source of
// anchors at the same time. A nil one wants nothing.
type wantedAccounts struct {
	value market.Decimal // an account is wanted from so much on, quote units

	oldestWait atomic.Int64 // ms, see [hyperliquid.Anchors]
	refused    atomic.Int64 // wants of the fold for which there was no place

	mu       sync.Mutex
	followed map[string][]string  // by whom; nil before that is known
	lacking  map[string]time.Time // followed accounts whose open orders were not listed since
	traded   map[string]time.Time // followed accounts of whose trades only that they were made is known, and when the last was
	own      map[string]*ownWant  // of the fold
	others   int                  // of these that nobody followed when last listed, and those since
	least    market.Decimal       // what the least of those held that were wanted for that when last listed; 0 where there is room for more
}

// ownWant is an account that the fold wants.
type ownWant struct {
	until time.Time // for as long
	after time.Time // an earlier anchor does not do
	coins map[string]bool
	past  bool // what it was worth is to be asked for

	valued bool           // it is wanted for what it holds
	holds  market.Decimal // that, quote units
	agrees bool           // the venue has said nothing else than was folded, when it was asked last
}

const (
	// anchorEvery and anchorValued are how often accounts are anchored that somebody
	// follows, and others.
	anchorEvery  = 5 * time.Minute
	anchorValued = time.Hour
	// anchorAgreed is that of those of others of which the venue has said nothing but what was folded.
	anchorAgreed = 24 * time.Hour

	ownWanted   = 2 * time.Hour
	mostOwn     = 10_000 // beside those that somebody follows: one who follows many takes the places of nobody
	mostValued  = 8_000  // beyond them, who holds much is not wanted: places are left for the others
	mostUnknown = 16     // coins of an account whose leverage is asked for at once
)

func newWantedAccounts(value int) *wantedAccounts {
	return &wantedAccounts{value: udecimal.MustFromInt64(int64(value), 0), own: map[string]*ownWant{}, traded: map[string]time.Time{}}
}

// isFollowed reports whether somebody follows an account.
func (w *wantedAccounts) isFollowed(address string) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.followed[address] != nil
}

// want is the want of the fold, nil where it has as many as it may that nobody follows.
func (w *wantedAccounts) want(address string, most int, now time.Time) *ownWant {
	one := w.own[address]
	if one == nil {
		if w.followed[address] == nil {
			if w.others >= most {
				w.refused.Add(1)
				return nil
			}
			w.others++
		}
		one = &ownWant{coins: map[string]bool{}}
		w.own[address] = one
	}
	one.until = now.Add(ownWanted)
	return one
}

// leverage wants the leverage of an account in a coin, if the account is wanted at all.
func (w *wantedAccounts) leverage(address, coin string, now time.Time) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followed[address] == nil && w.own[address] == nil {
		return
	}
	if one := w.want(address, mostOwn, now); one != nil && len(one.coins) < mostUnknown && !one.coins[coin] {
		one.coins[coin], one.after = true, now
	}
}

// again wants an account that was anchored before and has lost what the venue had said.
func (w *wantedAccounts) again(address string, now time.Time) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.want(address, mostOwn, now); one != nil {
		one.after = now
	}
}

// moved has the venue asked again about an account that has traded since, if somebody follows it.
func (w *wantedAccounts) moved(address string, now time.Time) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followed[address] != nil {
		w.traded[address] = now
	}
}

// past wants what an account was worth before it was known, if the account is wanted at all.
func (w *wantedAccounts) past(address string, now time.Time) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followed[address] == nil && w.own[address] == nil {
		return
	}
	if one := w.want(address, mostOwn, now); one != nil {
		one.past, one.after = true, now
	}
}

// wantIfLarge wants an account if its positions or its value reach the value that is set: where there is no room for all, those
// that hold most.
func (w *wantedAccounts) wantIfLarge(a *market.Account, m *market.Markets, marks market.Marks, now time.Time) {
	if w == nil {
		return
	}
	var notional market.Decimal
	for i := range a.Holdings {
		if open := a.Holdings[i].Open; open != nil {
			notional = notional.Add(open.Size.Abs().Mul(marks[a.Holdings[i].Coin]))
		}
	}
	if worth, _ := a.PerpValue(m, marks); worth.GreaterThan(notional) {
		notional = worth
	}
	if notional.LessThan(w.value) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.own[a.Address]
	if one == nil && w.others >= mostValued && !notional.GreaterThan(w.least) {
		w.refused.Add(1)
		return
	}
	if one = w.want(a.Address, 2*mostOwn, now); one != nil { // when they are listed, those that hold less are let go
		one.valued, one.holds = true, notional
	}
}

// list sets which accounts distributors follow, and returns all wanted ones.
func (w *wantedAccounts) list(followed followrequests.List[string], now time.Time) []hyperliquid.WantedAnchor {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followed = followed.By()
	maps.DeleteFunc(w.traded, func(address string, _ time.Time) bool { return w.followed[address] == nil })
	list := make([]hyperliquid.WantedAnchor, 0, len(w.followed)+len(w.own))
	w.others = 0
	w.trim(now)
	for address, one := range w.own {
		if w.followed[address] == nil {
			w.others++
			list = append(list, one.anchor(address))
		}
	}
	slices.SortFunc(list, func(a, b hyperliquid.WantedAnchor) int { return w.own[b.Address].holds.Cmp(w.own[a.Address].holds) })
	for address, by := range w.followed {
		want := hyperliquid.WantedAnchor{Address: address, By: by, Every: anchorEvery, Followed: true}
		if one := w.own[address]; one != nil {
			want.After, want.Coins, want.Past = one.after, slices.Sorted(maps.Keys(one.coins)), one.past
		}
		for _, since := range [...]time.Time{w.lacking[address], w.traded[address]} {
			if since.After(want.After) {
				want.After = since
			}
		}
		list = append(list, want)
	}
	return list
}

// anchor is the want of an account that nobody follows.
func (one *ownWant) anchor(address string) hyperliquid.WantedAnchor {
	every := anchorValued
	if one.agrees {
		every = anchorAgreed
	}
	return hyperliquid.WantedAnchor{Address: address, Every: every, After: one.after, Coins: slices.Sorted(maps.Keys(one.coins)), Past: one.past}
}

// trim lets go of what is wanted no longer, and of those who hold least where there are more than have room.
func (w *wantedAccounts) trim(now time.Time) {
	maps.DeleteFunc(w.own, func(_ string, one *ownWant) bool { return now.After(one.until) })
	unfollowed, valued := 0, []string{}
	for address, one := range w.own {
		if w.followed[address] != nil {
			continue
		}
		unfollowed++
		if one.valued {
			valued = append(valued, address)
		}
	}
	slices.SortFunc(valued, func(a, b string) int { return w.own[a].holds.Cmp(w.own[b].holds) })
	for ; len(valued) > mostValued; unfollowed-- {
		delete(w.own, valued[0])
		valued = valued[1:]
	}
	if w.least = (market.Decimal{}); len(valued) == mostValued {
		w.least = w.own[valued[0]].holds
	}
	for address := range w.own {
		if unfollowed <= mostOwn {
			return
		}
		if w.followed[address] == nil {
			delete(w.own, address)
			unfollowed--
		}
	}
}

// compared notes whether the venue has said something else of an account than was folded.
func (w *wantedAccounts) compared(address string, differs bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.own[address]; one != nil {
		one.agrees = !differs
	}
}

// listOrders has those of the followed accounts asked about whose open orders the venue has not
// listed: it is said of accounts whether it has. It returns those that nobody follows.
func (w *wantedAccounts) listOrders(listed map[string]bool, now time.Time) (unfollowed []string) {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.followed == nil {
		return nil
	}
	lacking := map[string]time.Time{}
	for address := range w.followed {
		if !listed[address] {
			since, ok := w.lacking[address]
			if !ok {
				since = now
			}
			lacking[address] = since
		}
	}
	w.lacking = lacking
	for address := range listed {
		if w.followed[address] == nil {
			unfollowed = append(unfollowed, address)
		}
	}
	return unfollowed
}

// learned notes that the venue has told the leverage of coins, and what the account was worth
// or that it does not.
func (w *wantedAccounts) learned(address string, leverages map[string]market.Leverage) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.own[address]; one != nil {
		one.past = false
		for coin := range leverages {
			delete(one.coins, coin)
		}
	}
}
