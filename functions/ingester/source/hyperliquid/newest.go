package hyperliquid

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"quotary/shared/market"
)

// How much of a file's end is looked at for an event, at first and at most.
const (
	endBytes = 64 << 10
	endMost  = 4 << 20
)

// Newest is the time of the newest event in the files; zero where their end has
// none. It reads no more than their end, so that it can be asked often.
func (f *Files) Newest() (time.Time, error) {
	name, err := f.last()
	for looks := 0; err == nil && name != "" && looks < 2; looks++ { // an hour that has just begun may be empty
		var ms int64
		if ms, err = f.newest(name); err != nil || ms > 0 {
			return time.UnixMilli(ms).UTC(), err
		}
		name, err = f.before(name)
	}
	return time.Time{}, err
}

// newest is the time of the newest event near the end of a file, ms; 0 where
// there is none.
func (f *Files) newest(name string) (int64, error) {
	file, err := os.Open(filepath.Join(f.Dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at the node's files: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("look at the node's files: %w", err)
	}
	for span := int64(endBytes); ; span *= 8 { // a block may be longer
		from := max(0, info.Size()-span)
		ms, err := f.newestAfter(file, from)
		if err != nil || ms > 0 || from == 0 || span >= endMost {
			return ms, err
		}
	}
}

// newestAfter is the time of the newest event in the lines that begin after a place.
func (f *Files) newestAfter(file io.ReaderAt, from int64) (newest int64, err error) {
	l := &lines{r: io.NewSectionReader(file, from, 1<<62), max: maxLine, offset: from}
	for complete := from == 0; ; complete = true {
		start := l.offset
		line, err := l.next()
		if err != nil {
			return newest, ignoreEnd(err)
		}
		if complete {
			newest = max(newest, f.timeOf(line, start))
		}
	}
}

// timeOf is the time of the newest event of a line, ms; 0 where it has none or
// cannot be read.
func (f *Files) timeOf(line []byte, offset int64) int64 {
	var e market.Events
	_, _ = readLine(f.Read, &e, line, offset)
	dropAhead(&e, time.Now().Add(aheadMost).UnixMilli())
	return newestTime(&e)
}
