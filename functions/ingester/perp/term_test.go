package perp

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

// TestAPipelineEndsWithItsTerm has another ingester take the lease while a
// source has more than the pipeline takes: it ends, and so does the
// source, without a stop from outside.
func TestAPipelineEndsWithItsTerm(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t)
	stores := engine.Stores{Log: s.Log, Series: s.Series, Views: s.Views}
	list := readFills(t, recording)
	hold := func(ctx context.Context, work func(context.Context, *lease.Term) error) error {
		l := &lease.Lease{DB: s.DB, Table: s.Prefix + schema.SeriesTable, Name: "ingester", Owner: "one", Timing: lease.Standard, Log: quiet}
		return l.Hold(ctx, work)
	}
	wrote, ended := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		ended <- hold(context.Background(), func(ctx context.Context, term *lease.Term) error {
			p := newPipeline(stores.Under(term))
			p.Term = term
			p.Sources = []engine.Source[*Batch]{{Name: "endless", Stats: new(source.Stats),
				Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
					for n := 0; ; n++ {
						d := engine.Delivery[*Batch]{Batch: &Batch{Events: market.Events{Fills: list[n%len(list):][:1:1]}}, Position: engine.Position(mustJSON(n))}
						if err := sink(ctx, d); err != nil {
							return err
						}
						if p.Stats.Flushed.Load() > 0 {
							once.Do(func() { close(wrote) })
						}
					}
				}}}
			err := p.Run(ctx)
			if !errors.Is(err, lease.ErrLost) && !errors.Is(err, store.ErrFenced) {
				t.Errorf("the pipeline ended with %v", err)
			}
			return err
		})
	}()
	select {
	case <-wrote:
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing was written within five minutes")
	}
	err := hold(t.Context(), func(ctx context.Context, term *lease.Term) error { // of the same name: it takes it at once
		next := stores.Under(term)
		if _, err := next.Series.ClaimCheckpoint(ctx, engine.Checkpoint(Name, "endless", "")); err != nil {
			t.Error(err)
		}
		if err := <-ended; err == nil {
			t.Error("the first ingester did not notice")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
