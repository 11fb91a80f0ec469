package perp

import (
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/fills"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/orders"
	"quotary/shared/data/payments"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
)

// rebuild makes an account again from the rows of its logs: of the fills, payments, ledger
// updates and filled orders a part each at a time, merged by time. What is stored of it
// stays as it is meanwhile, and its new events are left to the logs, where they are
// already. Who is broken is in a view, until the flush that writes the new rows, so that a
// restart goes on.
//
// It never makes poorer what is stored. It begins with nothing where the logs have every
// event of the account, and where a part of them has expired with an earlier state of it,
// see [rebuild.start]: what that has already is recognised as it is after a crash. The
// archive is not read, as its files are of a day each and of all accounts: the history of
// one account would be the files of all days. Of a completed trade, the log of which is
// kept for ever, stays what the rebuild does not know. Of what the account did, the row of a day is
// written again only where all of that day is folded again: from its beginning, or on top of a day
// that was open in what the rebuild begins with. What is behind these and was not in it, as it came
// later than the base was told to be good for, counts in all time alone.
//
// What the venue alone can say of the account is as old as what it begins with, and asked
// for again. A gap that is still there may be one that a slow stream is about to fill:
// then it is made again after a while. After that what is missing is missing: the chain
// begins again behind the gap.
type rebuild struct {
	account *account
	logs    [len(rebuiltFrom)]rebuiltLog
	begun   bool           // its logs are being read
	started bool           // there is something to fold on from
	base    *accounts.Base // what it began with; nil is nothing
	place   int            // of the base
	first   int64          // ms of the oldest event that the base did not have; 0 before any
	after   time.Time      // before which it does not begin
	last    bool           // a gap is accepted
	gap     bool           // there was one
	stale   bool           // an event came that belongs before what was folded
	to      int64          // ms of the newest event that was folded
	state   *market.Account
	stats   *accountstats.Kept
	facts   *traderfacts.Kept
	stored  []market.CompletedTrade
	queue   []accountEvent // read, and not folded as parts of the other logs may come before
}

// rebuiltLog is how far a log was read.
type rebuiltLog struct {
	from  int64 // ms
	ended bool
}

// rebuiltFrom are the logs, and how a row of each is read.
var rebuiltFrom = [...]struct {
	dataset string
	read    func(to []accountEvent, r store.Row) ([]accountEvent, error)
}{
	{fills.Name, func(to []accountEvent, r store.Row) ([]accountEvent, error) {
		f, err := fills.Decode(r)
		if err != nil || f.Provisional {
			return to, err
		}
		return append(to, accountEvent{ms: f.Time, kind: fillEvent, fill: &f}), nil
	}},
	{payments.Name, func(to []accountEvent, r store.Row) ([]accountEvent, error) {
		list, err := payments.Decode(r)
		for i := range list {
			to = append(to, accountEvent{ms: list[i].Time, kind: paymentEvent, payment: &list[i]})
		}
		return to, err
	}},
	{ledgers.Name, func(to []accountEvent, r store.Row) ([]accountEvent, error) {
		l, err := ledgers.Decode(r)
		return append(to, accountEvent{ms: l.Time, kind: ledgerEvent, ledger: &l}), err
	}},
	{orders.FilledName, func(to []accountEvent, r store.Row) ([]accountEvent, error) {
		o, err := orders.Decode(r)
		return append(to, accountEvent{ms: o.Time, kind: orderEvent, order: &o}), err
	}},
	{completedtrades.Name, func(to []accountEvent, r store.Row) ([]accountEvent, error) {
		t, err := completedtrades.Decode(r)
		return append(to, accountEvent{ms: t.End, kind: tradeEvent, trade: &t}), err
	}},
}

const (
	// rebuildsAtOnce is how many accounts are made again at a time: of so many a part of
	// each log is read for one batch.
	rebuildsAtOnce = 3

	// A rebuild that ended in a gap is repeated so often, each after so long.
	gapRetries = 3
	gapPause   = 5 * time.Second
)

// broke has an account made again.
func (p *accountStates) broke(c *account, now time.Time) {
	if c.rebuild != nil {
		return
	}
	c.rebuild = &rebuild{account: c, last: c.retries >= gapRetries}
	if c.retries > 0 {
		c.rebuild.after = now.Add(gapPause)
	}
	p.rebuilds = append(p.rebuilds, c.rebuild)
	if !p.broken[c.address] {
		p.broken[c.address], p.listed = true, false
	}
	p.change(c, now)
}

// leaveToLogs drops the events of an account that is made again: they are in the logs. A
// log that was read to its end is read on from there; where an event belongs before what
// was folded, all is read again.
func (p *accountStates) leaveToLogs(c *account) {
	for i := range c.queue {
		e := &c.queue[i]
		c.rebuild.leave(e)
	}
	c.drop(len(c.queue))
}

// leave notes that an event is in its log by now. Orders, whose stream is the slowest, are
// counted in their own order: one that comes behind what was folded is no harm.
func (b *rebuild) leave(e *accountEvent) {
	for k := range b.logs {
		log := &b.logs[k]
		switch {
		case !b.begun || rebuiltFrom[k].dataset != e.dataset():
		case e.kind == orderEvent && (log.ended || e.ms < log.from):
			log.ended, log.from = false, e.ms
		case e.kind == orderEvent:
		case e.ms <= b.to || !log.ended && e.ms < log.from:
			b.stale = true
		case log.ended:
			log.ended, log.from = false, e.ms
		}
	}
}

func (e *accountEvent) dataset() string {
	switch e.kind {
	case fillEvent:
		return fills.Name
	case paymentEvent:
		return payments.Name
	case ledgerEvent:
		return ledgers.Name
	case orderEvent, tradeEvent:
	}
	return orders.FilledName
}

// begun are the rebuilds at work: the first ones.
func (p *accountStates) begun() []*rebuild {
	n := 0
	for n < len(p.rebuilds) && p.rebuilds[n].begun {
		n++
	}
	return p.rebuilds[:n]
}

// wantLogs asks for the next parts of the logs.
func (p *accountStates) wantLogs(r *engine.Reads) {
	for _, b := range p.begun() {
		if !b.started {
			b.wantBase(r)
		}
		for k, log := range b.logs {
			if log.ended {
				continue
			}
			r.PrefetchLog(b.at(k), func(row *store.Row) error {
				_, err := rebuiltFrom[k].read(nil, *row)
				return err
			})
		}
	}
}

// at is where a log is read on.
func (b *rebuild) at(k int) engine.LogAt {
	return engine.LogAt{Dataset: rebuiltFrom[k].dataset, Subject: b.account.address, From: b.logs[k].from}
}

// readLogs folds the parts that were read, and begins and ends rebuilds.
func (p *accountStates) readLogs(r *engine.Reads, now time.Time) error {
	if !p.joined || len(p.rebuilds) == 0 {
		return nil
	}
	for _, b := range slices.Clone(p.begun()) {
		if !b.started {
			if err := b.start(r); err != nil {
				return err
			}
		}
		if b.started && b.read(r) {
			p.foldParts(b, now)
		}
	}
	p.dropRebuilds()
	n := len(p.begun())
	for i := n; i < len(p.rebuilds) && n < rebuildsAtOnce; i++ {
		if b := p.rebuilds[i]; !now.Before(b.after) {
			b.begun = true
			p.rebuilds[n], p.rebuilds[i] = b, p.rebuilds[n]
			n++
		}
	}
	return nil
}

// dropRebuilds drops those that have ended, or whose account has left the cache.
func (p *accountStates) dropRebuilds() {
	p.rebuilds = slices.DeleteFunc(p.rebuilds, func(b *rebuild) bool { return b.account.rebuild != b })
}

// read takes the parts of the logs, and reports whether there were any.
func (b *rebuild) read(r *engine.Reads) (some bool) {
	for k := range b.logs {
		log := &b.logs[k]
		part, ok := r.Log(b.at(k))
		if log.ended || !ok {
			continue
		}
		some = true
		for _, row := range part.Rows {
			b.queue, _ = rebuiltFrom[k].read(b.queue, row) // it was checked
		}
		log.from, log.ended = part.Next, part.Next == 0
	}
	return some
}

// foldParts folds what nothing that is still to be read can come before.
func (p *accountStates) foldParts(b *rebuild, now time.Time) {
	horizon, ended := int64(market.MaxTime+1), true
	for _, log := range b.logs {
		if !log.ended {
			horizon, ended = min(horizon, log.from), false
		}
	}
	sortEvents(b.queue)
	made := account{address: b.account.address, state: b.state, stats: b.stats, facts: b.facts, stored: b.stored, changed: now}
	n := 0
	for n < len(b.queue) && b.queue[n].ms < horizon {
		e := &b.queue[n]
		b.to = max(b.to, e.ms)
		switch p.apply(&made, e, now) {
		case market.Applied:
			if b.first == 0 && e.kind != tradeEvent {
				b.first = e.ms
			}
		case market.Gap:
			b.gap = true
			if b.last && e.kind == fillEvent {
				b.state.Forget(e.fill.Coin)
				p.apply(&made, e, now)
			}
		case market.Duplicate, market.Late, market.Unknown: // as it is
		}
		n++
	}
	b.queue, b.stored = slices.Delete(b.queue, 0, n), made.stored
	if ended {
		p.rebuilt(b, now)
	}
}

func (e *accountEvent) coin() string {
	switch e.kind {
	case fillEvent:
		return e.fill.Coin
	case paymentEvent:
		return e.payment.Coin
	case ledgerEvent, tradeEvent, orderEvent: // they are of no coin, or of none that anchors ask for
	}
	return ""
}

// keepStored completes a trade that is made again with what is stored of it and is not
// known any more: its beginning, or how it was leveraged, which only an anchor says.
func (c *account) keepStored(t *market.CompletedTrade) {
	for i := range c.stored {
		s := &c.stored[i]
		if s.End != t.End || s.Tid != t.Tid || s.Coin != t.Coin {
			continue
		}
		if t.Partial && (!s.Partial || s.Start < t.Start) {
			*t = *s
		}
		if s.Leverage > 0 {
			t.Isolated, t.Leverage = s.Isolated, s.Leverage
		}
	}
}

// rebuilt ends a rebuild.
func (p *accountStates) rebuilt(b *rebuild, now time.Time) {
	c := b.account
	anchored := c.state.Anchored > 0
	c.state, c.stats, c.facts, c.rebuild = b.state, b.stats, b.facts, nil
	b.keptBase()
	p.figures.rebuilt.Add(1)
	if b.gap && !b.last && !b.stale {
		c.retries++
	}
	if b.gap && !b.last || b.stale {
		p.broke(c, now)
		return
	}
	c.retries = 0
	p.change(c, now) // it stays among the broken ones until its rows are written
	if anchored || b.gap {
		p.wanted.again(c.address, now)
	}
	p.touch(c)
}
