package traders

import (
	"context"
	"fmt"
	"maps"
	"time"

	"quotary/functions/ingester/publication"
	"quotary/shared/catalog"
	"quotary/shared/data/accountchanges"
	"quotary/shared/data/accounts"
	"quotary/shared/data/routes"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

const (
	// noted is for how long before the last publication it is looked again who has changed.
	noted = 90 * time.Second
	// outOfDate is after what time without a publication all rows are made anew.
	outOfDate = 24 * time.Hour
	// atOnce is how many rows are made at once.
	atOnce = 4096

	hourMs = int64(time.Hour / time.Millisecond)
)

// published is what is known of the last version while it is the last one.
type published struct {
	hour int64 // ms: the one for which all hot rows were made
	hot  map[table.Address]hotRow

	routes *routes.Routes
	stored tablefile.Named // the object of these
}

// hotRow is what is known of a hot row while it is one.
type hotRow struct {
	state store.Point // of its account
	until int64       // the hour, ms, in which something that the account did leaves a window; 0 while that is not known
	busy  bool        // it did something within the last day
}

// addresses are a set of accounts.
type addresses map[table.Address]bool

// Publish publishes the next version, where there is anybody to publish.
func (w *Work) Publish(ctx context.Context) error {
	w.broken = map[string]bool{}
	m, err := w.begin(ctx)
	if err != nil {
		return err
	}
	moved, err := m.move(ctx)
	if err != nil {
		return err
	}
	rows, err := m.rows(ctx, m.wanted)
	if err != nil {
		return err
	}
	if err := w.takeInLate(ctx, m.past); err != nil {
		return err
	}
	next, err := m.publish(ctx, rows, moved)
	if err != nil {
		return err
	}
	w.last = next
	w.made.Add(int64(rows.Len()))
	w.hot.Store(int64(len(next.hot)))
	w.late.Store(int64(len(m.past.late.Turn) + len(m.past.late.Waiting)))
	w.unread.Store(int64(len(w.broken)))
	w.leftOut.Store(int64(max(m.routes.LeftOut(), m.past.leftOut)))
	return nil
}

// begin reads what the next version is made of, but for its rows, and who is made anew.
func (w *Work) begin(ctx context.Context) (m *making, err error) {
	now := w.Now()
	hour := market.Hour1.StartMs(now.UnixMilli())
	m = &making{Work: w, ms: now.UnixMilli(), hour: hour, whole: hour != w.last.hour, hot: maps.Clone(w.last.hot), wanted: addresses{}, moved: addresses{}, made: addresses{}}
	if m.hot == nil {
		m.hot = map[table.Address]hotRow{}
	}
	if m.previous, err = w.bucket.Manifest(ctx); err != nil {
		return nil, fmt.Errorf("read what was published last: %w", err)
	}
	if m.until, err = w.until(ctx); err != nil { // before anything else, so that all up to then is read
		return nil, err
	}
	if m.at, err = w.prices(ctx); err != nil {
		return nil, err
	}
	if m.past, err = w.openHistory(ctx, now, m.whole); err != nil {
		return nil, err
	}
	if m.routes, err = w.routes(ctx, &m.previous); err != nil {
		return nil, err
	}
	since := min(m.previous.Version, m.past.next.Version)
	if m.whole { // what took long to be written
		since = max(0, since-hourMs)
		for a := range m.hot {
			m.moved[a] = false
		}
	}
	if err := m.wantChanged(ctx, since, now); err != nil {
		return nil, err
	}
	m.past.beginLate(now, w.LateHours, w.LateAtOnce)
	if m.whole {
		err = m.wantMore(ctx)
	}
	for a := range m.moved {
		if m.hot[a].until <= hour {
			m.wanted[a] = true
		}
		if m.wanted[a] {
			delete(m.moved, a)
		}
	}
	return m, err
}

// publish publishes the history and then the table, of rows that were made anew and of what has moved
// in others.
func (m *making) publish(ctx context.Context, rows, moved *traders.Rows) (next published, err error) {
	next = published{hour: m.hour, hot: m.hot, routes: m.routes}
	change, err := m.change(ctx, rows, moved)
	if err != nil {
		return next, err
	}
	change.Cold, change.Until, m.past.next.Until = m.whole, m.until, m.until
	if m.rerouted || m.previous.State == (tablefile.Named{}) {
		change.State = m.routes.Encode()
	}
	if err := m.past.publish(ctx, time.UnixMilli(m.ms)); err != nil {
		return next, err
	}
	if m.previous.Version > 0 || len(change.Hot.Addresses) > 0 || len(change.Left.Addresses) > 0 {
		version, err := m.publisher.Publish(ctx, change)
		if err != nil {
			return next, err
		}
		next.stored = version.State
	}
	if m.whole {
		err = m.past.tidy(ctx)
	}
	return next, err
}

// until is up to when all is stored that accounts did, ms, where that comes some time later; else 0.
func (w *Work) until(ctx context.Context) (int64, error) {
	known, err := w.delivered.Until(ctx, catalog.AllOf(catalog.VenueFills))
	switch {
	case err != nil:
		return 0, fmt.Errorf("read up to when fills are known: %w", err)
	case known.Until.IsZero():
		return 0, nil
	}
	return known.Until.UnixMilli(), nil
}

// routes is what builders routed by the last version. Who fails to publish reads it again.
func (w *Work) routes(ctx context.Context, last *tablefile.Manifest) (*routes.Routes, error) {
	known := w.last.routes
	w.last.routes = nil
	switch {
	case last.State == (tablefile.Named{}):
		return routes.New(len(traderfields.Periods), w.MostRoutes), nil
	case known != nil && w.last.stored == last.State:
		return known, nil
	}
	body, err := w.bucket.Range(ctx, last.State.Key, 0, last.State.Bytes)
	if err == nil {
		known, err = routes.Decode(body, len(traderfields.Periods), w.MostRoutes)
	}
	if err != nil {
		return nil, fmt.Errorf("read what builders routed: %w", err)
	}
	return known, nil
}

// wantChanged adds the accounts that have changed since the version of a time, ms; 0 is all that are noted.
// The history is told who did something. Of a hot row whose account did nothing it is made anew what moves.
func (m *making) wantChanged(ctx context.Context, since int64, now time.Time) error {
	from := time.Time{}
	if since > 0 {
		from = time.UnixMilli(since).Add(-noted)
	}
	return accountchanges.Read(ctx, m.Log, from, now, func(at time.Time, c *accountchanges.Changes) {
		for _, did := range c.Did {
			m.wanted[did.Address] = true
			m.past.note(at, did)
		}
		for _, a := range c.Others {
			if _, isHot := m.hot[a]; isHot {
				m.moved[a] = true
			} else {
				m.wanted[a] = true
			}
		}
	})
}

// wantMore adds who else is made anew in a new hour. Of hot rows that were published by this term it is known
// when something leaves a window.
func (m *making) wantMore(ctx context.Context) error {
	last := m.previous.Version
	if last == 0 {
		return nil
	}
	all := m.hour-last > outOfDate.Milliseconds()
	for _, tier := range [...]string{publication.Cold, publication.Overlay, publication.Hot} {
		files, err := publication.Open(ctx, m.bucket, publication.OfTier(m.previous.Files, tier))
		if err != nil {
			return err
		}
		for _, f := range files {
			list, err := f.Addresses(ctx)
			if err != nil {
				return fmt.Errorf("read whose rows are in the tier %s: %w", tier, err)
			}
			for _, a := range list {
				_, known := m.hot[a]
				if tier == publication.Hot && !known {
					m.hot[a] = hotRow{} // until it is made
				}
				if all || tier == publication.Hot && !known || int64(a[0])%24 == m.hour/hourMs%24 {
					m.wanted[a] = true
				}
			}
		}
	}
	if all {
		return nil
	}
	// What was done in an hour may be noted some minutes behind it.
	first := market.Hour1.StartMs(last)
	for _, p := range traderfields.Periods {
		if p == traderfields.AllTime {
			continue
		}
		ago := int64(p) * 24 * hourMs
		from, to := time.UnixMilli(first-ago-hourMs), time.UnixMilli(m.hour-ago).Add(noted)
		if err := accountchanges.Read(ctx, m.Log, from, to, func(_ time.Time, c *accountchanges.Changes) {
			for _, did := range c.Did {
				if _, known := m.hot[did.Address]; !known {
					m.wanted[did.Address] = true
				}
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// change is what makes the next version of rows that were made anew, of what has moved in others, and of who
// is hot.
func (m *making) change(ctx context.Context, rows, moved *traders.Rows) (c publication.Change, err error) {
	isHot := func(a table.Address) bool { _, ok := m.hot[a]; return ok }
	isNot := func(a table.Address) bool { return !isHot(a) }
	c = publication.Change{Hot: rows.Part(isHot), Left: rows.Part(isNot), Refresh: func(p *tablefile.Part) *tablefile.Part { return traders.Relisted(p, m.at.listed) }}
	if len(c.Hot.Addresses) == len(m.hot) {
		return c, nil // all hot rows were made anew
	}
	anew := len(c.Hot.Addresses)
	files, err := publication.Open(ctx, m.bucket, publication.OfTier(m.previous.Files, publication.Hot))
	if err != nil {
		return c, err
	}
	part, err := tablefile.Merge(ctx, traders.Columns(), files, c.Hot, isNot)
	if err != nil {
		return c, fmt.Errorf("merge the tier %s: %w", publication.Hot, err)
	}
	if len(part.Addresses) != len(m.hot) {
		return c, fmt.Errorf("%d rows are hot, of which %d were made anew, and %d are to be published", len(m.hot), anew, len(part.Addresses))
	}
	part = traders.Moved(part, moved.Part(func(a table.Address) bool { return !m.made[a] }))
	c.Hot = traders.Revalued(part, func(a table.Address) traderfields.Trader {
		now := m.at.listed(a)
		if state, err := accounts.Decode(market.AddressOf(a), m.hot[a].state); err == nil { // it was read before
			now.Holds = m.at.summary(state, m.ms)
		}
		return now
	})
	return c, nil
}
