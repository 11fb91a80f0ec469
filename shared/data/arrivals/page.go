package arrivals

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// ErrTooFar says that too much lies between what is late and a cursor to be read in one request.
var ErrTooFar = errors.New("too much was late since the cursor")

const (
	// readMost is how many rows a page reads at most.
	readMost = 20_000
	// ahead is how far the venue's clock may be ahead of the ingester's.
	ahead = time.Minute
	// settled is how long ago an event was stored that every reader finds.
	settled = 2 * time.Second
)

// Page is the events of one subject that arrived behind a cursor, in that order, at most limit of
// them, and the cursor behind them. Rows are read from the time on that is asked for, oldest
// first; place is when an event arrived, and ms when it happened. The error may be [ErrTooFar].
func Page[T any](ctx context.Context, s *store.Series, name string, c market.ArrivalCursor, limit int,
	rows func(from time.Time) iter.Seq2[T, error], place func(*T) (at market.Arrival, ms int64)) (list []T, next market.ArrivalCursor, err error) {
	since, err := Since(ctx, s, name, &c)
	if err != nil {
		return nil, c, err
	}
	until, err := Stored(ctx, s)
	if err != nil {
		return nil, c, err
	}
	until = min(until, market.ArrivalAt(until.When().Add(-settled)))
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
				return nil, c, ErrTooFar
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
		c.Fresh, c.Late = max(c.Fresh, p.last()), max(c.Late, p.last())
	}
	return list, c, nil
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
