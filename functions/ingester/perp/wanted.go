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
}

// ownWant is an account that the fold wants.
type ownWant struct {
	until time.Time // for as long
	after time.Time // an earlier anchor does not do
	coins map[string]bool
	past  bool // what it was worth is to be asked for
}

const (
	// anchorEvery and anchorValued are how often accounts are anchored that somebody
	// follows, and others.
	anchorEvery  = 5 * time.Minute
	anchorValued = time.Hour

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

// want is the want of the fold, nil where it has too many.
func (w *wantedAccounts) want(address string, now time.Time) *ownWant {
	one := w.own[address]
	if one == nil {
		if w.followed[address] == nil {
			if w.others >= mostOwn {
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
	if one := w.want(address, now); one != nil && len(one.coins) < mostUnknown && !one.coins[coin] {
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
	if one := w.want(address, now); one != nil {
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
	if one := w.want(address, now); one != nil {
		one.past, one.after = true, now
	}
}

// wantIfLarge wants an account if its positions or its value reach the value that is set.
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
	if worth, _ := a.PerpValue(m, marks); notional.LessThan(w.value) && worth.LessThan(w.value) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.own[a.Address] != nil || w.others < mostValued {
		w.want(a.Address, now)
	} else {
		w.refused.Add(1)
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
	for address, one := range w.own {
		unfollowed := w.followed[address] == nil
		if now.After(one.until) || unfollowed && w.others == mostOwn {
			delete(w.own, address)
		} else if unfollowed {
			w.others++
			list = append(list, hyperliquid.WantedAnchor{Address: address, Every: anchorValued, After: one.after, Coins: slices.Sorted(maps.Keys(one.coins)), Past: one.past})
		}
	}
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
