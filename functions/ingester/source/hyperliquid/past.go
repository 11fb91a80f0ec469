package hyperliquid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errEnd says that everything that is there was read.
var errEnd = errors.New("the end of the files")

// errPast says that everything up to a time was read.
var errPast = errors.New("the end of the past")

// End is the position behind the last complete line that is there now, with the time
// of the newest event before it; the zero value where there is no file.
func (f *Files) End() (Position, error) {
	name, err := f.last()
	if err != nil || name == "" {
		return Position{}, err
	}
	offset, err := f.lastBreak(name)
	if err != nil {
		return Position{}, fmt.Errorf("find the end of the node's files: %w", err)
	}
	newest, err := f.Newest()
	if err != nil {
		return Position{}, err
	}
	at := Position{File: name, Offset: offset}
	if !newest.IsZero() {
		at.Time = newest.UnixMilli()
	}
	return at, nil
}

// lastBreak is the offset behind the last line break of a file, 0 where there is none.
func (f *Files) lastBreak(name string) (int64, error) {
	file, err := os.Open(filepath.Join(f.Dir, filepath.FromSlash(name)))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	buf := make([]byte, endBytes)
	for end := info.Size(); end > 0; {
		from := max(0, end-endBytes)
		part := buf[:end-from]
		if _, err := file.ReadAt(part, from); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// ReadPast delivers what comes after from, oldest first, and returns when it has
// delivered everything up to a time (ms), and a little more, or everything that is
// there. Its [Stats] count meanwhile how many bytes are left. Otherwise it is as
// [Files.Follow].
func (f *Files) ReadPast(ctx context.Context, from Position, until int64, sink Sink) error {
	past := *f
	past.ends = true
	left := f.size(from)
	f.Stats.Backlog.Store(max(left, 1))
	at := from
	err := past.Follow(ctx, from, func(ctx context.Context, d Delivery) error {
		if err := sink(ctx, d); err != nil {
			return err
		}
		read := d.Position.Offset
		if d.Position.File == at.File {
			read -= at.Offset
		}
		left, at = max(left-read, 1), d.Position
		f.Stats.Backlog.Store(left)
		if d.Position.Time > until+overlap.Milliseconds() {
			return errPast
		}
		return nil
	})
	if errors.Is(err, errPast) {
		return nil
	}
	return err
}

// size is about how many bytes there are behind a position: what cannot be looked at
// counts as nothing.
func (f *Files) size(from Position) (bytes int64) {
	for name := from.File; ; {
		if info, err := os.Stat(filepath.Join(f.Dir, filepath.FromSlash(name))); err == nil && name != "" {
			bytes += info.Size()
		}
		if name == from.File {
			bytes = max(0, bytes-from.Offset)
		}
		next, err := f.after(name)
		if err != nil || next == "" {
			return bytes
		}
		name = next
	}
}
