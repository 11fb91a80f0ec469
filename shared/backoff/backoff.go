// Package backoff pauses between the tries of something that failed: longer each
// time, by chance, so that many who failed together do not come back together,
// and never longer than a context.
//
//	pauses := backoff.Backoff{Min: 50 * time.Millisecond, Max: 5 * time.Second}
//	for try := 0; ; try++ {
//		err := send(ctx)
//		if err == nil || !temporary(err) {
//			return err
//		}
//		if err := pauses.Wait(ctx, try); err != nil {
//			return err
//		}
//	}
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff is how long to wait after a failed try: a random part, at least a
// quarter, of a ceiling that doubles from Min to Max.
type Backoff struct {
	Min, Max time.Duration // above 0, Min at most a few seconds
}

// Delay returns the pause after a failed try, where the first try is 0.
func (b Backoff) Delay(try int) time.Duration {
	ceiling := b.Max
	if try < 30 {
		ceiling = min(b.Min<<try, b.Max)
	}
	return ceiling/4 + rand.N(ceiling-ceiling/4)
}

// Wait pauses after a failed try, where the first try is 0. The error is why ctx
// ended, if it ended first.
func (b Backoff) Wait(ctx context.Context, try int) error { return Sleep(ctx, b.Delay(try)) }

// Sleep waits for d, or until ctx ends; the error is then why it ended.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
