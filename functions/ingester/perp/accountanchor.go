package perp

import (
	"slices"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/market"
	"quotary/shared/metrics"
)

// askedAnchor is an account of which the venue is being asked. Its events wait in its
// queue from just before the question until the answer is there, so that those that the
// answer knows are folded before it is compared and taken over, and the others behind it.
type askedAnchor struct {
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
	// askedMost bounds the events that wait for an answer.
	askedMost = 10_000
)

// ask has the events of an account wait.
func (p *accountStates) ask(a *market.Anchor, now time.Time) {
	c := p.cache[a.Address]
	if c == nil || c.state == nil || c.rebuild != nil {
		return
	}
	if len(c.queue) > 0 { // payments that are ahead of the fills are of before the question
		p.foldQueue(c, now, true)
	}
	if c.rebuild == nil {
		c.asked = &askedAnchor{at: now}
		p.asking[c] = struct{}{}
	}
}

// answer takes what the venue has said. One that nobody waits for any longer, as what
// came meanwhile was folded, is no help: the account is asked about again.
func (p *accountStates) answer(a *market.Anchor, now time.Time) {
	c := p.cache[a.Address]
	switch {
	case len(a.Dexes) == 0:
		p.figures.refused.Add(1)
		if c != nil && c.asked != nil {
			p.unask(c)
			p.touch(c)
		}
	case c == nil || c.asked == nil:
		p.figures.missed.Add(1)
		p.wanted.again(a.Address, now)
	default:
		c.asked.answer, c.asked.answered = a, now
		p.touch(c)
	}
}

// unask has the events of an account wait no longer.
func (p *accountStates) unask(c *account) {
	c.asked = nil
	delete(p.asking, c)
}

// settle takes the answer over when its time has come, or gives it up.
func (p *accountStates) settle(c *account, now time.Time) {
	asked := c.asked
	behind := time.Duration(0) // the newest fill behind the answer, by the venue's own clock
	if asked.answer != nil && p.fillsTo > 0 {
		behind = time.Duration(newestOf(asked.answer)-p.fillsTo) * time.Millisecond
	}
	switch {
	case asked.answer == nil && (now.Sub(asked.at) > answerWithin || len(c.queue) > askedMost):
		p.figures.missed.Add(1)
		p.unask(c)
	case asked.answer == nil:
	case behind > answerWithin: // so are the events that the answer knows
		p.figures.missed.Add(1)
		p.unask(c)
	case behind < 0 || now.Sub(asked.answered) >= eventsWithin+behind || len(c.queue) > askedMost:
		p.unask(c)
		p.anchor(c, asked.answer, now)
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
		if e.ms > a.SpotTime && e.ms <= newestOf(a) && (e.kind == ledgerEvent || e.kind == fillEvent && market.IsSpot(e.fill.Coin)) {
			spot = false // it came while the balances were asked for: they may know it or not
		}
		if e.isIn(a) && c.rebuild == nil {
			p.take(c, &e, now)
		} else {
			c.queue[n] = e
			n++
		}
	}
	clear(c.queue[n:])
	c.queue = c.queue[:n]
	if c.rebuild != nil {
		return
	}
	said := *a
	if !spot {
		said.SpotTime, said.Spot = 0, nil
	}
	empty := c.state.Time == 0 && isEmpty(&said)
	differences := c.state.Anchor(&said)
	p.figures.anchored.Add(1)
	p.figures.differences.Add(int64(len(differences)))
	if len(differences) > 0 {
		first := differences[0]
		p.log.Warn("the venue says otherwise of an account", "address", c.address, "differences", len(differences),
			"coin", first.Coin, "field", first.Field, "had", first.Had.String(), "said", first.Said.String())
	}
	p.wanted.known(c.address, said.Leverages)
	if !empty {
		c.soon = true
		p.change(c, now)
	}
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
	i := slices.IndexFunc(a.Dexes, func(s market.AccountState) bool { return s.Dex == market.DexOf(e.coin()) })
	return i < 0 || e.ms <= a.Dexes[i].Time
}

// isEmpty reports whether the venue knows nothing of an account: then it is not stored.
func isEmpty(a *market.Anchor) bool {
	for i := range a.Dexes {
		if d := &a.Dexes[i]; len(d.Positions) > 0 || !d.Margin.AccountValue.IsZero() {
			return false
		}
	}
	return len(a.Spot) == 0
}

// accountFigures are what the fold of accounts reports. They may be read at any time.
type accountFigures struct {
	gaps, late, unknown, rebuilt           atomic.Int64
	anchored, refused, missed, differences atomic.Int64
	cached, rebuilding                     atomic.Int64
}

func (f *accountFigures) show(p *accountStates) {
	f.cached.Store(int64(len(p.cache)))
	f.rebuilding.Store(int64(len(p.rebuilds)))
}

func (f *accountFigures) figures() []engine.Figure {
	grows := func(name string, v *atomic.Int64) engine.Figure {
		return engine.Figure{Name: name, Unit: metrics.Count, Value: v.Load(), Grows: true}
	}
	return []engine.Figure{
		{Name: metrics.AccountsCached, Unit: metrics.Count, Value: f.cached.Load()},
		{Name: metrics.AccountsRebuilding, Unit: metrics.Count, Value: f.rebuilding.Load()},
		grows(metrics.AccountGaps, &f.gaps), grows(metrics.AccountLateEvents, &f.late), grows(metrics.AccountUnknownEvents, &f.unknown),
		grows(metrics.AccountsRebuilt, &f.rebuilt), grows(metrics.AnchorsTaken, &f.anchored), grows(metrics.AnchorsRefused, &f.refused),
		grows(metrics.AnchorsMissed, &f.missed), grows(metrics.AnchorDifferences, &f.differences),
	}
}
