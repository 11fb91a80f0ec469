package perp

import (
	"time"

	"quotary/shared/data/accounts"
	"quotary/shared/market"
)

// Without a node the events of accounts come with the venue's hours, an hour or two late, or not at all. What the venue
// says of an account then is ahead of what is folded of it: that is what clients are shown as what it holds now,
// while all that it did, and was worth, is of the fold. When the fold has come to the time of an answer, it is compared
// with that, and anchored by it, as beside a node. Where more answers have come meanwhile, it is the first of them.

// comesLate reports whether events come with the venue's hours, or not at all.
func (p *accountStates) comesLate() bool { return p.held != nil && p.held.late }

// lead takes over what the venue has said of an account behind its events. Their fold stays as it is.
func (p *accountStates) lead(c *account, a *market.Anchor, now time.Time) {
	from := c.state
	if from.Anchored == 0 && c.ahead != nil { // some answers have only the dexs that the account uses
		from = c.ahead
	}
	ahead := from.Clone()
	ahead.Anchor(a, p.markets, p.marks) // what differs is what happened meanwhile
	p.tell(c, ahead)
	if c.later == nil && !p.told {
		c.later = a
	}
	p.leading[c] = struct{}{}
	p.figures.ahead.Add(1)
	p.took(c, a, now)
}

// now is what the account holds as far as anybody knows.
func (c *account) now() *market.Account {
	return accounts.Known{Confirmed: c.state, Ahead: c.ahead}.Now()
}

// tell sets what the venue has said of an account behind its events; nil is nothing any more.
func (p *accountStates) tell(c *account, ahead *market.Account) {
	c.ahead = ahead
	p.held.say(c.address, ahead, p.markets)
}

// overtake has the fold of accounts compared with what the venue has said of them, to which the events have come.
func (p *accountStates) overtake(now time.Time) {
	for c := range p.leading {
		if c.later != nil && newestOf(c.later) < p.fillsTo {
			p.touch(c)
		}
		if c.ahead != nil && saidAt(c.ahead) < p.fillsTo {
			p.tell(c, nil)
			p.change(c, now)
		}
		if c.ahead == nil && c.later == nil {
			delete(p.leading, c)
		}
	}
}

// anchorLater anchors an account by the answer to which its fold has come.
func (p *accountStates) anchorLater(c *account, now time.Time) {
	a := c.later
	c.later = nil
	p.anchor(c, a, now)
}

// saidAt is when the venue has said the newest that is known of an account, ms.
func saidAt(a *market.Account) (ms int64) {
	for i := range a.Dexes {
		ms = max(ms, a.Dexes[i].Anchored)
	}
	return max(ms, a.SpotTime)
}
