package guard

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// index panics as code does that trusts what an upstream says.
func index(list []int, i int) int { return list[i] }

// TestAPanicIsAnErrorThatSaysWhereItWas.
func TestAPanicIsAnErrorThatSaysWhereItWas(t *testing.T) {
	t.Parallel()
	var crash *Crash
	err := Do(func() error { index(nil, 3); return nil })
	if !errors.As(err, &crash) || !strings.Contains(err.Error(), "out of range [3]") || !strings.Contains(crash.At, "guard.") || !strings.Contains(crash.Stack, "guard_test.go") {
		t.Fatalf("it was %v, %+v", err, crash)
	}
	err = Do(func() error { panic(strings.Repeat("x\n", 1<<20)) })
	if !errors.As(err, &crash) || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\n") || len(crash.Stack) > mostStack {
		t.Errorf("a long panic is an error of %d bytes with a stack of %d", len(err.Error()), len(crash.Stack))
	}
	fault := errors.New("fault")
	if err := Do(func() error { return fault }); !errors.Is(err, fault) {
		t.Errorf("an error became %v", err)
	}
}

// TestAPanicEndsItsGroupAsAnErrorDoes.
func TestAPanicEndsItsGroupAsAnErrorDoes(t *testing.T) {
	t.Parallel()
	group, ctx := WithContext(t.Context())
	group.Go(func() error { <-ctx.Done(); return nil })
	group.Go(func() error { panic("here") })
	var crash *Crash
	if err := group.Wait(); !errors.As(err, &crash) || crash.Value != "here" || !errors.As(context.Cause(ctx), &crash) {
		t.Errorf("it ended with %v, its context with %v", err, context.Cause(ctx))
	}
}

// TestWhoWatchesTasksHearsOfAPanic.
func TestWhoWatchesTasksHearsOfAPanic(t *testing.T) {
	t.Parallel()
	var tasks Tasks
	for range 3 {
		tasks.Go(func() { panic("here") })
	}
	tasks.Wait()
	var crash *Crash
	if err := tasks.Watch(t.Context()); !errors.As(err, &crash) {
		t.Errorf("it heard of %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := new(Tasks).Watch(ended); err != nil {
		t.Errorf("without a panic it heard of %v", err)
	}
}
