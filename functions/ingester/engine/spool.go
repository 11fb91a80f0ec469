package engine

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
	"strconv"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/store"
)

// Spool is a folder of recorded files that wait to be consumed, each named by its
// content: <sha256>.jsonl, or <sha256>-<n>.jsonl for the nth time. A file has a
// checkpoint of its own and is removed when
// it is consumed. All fields are set before use; Add and Progress need no Read,
// Stats and Logger.
type Spool[B any] struct {
	Domain string
	Dir    string
	Series *store.Series // holds the checkpoints

	// Read delivers what a file holds after a position, and returns at its end.
	Read func(ctx context.Context, path string, from Position, sink Sink[B]) error

	Stats  *source.Stats
	Logger *slog.Logger
}

const (
	spoolName   = "spool"
	spoolSuffix = ".jsonl"
	spoolPoll   = 250 * time.Millisecond
)

// SpoolProgress is how far a file of a spool has been consumed.
type SpoolProgress struct {
	At   json.RawMessage `json:"at,omitempty"` // the position in it; empty is its beginning
	Done bool            `json:"done"`         // all of it is stored
}

// Source is the spool as a source, which gives way to live ones. Positions in its
// files must be JSON.
func (s *Spool[B]) Source() Source[B] {
	return Source[B]{Name: spoolName, Stats: s.Stats, NoCheckpoint: true, Background: true,
		Follow: func(ctx context.Context, _ Position, sink Sink[B]) error { return s.follow(ctx, sink) }}
}

// Progress is how far the file of a name has been consumed.
func (s *Spool[B]) Progress(ctx context.Context, name string) (SpoolProgress, error) {
	return s.progress(ctx, name, s.Series.Checkpoint)
}

func (s *Spool[B]) progress(ctx context.Context, name string, read func(context.Context, string) ([]byte, error)) (at SpoolProgress, err error) {
	body, err := read(ctx, Checkpoint(s.Domain, spoolName, name))
	if err != nil || body == nil {
		return at, err
	}
	if err := json.Unmarshal(body, &at); err != nil {
		return at, fmt.Errorf("read the checkpoint of %s: %w", name, err)
	}
	return at, nil
}

// follow consumes the files of the folder, the oldest first, until ctx ends.
func (s *Spool[B]) follow(ctx context.Context, sink Sink[B]) error {
	files := turns{poll: spoolPoll, logger: s.Logger, what: "spooled file", next: s.next,
		consume: func(ctx context.Context, name string) error { return s.consume(ctx, name, sink) }}
	return files.run(ctx)
}

// next is the file that has waited longest, "" if none waits but those that failed
// a moment ago.
func (s *Spool[B]) next(_ context.Context, ready func(name string) bool) (string, error) {
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
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), spoolSuffix) || !ready(e.Name()) {
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

// consume reads a file from its checkpoint on, waits until all of it is stored,
// and removes it.
func (s *Spool[B]) consume(ctx context.Context, name string, sink Sink[B]) error {
	at, err := s.progress(ctx, name, s.Series.ClaimCheckpoint)
	if err != nil {
		return err
	}
	path := filepath.Join(s.Dir, name)
	if !at.Done {
		s.Logger.Info("consuming a spooled file", "file", name, "from", string(at.At))
		err := s.Read(ctx, path, Position(at.At), func(ctx context.Context, d Delivery[B]) error {
			at.At = json.RawMessage(d.Position)
			d.Part, d.Position = name, encode(at)
			return sink(ctx, d)
		})
		if err != nil {
			return err
		}
		at.Done = true
		if err := sink.Store(ctx, Delivery[B]{Part: name, Position: encode(at)}); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the consumed file: %w", err)
	}
	s.Logger.Info("consumed a spooled file", "file", name)
	return nil
}

// Add copies a file into the folder under the name of its content, which it
// returns. The copy appears complete or not at all; one that is there stays. Nth is
// that of [SpoolName].
func (s *Spool[B]) Add(path string, nth int) (name string, err error) {
	if err := os.MkdirAll(s.Dir, 0o750); err != nil {
		return "", fmt.Errorf("make the spool: %w", err)
	}
	if name, err = SpoolName(path, nth); err != nil {
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
	again, err := SpoolName(copied, nth)
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

// SpoolName is the name in a spool of the file at path when it is consumed for the
// nth time, from 1 on. Each time has a checkpoint of its own, as only the writer
// of the domain may take one back.
func SpoolName(path string, nth int) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	name := hex.EncodeToString(hash.Sum(nil))
	if nth > 1 {
		name += "-" + strconv.Itoa(nth)
	}
	return name + spoolSuffix, nil
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
