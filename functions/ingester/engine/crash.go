package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/shared/backoff"
)

// followSource follows a source from a position. One that panics alone is begun again, after
// a pause, behind what it has delivered last: nothing of that is lost, as it is in a queue,
// and the others go on meanwhile. What is in several parts finds its own places.
func (p *Pipeline[B]) followSource(ctx context.Context, s Source[B], from Position, queue chan<- message[B]) error {
	var mu sync.Mutex // of what follows: a source may have several goroutines
	pastRead := false
	sink := func(ctx context.Context, d Delivery[B]) error {
		m := message[B]{source: s.Name, batch: d.Batch, consumed: d.Stored, background: s.Background, until: d.Until, missing: d.Missing}
		if d.PastRead {
			mu.Lock()
			m.pastRead, pastRead = !pastRead, true
			mu.Unlock()
		}
		if d.Spoken {
			m.spoken = s.Brings
		}
		if d.Position != nil {
			m.checkpoint, m.position = Checkpoint(p.Domain, s.Name, d.Part), d.Position
		}
		if err := enqueue(ctx, queue, m); err != nil {
			return err
		}
		if d.Position != nil && d.Part == "" {
			mu.Lock()
			from = d.Position
			mu.Unlock()
		}
		return nil
	}
	said := ""
	for crashes := 0; ; crashes++ {
		began := time.Now()
		err := guard.Do(func() error { return s.Follow(ctx, from, sink) })
		crash := new(guard.Crash)
		if !errors.As(err, &crash) || ctx.Err() != nil {
			return err
		}
		if time.Since(began) > failuresForgotten {
			crashes = 0
		}
		s.Stats.Crashes.Add(1)
		s.Stats.Crashed.Store(p.Now().UnixMilli())
		pause := restarts.Delay(crashes)
		if said != crash.Error() { // the same again is counted
			said = crash.Error()
			p.Logger.Error("a source crashed; beginning it again", "source", s.Name, "error", said, "stack", crash.Stack, "in", pause.String())
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}
