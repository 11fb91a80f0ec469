package source

import (
	"context"
	"sync"

	"quotary/shared/market"
)

// eventQueue holds events between the goroutines that add them and the one that delivers
// them. It takes no more while it is full.
type eventQueue struct {
	most int // events; one addition may exceed it

	mu     sync.Mutex
	events *market.PairEvents

	filled chan struct{} // holds a token when there may be events
	taken  chan struct{} // holds a token when there may be room
}

func newEventQueue(most int) *eventQueue {
	return &eventQueue{most: most, events: new(market.PairEvents), filled: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
}

// add appends a copy of events, and then waits while the queue is full.
func (q *eventQueue) add(ctx context.Context, events *market.PairEvents) error {
	if events.Len() == 0 {
		return nil
	}
	q.mu.Lock()
	q.events.Merge(events)
	full := q.events.Len() >= q.most
	q.mu.Unlock()
	signal(q.filled)
	for full {
		select {
		case <-q.taken:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		q.mu.Lock()
		full = q.events.Len() >= q.most
		q.mu.Unlock()
		if !full {
			signal(q.taken) // another may wait too
		}
	}
	return nil
}

// next returns all events that have come since the last call, at least one.
func (q *eventQueue) next(ctx context.Context) (*market.PairEvents, error) {
	for {
		select {
		case <-q.filled:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if events := q.rest(); events.Len() > 0 {
			signal(q.taken)
			return events, nil
		}
	}
}

// rest returns what nobody has taken.
func (q *eventQueue) rest() *market.PairEvents {
	q.mu.Lock()
	defer q.mu.Unlock()
	events := q.events
	q.events = new(market.PairEvents)
	return events
}

// signal leaves a token where there is none.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
