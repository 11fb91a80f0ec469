package perp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/market"
)

// What a stream of a node's files holds is delivered by two sources. The one follows
// what happens now. Where it would begin more than pastAfter before the newest event,
// at the first start or after a long outage, it begins there instead, and leaves what
// happened before to the other, which gives way to all sources. Each has a checkpoint:
// that of the first is its place in the files, that of the second is which spans are
// still to be read. A span is saved before the first source goes on behind it, so that
// a crash between loses nothing, and read with a little more than itself, as every
// event may come twice.
const (
	// pastAfter is how far behind the newest event still is now. Feeds show what is older
	// as late only.
	pastAfter = 10 * time.Minute

	// pastEvents is the size of a delivery of the past: while it is written, what
	// happens now waits.
	pastEvents = 250
)

// span is a part of a stream that is still to be read.
type span struct {
	From hyperliquid.Position `json:"from"`
	To   int64                `json:"to"` // time of its newest event, ms
}

// split divides a stream between its two sources.
type split struct {
	live, past *hyperliquid.Files
	log        *slog.Logger
	show       func(ctx context.Context, e *market.Events, until int64) // the feeds what was missed; nil for nobody

	missed chan *span    // what the first leaves to the second; nil is nothing
	kept   chan struct{} // closed when that is saved
}

func (c Config) split(stream string, files *hyperliquid.Files) *split {
	past := *files
	past.Stats, past.Most = new(source.Stats), pastEvents
	return &split{live: files, past: &past, log: c.Logger.With("source", stream), missed: make(chan *span, 1), kept: make(chan struct{})}
}

// follow follows what happens now.
func (s *split) follow(ctx context.Context, from hyperliquid.Position, sink hyperliquid.Sink) error {
	end, err := s.live.End()
	if err != nil {
		s.log.Warn("cannot find the end of a stream; reading all of it in order", "error", err.Error())
	}
	if end.Time-from.Time <= pastAfter.Milliseconds() {
		s.missed <- nil
		return s.live.Follow(ctx, from, sink)
	}
	s.log.Info("following from the end; what happened before is read beside", "from", from.File, "offset", from.Offset, "end", end.File)
	s.missed <- &span{from, end.Time}
	select {
	case <-s.kept:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := sink(ctx, hyperliquid.Delivery{Position: end}); err != nil {
		return err
	}
	return s.live.Follow(ctx, end, sink)
}

// readPast delivers what is left of the past, and then nothing more until ctx ends.
func (s *split) readPast(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	var spans []span
	if from != nil {
		if err := json.Unmarshal(from, &spans); err != nil {
			return fmt.Errorf("read the spans of a stream's past: %w", err)
		}
	}
	select {
	case missed := <-s.missed:
		if missed != nil {
			spans = addSpan(spans, *missed)
			if err := deliver(ctx, sink, spans, engine.Delivery[*Batch]{}, true); err != nil {
				return err
			}
		}
		close(s.kept)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	had := len(spans) > 0
	for len(spans) > 0 {
		err := s.past.ReadPast(ctx, spans[0].From, spans[0].To, func(ctx context.Context, d hyperliquid.Delivery) error {
			spans[0].From = d.Position
			if s.show != nil {
				s.show(ctx, &d.Events, spans[0].To)
			}
			return deliver(ctx, sink, spans, engine.Delivery[*Batch]{Batch: &Batch{Events: d.Events, Stored: true, Past: true}}, false)
		})
		if err != nil {
			return err
		}
		spans = spans[1:]
	}
	if had {
		if err := deliver(ctx, sink, spans, engine.Delivery[*Batch]{PastRead: true}, true); err != nil {
			return err
		}
	} else if err := sink(ctx, engine.Delivery[*Batch]{PastRead: true}); err != nil {
		return err
	}
	s.past.Stats.Backlog.Store(0)
	<-ctx.Done()
	return context.Cause(ctx)
}

// addSpan adds what was missed. Where the last span ends behind its beginning, the
// first source did not get so far as to save where it went on: what is left of that
// span then begins what was missed.
func addSpan(spans []span, missed span) []span {
	if n := len(spans); n > 0 && missed.From.Time <= spans[n-1].To {
		spans[n-1].To = max(spans[n-1].To, missed.To)
		return spans
	}
	return append(spans, missed)
}

// deliver passes on what was read and which spans are left; if asked, it returns when
// that is stored.
func deliver(ctx context.Context, sink engine.Sink[*Batch], spans []span, d engine.Delivery[*Batch], stored bool) error {
	position, err := json.Marshal(spans)
	if err != nil {
		return fmt.Errorf("encode the spans of a stream's past: %w", err)
	}
	d.Position = position
	if stored {
		return sink.Store(ctx, d)
	}
	return sink(ctx, d)
}
