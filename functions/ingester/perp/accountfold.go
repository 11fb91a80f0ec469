package perp

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/market"
)

// aheadFor is how long a payment waits for the fills before it.
const aheadFor = 30 * time.Second

// accountEvent is one event of an account; one of its pointers is set.
type accountEvent struct {
	ms      int64
	kind    eventKind
	fill    *market.Fill
	payment *market.FundingPayment
	ledger  *market.Ledger
	trade   *market.CompletedTrade // as it is in its log
	order   *market.OrderStatus    // that was filled
	past    bool                   // [Batch.Past]
	arrived time.Time
}

// mostHeld is how many coins and tokens an account has at most while events are folded into it: each
// new one moves all behind it.
const mostHeld = 5000

// eventKind orders the events of one millisecond: a block begins with the funding.
type eventKind uint8

const (
	paymentEvent eventKind = iota
	ledgerEvent
	tradeEvent
	fillEvent
	orderEvent
)

func (e *accountEvent) compare(o *accountEvent) int {
	c := cmp.Or(cmp.Compare(e.ms, o.ms), cmp.Compare(e.kind, o.kind))
	switch {
	case c == 0 && e.kind == fillEvent:
		return cmp.Or(cmp.Compare(e.fill.Seq, o.fill.Seq), cmp.Compare(e.fill.Tid, o.fill.Tid))
	case c == 0 && e.kind == orderEvent:
		return cmp.Or(cmp.Compare(e.order.Seq, o.order.Seq), cmp.Compare(e.order.Oid, o.order.Oid))
	}
	return c
}

func sortEvents(list []accountEvent) {
	order := func(a, b accountEvent) int { return a.compare(&b) }
	if !slices.IsSortedFunc(list, order) {
		slices.SortStableFunc(list, order)
	}
}

// enqueue gives the events of a batch to their accounts.
func (p *accountStates) enqueue(b *Batch, now time.Time) {
	for i := range b.Payments {
		e := &b.Payments[i]
		p.add(e.Address, accountEvent{ms: e.Time, kind: paymentEvent, payment: e, arrived: now, past: b.Past})
	}
	for i := range b.Ledgers {
		e := &b.Ledgers[i]
		p.add(e.Address, accountEvent{ms: e.Time, kind: ledgerEvent, ledger: e, past: b.Past})
	}
	for i := range b.Fills {
		e := &b.Fills[i]
		if e.Time > p.fillsTo {
			p.fillsTo = e.Time
		}
		p.add(e.Address, accountEvent{ms: e.Time, kind: fillEvent, fill: e, past: b.Past})
	}
	for i := range b.Provisional { // of whom the venue is asked: that knows what came of it
		p.wanted.moved(b.Provisional[i].Address, now)
	}
	for i := range b.Orders {
		if e := &b.Orders[i]; e.Status == market.StatusFilled {
			p.add(e.Address, accountEvent{ms: e.Time, kind: orderEvent, order: e, past: b.Past})
		}
	}
}

func (p *accountStates) add(address string, e accountEvent) {
	c := p.of(address)
	c.queue = append(c.queue, e)
	p.touch(c)
}

// touch has an account's events folded when it is next time.
func (p *accountStates) touch(c *account) {
	if !c.listed {
		c.listed = true
		p.touched = append(p.touched, c)
	}
}

// run folds what waits in the queues of the accounts that were touched.
func (p *accountStates) run(now time.Time) {
	p.touched = append(p.touched, p.waiting...)
	p.waiting = p.waiting[:0]
	for c := range p.awaiting {
		p.touch(c)
	}
	p.overtake(now)
	for _, c := range p.touched {
		c.listed = false
		if c.state != nil {
			c.used = now
			p.fold(c, now)
			p.held.setAccount(c.state, p.markets)
		}
		if (len(c.queue) > 0 || c.state == nil) && c.awaited == nil {
			c.listed = true
			p.waiting = append(p.waiting, c)
		}
	}
	clear(p.touched)
	p.touched = p.touched[:0]
}

// fold folds the queue of an account, but for what has to wait.
func (p *accountStates) fold(c *account, now time.Time) {
	sortEvents(c.queue)
	p.keepBase(c, now)
	switch {
	case c.rebuild != nil:
		p.leaveToLogs(c)
	case c.awaited != nil:
		p.takeAnchor(c, now)
	}
	if c.rebuild == nil && c.awaited == nil && c.later != nil && newestOf(c.later) < p.fillsTo {
		p.anchorLater(c, now)
	}
	if c.rebuild != nil || c.awaited != nil {
		return
	}
	p.foldQueue(c, now, false)
}

// foldQueue folds the queue of an account as far as it goes, or with force all of it. A
// payment waits for the fills before it, which come by another stream.
func (p *accountStates) foldQueue(c *account, now time.Time, force bool) {
	n := 0
	for n < len(c.queue) && c.rebuild == nil {
		e := &c.queue[n]
		if e.kind == paymentEvent && e.ms > p.fillsTo && !force && now.Sub(e.arrived) < aheadFor {
			break
		}
		p.receive(c, e, now)
		if len(c.state.Holdings)+len(c.state.Spot) > mostHeld {
			p.forget(c)
		}
		n++
	}
	c.drop(n)
	if c.rebuild != nil {
		p.leaveToLogs(c)
	}
}

// release folds what waits for an answer of the venue, as the checkpoints wait for it.
// The account is asked about again: an answer that is on its way is no help then.
func (p *accountStates) release(now time.Time) {
	for c := range p.awaiting {
		if len(c.queue) > 0 {
			if c.awaited.answer != nil {
				p.figures.missed.Add(1)
				p.wanted.again(c.address, now)
			}
			p.stopAwaiting(c)
			p.touch(c)
		}
	}
	p.run(now)
}

// drop removes the first events of the queue.
func (c *account) drop(n int) {
	left := copy(c.queue, c.queue[n:])
	clear(c.queue[left:])
	if c.queue = c.queue[:left]; left == 0 && cap(c.queue) > 64 {
		c.queue = nil
	}
}

// receive folds an event into an account, and has the account made again where that cannot
// be done, or where an event of the past may be one that was missing: of an order that was
// filled as the streams began to be followed, the fills may fit while the order is behind
// those that were counted.
func (p *accountStates) receive(c *account, e *accountEvent, now time.Time) {
	switch p.apply(c, e, now) {
	case market.Duplicate:
		if e.past && e.kind != ledgerEvent {
			p.broke(c, now)
		}
	case market.Gap:
		p.figures.gaps.Add(1)
		p.broke(c, now)
	case market.Late:
		p.figures.late.Add(1)
		p.broke(c, now)
	case market.Applied:
		if h, _ := c.state.Holding(e.coin()); h.Gap != (market.Order{}) { // it may be what was missing; what waits for that is in the logs
			p.broke(c, now)
		}
	case market.Unknown: // it is in the account
	}
}

// apply folds an event into an account.
func (p *accountStates) apply(c *account, e *accountEvent, now time.Time) market.Outcome {
	outcome := market.Applied
	perp, spot, told := c.state.NetPerp, c.state.NetSpot, c.state.Anchored > 0
	var late lateEvent
	if e.kind == fillEvent || e.kind == paymentEvent || e.kind == ledgerEvent {
		p.sample(c, e.ms)
		late = p.late(c, e.ms)
	}
	switch e.kind {
	case fillEvent:
		outcome = p.applyFill(c, e.fill, e.past, now)
	case paymentEvent:
		outcome = c.state.Payment(e.payment, p.markets)
	case ledgerEvent:
		marks := p.marksOf(e.ms)
		if outcome = c.state.Ledger(e.ledger, p.markets, marks); outcome == market.Applied {
			c.stats.Ledger(e.ledger, p.markets, marks)
			c.stats.Flow(e.ms, c.state.NetPerp.Sub(perp), c.state.NetSpot.Sub(spot))
			c.facts.Flow(e.ms, c.state.NetPerp.Sub(perp), c.state.NetSpot.Sub(spot))
		}
	case tradeEvent:
		c.stored = append(slices.DeleteFunc(c.stored, func(t market.CompletedTrade) bool { return t.End < e.ms }), *e.trade)
	case orderEvent:
		c.stats.Order(e.order)
		if !c.facts.Order(e.order) {
			return market.Duplicate
		}
	}
	c.stats.Moved(c.state.NetPerp.Sub(perp), c.state.NetSpot.Sub(spot))
	if outcome == market.Applied {
		p.correct(c, &late, now)
		if e.kind != paymentEvent && c.facts.IsClosed(e.ms) && p.cache[c.address] == c {
			p.broke(c, now) // what it did on that day has a row that is not known here
		}
	}
	if told && c.state.Anchored == 0 { // what it has is not known any more
		p.wanted.again(c.address, now)
	}
	switch outcome {
	case market.Applied:
		c.lateForBases(e.ms)
		p.change(c, now)
	case market.Unknown:
		p.figures.unknown.Add(1)
		if e.kind == ledgerEvent {
			p.untold(c, e.ledger)
		}
		p.change(c, now)
	case market.Duplicate, market.Gap, market.Late: // nothing has changed
	}
	return outcome
}

// mostUntold bounds the types of ledger updates that are said to be unknown.
const mostUntold = 100

// untold says once of a type of ledger update that nobody tells what one has moved: the type
// is not known, or it lacks what the type is known by.
func (p *accountStates) untold(c *account, l *market.Ledger) {
	if !p.types[l.Type] && len(p.types) < mostUntold {
		p.types[l.Type] = true
		p.log.Warn("nobody tells what a ledger update has moved: its account is asked about", "type", l.Type, "address", c.address)
	}
}

func (p *accountStates) applyFill(c *account, f *market.Fill, past bool, now time.Time) market.Outcome {
	addOn := market.NoAddOn
	if !past && c.state.Skip(f) { // to make the account again for it would lose the anchor, for each of them
		p.figures.late.Add(1)
		c.stats.Fill(f, addOn)
		p.did(c, f)
		return market.Applied
	}
	h, _ := c.state.Holding(f.Coin)
	if h.Open != nil && !h.Open.NoCost {
		addOn = market.AddOnOf(f, h.Open.Cost)
	}
	if f.Time < h.Paid && f.Time > h.Last.Time {
		return market.Late // what was paid since may be for the position that it changes
	}
	outcome, trade := c.state.Fill(f, p.markets, p.marksOf(f.Time))
	if outcome != market.Applied && outcome != market.Unknown {
		return outcome
	}
	c.stats.Fill(f, addOn)
	p.did(c, f)
	if trade != nil {
		c.keepStored(trade)
		c.stats.Complete(trade)
		c.facts.Complete(trade)
		p.trades = append(p.trades, *trade)
	}
	if h, _ = c.state.Holding(f.Coin); h.Open != nil && h.Leverage.Value == 0 {
		p.wanted.leverage(c.address, f.Coin, now)
	}
	return outcome
}

// did folds a fill into what the account did.
func (p *accountStates) did(c *account, f *market.Fill) {
	if !c.facts.Fill(f) {
		p.figures.unrouted.Add(1)
	}
}
