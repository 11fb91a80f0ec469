package perp

import (
	"errors"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
)

// accountOrders keeps the views of the open orders of the accounts that somebody follows. What
// a status says of an order beside what rests is kept of them alone, and each is asked about
// when it begins to be followed: what was open before is known by the venue's list alone.
//
// Of the parts that have changed one is published every 2 seconds, and all of them where
// checkpoints wait: 2,700,000 PUTs a month at most (14 dollars), none while nobody follows
// accounts whose orders change.
type accountOrders struct {
	wanted *wantedAccounts // nil wants nobody

	parts     [openorders.Parts]accountsPart
	published time.Time
	looked    time.Time // when it was looked who follows whom
}

type accountsPart struct {
	openorders.Accounts
	changed map[string]bool // accounts that are not published as they are
	since   time.Time       // when the first of them changed
}

const (
	accountOrdersEvery = 2 * time.Second
	// followedEvery is how often it is looked who follows whom.
	followedEvery = time.Second
)

// restore follows the accounts again that were.
func (p *accountOrders) restore(t *market.OpenOrders, views map[string][]byte) (err error) {
	for i := range p.parts {
		accounts, failed := engine.Restored(views, openorders.PublishedAccounts(i))
		err = errors.Join(err, failed)
		for address := range accounts.Lists {
			of, _, failed := accounts.Orders(address)
			if err = errors.Join(err, failed); failed == nil {
				t.RestoreOrders(of)
			}
		}
		p.parts[i].Accounts = accounts
	}
	t.ChangedAccounts() // they are as they are published
	return err
}

// follow begins with accounts that are about to be asked about for somebody who follows them.
func (p *accountOrders) follow(t *market.OpenOrders, b *Batch) {
	for _, address := range b.AnchorRequests {
		if p.wanted.isFollowed(address) {
			t.Follow(address)
		}
	}
}

// note notes which accounts' orders have changed.
func (p *accountOrders) note(t *market.OpenOrders, now time.Time) {
	for _, address := range t.ChangedAccounts() {
		part := &p.parts[openorders.Part(address)]
		if len(part.changed) == 0 {
			part.changed, part.since = map[string]bool{}, now
		}
		part.changed[address] = true
	}
}

// pending reports whether a part is not published as it is.
func (p *accountOrders) pending() bool {
	for i := range p.parts {
		if len(p.parts[i].changed) > 0 {
			return true
		}
	}
	return false
}

// views are the parts whose time has come.
func (p *accountOrders) views(t *market.OpenOrders, now time.Time, settle bool) (views []engine.View) {
	if now.Sub(p.looked) >= followedEvery {
		p.looked = now
		for _, address := range p.wanted.listOrders(t.Followed(), now) {
			t.Unfollow(address)
		}
		p.note(t, now)
	}
	if settle {
		for i := range p.parts {
			views = p.publish(views, t, i)
		}
	} else if now.Sub(p.published) >= accountOrdersEvery {
		p.published = now
		views = p.publish(views, t, p.longest())
	}
	return views
}

// longest is the part that has waited longest, 0 where none waits.
func (p *accountOrders) longest() (at int) {
	for i := range p.parts {
		if one, longest := &p.parts[i], &p.parts[at]; len(one.changed) > 0 && (len(longest.changed) == 0 || one.since.Before(longest.since)) {
			at = i
		}
	}
	return at
}

// publish appends a part where it has changed.
func (p *accountOrders) publish(views []engine.View, t *market.OpenOrders, i int) []engine.View {
	part := &p.parts[i]
	if len(part.changed) == 0 {
		return views
	}
	for address := range part.changed {
		if of, ok := t.Orders(address); ok {
			part.Set(&of)
		} else {
			delete(part.Lists, address)
		}
	}
	part.changed, part.Newest = nil, t.Newest()
	return append(views, engine.ViewOf(openorders.PublishedAccounts(i), part.Accounts))
}
