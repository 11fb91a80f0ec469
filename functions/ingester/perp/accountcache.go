package perp

import (
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
)

// account is one in the cache.
type account struct {
	address string
	state   *market.Account    // nil until it is read
	stats   *accountstats.Kept // likewise
	facts   *traderfacts.Kept  // likewise
	queue   []accountEvent     // not folded yet
	listed  bool               // in touched or waiting

	changed time.Time // when it first differed from its rows; zero while it does not
	used    time.Time

	awaited *awaitedAnchor // nil but while the venue is asked
	rebuild *rebuild       // nil but while it is made again from the logs
	retries int            // rebuilds in a row that ended in a gap

	// ahead is what the venue has said behind the events that are folded, nil for nothing, and later the first
	// answer to that the fold has not come to: see [accountStates.lead].
	ahead *market.Account
	later *market.Anchor

	askedSoon int  // answers in a row that had to be asked for again at once
	soon      bool // it is written with the next flush: somebody may wait for what the venue said

	past   *store.SeriesRow   // of its curve, not written yet; nil for none
	venue  *market.VenueCurve // which the past has not got yet; nil for none
	asked  bool               // the venue was asked for that
	days   []store.SeriesRow  // of what it did in days that are open no longer, not written yet
	bases  accounts.Bases
	base   *store.SeriesRow        // of them, not written yet; nil for none
	stored []market.CompletedTrade // while it is made again: of the newest time, as they are in their log
}

const (
	// cachedAccounts is how many accounts stay in memory between their events: some 10 KB each, and
	// up to 10 more of those whose orders are filled all the time.
	cachedAccounts = 50_000

	// loadMost is of how many accounts that nobody waits for the rows are read for one
	// batch: at a full hour, every open position pays.
	loadMost = 1000
)

// selectAccounts chooses the accounts to read: all that somebody waits for, and a number
// of the others. It chooses the same again until the batch is applied.
func (p *accountStates) selectAccounts(b *Batch) {
	p.selected = p.selected[:0]
	chosen := map[string]bool{}
	choose := func(address string) bool {
		if c := p.cache[address]; c != nil && c.state != nil || chosen[address] {
			return false
		}
		chosen[address] = true
		p.selected = append(p.selected, address)
		return true
	}
	last := ""
	for i := range b.Fills {
		if address := b.Fills[i].Address; address != last {
			choose(address)
			last = address
		}
	}
	for i := range b.Ledgers {
		choose(b.Ledgers[i].Address)
	}
	for i := range b.Orders {
		if b.Orders[i].Status == market.StatusFilled {
			choose(b.Orders[i].Address)
		}
	}
	for _, address := range b.AnchorRequests {
		choose(address)
	}
	for i := range b.Anchors {
		choose(b.Anchors[i].Address)
	}
	p.chooseBroken()
	for _, address := range p.next {
		choose(address)
	}
	some := loadMost
	for i := 0; i < len(p.waiting) && some > 0; i++ {
		if choose(p.waiting[i].address) {
			some--
		}
	}
	for i := 0; i < len(b.Payments) && some > 0; i++ {
		if choose(b.Payments[i].Address) {
			some--
		}
	}
}

// chooseBroken chooses who is made again next of those that are not in memory.
func (p *accountStates) chooseBroken() {
	some := rebuildsAtOnce - len(p.rebuilds)
	if !p.joined || len(p.next) > 0 || len(p.broken) <= len(p.rebuilds) {
		return
	}
	for address := range p.broken {
		if len(p.next) >= some {
			return
		}
		if p.cache[address] == nil {
			p.next = append(p.next, address)
		}
	}
}

// open takes an account from its rows.
func (p *accountStates) open(address string, r *engine.Reads, now time.Time) error {
	c := p.of(address)
	if c.state != nil {
		return nil
	}
	own, other, did := r.Row(accounts.At(address)), r.Row(accountstats.At(address)), r.Row(traderfacts.OpenAt(address))
	c.state, c.stats, c.facts, c.used = &market.Account{Address: c.address}, new(accountstats.Kept), new(traderfacts.Kept), now
	if own == nil && other == nil {
		if !p.joined || p.broken[address] {
			p.broke(c, now)
		}
		return nil
	}
	incomplete := own == nil || other == nil
	if own != nil {
		state, err := accounts.Decode(address, *own)
		if err != nil {
			return err
		}
		if c.bases, err = accounts.BasesOf(*own); err != nil {
			return err
		}
		c.state = state
		ahead, err := accounts.AheadOf(address, *own)
		if err != nil {
			return err
		}
		if ahead != nil {
			p.tell(c, ahead)
			p.leading[c] = struct{}{}
		}
		incomplete = incomplete || accountstats.Version(*other) != accountstats.VersionOf(own.Extra, storedFacts(did))
	}
	if !incomplete {
		facts, err := traderfacts.Keep(storedFacts(did))
		if err != nil {
			return err
		}
		c.facts = facts
	}
	if other != nil {
		stats, err := accountstats.Keep(other.Extra)
		if err != nil {
			return err
		}
		c.stats = stats
	}
	if incomplete || p.broken[address] {
		p.broke(c, now)
	}
	return nil
}

// storedFacts is what an account did by its open row; nil is none, as it did nothing.
func storedFacts(did *store.Point) []byte {
	if did == nil {
		return new(traderfacts.Kept).Stored()
	}
	return did.Extra
}

// of is the account in the cache, made where it is not there.
func (p *accountStates) of(address string) *account {
	c := p.cache[address]
	if c == nil {
		c = &account{address: strings.Clone(address)}
		p.cache[c.address] = c
	}
	return c
}

// evictEvery is how often the cache is looked through, while it has not grown by an
// eighth since the last time.
const evictEvery = time.Minute

// evict drops accounts that have been idle for longest from the cache, as it grows. One
// that waits to be made again is among the broken ones, and is read again for that.
func (p *accountStates) evict(now time.Time) {
	n, some := len(p.cache), p.most/8
	if n <= p.most+some || n <= p.evicted+some && now.Sub(p.evictedAt) < evictEvery {
		return
	}
	var idle []*account
	for _, c := range p.cache {
		if c.isIdle() {
			idle = append(idle, c)
		}
	}
	slices.SortFunc(idle, func(a, b *account) int { return a.used.Compare(b.used) })
	for _, c := range idle[:min(len(idle), len(p.cache)-p.most)] {
		delete(p.cache, c.address)
		if delete(p.leading, c); c.ahead != nil {
			p.held.say(c.address, nil, p.markets)
		}
		c.rebuild = nil
	}
	p.evicted, p.evictedAt = len(p.cache), now
	p.dropRebuilds()
}

// isIdle reports whether an account can be read again from its rows as it is.
func (c *account) isIdle() bool {
	waits := c.rebuild != nil && (c.rebuild.begun || c.retries > 0)
	return c.changed.IsZero() && len(c.queue) == 0 && !c.listed && c.awaited == nil && c.later == nil && !waits
}
