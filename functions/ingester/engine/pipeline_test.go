package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestEverythingIsStoredAcrossRestarts stops a pipeline while its source speaks,
// and wants every word once.
func TestEverythingIsStoredAcrossRestarts(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	first := newPipeline(stores, say("source", "ant", "bee"))
	stop := run(t, first)
	testenv.Until(t, "two words", func() bool { return first.Stats.Events.Load() == 2 })
	must.Do(t, stop())
	second := newPipeline(stores, say("source", "ant", "bee", "ape"))
	stop = run(t, second)
	testenv.Until(t, "the third word", func() bool { return second.Stats.Events.Load() == 1 })
	must.Do(t, stop())
	if got := stored(t, stores, "vocabulary", "a"); got != "ant,ape" && got != "ape,ant" {
		t.Errorf("stored are %s", got)
	}
	if n := second.Stats.Events.Load(); n != 1 {
		t.Errorf("the second run took %d words: the checkpoint was not used", n)
	}
}

// TestTheStoresMayBeAway: nothing is lost while they refuse, and a stop ends.
func TestTheStoresMayBeAway(t *testing.T) {
	t.Parallel()
	tries := 0
	p := &Pipeline[*words]{Logger: quiet, Now: time.Now}
	err := p.retry(t.Context(), "test", func() error {
		if tries++; tries < 3 {
			return io.ErrUnexpectedEOF
		}
		if len(p.trouble.before(time.Now())) == 0 {
			t.Error("the trouble is not reported")
		}
		return nil
	})
	if err != nil || tries != 3 || len(p.trouble.before(time.Now())) != 0 {
		t.Fatalf("%v after %d tries", err, tries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.retry(ctx, "test", func() error { return io.ErrUnexpectedEOF }); err == nil {
		t.Fatal("it did not end")
	}
}

// TestWhatRunsBesideEndsThePipelineAndAfterIt.
func TestWhatRunsBesideEndsWithThePipeline(t *testing.T) {
	t.Parallel()
	p := newPipeline(newStores(t), say("source", "ant"))
	ended := false
	p.Beside = func(ctx context.Context) error {
		<-ctx.Done()
		ended = p.Stats.Flushed.Load() > 0
		return nil
	}
	stop := run(t, p)
	testenv.Until(t, "a word", func() bool { return p.Stats.Events.Load() == 1 })
	if err := stop(); err != nil || !ended {
		t.Errorf("it ended with %v, and what ran beside it before the last flush: %t", err, !ended)
	}
	fault := errors.New("fault")
	p = newPipeline(newStores(t), say("source", "ant"))
	p.Beside = func(context.Context) error { return fault }
	if err := p.Run(t.Context()); !errors.Is(err, fault) {
		t.Errorf("a fault beside it ended it with %v", err)
	}
}

// TestASourceThatFailsEndsThePipeline, when all that came before is stored.
func TestASourceThatFailsEndsThePipeline(t *testing.T) {
	t.Parallel()
	stores, fault := newStores(t), errors.New("fault")
	p := newPipeline(stores, Source[*words]{Name: "failing", Stats: new(source.Stats), Follow: func(ctx context.Context, _ Position, sink Sink[*words]) error {
		if err := sink(ctx, Delivery[*words]{Batch: &words{[]string{"ant"}}, Position: Position("1")}); err != nil {
			return err
		}
		return fault
	}})
	if err := p.Run(t.Context()); !errors.Is(err, fault) {
		t.Fatalf("it ended with %v", err)
	}
	if got := stored(t, stores, "vocabulary", "a"); got != "ant" {
		t.Errorf("stored is %q", got)
	}
}

// TestACheckpointThatNoStoreTakesEndsItsSourceAlone: what it said is stored, the other
// sources go on with their checkpoints, and a start again goes on from the last that was
// taken.
func TestACheckpointThatNoStoreTakesEndsItsSourceAlone(t *testing.T) {
	t.Parallel()
	stores, next := newStores(t), make(chan string)
	ended := make(chan struct{})
	hoarder := Source[*words]{Name: "hoarder", Stats: new(source.Stats), Follow: func(ctx context.Context, _ Position, sink Sink[*words]) error {
		defer close(ended)
		for _, one := range [][2]string{{"1", "ant"}, {strings.Repeat("9", 401<<10), "bee"}} {
			if err := sink.Store(ctx, Delivery[*words]{Batch: &words{[]string{one[1]}}, Position: Position(one[0])}); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	}}
	other := Source[*words]{Name: "other", Stats: new(source.Stats), Follow: func(ctx context.Context, _ Position, sink Sink[*words]) error {
		for {
			select {
			case word := <-next:
				if err := sink.Store(ctx, Delivery[*words]{Batch: &words{[]string{word}}, Position: Position(word)}); err != nil {
					return err
				}
				next <- ""
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}}
	p := newPipeline(stores, hoarder, other)
	stop := run(t, p)
	<-ended
	next <- "cat"
	<-next // it is stored
	s := p.Status()
	if got := s.failed(); !slices.Equal(got, []string{"hoarder"}) {
		t.Errorf("stopped are %q", got)
	}
	if err := stop(); err != nil {
		t.Fatalf("it ended with %v", err)
	}
	for letter, want := range map[string]string{"a": "ant", "b": "bee", "c": "cat"} {
		if got := stored(t, stores, "vocabulary", letter); got != want {
			t.Errorf("stored is %q, want %q", got, want)
		}
	}
	for name, want := range map[string]string{"hoarder": "1", "other": "cat"} {
		if got, err := stores.Series.Checkpoint(t.Context(), Checkpoint(p.Domain, name, "")); err != nil || string(got) != want {
			t.Errorf("%s stands at %.20q (%v), want %q", name, got, err, want)
		}
	}
}

// TestWhatASourceSaysWhenItIsToEndIsNoFault.
func TestWhatASourceSaysWhenItIsToEndIsNoFault(t *testing.T) {
	t.Parallel()
	p := newPipeline(newStores(t), Source[*words]{Name: "rude", Stats: new(source.Stats), NoCheckpoint: true, Follow: func(ctx context.Context, _ Position, sink Sink[*words]) error {
		if err := sink(ctx, Delivery[*words]{Batch: &words{[]string{"ant"}}}); err != nil {
			return err
		}
		<-ctx.Done()
		return errors.New("the connection was cut")
	}})
	stop := run(t, p)
	testenv.Until(t, "a word", func() bool { return p.Stats.Events.Load() == 1 })
	if err := stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
