package source

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"quotary/shared/backoff"
)

// pollRetries are the pauses after polls that failed, behind those of the host.
var pollRetries = backoff.Backoff{Min: time.Second, Max: 5 * time.Minute}

// Poll asks at once and then every so often, until ctx ends or ask returns an error of
// the sink ([OfSink]), which it returns. Any other error is logged with what was asked
// for, and it asks again after a pause that grows up to every.
func Poll(ctx context.Context, every time.Duration, log *slog.Logger, what string, ask func(context.Context) error) error {
	for try := 0; ; try++ {
		err := ask(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		pause := every
		switch {
		case err == nil:
			try = -1
		case SinkError(err) != nil:
			return SinkError(err)
		default:
			log.Warn("cannot ask for "+what+"; trying again", "error", err.Error())
			pause = min(pause, pollRetries.Delay(try))
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// PollEach is a [Poll] that asks for each of some things. Where some of them fail the others
// were asked for, and are asked for again after every; where all do, after a pause.
func PollEach[T any](ctx context.Context, every time.Duration, log *slog.Logger, what string, all []T, ask func(context.Context, T) error) error {
	return Poll(ctx, every, log, what, func(ctx context.Context) error {
		var failed []error
		for _, one := range all {
			err := ask(ctx, one)
			if SinkError(err) != nil || ctx.Err() != nil {
				return err
			}
			if err != nil {
				failed = append(failed, err)
			}
		}
		err := errors.Join(failed...)
		if len(failed) == 0 || len(failed) == len(all) {
			return err
		}
		log.Warn("cannot ask for some of "+what, "error", err.Error())
		return nil
	})
}
