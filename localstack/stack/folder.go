package stack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// lockFile is the name of the file that a running stack has locked in its folder.
const lockFile = "lock"

// folders makes the data folder, takes it for this stack alone and opens the
// log.
func (s *Stack) folders() error {
	if err := os.MkdirAll(s.cfg.Data, 0o700); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(s.cfg.Data, lockFile))
	if err != nil {
		return fmt.Errorf("another stack runs on %s: end it, or set QUOTARY_DATA to another folder (%w)", s.cfg.Data, err)
	}
	s.onStop(func(context.Context) error { return unlock() })
	if err := checkLayout(s.cfg.Data); err != nil {
		return err
	}
	for _, name := range []string{"logs", "node", "spool", "venue"} {
		if err := os.MkdirAll(filepath.Join(s.cfg.Data, name), 0o700); err != nil {
			return err
		}
	}
	s.onStop(func(context.Context) error { return ignoreMissing(os.Remove(filepath.Join(s.cfg.Data, StateFile))) })
	file, err := s.logFile("stack")
	if err != nil {
		return err
	}
	s.log = slog.New(slog.NewJSONHandler(file, nil))
	return s.dataKeys()
}

// logFile opens a log of its own name, empty at each start.
func (s *Stack) logFile(name string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(s.cfg.Data, "logs", name+".log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	s.onStop(func(context.Context) error { return file.Close() })
	return file, nil
}

func keyFile(data string) string { return filepath.Join(data, "data-keys.json") }

// dataKeys makes the file of the key that seals secrets, once.
func (s *Stack) dataKeys() error {
	if _, err := os.Stat(keyFile(s.cfg.Data)); err == nil {
		return nil
	}
	var key [32]byte
	_, _ = rand.Read(key[:])
	text, err := json.Marshal(map[string]any{"current": "local-1", "keys": map[string][]byte{"local-1": key[:]}})
	if err != nil {
		return err
	}
	return os.WriteFile(keyFile(s.cfg.Data), text, 0o600)
}

// Read reads the state of the stack that runs on a data folder.
func Read(data string) (State, error) {
	path := filepath.Join(data, StateFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return State{}, fmt.Errorf("no running stack: start one with make run (%w)", err)
	}
	var state State
	if err := json.Unmarshal(text, &state); err != nil {
		return State{}, fmt.Errorf("read %s: %w", path, err)
	}
	return state, nil
}

// lastFile is the name of the file beside the programs that names the data folder of the
// stack that started last.
const lastFile = "last-stack"

// Remember has [ReadLast] find the stack that runs on a data folder.
func Remember(programs, data string) error {
	return os.WriteFile(filepath.Join(programs, lastFile), []byte(data), 0o600)
}

// ReadLast reads the state of the stack that was remembered last, or without one that
// runs any more of the one on the other data folder.
func ReadLast(programs, otherwise string) (State, error) {
	if data, err := os.ReadFile(filepath.Join(programs, lastFile)); err == nil {
		if state, err := Read(string(data)); err == nil {
			return state, nil
		}
	}
	return Read(otherwise)
}

// writeState publishes stack.json at once: a reader never sees half of it.
func (s *Stack) writeState() error {
	text, err := json.MarshalIndent(s.State, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(s.cfg.Data, StateFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
