package hyperliquid

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// hourFile is YYYYMMDD/H by day and hour.
type hourFile struct{ day, hour int }

func (h hourFile) compare(o hourFile) int {
	return cmp.Or(cmp.Compare(h.day, o.day), cmp.Compare(h.hour, o.hour))
}

func (h hourFile) String() string { return fmt.Sprintf("%08d/%d", h.day, h.hour) }

// after is the first file after the one named, "" if there is none yet. What is
// no day's folder or hour's file is ignored.
func (f *Files) after(name string) (string, error) {
	last := hourFile{-1, -1}
	if name != "" {
		if _, err := fmt.Sscanf(name, "%d/%d", &last.day, &last.hour); err != nil {
			return "", fmt.Errorf("%q is no file of an hour", name)
		}
	}
	days, err := numbers(f.Dir, 8)
	if err != nil {
		return "", err
	}
	for _, day := range days {
		if day < last.day {
			continue
		}
		hours, err := numbers(filepath.Join(f.Dir, fmt.Sprintf("%08d", day)), 2)
		if err != nil {
			return "", err
		}
		for _, hour := range hours {
			if h := (hourFile{day, hour}); h.compare(last) > 0 {
				return h.String(), nil
			}
		}
	}
	return "", nil
}

// numbers are the entries of a folder that are numbers of at most so many
// digits, ascending. A folder that is not there has none.
func numbers(dir string, digits int) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the node's files: %w", err)
	}
	var ns []int
	for _, e := range entries {
		name := e.Name()
		n, err := strconv.Atoi(name)
		if err != nil || n < 0 || len(name) > digits || digits == 8 && len(name) != 8 || strconv.Itoa(n) != name {
			continue
		}
		ns = append(ns, n)
	}
	slices.Sort(ns)
	return ns, nil
}

// before is the last file before the one named, "" if there is none.
func (f *Files) before(name string) (string, error) {
	var limit hourFile
	if _, err := fmt.Sscanf(name, "%d/%d", &limit.day, &limit.hour); err != nil {
		return "", fmt.Errorf("%q is no file of an hour", name)
	}
	return f.lastBefore(limit)
}

// last is the last file of all, "" if there is none.
func (f *Files) last() (string, error) { return f.lastBefore(hourFile{day: math.MaxInt}) }

func (f *Files) lastBefore(limit hourFile) (string, error) {
	days, err := numbers(f.Dir, 8)
	if err != nil {
		return "", err
	}
	for _, day := range slices.Backward(days) {
		hours, err := numbers(filepath.Join(f.Dir, fmt.Sprintf("%08d", day)), 2)
		if err != nil {
			return "", err
		}
		for _, hour := range slices.Backward(hours) {
			if h := (hourFile{day, hour}); h.compare(limit) < 0 {
				return h.String(), nil
			}
		}
	}
	return "", nil
}

func (f *Files) has(name string) bool {
	_, err := os.Stat(filepath.Join(f.Dir, filepath.FromSlash(name)))
	return err == nil
}
