package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quotary/shared/backoff"
)

func TestTheCeilingDoublesUpToTheLongest(t *testing.T) {
	t.Parallel()
	b := backoff.Backoff{Min: 100 * time.Millisecond, Max: time.Second}
	for try, ceiling := range map[int]time.Duration{
		0: 100 * time.Millisecond, 1: 200 * time.Millisecond, 3: 800 * time.Millisecond, 4: time.Second, 29: time.Second, 1 << 40: time.Second,
	} {
		for range 200 {
			if d := b.Delay(try); d < ceiling/4 || d >= ceiling {
				t.Fatalf("pause after try %d is %s, want between %s and %s", try, d, ceiling/4, ceiling)
			}
		}
	}
}

func TestAPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("no more")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		began := time.Now()
		if err := backoff.Sleep(ctx, time.Hour); !errors.Is(err, why) || time.Since(began) != time.Second {
			t.Errorf("%v after %s, want why the context ended after 1s", err, time.Since(began))
		}
		if err := backoff.Sleep(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute+time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := (backoff.Backoff{Min: time.Second, Max: time.Minute}).Wait(ctx, 0); !errors.Is(err, why) {
			t.Errorf("%v although the context has ended", err)
		}
	})
}
