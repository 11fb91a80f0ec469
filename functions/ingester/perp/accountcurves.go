package perp

import (
	"maps"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/store"
)

// The curve of an account has a point for each full hour, taken when the first event behind
// it is about to be folded: the account as it was, at the marks that were kept of that hour.
// So an event that comes hours late finds what it would have found in time. One that comes
// behind an event of a later hour, as ledger updates may, which are a stream of their own,
// corrects the points between by what it changes at their marks.
//
// The newest points are in the row of the account's statistics, which is written often and
// has to be small. Once a day they are moved to a row of the past, see accountstats.

const (
	// marksFor is how far the marks of an hour may be from it.
	marksFor = 2 * time.Minute

	// movePoints is how many points an account has before the older ones are moved, keepPoints
	// how many hours stay, and moveMost of how many accounts at once.
	movePoints = 36
	keepPoints = 12
	moveMost   = 50
)

// keepMarks keeps the marks of the newest full hour up to a time, ms, unless they are kept or
// too far from it. All that is valued at that hour is valued at these.
func (p *accountStates) keepMarks(ms int64) {
	hour := market.Hour1.StartMs(ms)
	if hour <= p.hours.Newest() || p.marked == 0 || max(hour-p.marked, p.marked-hour) > marksFor.Milliseconds() {
		return
	}
	p.hours.Add(hour, p.marks)
	p.hoursListed = false
}

// marksOf are the marks at which tokens are valued that came in at a time, ms, where the event does
// not say what they are worth: those of the full hour before, as the points of curves are, so that
// what is folded late came in with what it would have in time. Of an hour without, and of a coin
// that had none then, as it is new, they are the newest.
func (p *accountStates) marksOf(ms int64) market.Marks {
	hour := market.Hour1.StartMs(ms)
	if v := &p.valued; v.hour == hour && v.coins == len(p.marks) {
		return v.marks
	}
	kept, ok := p.hours.At(hour)
	if !ok {
		return p.marks
	}
	all := maps.Clone(p.marks)
	maps.Copy(all, kept)
	p.valued = hourValued{hour, len(p.marks), all}
	return all
}

// hourValued is the marks at which what comes in within an hour is valued, and of how many coins
// the newest ones were known, which only grow, when they were put together.
type hourValued struct {
	hour  int64 // ms
	coins int
	marks market.Marks
}

// sample takes the points of an account's curve up to a time, ms, before it changes.
func (p *accountStates) sample(c *account, ms int64) {
	if market.Hour1.StartMs(ms) <= c.stats.Sampled {
		return
	}
	p.keepMarks(ms)
	c.state.Sample(&c.stats.TraderStats, p.markets, p.hours.At, ms)
	if c.stats.Points() >= movePoints && c.rebuild == nil && p.cache[c.address] == c {
		p.moving[c] = struct{}{}
	}
}

// lateEvent is an event that is folded behind points of the curve that should have it.
type lateEvent struct {
	ms            int64
	before        map[int64]market.CurvePoint // by their time
	apart, points bool                        // which ones should
}

// late notes what an account is at the points that an event is too late for.
func (p *accountStates) late(c *account, ms int64) (l lateEvent) {
	if ms >= c.stats.Sampled || c.state.Time == 0 {
		return l
	}
	l = lateEvent{ms: ms, before: map[int64]market.CurvePoint{}, apart: ms < c.stats.Apart}
	all := c.stats.All()
	start := market.Hour1.StartMs(ms)
	for _, hour := range [...]int64{start, start + time.Hour.Milliseconds()} {
		// Where nothing was open there are no points for what stayed as it was.
		last, ok := all.Curve.At(hour)
		if _, kept := p.hours.At(hour); ok && kept && last.Time < hour {
			point := *last
			point.Time = hour
			c.stats.Curve = c.stats.Curve.Merge(market.Curve{point})
		}
	}
	all = c.stats.All()
	for _, point := range all.Curve.Between(ms+1, market.MaxTime) {
		l.points = true
		if marks, ok := p.hours.At(point.Time); ok {
			w := c.state.Worth(p.markets, marks)
			l.before[point.Time] = c.stats.Point(point.Time, &w)
		}
	}
	return l
}

// correct changes these points by what the event changed. Of those that are in the row of the
// past, the account is made again.
func (p *accountStates) correct(c *account, l *lateEvent, now time.Time) {
	if l.points {
		c.stats.CorrectCurve(l.ms, func(point *market.CurvePoint) {
			if before, ok := l.before[point.Time]; ok {
				marks, _ := p.hours.At(point.Time)
				w := c.state.Worth(p.markets, marks)
				after := c.stats.Point(point.Time, &w)
				change(&point.Perp, before.Perp, after.Perp)
				change(&point.Spot, before.Spot, after.Spot)
			}
		})
	}
	if l.apart && p.cache[c.address] == c {
		p.broke(c, now)
	}
}

func change(of *market.CurvePart, before, after market.CurvePart) {
	of.Value = (of.Value + after.Value - before.Value).Held()
	of.NetIn = (of.NetIn + after.NetIn - before.NetIn).Held()
	of.Volume = (of.Volume + after.Volume - before.Volume).Held()
}

// takePast takes over what the venue says that an account was worth before it was known, or
// asks for it, once, where the account was there before.
func (p *accountStates) takePast(c *account, a *market.Anchor, now time.Time) {
	switch {
	case a.Past != nil && c.stats.VenueUntil == 0:
		a.Past.Continue(market.MicrosOf(c.stats.NetIn), market.MicrosOf(c.stats.NetSpot), market.MicrosOf(c.stats.Volume), market.MicrosOf(c.stats.SpotVolume))
		c.venue = a.Past
		p.moving[c] = struct{}{}
	case c.stats.VenueUntil == 0 && !c.asked && !c.now().IsEmpty():
		c.asked = true
		p.wanted.past(c.address, now)
	}
}

// wantPasts asks for the pasts of accounts that points are to be moved to: of the same again
// until the batch is applied.
func (p *accountStates) wantPasts(r *engine.Reads) {
	for c := range p.moving {
		if len(p.chosen) >= moveMost {
			break
		}
		delete(p.moving, c)
		p.chosen[c] = struct{}{}
	}
	for c := range p.chosen {
		r.Prefetch(accountstats.PastAt(c.address), func(_ store.SeriesAt, point *store.Point) error {
			_, err := accountstats.DecodePast(point.Extra)
			return err
		})
	}
}

// movePoints moves the older points of the chosen accounts to their pasts.
func (p *accountStates) movePoints(r *engine.Reads, now time.Time) error {
	for c := range p.chosen {
		delete(p.chosen, c)
		if p.cache[c.address] != c || c.rebuild != nil {
			continue
		}
		var past accountstats.Past
		if point := r.Row(accountstats.PastAt(c.address)); point != nil {
			var err error
			if past, err = accountstats.DecodePast(point.Extra); err != nil {
				return err
			}
		}
		if c.venue != nil {
			past.Venue, c.stats.VenueUntil, c.venue = *c.venue, c.venue.Until, nil
		}
		c.stats.MoveTo(&past, c.stats.Sampled-keepPoints*time.Hour.Milliseconds())
		row := accountstats.PastRow(c.address, &past)
		c.past = &row
		p.change(c, now)
	}
	return nil
}
