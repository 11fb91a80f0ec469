package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
)

// Replay hands a recorded file of fills to the running ingester and waits until
// all of its rows can be read.
type Replay struct {
	Stores Stores
	Spool  Spool
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
	name, err := contentName(path)
	if err != nil {
		return Counts{}, err
	}
	at, err := readSpoolPosition(ctx, r.Stores.Series.Checkpoint, name)
	if err != nil {
		return Counts{}, err
	}
	if at.Done {
		// Replayed before: if its rows are still there, nothing is to be done.
		counts, err := r.verify(ctx, path)
		if err != nil || counts.Missing == 0 {
			return counts, err
		}
		fmt.Fprintf(r.Out, "%d rows of an earlier replay are gone; replaying again\n", counts.Missing)
		if err := r.Stores.Series.SaveCheckpoint(ctx, spoolSource(name), encode(spoolPosition{})); err != nil {
			return counts, err
		}
	}
	if _, err := r.Spool.add(path); err != nil {
		return Counts{}, err
	}
	if err := r.await(ctx, name); err != nil {
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
func (r *Replay) await(ctx context.Context, name string) error {
	idle := r.Idle
	if idle == 0 {
		idle = replayIdle
	}
	var last spoolPosition
	var failure error
	deadline := time.Now().Add(idle)
	for {
		at, err := readSpoolPosition(ctx, r.Stores.Series.Checkpoint, name)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted; the same command goes on from here: %w", context.Cause(ctx))
		case err != nil:
			failure = err
		case at.Done:
			return nil
		case at != last:
			last, deadline = at, time.Now().Add(idle)
			fmt.Fprintf(r.Out, "consumed %d bytes\n", at.Offset)
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("the ingester made no progress for %s: is it running? The same command goes on from here", idle), failure)
		}
		select {
		case <-ctx.Done():
		case <-time.After(replayPoll):
		}
	}
}

// verify looks for the row of every fill of the file, and counts. A file without
// a single fill is an error.
func (r *Replay) verify(ctx context.Context, path string) (Counts, error) {
	var counts Counts
	var stats hyperliquid.Stats
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
