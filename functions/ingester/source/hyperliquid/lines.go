package hyperliquid

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/shared/market"
	"quotary/shared/text/visible"
	"quotary/shared/upstream"
	"quotary/shared/venue/wire"
)

// lineBounds are those of a line, above largeFrame: each hour one has what every account paid
// for every coin.
var lineBounds = upstream.Bounds{Bytes: maxLine, Rows: 1_000_000}

// readLine has the events of a line read, unless it has more rows than any. Nil reads fills. One
// that makes its reader panic cannot be read either: else the file would end there for good.
func readLine(read func(*market.Events, string, int64) (int, error), e *market.Events, line []byte, offset int64) (skipped int, err error) {
	if len(line) > largeFrame {
		if err := lineBounds.CheckRows(line); err != nil {
			return 1, err
		}
	}
	if read == nil {
		read = readFills
	}
	err = guard.Do(func() error {
		skipped, err = read(e, string(line), offset)
		return err
	})
	if crash := new(guard.Crash); errors.As(err, &crash) {
		skipped++
	}
	return skipped, err
}

var errBlock = errors.New("a block is larger than any has been")

const (
	// maxLine bounds a line. Only one with what every account paid for every coin comes near it:
	// some 165 bytes a position, of some 300,000.
	maxLine = 64 << 20
	// maxBlock bounds all other lines. The largest block that is known, of the liquidations of
	// 10 October 2025, has 23,267 fills, of up to 550 bytes: 13 MB.
	maxBlock = 32 << 20
	// chunk is how much is read at once.
	chunk = 256 << 10
	// A delivery ends with the line that brings it over one of these.
	deliveryEvents = 1000
	deliveryBytes  = 1 << 20
)

// lines cuts a growing file into lines. It keeps a line that is not complete
// yet, and skips one that is too long.
type lines struct {
	r        io.Reader
	max      int
	buf      []byte
	from     int   // start of what is not returned yet, in buf
	scanned  int   // no line break before this, in buf
	offset   int64 // of buf[from] in the file
	skipping bool  // inside a line that is too long
	tooLong  int64 // lines that were
}

// next returns the next complete line without its break; io.EOF means that
// there is none yet. The line is valid until the next call.
func (l *lines) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.scanned:], '\n'); i >= 0 {
			end := l.scanned + i
			line, skip := l.buf[l.from:end], l.skipping
			l.offset += int64(end + 1 - l.from)
			l.from, l.scanned, l.skipping = end+1, end+1, false
			if skip {
				continue
			}
			return line, nil
		}
		l.scanned = len(l.buf)
		if l.scanned-l.from > l.max || l.skipping {
			if !l.skipping {
				l.tooLong++
			}
			l.skipping = true
			l.offset += int64(l.scanned - l.from)
			l.from = l.scanned
		}
		if err := l.more(); err != nil {
			return nil, err
		}
	}
}

// more reads another chunk behind what is kept.
func (l *lines) more() error {
	if l.from > 0 {
		n := copy(l.buf, l.buf[l.from:])
		l.buf, l.scanned, l.from = l.buf[:n], l.scanned-l.from, 0
	}
	if cap(l.buf)-len(l.buf) < chunk {
		l.buf = append(make([]byte, 0, 2*len(l.buf)+chunk), l.buf...)
	}
	n, err := l.r.Read(l.buf[len(l.buf) : len(l.buf)+chunk])
	l.buf = l.buf[:len(l.buf)+n]
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// seen is how far the file has been read, complete lines or not.
func (l *lines) seen() int64 { return l.offset + int64(len(l.buf)-l.from) }

// rest takes what stands after the last line break.
func (l *lines) rest() []byte {
	line := l.buf[l.from:]
	l.offset += int64(len(line))
	l.from, l.scanned = len(l.buf), len(l.buf)
	if l.skipping {
		return nil
	}
	return line
}

// collector makes deliveries of lines.
type collector struct {
	name  string // of the file, for positions and logs
	stats *Stats
	log   *slog.Logger
	now   func() time.Time
	read  func(e *market.Events, line string, offset int64) (skipped int, err error) // nil reads fills
	most  int                                                                        // events of a delivery, 0 for deliveryEvents

	coins *Names // nil takes any

	events market.Events
	bytes  int
	line   int    // bytes of the last line
	sum    uint32 // of it
	logged bool   // that something could not be read
	newest int64  // time of the newest event so far, ms
	holes  blockHoles
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// add reads one line that starts at offset.
func (c *collector) add(line []byte, offset int64) {
	c.line, c.sum = len(line), crc32.Checksum(line, castagnoli)
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	c.holes.look(line, max(c.newest, newestTime(&c.events)))
	c.stats.Lines.Add(1)
	c.bytes += len(line)
	skipped, err := readLine(c.read, &c.events, line, offset)
	c.stats.Malformed.Add(int64(skipped))
	if err != nil && !c.logged {
		c.logged = true
		c.log.Warn("skipped what could not be read, or kept it without a part; more of this file is only counted", "file", c.name, "offset", offset, "count", skipped,
			"error", excerpt(err.Error()), "line", excerpt(string(line)))
	}
}

func readFills(e *market.Events, line string, offset int64) (skipped int, err error) {
	if len(line) > maxBlock {
		return 1, errBlock
	}
	e.Fills, skipped, err = wire.ParseFills(e.Fills, line, offset)
	return skipped, err
}

func (c *collector) full() bool {
	return c.events.Len() >= cmp.Or(c.most, deliveryEvents) || c.bytes >= deliveryBytes
}

// flush delivers what was collected, up to offset.
func (c *collector) flush(ctx context.Context, offset int64, sink Sink) error {
	if c.bytes == 0 {
		return nil
	}
	if err := c.holes.tell(ctx); err != nil {
		return err
	}
	events := c.take(c.log.With("file", c.name, "before", offset))
	return sink(ctx, Delivery{Events: events, Position: Position{File: c.name, Offset: offset, Line: int64(c.line), Sum: c.sum, Time: c.newest, Block: c.holes.block}})
}

// take is what was collected, but for what is ahead of the clock or of too many coins.
func (c *collector) take(log *slog.Logger) market.Events {
	e := c.events
	c.events, c.bytes = market.Events{}, 0
	refuseAhead(&e, c.now(), c.stats, log)
	if n := c.coins.drop(&e); n > 0 {
		c.stats.Malformed.Add(int64(n))
		log.Warn("skipped events of more coins than there are", "count", n)
	}
	c.newest = max(c.newest, newestTime(&e))
	c.stats.Seen(c.now(), newestOf(&e))
	return e
}

// excerpt is the start of foreign text, fit for a log line.
func excerpt(s string) string { return visible.Excerpt(s, 200) }

// drain delivers all complete lines that are there. It returns nil at the end
// of what there is.
func (c *collector) drain(ctx context.Context, l *lines, sink Sink) error {
	for {
		start := l.offset
		long := l.tooLong
		line, err := l.next()
		if n := l.tooLong - long; n > 0 {
			c.stats.Malformed.Add(n)
			c.log.Warn("skipped a line that is too long", "file", c.name, "offset", start, "limit", l.max)
			start = l.offset - int64(len(line)) - 1
		}
		switch {
		case errors.Is(err, io.EOF):
			return c.flush(ctx, l.offset, sink)
		case err != nil:
			return fmt.Errorf("read %s: %w", c.name, err)
		}
		if c.add(line, start); c.full() {
			if err := c.flush(ctx, l.offset, sink); err != nil {
				return err
			}
		}
	}
}

// ReadFile delivers the fills of a file that grows no more, from the
// offset on; its last line needs no line break. The positions call the file
// name.
func ReadFile(ctx context.Context, path, name string, offset int64, stats *Stats, log *slog.Logger, sink Sink) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read a file of fills: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return fmt.Errorf("read a file of fills: %w", err)
	}
	l := &lines{r: file, max: maxLine, offset: offset}
	c := &collector{name: name, stats: stats, log: log, now: time.Now}
	if err := c.drain(ctx, l, sink); err != nil {
		return err
	}
	start := l.offset
	c.add(l.rest(), start)
	return c.flush(ctx, l.offset, sink)
}
