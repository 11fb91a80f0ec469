package perp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/backoff"
	"quotary/shared/data/fills"
	"quotary/shared/market"
)

// newSpool is the spool of recorded files of fills.
func newSpool(stores engine.Stores, dir string) *engine.Spool[*Batch] {
	stats, quiet := new(source.Stats), slog.New(slog.DiscardHandler)
	s := &engine.Spool[*Batch]{Domain: Name, Dir: dir, Series: stores.Series, Stats: stats, Logger: quiet}
	s.Read = func(ctx context.Context, path string, from engine.Position, sink engine.Sink[*Batch]) error {
		return follow(func(ctx context.Context, at hyperliquid.Position, sink hyperliquid.Sink) error {
			return hyperliquid.ReadFile(ctx, path, filepath.Base(path), at.Offset, stats, s.Logger, sink)
		})(ctx, from, func(ctx context.Context, d engine.Delivery[*Batch]) error {
			if d.Batch != nil {
				d.Batch.Past = true
			}
			return sink(ctx, d)
		})
	}
	return s
}

// Replay passes a recorded file of fills to the running ingester and waits until
// all of its rows can be read.
type Replay struct {
	Stores engine.Stores
	Dir    string        // of the spool
	Out    io.Writer     // for the person who waits
	Idle   time.Duration // without progress for this long it gives up; 0 means two minutes
}

// Counts is what a file holds.
type Counts struct {
	Lines, Fills, Trades, Malformed int64
	Missing                         int // distinct fills whose row cannot be read
}

const (
	replayPoll = 100 * time.Millisecond
	replayIdle = 2 * time.Minute
)

// Run replays the file at path. However it ends, running it again goes on where
// the ingester stands; a file that was replayed before is only verified.
func (r *Replay) Run(ctx context.Context, path string) (Counts, error) {
	if err := readable(path); err != nil {
		return Counts{}, err
	}
	spool := newSpool(r.Stores, r.Dir)
	nth := 1
	for ; ; nth++ {
		name, err := engine.SpoolName(path, nth)
		if err != nil {
			return Counts{}, err
		}
		at, err := spool.Progress(ctx, name)
		if err != nil {
			return Counts{}, err
		}
		if !at.Done {
			break
		}
		if nth > 1 {
			continue // it was replayed again since
		}
		counts, err := r.verify(ctx, path)
		if err != nil || counts.Missing == 0 {
			return counts, err
		}
		fmt.Fprintf(r.Out, "%d rows of an earlier replay are gone; replaying again\n", counts.Missing)
	}
	name, err := spool.Add(path, nth)
	if err != nil {
		return Counts{}, err
	}
	if err := r.await(ctx, spool, name); err != nil {
		return Counts{}, err
	}
	counts, err := r.verify(ctx, path)
	if err == nil && counts.Missing > 0 {
		err = fmt.Errorf("%d fills of the file cannot be read back", counts.Missing)
	}
	return counts, err
}

func readable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("replay: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("replay: %s is no file", path)
	case info.Size() == 0:
		return fmt.Errorf("replay: %s is empty", path)
	}
	return nil
}

// await waits until the ingester has consumed the file. It waits as long as that
// makes progress, and for a while longer, as the ingester may be starting again.
func (r *Replay) await(ctx context.Context, spool *engine.Spool[*Batch], name string) error {
	idle := r.Idle
	if idle == 0 {
		idle = replayIdle
	}
	var last int64
	var failure error
	deadline := time.Now().Add(idle)
	for {
		at, err := spool.Progress(ctx, name)
		offset := offsetOf(at)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted; the same command goes on from here: %w", context.Cause(ctx))
		case err != nil:
			failure = err
		case at.Done:
			return nil
		case offset != last:
			last, deadline = offset, time.Now().Add(idle)
			fmt.Fprintf(r.Out, "consumed %d bytes\n", offset)
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("the ingester made no progress for %s: is it running? The same command goes on from here", idle), failure)
		}
		_ = backoff.Sleep(ctx, replayPoll) // the next look says why ctx ended
	}
}

// offsetOf is how many bytes of a file have been consumed.
func offsetOf(at engine.SpoolProgress) int64 {
	var position hyperliquid.Position
	if len(at.At) > 0 && json.Unmarshal(at.At, &position) != nil {
		return 0
	}
	return position.Offset
}

// verify looks for the row of every fill of the file, and counts. A file without
// a single fill is an error.
func (r *Replay) verify(ctx context.Context, path string) (Counts, error) {
	var counts Counts
	var stats source.Stats
	err := hyperliquid.ReadFile(ctx, path, path, 0, &stats, slog.New(slog.DiscardHandler), func(ctx context.Context, d hyperliquid.Delivery) error {
		list := d.Events.Fills
		counts.Fills += int64(len(list))
		counts.Trades += int64(len(market.AppendTrades(nil, list)))
		missing, err := fills.Missing(ctx, r.Stores.Log, list)
		counts.Missing += missing
		return err
	})
	counts.Lines, counts.Malformed = stats.Lines.Load(), stats.Malformed.Load()
	if err == nil && counts.Fills == 0 {
		err = fmt.Errorf("%s holds no fill: %d of %d lines could not be read", path, counts.Malformed, counts.Lines)
	}
	return counts, err
}
