package arrivals

import (
	"context"
	"iter"
	"slices"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

const (
	// readMost is how many rows a page reads at most.
	readMost = 20_000
	// ahead is how far the venue's clock may be ahead of the ingester's.
	ahead = time.Minute
	// notesFor is how far back a page reads how late events were.
	notesFor = 7 * 24 * time.Hour
	// settled is how long ago an event was stored that every reader finds.
	settled = 2 * time.Second
)

// Page is the events of one subject that arrived behind a cursor, in that order, at most limit of
// them, and the cursor behind them, which is the same where there are none. Rows are read from the time
// on that is asked for, oldest first; place is when an event arrived, and ms when it happened.
//
// Where what is late lies so far back that a page of rows does not reach to the cursor, what arrived is
// searched for from there on, page by page, in the order in which it happened. Such a page may have no
// events, and its cursor leads on.
func Page[T any](ctx context.Context, s *store.Series, name string, c market.ArrivalCursor, limit int,
	rows func(from time.Time) iter.Seq2[T, error], place func(*T) (at market.Arrival, ms int64)) (list []T, next market.ArrivalCursor, err error) {
	if c.Search.To != 0 {
		return search(c, limit, rows(time.UnixMilli(c.Search.From)), place)
	}
	until, err := Stored(ctx, s)
	if err != nil {
		return nil, c, err
	}
	if until = min(until, market.ArrivalAt(until.When().Add(-settled))); until <= min(c.Fresh, c.Late) {
		return nil, c, nil
	}
	since, err := Since(ctx, s, name, &c, until.When().Add(-notesFor))
	if err != nil {
		return nil, c, err
	}
	p := page[T]{limit: limit}
	read := 0
	for row, err := range rows(since) {
		if err != nil {
			return nil, c, err
		}
		at, ms := place(&row)
		at = at.Or(ms)
		// What follows happened later, and none of it arrived before.
		whole := market.ArrivalAt(time.UnixMilli(ms).Add(-ahead))
		if p.full() && p.last() < whole {
			break
		}
		if read++; read > readMost {
			if p.keep(whole); whole <= c.Fresh {
				c.Search = market.ArrivalSearch{To: until, From: max(since.UnixMilli(), 0)}
				return nil, c, nil
			}
			c.Fresh, c.Late = whole, max(c.Late, whole)
			break
		}
		if c.Before(at) && at <= until {
			p.add(placed[T]{row, at})
		}
	}
	for _, one := range p.list {
		list = append(list, one.row)
	}
	if len(p.list) > 0 {
		c = c.Behind(p.last())
	}
	return list, c, nil
}

// search is a page of a search: the next rows that arrived behind the cursor, up to where it ends.
func search[T any](c market.ArrivalCursor, limit int, rows iter.Seq2[T, error], place func(*T) (at market.Arrival, ms int64)) (list []T, next market.ArrivalCursor, err error) {
	s := c.Search
	now, found, read := s.From, 0, 0 // how many of those that happened now were found
	for row, err := range rows {
		if err != nil {
			return nil, c, err
		}
		at, ms := place(&row)
		at = at.Or(ms)
		if market.ArrivalAt(time.UnixMilli(ms).Add(-ahead)) > s.To {
			break // as all that follow it arrived later
		}
		if ms != now {
			if now, found = ms, 0; read >= readMost {
				c.Search.From, c.Search.Skip = now, 0
				return list, c, nil
			}
		}
		read++
		if !c.Before(at) || at > s.To {
			continue
		}
		if ms == s.From && found < s.Skip {
			found++
			continue
		}
		if len(list) == limit {
			c.Search.From, c.Search.Skip = now, found
			return list, c, nil
		}
		found++
		list = append(list, row)
	}
	return list, c.Behind(s.To), nil
}

type placed[T any] struct {
	row T
	at  market.Arrival
}

// page is the events that arrived first, in that order.
type page[T any] struct {
	limit int
	list  []placed[T]
}

func (p *page[T]) full() bool { return len(p.list) == p.limit }

func (p *page[T]) last() market.Arrival { return p.list[len(p.list)-1].at }

// add puts an event in its place, where it has one: most come in order.
func (p *page[T]) add(one placed[T]) {
	i := len(p.list)
	for i > 0 && p.list[i-1].at > one.at {
		i--
	}
	if p.list = slices.Insert(p.list, i, one); len(p.list) > p.limit {
		p.list = p.list[:p.limit]
	}
}

// keep drops what arrived at a place or behind it.
func (p *page[T]) keep(before market.Arrival) {
	for len(p.list) > 0 && p.last() >= before {
		p.list = p.list[:len(p.list)-1]
	}
}
