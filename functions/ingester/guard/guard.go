// Package guard makes a panic an error, so that what hostile input breaks ends no more than
// the work that it broke: a source, a part of the feeds, a domain.
//
// What Go itself ends a process for, such as a map that two goroutines write, no memory, or
// no room on a stack, cannot be held so. Nor is a lock given back that is not given back by
// defer.
package guard

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"quotary/shared/text/visible"
)

const (
	mostValue = 200     // bytes of what is said of a panic: it may quote an upstream
	mostStack = 4 << 10 // bytes of its stack
)

// Crash is a panic that was caught.
type Crash struct {
	Value string // what it says, as an excerpt
	At    string // the function and line that panicked
	Stack string // from there on, 4 KB at most
}

// Error says what and where it was in one line.
func (c *Crash) Error() string { return "crashed: " + c.Value + " at " + c.At }

// Do returns what do returns, or a [*Crash] where it panics.
func Do(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = crash(value)
		}
	}()
	return do()
}

// crash describes the panic that the caller has caught.
func crash(value any) *Crash {
	c := &Crash{Value: visible.Excerpt(fmt.Sprint(value), mostValue), At: "an unknown place", Stack: string(debug.Stack())}
	if _, below, ok := strings.Cut(c.Stack, "\npanic("); ok { // above it is only who caught it
		c.Stack = "panic(" + below
	}
	c.Stack = c.Stack[:min(len(c.Stack), mostStack)]
	var pcs [64]uintptr
	frames, panicked := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])]), false
	for {
		frame, more := frames.Next()
		if frame.Function == "runtime.gopanic" {
			panicked = true
		} else if panicked && !strings.HasPrefix(frame.Function, "runtime.") {
			c.At = fmt.Sprintf("%s:%d", frame.Function, frame.Line)
			return c
		}
		if !more {
			return c
		}
	}
}

// Group is an [errgroup.Group] in which a panic is the error of its goroutine. The zero value
// can be used, and cancels nothing.
type Group struct {
	goroutines errgroup.Group
	cancel     context.CancelCauseFunc // nil cancels nothing
}

// WithContext returns a group, and a context that ends with the first error or with Wait.
func WithContext(ctx context.Context) (*Group, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	return &Group{cancel: cancel}, ctx
}

// Go runs do in a goroutine of its own.
func (g *Group) Go(do func() error) {
	g.goroutines.Go(func() error {
		err := Do(do)
		if err != nil && g.cancel != nil {
			g.cancel(err)
		}
		return err
	})
}

// SetLimit bounds how many goroutines run at a time, before the first one does: Go waits.
func (g *Group) SetLimit(n int) { g.goroutines.SetLimit(n) }

// Wait waits for the end of all goroutines, and returns the first error.
func (g *Group) Wait() error {
	err := g.goroutines.Wait()
	if g.cancel != nil {
		g.cancel(err)
	}
	return err
}

// Tasks is a [sync.WaitGroup] of which somebody hears when a task panics. The zero value has
// none.
type Tasks struct {
	running sync.WaitGroup
	made    sync.Once
	crashed chan error
}

func (t *Tasks) crashes() chan error {
	t.made.Do(func() { t.crashed = make(chan error, 1) })
	return t.crashed
}

// Go runs do in a goroutine of its own.
func (t *Tasks) Go(do func()) {
	t.running.Go(func() {
		err := Do(func() error { do(); return nil })
		if err == nil {
			return
		}
		select {
		case t.crashes() <- err:
		default: // one is known already
		}
	})
}

// Wait waits for the end of all tasks.
func (t *Tasks) Wait() { t.running.Wait() }

// Watch returns the crash of a task, or nil when ctx ends.
func (t *Tasks) Watch(ctx context.Context) error {
	select {
	case err := <-t.crashes():
		return err
	case <-ctx.Done():
		return nil
	}
}
