package venue

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Persistence: a snapshot of the whole state every few hundred blocks, and a
// journal of the blocks since, which holds no more than their numbers and
// times, because a block follows from the state and its time. A block goes
// into the journal before its lines go into the node files; after a crash the
// journal is played again and only the lines that are missing are written.
// Kill -9 at any point loses nothing. Nothing is fsynced but the snapshot:
// after a power cut the files are cut back to the last block of the journal.

const (
	snapshotFile  = "venue.gob"
	journalFile   = "venue.journal"
	snapshotEvery = 512 // blocks
)

// saved is the snapshot's content. Orders hold the books level by level and
// the trigger lists, in order.
type saved struct {
	State  state
	Orders []order
	Owners [][]int64 // oids of each trader's open orders, oldest first
}

func (e *engine) save(path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".snapshot-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := gob.NewEncoder(w).Encode(e.pack()); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (e *engine) pack() *saved {
	s := &saved{State: e.state, Owners: make([][]int64, len(e.Acc))}
	for c := range e.books {
		for _, side := range [][]level{e.books[c].bids, e.books[c].asks} {
			for _, l := range side {
				for _, o := range l.orders {
					s.Orders = append(s.Orders, *o)
				}
			}
		}
		for _, o := range e.trig[c] {
			s.Orders = append(s.Orders, *o)
		}
	}
	for u := range e.Acc {
		for _, o := range e.Acc[u].open {
			s.Owners[u] = append(s.Owners[u], o.Oid)
		}
	}
	return s
}

// load reads a snapshot into a new engine; fs.ErrNotExist when there is none.
func load(path string) (*engine, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var s saved
	if err := gob.NewDecoder(bufio.NewReaderSize(f, 1<<16)).Decode(&s); err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", path, err)
	}
	e := newEngine(s.State.Seed, s.State.Traders, s.State.Rates, s.State.Modes)
	e.state = s.State
	e.mend()
	for i := range s.Orders {
		o := &s.Orders[i]
		e.live[o.Oid] = o
		if o.Trigger != noTrigger && !o.Triggered {
			e.trig[o.Coin] = append(e.trig[o.Coin], o)
		} else {
			e.books[o.Coin].add(o)
		}
	}
	for u, oids := range s.Owners {
		for _, oid := range oids {
			e.Acc[u].open = append(e.Acc[u].open, e.live[oid])
		}
	}
	return e, nil
}

// mend restores the slices that gob leaves out when they are all zero.
func (e *engine) mend() {
	for len(e.Acc) < len(e.prof) { // a snapshot from before there was the last one
		e.Acc = append(e.Acc, account{})
	}
	for _, list := range []*[]int64{&e.DexFees, &e.Pool, &e.Interest} {
		if *list == nil {
			*list = make([]int64, len(e.tokens))
		}
	}
	for u := range e.Acc {
		a := &e.Acc[u]
		if a.Pos == nil {
			a.Pos = make([]position, e.perps)
		}
		if a.Tok == nil {
			a.Tok = make([]int64, len(e.tokens))
		}
		if a.TokCost == nil {
			a.TokCost = make([]int64, len(e.tokens))
		}
	}
}

// journal is the list of blocks since the snapshot: 16 bytes each, number and
// time.
type journal struct{ f *os.File }

type journalEntry struct{ Block, Time int64 }

// openJournal reads the journal and leaves it open for appending; half an
// entry at the end is cut.
func openJournal(path string) (*journal, []journalEntry, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	n := len(data) / 16
	if err := f.Truncate(int64(n) * 16); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	entries := make([]journalEntry, n)
	for i := range entries {
		entries[i].Block = int64(binary.LittleEndian.Uint64(data[i*16:]))
		entries[i].Time = int64(binary.LittleEndian.Uint64(data[i*16+8:]))
	}
	return &journal{f}, entries, nil
}

func (j *journal) append(block, time int64) error {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(block))
	binary.LittleEndian.PutUint64(b[8:], uint64(time))
	_, err := j.f.Write(b[:])
	return err
}

func (j *journal) reset() error { return j.f.Truncate(0) }

// hasFiles reports whether a directory holds anything.
func hasFiles(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(entries) > 0, err
}
