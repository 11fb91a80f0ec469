package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quotary/shared/source/hyperliquid"
	"quotary/shared/store"
)

// Spool is a folder of recorded fill files that wait to be consumed, each named
// by its content: <sha256>.jsonl. A file has a checkpoint of its own and is
// removed when it is consumed.
type Spool struct {
	Dir   string
	Stats *hyperliquid.Stats
	Log   *slog.Logger
}

const (
	spoolSuffix = ".jsonl"
	spoolPoll   = 250 * time.Millisecond
)

// spoolPosition is the checkpoint of a spooled file.
type spoolPosition struct {
	hyperliquid.Position
	Done bool `json:"done"` // all of it was consumed
}

// spoolSource names the checkpoint of a spooled file.
func spoolSource(name string) string { return "spool/" + name }

// readSpoolPosition reads it by one of the ways to read a checkpoint.
func readSpoolPosition(ctx context.Context, read func(context.Context, string) ([]byte, error), name string) (spoolPosition, error) {
	var at spoolPosition
	body, err := read(ctx, spoolSource(name))
	if err != nil || body == nil {
		return at, err
	}
	if err := json.Unmarshal(body, &at); err != nil {
		return at, fmt.Errorf("read the checkpoint of %s: %w", name, err)
	}
	return at, nil
}

// run consumes the files of the folder, the oldest first, until ctx ends. A file
// that cannot be read is logged and looked at again when the others are done.
func (s *Spool) run(ctx context.Context, series *store.Series, queue chan<- message) error {
	failed := map[string]bool{}
	for {
		name, err := s.next(failed)
		if err == nil && name != "" {
			err = s.consume(ctx, series, name, queue)
			failed[name] = err != nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.Log.Error("cannot consume a spooled file; trying again later", "file", name, "error", err.Error())
		}
		if err == nil && name != "" {
			continue
		}
		if name == "" {
			clear(failed)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(spoolPoll):
		}
	}
}

// next is the file that has waited longest, "" if none waits.
func (s *Spool) next(failed map[string]bool) (string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("list the spool: %w", err)
	}
	type waiting struct {
		name  string
		since time.Time
	}
	var files []waiting
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), spoolSuffix) || failed[e.Name()] {
			continue
		}
		files = append(files, waiting{e.Name(), info.ModTime()})
	}
	if len(files) == 0 {
		return "", nil
	}
	first := slices.MinFunc(files, func(a, b waiting) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.name, b.name)) })
	return first.name, nil
}

// consume reads a file from its checkpoint on, waits until all of it is written,
// and removes it.
func (s *Spool) consume(ctx context.Context, series *store.Series, name string, queue chan<- message) error {
	at, err := readSpoolPosition(ctx, series.ClaimCheckpoint, name)
	if err != nil {
		return err
	}
	path := filepath.Join(s.Dir, name)
	if !at.Done {
		s.Log.Info("consuming a spooled file", "file", name, "offset", at.Offset)
		last := at.Position
		last.File = name
		err := hyperliquid.ReadFile(ctx, path, name, at.Offset, s.Stats, s.Log, func(ctx context.Context, d hyperliquid.Delivery) error {
			last = d.Position
			return put(ctx, queue, message{source: spoolSource(name), events: d.Events, position: encode(spoolPosition{d.Position, false})})
		})
		if err != nil {
			return err
		}
		consumed := make(chan struct{})
		end := message{source: spoolSource(name), position: encode(spoolPosition{last, true}), consumed: consumed}
		if err := put(ctx, queue, end); err != nil {
			return err
		}
		select {
		case <-consumed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the consumed file: %w", err)
	}
	s.Log.Info("consumed a spooled file", "file", name)
	return nil
}

// add copies a file into the folder under the name of its content and tells the
// name. The copy appears whole or not at all; one that is there stays.
func (s *Spool) add(path string) (name string, err error) {
	if err := os.MkdirAll(s.Dir, 0o750); err != nil {
		return "", fmt.Errorf("make the spool: %w", err)
	}
	if name, err = contentName(path); err != nil {
		return "", err
	}
	target := filepath.Join(s.Dir, name)
	if _, err := os.Stat(target); err == nil {
		return name, nil
	}
	copied, err := copyBeside(path, target)
	if err != nil {
		return "", fmt.Errorf("copy into the spool: %w", err)
	}
	defer os.Remove(copied)
	// The file may have been written to since its name was made.
	again, err := contentName(copied)
	if err != nil {
		return "", err
	}
	if again != name {
		return "", fmt.Errorf("%s changed while it was being copied", path)
	}
	if err := os.Rename(copied, target); err != nil {
		return "", fmt.Errorf("copy into the spool: %w", err)
	}
	return name, nil
}

// contentName is the name of a file in the spool.
func contentName(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)) + spoolSuffix, nil
}

// copyBeside copies a file to a temporary one in the folder of target, down to
// the disk.
func copyBeside(path, target string) (copied string, err error) {
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(target), "incoming-*")
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, to.Close())
		if err != nil {
			os.Remove(to.Name())
		}
	}()
	if _, err := io.Copy(to, from); err != nil {
		return "", err
	}
	return to.Name(), to.Sync()
}
