package perp

import (
	"time"

	"quotary/shared/data/whales"
	"quotary/shared/market"
)

// Folded is what the projections have folded. It may be used while [Feeds.Applied] runs.
type Folded struct {
	*Klines
	accounts *accountStates
	orders   *openOrders
}

// followedFor is for how long no fill may have come, by the venue's own clock, while its marks
// did, before it is doubted that the node's events are read.
const followedFor = time.Minute

// State is the perp side of an account in a dex at the newest marks; false where the venue has
// not told what the account has, where it is made again, or where events may be missing.
func (f *Folded) State(address, dex string) (s market.AccountState, ok bool) {
	p := f.accounts
	c := p.cache[address]
	if c == nil || c.state == nil || c.rebuild != nil || c.state.Anchored == 0 || p.broken[address] || !p.follows() {
		return s, false
	}
	ms := max(c.state.Time, p.marked)
	s = c.state.State(dex, p.markets, p.marks, ms)
	s.Time = ms
	return s, true
}

// follows reports whether all events are read, as far as can be told.
func (p *accountStates) follows() bool {
	return p.joined && p.fillsTo > 0 && p.marked-p.fillsTo < followedFor.Milliseconds()
}

// KnownWhaleEvents are what whales did that is kept.
func (f *Folded) KnownWhaleEvents() whales.Newest { return f.accounts.held.whales.newest.Clone() }

// WhaleEvents calls take with each event of a whale that is new, before it is kept.
func (f *Folded) WhaleEvents(take func(*whales.Event)) { f.accounts.held.whaleEvents(take) }

// OpenOrders are those of an account in a dex, newest first; false where the venue has not listed
// them, or where events may be missing.
func (f *Folded) OpenOrders(address, dex string) (list []market.OrderStatus, ok bool) {
	if !f.accounts.follows() {
		return nil, false
	}
	of, ok := f.orders.table.Orders(address)
	if !ok || of.Listed[dex] == 0 {
		return nil, false
	}
	return of.InDex(dex), true
}
