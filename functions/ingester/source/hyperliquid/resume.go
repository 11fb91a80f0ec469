package hyperliquid

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"quotary/shared/market"
)

// Two nodes write the same events in the same order, each in files of its own: a
// line holds the time at which it was written, so that places in bytes and the
// first lines of an hour differ. To resume on another node's files, one looks for
// the time.

// overlap is how much is read again from another node's files. Every event has its
// own key: reading one twice is safe, skipping one is not.
const overlap = 10 * time.Second

// isRead reports whether the file is the one whose start was read up to a position.
func isRead(file *os.File, at Position) (bool, error) {
	if at.Offset == 0 {
		return true, nil
	}
	info, err := file.Stat()
	if err != nil {
		return false, fmt.Errorf("look at %s: %w", at.File, err)
	}
	switch {
	case info.Size() < at.Offset:
		return false, nil
	case at.Line == 0: // nothing is known of what was read
		return true, nil
	case at.Line > at.Offset || at.Line > maxLine:
		return false, nil
	}
	end := make([]byte, min(at.Offset, at.Line+1))
	if _, err := file.ReadAt(end, at.Offset-int64(len(end))); err != nil {
		return false, fmt.Errorf("look at %s: %w", at.File, err)
	}
	line, broken := bytes.CutSuffix(end, []byte("\n"))
	if !broken { // the last one of a file
		line = line[int64(len(line))-at.Line:]
	}
	return crc32.Checksum(line, castagnoli) == at.Sum, nil
}

// resume is where to resume in files that are not those of a position, but of
// another node: a little before its time, in the hour of the position or, where
// that begins later, in the one before. The zero value means that there are no files so far.
func (f *Files) resume(at Position) (Position, error) {
	earlier, err := f.before(at.File)
	if err != nil {
		return at, err
	}
	since := at.Time - overlap.Milliseconds()
	for _, name := range []string{at.File, earlier} {
		if name == "" {
			continue
		}
		offset, found, err := f.search(name, since)
		if err != nil {
			return at, err
		}
		if found {
			return f.resumeAt(at, name, offset), nil
		}
	}
	// All that is there is newer, or nothing is there yet.
	switch {
	case earlier != "":
		return f.resumeAt(at, earlier, 0), nil
	case f.has(at.File):
		return f.resumeAt(at, at.File, 0), nil
	}
	next, err := f.after(at.File)
	if err != nil || next == "" {
		return Position{}, err
	}
	return f.resumeAt(at, next, 0), nil
}

func (f *Files) resumeAt(at Position, name string, offset int64) Position {
	f.Log.Warn("this is not the file that was read before: resuming by its time", "file", at.File, "from", name, "offset", offset)
	return Position{File: name, Offset: offset, Time: at.Time, Block: at.Block}
}

// searchMost is how many bytes too many a search may find.
const searchMost = 1 << 20

// search is where a line of a file begins that is older than a time, ms, and not
// much more than searchMost bytes before the first that is not. Nothing is found
// where no line is older, or there is no such file.
func (f *Files) search(name string, since int64) (offset int64, found bool, err error) {
	file, err := os.Open(filepath.Join(f.Dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("search the node's files: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, false, fmt.Errorf("search the node's files: %w", err)
	}
	low, at, err := f.timeAfter(file, 0, info.Size())
	if err != nil || at == 0 || at >= since {
		return 0, false, err
	}
	for high := info.Size(); high-low > searchMost; {
		middle := low + (high-low)/2
		start, at, err := f.timeAfter(file, middle, high)
		switch {
		case err != nil:
			return 0, false, fmt.Errorf("search %s: %w", name, err)
		case at == 0 || at >= since:
			high = middle
		default:
			low = start
		}
	}
	return low, true, nil
}

// timeAfter finds the first line with a time that begins between two places, and
// where it begins; its time is 0 where there is none.
func (f *Files) timeAfter(file io.ReaderAt, from, to int64) (start, at int64, err error) {
	l := &lines{r: io.NewSectionReader(file, from, 1<<62), max: maxLine, offset: from}
	if from > 0 {
		if _, err := l.next(); err != nil { // most likely the end of a line
			return 0, 0, ignoreEnd(err)
		}
	}
	for l.offset < to {
		start := l.offset
		line, err := l.next()
		if err != nil {
			return 0, 0, ignoreEnd(err)
		}
		if at := f.timeOf(line, start); at != 0 {
			return start, at, nil
		}
	}
	return 0, 0, nil
}

// newestTime is the time of the newest event of any kind that a node's files hold,
// ms; 0 where there is none.
func newestTime(e *market.Events) int64 {
	newest := newestOf(e)
	for i := range e.Funding {
		newest = max(newest, e.Funding[i].Time)
	}
	for i := range e.Ledgers {
		newest = max(newest, e.Ledgers[i].Time)
	}
	for i := range e.Twaps {
		newest = max(newest, e.Twaps[i].Time)
	}
	return newest
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
