package venue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"time"
)

// nodeFiles appends blocks to the node's layout:
//
//	<dir>/<stream>/hourly/<YYYYMMDD>/<H>
//
// by the hour (UTC, not padded) in which the node wrote the block. A line is
// one write, so that a reader never sees half of one unless the machine died.
type nodeFiles struct {
	dir     string
	open    [streamCount]*os.File
	path    [streamCount]string
	written [streamCount]int64 // newest block in the stream's files at start
	retain  time.Duration      // of order statuses and book diffs; 0 keeps all
	since   time.Time          // days before this one are never removed
}

// writeBlock appends the lines of a block, except those that are there already.
func (n *nodeFiles) writeBlock(number int64, w *output) error {
	if n.dir == "" {
		return nil
	}
	for s := range streamCount {
		if len(w.lines[s]) == 0 || number <= n.written[s] {
			continue
		}
		if err := n.writeLine(s, w.local, w.lines[s]); err != nil {
			return fmt.Errorf("write %s: %w", streamDirs[s], err)
		}
	}
	return nil
}

func (n *nodeFiles) writeLine(s stream, at time.Time, line []byte) error {
	path := hourPath(n.dir, s, at)
	if path != n.path[s] {
		if err := n.roll(s, path, at); err != nil {
			return err
		}
	}
	_, err := n.open[s].Write(line)
	return err
}

// roll changes to the next hour's file.
func (n *nodeFiles) roll(s stream, path string, at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if n.open[s] != nil {
		n.open[s].Close()
	}
	n.open[s], n.path[s] = f, path
	if n.retain > 0 && (s == streamOrders || s == streamDiffs) {
		return n.prune(s, at)
	}
	return nil
}

// prune removes a bulky stream's days that are past their time.
func (n *nodeFiles) prune(s stream, at time.Time) error {
	days, err := os.ReadDir(filepath.Join(n.dir, streamDirs[s], "hourly"))
	if err != nil {
		return err
	}
	before := at.Add(-n.retain).Format("20060102")
	for _, d := range days {
		if d.Name() < before && d.Name() >= n.since.Format("20060102") {
			if err := os.RemoveAll(filepath.Join(n.dir, streamDirs[s], "hourly", d.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *nodeFiles) close() error {
	var errs []error
	for s, f := range n.open {
		if f != nil {
			errs = append(errs, f.Close())
			n.open[s], n.path[s] = nil, ""
		}
	}
	return errors.Join(errs...)
}

// recover cuts what a crash left: half a line at the end of a stream, and lines
// of blocks later than keep, which the state has lost. It notes the newest
// block of each stream.
func (n *nodeFiles) recover(keep int64) error {
	if n.dir == "" {
		return nil
	}
	for s := range streamCount {
		files, err := n.list(s)
		if err != nil {
			return err
		}
		for i := len(files) - 1; i >= 0 && n.written[s] == 0; i-- {
			if n.written[s], err = trim(files[i], keep); err != nil {
				return fmt.Errorf("recover %s: %w", files[i], err)
			}
		}
	}
	return nil
}

// list returns a stream's files, oldest first.
func (n *nodeFiles) list(s stream) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(n.dir, streamDirs[s], "hourly", "????????", "*"))
	sort.Slice(files, func(i, j int) bool {
		di, dj := filepath.Dir(files[i]), filepath.Dir(files[j])
		if di != dj {
			return di < dj
		}
		hi, _ := strconv.Atoi(filepath.Base(files[i]))
		hj, _ := strconv.Atoi(filepath.Base(files[j]))
		return hi < hj
	})
	return files, err
}

// trim cuts a file after its last whole line whose block is at most keep, and
// returns that block's number, 0 when no line is left.
func trim(path string, keep int64) (int64, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	for end := size; end > 0; {
		start, line, err := lastLine(f, end)
		if err != nil {
			return 0, err
		}
		if number := blockNumber(line); number > 0 && number <= keep {
			return number, truncateIf(f, end, size)
		}
		end = start
	}
	return 0, truncateIf(f, 0, size)
}

func truncateIf(f *os.File, end, size int64) error {
	if end == size {
		return nil
	}
	return f.Truncate(end)
}

// lastLine returns the start and the bytes of what follows the last newline
// but one before end.
func lastLine(f *os.File, end int64) (int64, []byte, error) {
	for window := int64(64 << 10); ; window *= 2 {
		from := max(0, end-window)
		buf := make([]byte, end-from)
		if _, err := f.ReadAt(buf, from); err != nil {
			return 0, nil, err
		}
		if i := bytes.LastIndexByte(buf[:len(buf)-1], '\n'); i >= 0 {
			return from + int64(i) + 1, buf[i+1:], nil
		}
		if from == 0 {
			return 0, buf, nil
		}
	}
}

// blockNumber reads the number out of a whole line, 0 for half a line.
func blockNumber(line []byte) int64 {
	if !bytes.HasSuffix(line, []byte("]}\n")) {
		return 0
	}
	_, rest, ok := bytes.Cut(line, []byte(`"block_number":`))
	if !ok {
		return 0
	}
	digits, _, _ := bytes.Cut(rest, []byte{','})
	number, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return number
}
