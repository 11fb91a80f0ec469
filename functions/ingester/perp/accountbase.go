package perp

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/retention"
)

// Bases are earlier states of an account, kept where the logs have a retention: what a
// rebuild begins with where the logs do not reach back to the account's beginning. Two
// are kept, each from a third of the retention after the other, so that there is one that
// is old enough to lack what came late, and young enough for the logs to have all that
// came behind it.
//
// A base is what the account was before the events that are about to be folded, while its
// rows are just that. It is written before the rows of the account, whose own row says
// which bases are good, so that a crash between leaves one more that nobody looks at.

// baseMargin is how much later events may be than a base that is told to have all before
// them, and how far from expiry the rows behind a base must be.
const baseMargin = 2 * time.Hour

// baseEvery is after what time an account gets another base: a third of the shortest
// retention of the logs that it is made from, 0 where they are kept for ever.
func baseEvery(s retention.Setting) time.Duration {
	least := 0
	for _, log := range rebuiltFrom {
		if days, ok := s[log.dataset]; ok && (least == 0 || days < least) {
			least = days
		}
	}
	return time.Duration(least) * 24 * time.Hour / 3
}

// keepBase notes what an account is as a base, before the events in its queue, where it is
// time for one.
func (p *accountStates) keepBase(c *account, now time.Time) {
	if p.baseEvery == 0 || !c.changed.IsZero() || c.rebuild != nil || len(c.queue) == 0 || c.state.Time == 0 || c.stats.Stored() == nil {
		return
	}
	at := min(now.UnixMilli(), c.queue[0].ms)
	if at-max(c.bases[0], c.bases[1]) < p.baseEvery.Milliseconds() {
		return
	}
	place := 0
	if c.bases[1] < c.bases[0] {
		place = 1
	}
	row := accounts.BaseRow(place, &accounts.Base{At: at, State: c.state, Stats: c.stats.Stored(), Facts: c.facts.Stored()})
	c.bases[place], c.base = at, &row
}

// lateForBases drops the bases that should have an event which is folded behind them.
func (c *account) lateForBases(ms int64) {
	for i, at := range c.bases {
		if at > ms+baseMargin.Milliseconds() {
			c.bases[i] = 0
		}
	}
}

// wantBase asks for what a rebuild may begin with.
func (b *rebuild) wantBase(r *engine.Reads) {
	address := b.account.address
	wantAccount(r, address)
	for place := range len(accounts.Bases{}) {
		r.Prefetch(accounts.BaseAt(address, place), func(_ store.SeriesAt, point *store.Point) error {
			base, err := accounts.DecodeBase(address, *point)
			if err == nil {
				_, err = accountstats.Decode(base.Stats)
			}
			if err == nil {
				_, err = traderfacts.Keep(base.Facts)
			}
			return err
		})
	}
}

// start sets what a rebuild begins with, once that and the first parts of the logs are
// read:
//
//   - nothing, where the logs have all events since the account's beginning
//   - else the older one of its bases, if the logs have all that came behind it
//   - else what its rows say. A crash that left only one of them written has left the base
//     that was written before them.
func (b *rebuild) start(r *engine.Reads) error {
	since := int64(0)
	for k := range b.logs {
		part, ok := r.Log(b.at(k))
		if !ok {
			return nil
		}
		since = max(since, part.Since)
	}
	if since > 0 {
		since += baseMargin.Milliseconds()
	}
	base, place, err := b.chooseBase(r, since)
	if err != nil {
		return err
	}
	b.base, b.place, b.state, b.facts = base, place, &market.Account{Address: b.account.address}, new(traderfacts.Kept)
	var stats []byte
	if base != nil {
		b.state, stats = base.State.Clone(), base.Stats
		if b.facts, err = traderfacts.Keep(base.Facts); err != nil {
			return err
		}
		if base.Facts == nil { // the rows are of before there were any
			b.facts = traderfacts.KeepSince(base.State.Time)
		}
	}
	b.state.ContinueMode(b.account.state)
	b.stats = b.account.stats
	if err := b.stats.Restart(stats); err != nil {
		return err
	}
	b.started = true
	return nil
}

// ofRows stands for the place of a base that is no row of its own, but what the rows of
// the account say.
const ofRows = -1

// chooseBase returns what a rebuild begins with where the logs have all since a time, ms, and in
// which place it is; nil is nothing.
func (b *rebuild) chooseBase(r *engine.Reads, since int64) (base *accounts.Base, place int, err error) {
	address := b.account.address
	rows, err := storedBase(address, r.Row(accounts.At(address)), r.Row(accountstats.At(address)), r.Row(traderfacts.OpenAt(address)))
	if err != nil || since == 0 || rows != nil && rows.State.Since >= since {
		return nil, 0, err
	}
	var newest *accounts.Base
	newestPlace := 0
	for i, at := range b.account.bases {
		point := r.Row(accounts.BaseAt(address, i))
		if point == nil {
			continue
		}
		one, err := accounts.DecodeBase(address, *point)
		if err != nil {
			return nil, 0, err
		}
		if newest == nil || one.At > newest.At {
			newest, newestPlace = one, i
		}
		if one.At == at && at >= since && (base == nil || at < base.At) {
			base, place = one, i
		}
	}
	switch {
	case base != nil:
		return base, place, nil
	case rows != nil:
		return rows, ofRows, nil
	}
	return newest, newestPlace, nil
}

// keptBase sets the bases of the account that was made again: what it was made from. The
// others lack what broke it.
func (b *rebuild) keptBase() {
	c := b.account
	c.bases, c.base = accounts.Bases{}, nil
	switch {
	case b.base == nil:
	case b.place != ofRows:
		c.bases[b.place] = b.base.At
	case b.first > 0:
		b.base.At = b.first
		row := accounts.BaseRow(0, b.base)
		c.bases[0], c.base = b.first, &row
	}
}

// storedBase is what the rows of an account say; nil where there are none, or not all of
// one writing. Rows of before there was one of what it did have a version without it.
func storedBase(address string, own, other, did *store.Point) (*accounts.Base, error) {
	if own == nil || other == nil {
		return nil, nil
	}
	facts := storedFacts(did)
	switch accountstats.Version(*other) {
	case accountstats.VersionOf(own.Extra, facts):
	case accountstats.VersionOf(own.Extra):
		facts = nil
	default:
		return nil, nil
	}
	state, err := accounts.Decode(address, *own)
	return &accounts.Base{State: state, Stats: other.Extra, Facts: facts}, err
}
