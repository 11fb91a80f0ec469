package perp

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/aws/metrics"
	"quotary/shared/market"
)

// awaitedAnchor is an account of which the venue is being asked. Its events wait in its
// queue from just before the question until the answer is there, so that those that the
// answer knows are folded before it is compared and taken over, and the others behind it.
type awaitedAnchor struct {
	at       time.Time
	answer   *market.Anchor // nil until it is there
	answered time.Time
}

const (
	// answerWithin is how long an answer is waited for.
	answerWithin = 30 * time.Second
	// eventsWithin is how long the events that an answer knows are waited for, where no
	// later fill shows that they are there, and longer by as much as the newest fill is
	// behind the answer. The files of a node and its answers are of the same blocks; files
	// that are read late and the public endpoint are not.
	eventsWithin = 2 * time.Second
	// awaitedMost bounds the events that wait for an answer.
	awaitedMost = 10_000
)

// awaitAnchor has the events of an account wait for what the venue says of it.
func (p *accountStates) awaitAnchor(address string, now time.Time) {
	c := p.cache[address]
	if c == nil || c.state == nil || c.rebuild != nil {
		return
	}
	if c.awaited != nil { // its events wait since an earlier question
		c.awaited.at = now
		return
	}
	if len(c.queue) > 0 { // payments that are ahead of the fills are of before the question
		p.foldQueue(c, now, true)
	}
	if c.rebuild == nil {
		c.awaited = &awaitedAnchor{at: now}
		p.awaiting[c] = struct{}{}
	}
}

// receiveAnchor keeps what the venue has said, until it can be taken over. One that names more than
// a row has room for is as good as refused. One that nobody waits for any longer, as what
// came meanwhile was folded, is no help: the account is asked about again. So it is where an
// answer comes while another waits to be taken over: the first may be the only one with what is
// seldom asked for, as the mode.
func (p *accountStates) receiveAnchor(a *market.Anchor, now time.Time) {
	c := p.cache[a.Address]
	switch {
	case c != nil && c.awaited != nil && c.awaited.answer != nil:
		p.figures.missed.Add(1)
		p.wanted.again(a.Address, now)
	case len(a.Dexes) == 0, c != nil && c.state != nil && !c.state.Takes(a):
		p.figures.refused.Add(1)
		if c != nil && c.awaited != nil {
			p.stopAwaiting(c)
			p.touch(c)
		}
	case c == nil || c.awaited == nil:
		p.figures.missed.Add(1)
		p.wanted.again(a.Address, now)
	default:
		c.awaited.answer, c.awaited.answered = a, now
		p.touch(c)
	}
}

// stopAwaiting has the events of an account wait no longer.
func (p *accountStates) stopAwaiting(c *account) {
	c.awaited = nil
	delete(p.awaiting, c)
}

// takeAnchor takes the answer over when its time has come, or gives it up.
func (p *accountStates) takeAnchor(c *account, now time.Time) {
	awaited := c.awaited
	behind := time.Duration(0) // the newest fill behind the answer, by the venue's own clock
	if awaited.answer != nil && p.fillsTo > 0 {
		behind = time.Duration(newestOf(awaited.answer)-p.fillsTo) * time.Millisecond
	}
	switch {
	case awaited.answer == nil && (now.Sub(awaited.at) > answerWithin || len(c.queue) > awaitedMost):
		p.figures.missed.Add(1)
		p.stopAwaiting(c)
	case awaited.answer == nil:
	case p.told, p.comesLate() && p.fillsTo == 0, behind > answerWithin: // so are the events that the answer knows
		p.stopAwaiting(c)
		p.lead(c, awaited.answer, now)
	case behind < 0 || now.Sub(awaited.answered) >= eventsWithin+behind || len(c.queue) > awaitedMost:
		p.stopAwaiting(c)
		p.anchor(c, awaited.answer, now)
	}
}

// newestOf is the time of the newest part of an anchor, ms.
func newestOf(a *market.Anchor) (ms int64) {
	for i := range a.Dexes {
		ms = max(ms, a.Dexes[i].Time)
	}
	return max(ms, a.SpotTime)
}

// anchor folds the events that an answer knows, takes it over, and leaves the others.
func (p *accountStates) anchor(c *account, a *market.Anchor, now time.Time) {
	n, spot := 0, true
	for i := range c.queue {
		e := c.queue[i]
		if mode := cmp.Or(a.Mode, c.state.Mode); e.ms > e.knownTo(a, mode) && e.ms <= newestOf(a) && e.movesBalances(mode) {
			spot = false // it came while the venue was asked: the balances, or the PnL in them, may know it or not
		}
		if e.isIn(a) && c.rebuild == nil {
			p.receive(c, &e, now)
		} else {
			c.queue[n] = e
			n++
		}
	}
	clear(c.queue[n:])
	c.queue = c.queue[:n]
	if c.rebuild != nil { // it is made again without the answer
		p.figures.missed.Add(1)
		p.wanted.again(c.address, now)
		return
	}
	p.sample(c, newestOf(a))
	taken, perp, netSpot, told := *a, c.state.NetPerp, c.state.NetSpot, c.state.Anchored > 0
	if !spot {
		taken.SpotTime, taken.Spot = 0, nil
		if taken.Mode.Joint() && taken.Mode != c.state.Mode { // a mode is taken with the balances that are in it
			taken.Mode = market.ModeUnknown
		}
	}
	differences, anew := c.state.Anchor(&taken, p.markets, p.marks)
	p.askSoon(c, c.state.SpotTime == 0 || taken.Mode != a.Mode, now)
	if anew {
		c.stats.ForgetCurve(newestOf(a))
	}
	c.stats.Moved(c.state.NetPerp.Sub(perp), c.state.NetSpot.Sub(netSpot))
	if c.state.Mode == market.ModeOther {
		p.figures.unexplained.Add(1)
	}
	p.figures.anchored.Add(1)
	p.figures.differences.Add(int64(len(differences)))
	if told {
		p.wanted.compared(c.address, len(differences) > 0)
	}
	if len(differences) > 0 {
		first := differences[0]
		p.log.Warn("the venue says otherwise of an account", "address", c.address, "differences", len(differences),
			"coin", first.Coin, "field", first.Field, "folded", first.Folded.String(), "actual", first.Actual.String())
	}
	p.took(c, a, now)
}

// took notes that what the venue has said of an account is taken over: somebody may wait for its rows.
func (p *accountStates) took(c *account, a *market.Anchor, now time.Time) {
	p.wanted.learned(c.address, a.Leverages)
	p.takePast(c, a, now)
	c.soon = true
	p.urgent = p.urgent || p.wanted.isFollowed(c.address)
	p.change(c, now) // also of an account that the venue does not know: who reads the row need not ask
}

// soonTries is how often in a row an account is asked about again at once: one that trades
// without a pause would take the budget of all others.
const soonTries = 3

// askSoon has an account asked about again whose balances could not be taken over, as they were
// moved meanwhile: the answer was missed in part.
func (p *accountStates) askSoon(c *account, missing bool, now time.Time) {
	if !missing {
		c.askedSoon = 0
		return
	}
	p.figures.missed.Add(1)
	if c.askedSoon < soonTries {
		c.askedSoon++
		p.wanted.again(c.address, now)
	}
}

// movesBalances reports whether an event changes spot balances in a mode.
func (e *accountEvent) movesBalances(mode market.Mode) bool {
	switch e.kind {
	case ledgerEvent:
		return true
	case fillEvent:
		return mode.Joint() || market.IsSpot(e.fill.Coin)
	case paymentEvent:
		return mode.Joint()
	case tradeEvent, orderEvent:
	}
	return false
}

// isIn reports whether an anchor knows an event. Of a ledger update, which may move
// funds in more than one place, it may know a part: that is left out where it is folded.
func (e *accountEvent) isIn(a *market.Anchor) bool {
	if e.kind == ledgerEvent {
		first := int64(market.MaxTime)
		for i := range a.Dexes {
			first = min(first, a.Dexes[i].Time)
		}
		if a.SpotTime > 0 {
			first = min(first, a.SpotTime)
		}
		return e.ms <= first
	}
	if e.kind == fillEvent && market.IsSpot(e.fill.Coin) {
		return e.ms <= a.SpotTime
	}
	if at, ok := e.stateIn(a); ok {
		return e.ms <= at
	}
	return e.ms <= cmp.Or(a.SpotTime, newestOf(a))
}

// knownTo is up to when an anchor knows an event of this kind for certain, ms, as far as it
// moves balances in a mode.
func (e *accountEvent) knownTo(a *market.Anchor, mode market.Mode) int64 {
	if at, ok := e.stateIn(a); ok && mode.Joint() {
		return min(at, a.SpotTime)
	}
	return a.SpotTime
}

// stateIn is the time of what an anchor says of the dex that a fill or a payment is of.
func (e *accountEvent) stateIn(a *market.Anchor) (ms int64, ok bool) {
	if e.kind != fillEvent && e.kind != paymentEvent || market.IsSpot(e.coin()) {
		return 0, false
	}
	i := slices.IndexFunc(a.Dexes, func(s market.AccountState) bool { return s.Dex == market.DexOf(e.coin()) })
	if i < 0 {
		return 0, false
	}
	return a.Dexes[i].Time, true
}

// accountFigures are what the fold of accounts reports. They may be read at any time.
type accountFigures struct {
	gaps, late, unknown, rebuilt           atomic.Int64
	anchored, refused, missed, differences atomic.Int64
	ahead                                  atomic.Int64 // answers to which the fold of their accounts has not come
	unexplained                            atomic.Int64 // anchors of accounts in a mode that nobody explains
	unrouted                               atomic.Int64 // fills of builders beyond those that count for an account
	untoldBuilders                         atomic.Int64 // rows without room for what builders routed
	cached, rebuilding                     atomic.Int64
}

func (f *accountFigures) show(p *accountStates) {
	f.cached.Store(int64(len(p.cache)))
	f.rebuilding.Store(int64(len(p.rebuilds)))
}

func (f *accountFigures) figures(wanted *wantedAccounts) []engine.Figure {
	grows := func(name string, v *atomic.Int64) engine.Figure {
		return engine.Figure{Name: name, Unit: metrics.Count, Value: v.Load(), Grows: true}
	}
	list := []engine.Figure{
		{Name: metrics.AccountsCached, Unit: metrics.Count, Value: f.cached.Load()},
		{Name: metrics.AccountsRebuilding, Unit: metrics.Count, Value: f.rebuilding.Load()},
		grows(metrics.AccountGaps, &f.gaps), grows(metrics.AccountLateEvents, &f.late), grows(metrics.AccountUnknownEvents, &f.unknown),
		grows(metrics.AccountsRebuilt, &f.rebuilt), grows(metrics.AnchorsTaken, &f.anchored), grows(metrics.AnchorsRefused, &f.refused),
		grows(metrics.AnchorsMissed, &f.missed), grows(metrics.AnchorsAhead, &f.ahead), grows(metrics.AnchorDifferences, &f.differences), grows(metrics.AnchorsUnexplained, &f.unexplained),
		grows(metrics.BuildersLeftOut, &f.unrouted), grows(metrics.BuildersUnknown, &f.untoldBuilders),
	}
	if wanted == nil {
		return list
	}
	return append(list, engine.Figure{Name: metrics.AnchorWait, Unit: metrics.Milliseconds, Value: wanted.oldestWait.Load()},
		grows(metrics.AccountsNotAsked, &wanted.refused))
}
