package perp

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accountchanges"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/hourmarks"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
)

const (
	// writeWanted is after what time an account is written that somebody follows. All
	// others are written the later the more of them have changed: writeEach for each of
	// them, up to writeOthers.
	writeWanted = 2 * time.Second
	writeOthers = 30 * time.Second
	writeEach   = 5 * time.Millisecond
	// writeMost bounds the accounts that are written at once before all must be.
	writeMost = 5000
	// hoursWaited is how late the events of an account are at most where they come with the venue's hours, which
	// are waited for for six hours.
	hoursWaited = 8 * time.Hour
)

// Changes returns the rows of the accounts whose time has come, and the completed trades.
// Held reports that something is in memory only.
func (p *accountStates) Changes(now time.Time, settle bool) (c engine.Changes) {
	p.urgent = false
	if settle {
		p.release(now)
	}
	if len(p.trades) > 0 {
		c.Log = []engine.LogRows{{Dataset: completedtrades.Name, Rows: completedtrades.AppendRows(nil, p.trades)}}
		p.trades = nil
	}
	var changed accountchanges.Changes
	for _, one := range p.due(now, settle) {
		since := one.facts.Changed()
		if rows := p.rows(one, now); rows != nil {
			c.Coarse = appendFirst(c.Coarse, one)
			c.Fine = append(c.Fine, rows...)
			changed.Add(one.address, since)
		}
	}
	if rows := accountchanges.Rows(now, &changed); rows != nil {
		c.Log = append(c.Log, engine.LogRows{Dataset: accountchanges.Name, Rows: rows})
	}
	if !p.listed && (settle || len(p.broken) <= writeMost) {
		p.listed = true
		c.Views = []engine.View{engine.ViewOf(accounts.PublishedBroken, slices.Collect(maps.Keys(p.broken)))}
	}
	if !p.hoursListed {
		p.hoursListed = true
		c.Views = append(c.Views, engine.ViewOf(hourmarks.Published, *p.hours.Clone()))
	}
	p.evict(now)
	p.figures.show(p)
	c.Held = len(p.dirty) > 0 || !p.listed || p.unfolded()
	return c
}

// Urgent reports that an account which somebody follows has just been anchored.
func (p *accountStates) Urgent() bool { return p.urgent }

// due are the accounts to write now, in the order of their addresses.
func (p *accountStates) due(now time.Time, all bool) (list []*account) {
	others := min(writeOthers, time.Duration(len(p.dirty))*writeEach)
	for c := range p.dirty {
		after := others
		if p.wanted.isFollowed(c.address) {
			after = min(others, writeWanted)
		}
		if all || c.soon || now.Sub(c.changed) >= after {
			list = append(list, c)
		}
	}
	if !all && len(list) > writeMost {
		slices.SortFunc(list, func(a, b *account) int { return a.changed.Compare(b.changed) })
		list = list[:writeMost]
	}
	slices.SortFunc(list, func(a, b *account) int { return cmp.Compare(a.address, b.address) })
	return list
}

// rows are those of an account, which counts as written.
func (p *accountStates) rows(c *account, now time.Time) (rows []store.SeriesRow) {
	delete(p.dirty, c)
	c.changed, c.soon = time.Time{}, false
	p.wantIfLarge(c, now)
	own := accounts.RowOf(c.state, c.ahead, c.bases)
	if len(own.Extra) > accounts.MostBytes && c.rebuild == nil {
		p.forget(c)
	}
	switch {
	case c.rebuild != nil: // its rows stay as they are until it ends
		return nil
	case p.broken[c.address]: // it was made again; a flush writes rows before views
		delete(p.broken, c.address)
		p.listed = false
	}
	if c.state.Time == 0 && c.ahead == nil { // nothing is known of it
		return nil
	}
	days, open := c.facts.Rows(c.address)
	p.figures.untoldBuilders.Add(c.facts.TakeLeftOut())
	stats := c.stats.Row(c.state, accountstats.VersionOf(own.Extra, c.facts.Stored()))
	if len(stats.Extra) > accountstats.MostBytes {
		p.forget(c)
		return nil
	}
	rows = []store.SeriesRow{own, stats}
	if c.days = append(c.days, days...); open != nil {
		rows = append(rows, *open)
	}
	return rows
}

// forget has an account begin anew that holds more than any: its rows, and its bases, would be such as the
// store does not take.
func (p *accountStates) forget(c *account) {
	p.log.Warn("an account holds more than any: it is forgotten, and begins anew", "address", c.address, "coins", len(c.state.Holdings), "tokens", len(c.state.Spot))
	c.state, c.stats, c.facts, c.bases = &market.Account{Address: c.address}, new(accountstats.Kept), new(traderfacts.Kept), accounts.Bases{}
	p.held.setAccount(c.state, p.markets)
}

// wantIfLarge wants an account anchored if it holds much, as far as that is known now.
func (p *accountStates) wantIfLarge(c *account, now time.Time) {
	if p.markets != nil && now.Sub(time.UnixMilli(p.marked)) <= marksFor && now.Sub(time.UnixMilli(c.state.Time)) <= p.behindMost() {
		p.wanted.wantIfLarge(c.state, p.markets, p.marks, now)
	}
}

// behindMost is how far an account may be behind for what it holds to count: its hour may come as late as one is waited for.
func (p *accountStates) behindMost() time.Duration {
	if p.comesLate() {
		return hoursWaited
	}
	return marksFor
}

// unfolded reports whether the events of an account wait for its rows, for the fills or
// for the answer of the venue.
func (p *accountStates) unfolded() bool {
	for c := range p.awaiting {
		if len(c.queue) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(p.waiting, func(c *account) bool { return len(c.queue) > 0 })
}

// change notes that an account differs from its rows.
func (p *accountStates) change(c *account, now time.Time) {
	if c.changed.IsZero() {
		c.changed = now
		p.dirty[c] = struct{}{}
	}
}

// appendFirst appends what is written before the rows of an account: the base that it has got
// since its last ones, its past, and what it did in days that are open no longer.
func appendFirst(rows []store.SeriesRow, c *account) []store.SeriesRow {
	for _, row := range []**store.SeriesRow{&c.base, &c.past} {
		if *row != nil {
			rows = append(rows, **row)
			*row = nil
		}
	}
	rows, c.days = append(rows, c.days...), nil
	return rows
}
