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
	hour int64                         // ms: the one for which all hot rows were made
	hot  map[table.Address]store.Point // the rows of their states

	routes *routes.Routes
	stored tablefile.Named // the object of these
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
	rows, err := m.rows(ctx, m.wanted)
	if err != nil {
		return err
	}
	if err := w.takeInLate(ctx, m.past); err != nil {
		return err
	}
	next, err := m.publish(ctx, rows)
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
	m = &making{Work: w, ms: now.UnixMilli(), hour: hour, whole: hour != w.last.hour, hot: map[table.Address]store.Point{}, made: addresses{}}
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
	} else {
		maps.Copy(m.hot, w.last.hot)
	}
	if m.wanted, err = w.changed(ctx, since, now, m.past); err != nil {
		return nil, err
	}
	m.past.beginLate(now, w.LateHours, w.LateAtOnce)
	if m.whole {
		err = w.wantMore(ctx, m.wanted, &m.previous, hour)
	}
	return m, err
}

// publish publishes the history and then the table, of rows that were made anew.
func (m *making) publish(ctx context.Context, rows *traders.Rows) (next published, err error) {
	next = published{hour: m.hour, hot: m.hot, routes: m.routes}
	change, err := m.change(ctx, rows, &m.previous, m.hot, m.at, m.ms)
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

// changed are the accounts that have changed since the version of a time, ms; 0 is all that are noted.
// The history is told who did something.
func (w *Work) changed(ctx context.Context, since int64, now time.Time, past *history) (addresses, error) {
	all, from := addresses{}, time.Time{}
	if since > 0 {
		from = time.UnixMilli(since).Add(-noted)
	}
	return all, accountchanges.Read(ctx, w.Log, from, now, func(at time.Time, c *accountchanges.Changes) {
		for _, did := range c.Did {
			all[did.Address] = true
			past.note(at, did)
		}
		for _, a := range c.Others {
			all[a] = true
		}
	})
}

// wantMore adds who else is made anew in a new hour, ms.
func (w *Work) wantMore(ctx context.Context, wanted addresses, last *tablefile.Manifest, hour int64) error {
	if last.Version == 0 {
		return nil
	}
	all := hour-last.Version > outOfDate.Milliseconds()
	for _, tier := range [...]string{publication.Cold, publication.Overlay, publication.Hot} {
		files, err := publication.Open(ctx, w.bucket, publication.OfTier(last.Files, tier))
		if err != nil {
			return err
		}
		for _, f := range files {
			list, err := f.Addresses(ctx)
			if err != nil {
				return fmt.Errorf("read whose rows are in the tier %s: %w", tier, err)
			}
			for _, a := range list {
				if all || tier == publication.Hot || int64(a[0])%24 == hour/hourMs%24 {
					wanted[a] = true
				}
			}
		}
	}
	if all {
		return nil
	}
	// What was done in an hour may be noted some minutes behind it.
	first := market.Hour1.StartMs(last.Version)
	for _, p := range traderfields.Periods {
		if p == traderfields.AllTime {
			continue
		}
		ago := int64(p) * 24 * hourMs
		from, to := time.UnixMilli(first-ago-hourMs), time.UnixMilli(hour-ago).Add(noted)
		if err := accountchanges.Read(ctx, w.Log, from, to, func(_ time.Time, c *accountchanges.Changes) {
			for _, did := range c.Did {
				wanted[did.Address] = true
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// change is what makes the next version of rows that were made anew, and of who is hot.
func (w *Work) change(ctx context.Context, rows *traders.Rows, last *tablefile.Manifest, hot map[table.Address]store.Point, at *prices, ms int64) (c publication.Change, err error) {
	isHot := func(a table.Address) bool { _, ok := hot[a]; return ok }
	isNot := func(a table.Address) bool { return !isHot(a) }
	c = publication.Change{Hot: rows.Part(isHot), Left: rows.Part(isNot), Refresh: func(p *tablefile.Part) *tablefile.Part { return traders.Relisted(p, at.listed) }}
	if len(c.Hot.Addresses) == len(hot) {
		return c, nil // all hot rows were made anew
	}
	anew := len(c.Hot.Addresses)
	files, err := publication.Open(ctx, w.bucket, publication.OfTier(last.Files, publication.Hot))
	if err != nil {
		return c, err
	}
	part, err := tablefile.Merge(ctx, traders.Columns(), files, c.Hot, isNot)
	if err != nil {
		return c, fmt.Errorf("merge the tier %s: %w", publication.Hot, err)
	}
	if len(part.Addresses) != len(hot) {
		return c, fmt.Errorf("%d rows are hot, of which %d were made anew, and %d are to be published", len(hot), anew, len(part.Addresses))
	}
	c.Hot = traders.Revalued(part, func(a table.Address) traderfields.Trader {
		now := at.listed(a)
		if state, err := accounts.Decode(market.AddressOf(a), hot[a]); err == nil { // it was read before
			now.Holds = at.summary(state, ms)
		}
		return now
	})
	return c, nil
}
