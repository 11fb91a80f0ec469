package hyperliquid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
)

// Streams are the folders below a node's data in which it writes fills: one
// line a block, or one line a fill, as the node is configured.
var Streams = [...]string{BlockStream, "node_fills"}

// BlockStream is that with a line for each block, one without fills too.
const BlockStream = "node_fills_by_block"

// Files follows one stream of a node: the files <Dir>/YYYYMMDD/H, hour by hour,
// each line by line while it grows. Neither Dir nor any file needs to exist yet.
type Files struct {
	Dir   string // e.g. /data/node_fills_by_block/hourly
	Stats *Stats
	Log   *slog.Logger
	Poll  time.Duration // between looks at the files; 0 means 100 ms

	// Read appends the events of one line, and returns how many parts of it
	// could not be read, with the first error; nil reads fills.
	Read func(e *market.Events, line string, offset int64) (skipped int, err error)

	// Most is how many events a delivery has before it ends with the line that brought
	// the last; 0 means 1,000.
	Most int

	// Coins are those of which there may be events, which its other files share; nil is any.
	Coins *Names

	// Holes notes the hours in which blocks are missing, before anything behind these is delivered; nil looks for none. It is
	// of a stream that has a line for each block.
	Holes func(ctx context.Context, hours []string) error

	ends bool // following ends at the end of what is there
}

// finishAfter is how many polls a half-written last line may take once the next
// hour's file is there.
const finishAfter = 20

// Follow delivers all fills after from, oldest first, and then those that come.
// It ends with ctx or with an error of the sink.
func (f *Files) Follow(ctx context.Context, from Position, sink Sink) error {
	at := from
	for {
		next, err := f.file(ctx, at, sink)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if ended := source.SinkError(err); ended != nil {
			return ended
		}
		if errors.Is(err, errEnd) {
			return nil
		}
		if err != nil {
			f.Log.Error("cannot read the node's files; trying again", "file", at.File, "error", err.Error())
			if err := backoff.Sleep(ctx, 10*f.poll()); err != nil {
				return err
			}
		}
		at = next
	}
}

// final returns the error that ends a source whose last round came to err: the
// sink's, or the context's. Nil means that the source continues.
func final(ctx context.Context, err error) error {
	if ended := source.SinkError(err); ended != nil {
		return ended
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (f *Files) poll() time.Duration { return cmp.Or(f.Poll, 100*time.Millisecond) }

// file reads one file until the next one replaces it, and returns where to
// continue, also after an error.
func (f *Files) file(ctx context.Context, at Position, sink Sink) (Position, error) {
	// Reading continues behind what the sink accepted, whatever happens then.
	accepted := at
	take := func(ctx context.Context, d Delivery) error {
		if err := sink(ctx, d); err != nil {
			return source.OfSink(err)
		}
		accepted = d.Position
		return nil
	}
	file, err := f.open(at)
	if errors.Is(err, fs.ErrNotExist) {
		if at.Offset > 0 {
			if other, err := f.resume(at); err != nil || other.File != "" {
				return other, err
			}
		}
		return f.await(ctx, at)
	}
	if err != nil {
		return at, err
	}
	defer file.Close()
	if same, err := isRead(file, at); err != nil {
		return at, err
	} else if !same {
		return f.resume(at)
	}
	if _, err := file.Seek(at.Offset, io.SeekStart); err != nil {
		return at, fmt.Errorf("seek in %s: %w", at.File, err)
	}
	l := &lines{r: file, max: maxLine, offset: at.Offset}
	c := &collector{name: at.File, stats: f.Stats, log: f.Log, now: time.Now, read: f.Read, most: f.Most, coins: f.Coins, newest: at.Time, holes: blockHoles{note: f.Holes, block: at.Block}}
	next, err := f.readToEnd(ctx, l, c, take)
	if err != nil {
		return accepted, err
	}
	return Position{File: next, Time: c.newest, Block: c.holes.block}, nil
}

// readToEnd reads a file while it grows. It returns the next file once the node
// has begun it.
func (f *Files) readToEnd(ctx context.Context, l *lines, c *collector, sink Sink) (next string, err error) {
	for polls := 0; ; {
		if err := c.drain(ctx, l, sink); err != nil {
			return "", err
		}
		next, err := f.after(c.name)
		if err != nil {
			return "", err
		}
		if next != "" {
			// The node began another hour: what it wrote before that is all
			// there is, but it may have come after our last look.
			size := l.seen()
			if err := c.drain(ctx, l, sink); err != nil {
				return "", err
			}
			if polls++; l.seen() > size {
				polls = 0
			}
			if len(l.buf) == l.from || polls > finishAfter {
				start := l.offset
				c.add(l.rest(), start)
				return next, c.flush(ctx, l.offset, sink)
			}
		}
		if f.ends && next == "" {
			return "", errEnd
		}
		if err := backoff.Sleep(ctx, f.poll()); err != nil {
			return "", err
		}
	}
}

func (f *Files) open(at Position) (*os.File, error) {
	if at.File == "" {
		return nil, fs.ErrNotExist
	}
	return os.Open(filepath.Join(f.Dir, filepath.FromSlash(at.File)))
}

// await waits for the first file after a position whose file is not there: at
// the very start, or when it has been deleted since.
func (f *Files) await(ctx context.Context, at Position) (Position, error) {
	for {
		next, err := f.after(at.File)
		if err != nil {
			return at, err
		}
		if next != "" {
			if at.File != "" {
				f.Log.Warn("a file that was being read is gone; continuing with the next", "file", at.File, "next", next)
			}
			return Position{File: next, Time: at.Time, Block: at.Block}, nil
		}
		if f.ends {
			return at, errEnd
		}
		if err := backoff.Sleep(ctx, f.poll()); err != nil {
			return at, err
		}
		if file, err := f.open(at); err == nil {
			file.Close()
			return at, nil
		}
	}
}
