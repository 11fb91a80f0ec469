package hyperliquid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"quotary/shared/market"
)

// hourRun emits the files of one hour in the order of their blocks. A delivery ends with a block.
type hourRun struct {
	h       *Hours
	after   byStream // of each stream the last block that was emitted already
	deliver func(e market.Events, to byStream) error
}

// hourCursor is at a line of a stream.
type hourCursor struct {
	*hourLines
	stream *hourStream
	line   []byte
	at     int64 // number of its block; 0 behind the last
}

// read emits what the files have behind what was emitted.
func (r *hourRun) read(ctx context.Context, copies [len(hourStreams)]*hourCopy) error {
	c := &collector{name: "venue hours", stats: r.h.Stats, log: r.h.Log, now: time.Now, most: r.h.Most, coins: r.h.Coins}
	var cursors [len(hourStreams)]*hourCursor
	for i, one := range copies {
		if one == nil {
			continue
		}
		l, err := one.open(ctx)
		if err != nil {
			return err
		}
		defer l.close()
		cursors[i] = &hourCursor{hourLines: l, stream: &hourStreams[i]}
		if err := r.advance(cursors[i], r.after[i]); err != nil {
			return fmt.Errorf("read %s: %w", one.key, err)
		}
	}
	for last := int64(0); ; {
		i := first(&cursors)
		if i < 0 || c.full() && cursors[i].at > last {
			if err := r.flush(c); err != nil || i < 0 {
				return err
			}
		}
		next := cursors[i]
		c.read, c.name = next.stream.read, next.stream.name
		c.add(next.line, 0)
		r.after[i], last = next.at, max(last, next.at)
		if err := r.advance(next, next.at); err != nil {
			return fmt.Errorf("read %s: %w", copies[i].key, err)
		}
	}
}

// first is the stream whose block comes next, -1 for none.
func first(cursors *[len(hourStreams)]*hourCursor) int {
	next := -1
	for i, c := range cursors {
		if c != nil && c.at > 0 && (next < 0 || c.at < cursors[next].at) {
			next = i
		}
	}
	return next
}

// advance goes to the next line whose block is behind another one.
func (r *hourRun) advance(c *hourCursor, after int64) error {
	for {
		malformed := c.malformed
		line, err := c.nextBlock()
		r.h.Stats.Malformed.Add(c.malformed - malformed)
		if errors.Is(err, io.EOF) {
			c.line, c.at = nil, 0
			return nil
		}
		if err != nil {
			return err
		}
		if c.block > after {
			c.line, c.at = line, c.block
			return nil
		}
	}
}

func (r *hourRun) flush(c *collector) error {
	if c.bytes == 0 {
		return nil
	}
	return r.deliver(c.take(r.h.Log), r.after)
}
