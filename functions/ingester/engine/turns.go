package engine

import (
	"context"
	"log/slog"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/shared/backoff"
)

// turns consumes files that wait somewhere, one after another, until ctx ends. One
// that cannot be consumed is logged and tried again after a pause, longer each time,
// in which the others have their turn.
type turns struct {
	poll time.Duration // between two looks at what waits

	// next is the file whose turn it is, "" for none; ready reports whether one is not
	// to be left alone for now.
	next    func(ctx context.Context, ready func(name string) bool) (string, error)
	consume func(ctx context.Context, name string) error

	logger *slog.Logger
	what   string // a file, in log lines: "spooled file"
}

// turnRetries are the pauses of a file that cannot be consumed, and of a place that
// cannot be listed.
var turnRetries = backoff.Backoff{Min: 250 * time.Millisecond, Max: time.Minute}

// turnFailure is a file that could not be consumed.
type turnFailure struct {
	tries int
	until time.Time // not before which it is tried again
}

func (t *turns) run(ctx context.Context) error {
	failed := map[string]turnFailure{} // by file, "" for the place
	for {
		name, err := t.next(ctx, func(name string) bool { return !time.Now().Before(failed[name].until) })
		if err == nil && name != "" {
			err = guard.Do(func() error { return t.consume(ctx, name) })
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		pause := t.poll
		if err == nil {
			delete(failed, name)
		} else {
			tries := failed[name].tries
			pause = turnRetries.Delay(tries)
			failed[name] = turnFailure{tries + 1, time.Now().Add(pause)}
			t.logger.Error("cannot consume a "+t.what+"; trying again later", "file", name, "error", err.Error(), "in", pause.String())
		}
		if name != "" {
			continue // the others wait
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}
