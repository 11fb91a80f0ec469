package hub

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// timers calls functions at their time, one after the other.
type timers struct {
	wake chan struct{} // holds one: the earliest timer changed

	mu   sync.Mutex
	heap timerHeap
}

type timer struct {
	at   time.Time
	call func(now time.Time)
}

func (ts *timers) add(at time.Time, call func(now time.Time)) {
	t := &timer{at, call}
	ts.mu.Lock()
	heap.Push(&ts.heap, t)
	first := ts.heap[0] == t
	ts.mu.Unlock()
	if first {
		select {
		case ts.wake <- struct{}{}:
		default:
		}
	}
}

func (ts *timers) run(ctx context.Context) {
	clock := time.NewTimer(time.Hour)
	defer clock.Stop()
	for {
		clock.Reset(ts.runExpired())
		select {
		case <-clock.C:
		case <-ts.wake:
		case <-ctx.Done():
			return
		}
	}
}

// runExpired calls what has expired and returns how long there is nothing more to do.
func (ts *timers) runExpired() time.Duration {
	for {
		now := time.Now()
		ts.mu.Lock()
		if len(ts.heap) == 0 {
			ts.mu.Unlock()
			return time.Hour
		}
		if wait := ts.heap[0].at.Sub(now); wait > 0 {
			ts.mu.Unlock()
			return wait
		}
		t := heap.Pop(&ts.heap).(*timer)
		ts.mu.Unlock()
		t.call(now)
	}
}

// timerHeap is a heap.Interface with the earliest timer first.
type timerHeap []*timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)        { *h = append(*h, x.(*timer)) }

func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}
