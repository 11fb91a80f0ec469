// Package testclock gives tests a time that they move themselves, or that goes faster.
package testclock

import (
	"sync/atomic"
	"time"
)

// Clock is a time that stands still until a test moves it. Its zero value shows the
// beginning of 1970. It is safe for concurrent use.
type Clock struct{ ns atomic.Int64 }

// At returns a clock that shows a time.
func At(at time.Time) *Clock {
	c := new(Clock)
	c.ns.Store(at.UnixNano())
	return c
}

// Now returns the time, in UTC.
func (c *Clock) Now() time.Time { return time.Unix(0, c.ns.Load()).UTC() }

// Move moves the clock, back by a negative duration.
func (c *Clock) Move(d time.Duration) { c.ns.Add(int64(d)) }

// Running returns a clock that shows a time now and goes so many times as fast as the machine's:
// what rarely happens at a simulated upstream comes soon.
func Running(from time.Time, times int) func() time.Time {
	began := time.Now()
	return func() time.Time { return from.Add(time.Duration(times) * time.Since(began)) }
}
