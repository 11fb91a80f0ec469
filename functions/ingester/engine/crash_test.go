package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// crashing is a source of words that panics before the second one as often as it is told, in a
// goroutine of its own or not.
func crashing(times int, aside bool) Source[*words] {
	left := new(atomic.Int64)
	left.Store(int64(times))
	speak := func(ctx context.Context, from Position, sink Sink[*words]) error {
		if from == nil {
			if err := sink(ctx, Delivery[*words]{Batch: &words{[]string{"ant"}}, Position: Position("1"), PastRead: true}); err != nil {
				return err
			}
		}
		if left.Add(-1) >= 0 {
			panic("a word without letters")
		}
		if err := sink(ctx, Delivery[*words]{Batch: &words{[]string{"ape"}}, Position: Position("2"), PastRead: true}); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return Source[*words]{Name: "crashing", Group: "crashing", Past: true, Stats: new(source.Stats), Follow: func(ctx context.Context, from Position, sink Sink[*words]) error {
		if !aside {
			return speak(ctx, from, sink)
		}
		group, ctx := guard.WithContext(ctx)
		group.Go(func() error { return speak(ctx, from, sink) })
		return group.Wait()
	}}
}

// TestASourceThatPanicsIsBegunAgainAlone: behind what it has delivered, while the others go on,
// and it is counted and said.
func TestASourceThatPanicsIsBegunAgainAlone(t *testing.T) {
	t.Parallel()
	for name, aside := range map[string]bool{"in Follow": false, "in a goroutine of its own": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			stores := newStores(t)
			p := newPipeline(stores, crashing(2, aside), say("other", "bee"))
			p.Logger = slog.New(slog.NewTextHandler(&log, nil))
			stop := run(t, p)
			testenv.Until(t, "all words", func() bool { return p.Stats.Events.Load() == 3 })
			s := p.Status()
			if got := s.crashed(time.Now()); !slices.Equal(got, []string{"crashing"}) || s.Sources[0].Stats.Crashes.Load() != 2 {
				t.Errorf("crashed are %q, %d times", got, s.Sources[0].Stats.Crashes.Load())
			}
			if got := s.crashed(time.Now().Add(failuresForgotten)); len(got) > 0 {
				t.Errorf("later crashed are %q", got)
			}
			if s.PastLeft != 0 {
				t.Errorf("%d sources are left with a past", s.PastLeft)
			}
			must.Do(t, stop())
			for first, want := range map[string][2]string{"a": {"ant,ape", "ape,ant"}, "b": {"bee", "bee"}} {
				if got := stored(t, stores, "vocabulary", first); got != want[0] && got != want[1] {
					t.Errorf("stored are %q, want %q", got, want[0])
				}
			}
			if n := strings.Count(log.String(), "a source crashed"); n != 1 || !strings.Contains(log.String(), "crash_test.go") {
				t.Errorf("it was logged %d times: %.500s", n, log.String())
			}
		})
	}
}

// poisoned is a vocabulary that panics on a word, at one of its methods.
type poisoned struct {
	*vocabulary
	at string
}

func (v poisoned) meet(at string, w *words) {
	if v.at == at && slices.Contains(w.list, "bee") {
		panic("a word with a sting")
	}
}

func (v poisoned) Prefetch(w *words, r *Reads) {
	v.meet("Prefetch", w)
	v.vocabulary.Prefetch(w, r)
}

func (v poisoned) Apply(w *words, r *Reads, now time.Time) error {
	v.meet("Apply", w)
	return v.vocabulary.Apply(w, r, now)
}

// TestAProjectionThatPanicsEndsItsDomainAndLosesNothing: what it could not fold comes again.
func TestAProjectionThatPanicsEndsItsDomainAndLosesNothing(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"Prefetch", "Apply"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			stores := newStores(t)
			p := newPipeline(stores, say("source", "ant", "bee"))
			p.Projections = []Projection[*words]{poisoned{newVocabulary("vocabulary"), at}}
			var crash *guard.Crash
			if err := p.Run(t.Context()); !errors.As(err, &crash) || crash.Value != "a word with a sting" {
				t.Fatalf("it ended with %v", err)
			}
			mended := newPipeline(stores, say("source", "ant", "bee"))
			stop := run(t, mended)
			testenv.Until(t, "the words", func() bool { return stored(t, stores, "vocabulary", "b") == "bee" })
			must.Do(t, stop())
			if got := stored(t, stores, "vocabulary", "a"); got != "ant" {
				t.Errorf("stored is %q", got)
			}
		})
	}
}
