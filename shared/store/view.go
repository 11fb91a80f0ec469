package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// View keeps the last version of one view in memory and asks S3 for a newer
// one when that version has not been confirmed for a period. It is safe for
// concurrent use.
type View[T any] struct {
	views  *Views
	name   string
	period time.Duration
	now    func() time.Time
	decode func([]byte) (T, error)

	// patience is how long a call waits for S3 while it has an outdated version
	// that it may serve.
	patience time.Duration

	mu     sync.Mutex
	last   version[T]
	retry  time.Time     // after a failure: when S3 is asked again
	flight chan struct{} // closed when the request under way ends; nil when there is none
	failed error         // how the last request failed; nil when it succeeded
}

// version is a decoded view; the zero value stands for none.
type version[T any] struct {
	known     bool
	value     T
	etag      string
	confirmed time.Time // when S3 last said that this is the current version
}

// minOutdated is how long an outdated version is served at least.
const minOutdated = 30 * time.Second

// NewView returns the view of that name, which decode turns into a T. The
// clock is time.Now outside of tests.
func NewView[T any](views *Views, name string, period time.Duration, clock func() time.Time, decode func([]byte) (T, error)) *View[T] {
	return &View[T]{views: views, name: name, period: period, now: clock, decode: decode, patience: 250 * time.Millisecond}
}

// Get returns the current version. Callers share it and must not change it.
//
// Only one request to S3 runs at a time, and whoever needs its result waits for
// it or for the end of ctx. When S3 fails or is slow, or the new version does
// not decode, the version in memory is served for up to ten periods (at least
// 30 s) after it was last confirmed, and S3 is asked again a period later; after
// that, or when there is no version yet, Get returns the error: ErrNoView when
// the view was never published, which is believed for a period too.
func (v *View[T]) Get(ctx context.Context) (T, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for first := true; ; first = false {
		if v.fresh() {
			return v.last.value, nil
		}
		if errors.Is(v.failed, ErrNoView) && v.now().Before(v.retry) {
			var none T
			return none, v.failed
		}
		joined := v.flight != nil
		if err := v.await(ctx); err != nil && !v.served() {
			// A request that another call began may have died of old age, on an
			// instance that was frozen between two invocations: ask again once.
			if joined && first && ctx.Err() == nil {
				continue
			}
			var none T
			return none, err
		}
		return v.last.value, nil
	}
}

// await joins the request under way, or begins one, and returns its outcome.
// After nil there is a version. It unlocks v.mu while it waits. The request
// ends by itself at Fetch's deadline, also when nobody waits for it any more.
func (v *View[T]) await(ctx context.Context) error {
	if v.flight == nil {
		v.flight = make(chan struct{})
		go v.revalidate(context.WithoutCancel(ctx), v.flight, v.last.etag, v.now())
	}
	flight := v.flight
	var late <-chan time.Time // never, when there is nothing to serve instead
	if v.served() {
		timer := time.NewTimer(v.patience)
		defer timer.Stop()
		late = timer.C
	}
	v.mu.Unlock()
	var err error
	select {
	case <-flight:
	case <-late:
		err = fmt.Errorf("view %s: S3 has not answered for %v", v.name, v.patience)
	case <-ctx.Done():
		err = fmt.Errorf("wait for view %s: %w", v.name, context.Cause(ctx))
	}
	v.mu.Lock()
	if err != nil {
		v.retry = v.now().Add(v.period)
		return err
	}
	return v.failed
}

// fresh reports whether the version in memory is served without asking S3.
func (v *View[T]) fresh() bool {
	now := v.now()
	return v.last.known && now.Sub(v.last.confirmed) <= v.period ||
		v.served() && now.Before(v.retry)
}

// served reports whether the version in memory may be served when S3 gives none.
func (v *View[T]) served() bool {
	return v.last.known && v.now().Sub(v.last.confirmed) <= max(10*v.period, minOutdated)
}

func (v *View[T]) revalidate(ctx context.Context, flight chan struct{}, etag string, asked time.Time) {
	value, newETag, modified, err := v.fetch(ctx, etag)

	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case err != nil:
		v.retry = v.now().Add(v.period)
	case modified:
		v.last = version[T]{true, value, newETag, asked}
	default:
		v.last.confirmed = asked
	}
	v.failed = err
	v.flight = nil
	close(flight)
}

func (v *View[T]) fetch(ctx context.Context, etag string) (value T, newETag string, modified bool, err error) {
	body, newETag, modified, err := v.views.Fetch(ctx, v.name, etag)
	if err != nil || !modified {
		return value, newETag, false, err
	}
	if value, err = v.decode(body); err != nil {
		return value, "", false, fmt.Errorf("decode view %s: %w", v.name, err)
	}
	return value, newETag, true, nil
}

// OrZero makes of what [View.Get] returned the zero view where none was ever published.
func OrZero[T any](view T, err error) (T, error) {
	if errors.Is(err, ErrNoView) {
		return *new(T), nil
	}
	return view, err
}
