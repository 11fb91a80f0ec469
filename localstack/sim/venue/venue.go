package venue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Config says what venue to run. The zero value is a venue without files,
// history or persistence, of seed 1 and 400 traders.
type Config struct {
	// Seed decides everything that happens. Default 1. A state directory
	// belongs to one seed.
	Seed uint64
	// Traders is how many accounts there are, the 12 makers and the
	// liquidator's vault included. Default 400, at least 40. A state directory
	// keeps the number that it began with.
	Traders int
	// BlockEvery is the average time between blocks. Default 400ms.
	BlockEvery time.Duration
	// FillsPerSecond is the target over all coins, both sides of a trade
	// counted. Default 15.
	FillsPerSecond float64
	// JumpEvery is the average time between two jumps of a coin's price by 1 to 6
	// percent, after which makers quote wide and thin for a while: what liquidations, take-overs
	// and auto-deleveraging come from. Default 48h, at least a minute.
	JumpEvery time.Duration
	// LiquidateEvery is the time between two liquidations that the venue brings about, of every
	// method and kind of position in turn, beside those that prices do. Default 0, none; at least a
	// second.
	LiquidateEvery time.Duration
	// Modes adds what the venue knows since 2026: accounts in every mode (standard, unified,
	// portfolio margin), of which some change theirs, a second builder's dex whose collateral is
	// another token than USDC, and all routes of money. A state directory keeps the choice that it
	// began with.
	Modes bool
	// DexFails is for how long of every hour, from a minute on that the seed decides, the last
	// builder's dex answers by 500; see [Venue.FailDex]. Default 0, never; at most an hour.
	DexFails time.Duration
	// NodeDir receives the node's output files; none are written when empty.
	NodeDir string
	// Publish receives, of what the node writes, each hour of fills and of misc events once it has
	// ended, as LZ4 frames under the venue's own names; nil publishes none. It needs NodeDir. One that
	// fails is tried again with the next block. Those of the last day are published again when a venue
	// is opened, as it may have died in between.
	Publish func(key string, body []byte) error
	// StateDir keeps the snapshot and the journal; a venue without one begins
	// again each time.
	StateDir string
	// HistoryDays is how much coarse history the first start lays down.
	HistoryDays int
	// HistoryFills is the target number of fills in it. Default 600 a day.
	HistoryFills int
	// Weight is how much the requests to /info of a minute may weigh, as those of one address may at the
	// venue, which answers 429 beyond; 0 bounds nothing, as a node's own endpoint.
	Weight int
	// Retain is how long the bulky node streams (order statuses, book diffs)
	// keep live days; 0 keeps all. Fills, misc events and TWAPs are kept.
	Retain time.Duration
	// Clock returns the time; default time.Now.
	Clock func() time.Time
	// Log defaults to slog.Default.
	Log *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Traders == 0 {
		c.Traders = 400
	}
	if c.Traders < 40 || c.Traders > 10_000 {
		return c, fmt.Errorf("traders is %d: accepted are 40 to 10000", c.Traders)
	}
	if c.BlockEvery == 0 {
		c.BlockEvery = 400 * time.Millisecond
	}
	if c.BlockEvery < 10*time.Millisecond || c.BlockEvery > 10*time.Second {
		return c, fmt.Errorf("block interval is %s: accepted are 10ms to 10s", c.BlockEvery)
	}
	if c.FillsPerSecond == 0 {
		c.FillsPerSecond = 15
	}
	if c.FillsPerSecond < 0 || c.FillsPerSecond > 1000 {
		return c, fmt.Errorf("fills per second is %g: accepted are 0 to 1000", c.FillsPerSecond)
	}
	if c.JumpEvery == 0 {
		c.JumpEvery = 48 * time.Hour
	}
	if c.JumpEvery < time.Minute {
		return c, fmt.Errorf("time between jumps is %s: accepted is a minute or more", c.JumpEvery)
	}
	if c.LiquidateEvery != 0 && c.LiquidateEvery < time.Second {
		return c, fmt.Errorf("time between liquidations is %s: accepted is a second or more, or 0 for none", c.LiquidateEvery)
	}
	if c.DexFails < 0 || c.DexFails > time.Hour {
		return c, fmt.Errorf("a dex fails for %s of an hour: accepted are 0 to 1h", c.DexFails)
	}
	if c.HistoryDays < 0 || c.HistoryDays > 365 {
		return c, fmt.Errorf("history is %d days: accepted are 0 to 365", c.HistoryDays)
	}
	if c.HistoryFills == 0 {
		c.HistoryFills = 600 * max(1, c.HistoryDays)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c, nil
}

// rates turns the targets into the engine's units.
func (c Config) rates() rates {
	return rates{
		Live:   int64(c.FillsPerSecond * 1000),
		Coarse: int64(c.HistoryFills) * 1000 / int64(max(1, c.HistoryDays)*24),
		Jumps:  c.JumpEvery.Milliseconds(),

		Squeezes: c.LiquidateEvery.Milliseconds(),
	}
}

// Venue is a running exchange. All methods are safe for concurrent use.
type Venue struct {
	cfg   Config
	hub   *hub
	mu    sync.Mutex // guards what follows
	eng   *engine
	files nodeFiles
	hours hours
	jour  *journal
	done  bool

	meter   meter           // of its own lock
	failing map[string]bool // dexes, by FailDex
}

// Open loads the venue of the state directory, or founds one and lays its
// history. Time since the last block is filled with long blocks.
func Open(cfg Config) (*Venue, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	v := &Venue{cfg: cfg, meter: meter{most: cfg.Weight}, failing: map[string]bool{}}
	v.hub = newHub(v)
	v.files = nodeFiles{dir: cfg.NodeDir, retain: cfg.Retain}
	v.hours = hours{dir: cfg.NodeDir, publish: cfg.Publish, log: cfg.Log}
	if err := v.restore(); err != nil {
		return nil, errors.Join(err, v.closeFiles())
	}
	v.hours.again(time.Unix(0, v.eng.Time))
	now := cfg.Clock().UnixNano()
	if err := v.fill(max(v.eng.LayTo, now)); err != nil {
		return nil, errors.Join(err, v.closeFiles())
	}
	if err := v.checkpoint(); err != nil {
		return nil, errors.Join(err, v.closeFiles())
	}
	return v, nil
}

// restore brings the engine to the last block that was journaled.
func (v *Venue) restore() error {
	if v.cfg.StateDir == "" {
		return v.founding()
	}
	if err := os.MkdirAll(v.cfg.StateDir, 0o755); err != nil {
		return fmt.Errorf("make state directory: %w", err)
	}
	var err error
	v.eng, err = load(v.snapshotPath())
	if errors.Is(err, fs.ErrNotExist) {
		if err := v.founding(); err != nil {
			return err
		}
		if err := v.eng.save(v.snapshotPath()); err != nil {
			return fmt.Errorf("write first snapshot: %w", err)
		}
	} else if err != nil {
		return err
	}
	if v.eng.Seed != v.cfg.Seed {
		return fmt.Errorf("state directory %s belongs to seed %d, not %d", v.cfg.StateDir, v.eng.Seed, v.cfg.Seed)
	}
	v.files.since = time.Unix(0, v.eng.LayTo).UTC()
	var entries []journalEntry
	v.jour, entries, err = openJournal(filepath.Join(v.cfg.StateDir, journalFile))
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	if err := v.replay(entries); err != nil {
		return err
	}
	if v.eng.Rates != v.cfg.rates() {
		v.eng.Rates = v.cfg.rates()
		return v.checkpoint()
	}
	return nil
}

// replay makes the journaled blocks again and completes their lines.
func (v *Venue) replay(entries []journalEntry) error {
	keep := v.eng.Block
	if n := len(entries); n > 0 {
		keep = max(keep, entries[n-1].Block)
	}
	if err := v.files.recover(keep); err != nil {
		return err
	}
	for _, j := range entries {
		if j.Block != v.eng.Block+1 {
			continue // from before the snapshot
		}
		v.eng.step(j.Time)
		if err := v.files.writeBlock(v.eng.Block, &v.eng.out); err != nil {
			return err
		}
	}
	return nil
}

// founding makes a new venue whose history begins HistoryDays ago, on the hour.
func (v *Venue) founding() error {
	if v.cfg.NodeDir != "" {
		used, err := hasFiles(v.cfg.NodeDir)
		if err != nil {
			return fmt.Errorf("look into node directory: %w", err)
		}
		if used {
			return fmt.Errorf("node directory %s holds files but there is no state to go on from: remove it or restore the state", v.cfg.NodeDir)
		}
	}
	v.eng = newEngine(v.cfg.Seed, v.cfg.Traders, v.cfg.rates(), v.cfg.Modes)
	now := v.cfg.Clock()
	first := now
	if v.cfg.HistoryDays > 0 {
		first = now.Truncate(time.Hour).AddDate(0, 0, -v.cfg.HistoryDays)
	}
	v.eng.Origin = first.UnixNano()
	v.eng.Time = v.eng.Origin
	v.eng.LayTo = now.UnixNano()
	v.files.since = now.UTC()
	return nil
}

// fill makes the blocks up to t that nobody waited for: long ones, unless the
// gap is short.
func (v *Venue) fill(to int64) error {
	for {
		next := v.eng.nextCoarse()
		switch {
		case v.eng.Block == 0:
			next = v.eng.Origin
		case to-v.eng.Time < coarseAfter:
			return nil
		case next > to || to-next < coarseAfter:
			next = to
		}
		if err := v.block(next); err != nil {
			return err
		}
	}
}

// nextCoarse is when the long block after this one is: about five minutes on,
// or, where the next hour is not much further, in its first half second, so that
// funding is paid on time and no block is a short one.
func (e *engine) nextCoarse() int64 {
	const hour = 3_600_000_000_000
	draw := mix64(e.Seed ^ uint64(e.Block)*31)
	next := e.Time + 240_000_000_000 + int64(draw%120_000_000_000)
	if (next+2*coarseAfter)/hour != e.Time/hour {
		next = (e.Time/hour+1)*hour + int64(draw%500_000_000)
	}
	return next
}

// nextLive is when the short block after this one is.
func (e *engine) nextLive(every time.Duration) int64 {
	return e.Time + int64(every)*7/10 + int64(mix64(e.Seed^uint64(e.Block)*37)%uint64(every*6/10))
}

// block makes one block and keeps it.
func (v *Venue) block(t int64) error {
	v.eng.step(t)
	if v.jour != nil {
		if err := v.jour.append(v.eng.Block, t); err != nil {
			return fmt.Errorf("append to journal: %w", err)
		}
	}
	if err := v.files.writeBlock(v.eng.Block, &v.eng.out); err != nil {
		return err
	}
	v.hours.written(v.eng.out.local)
	v.hub.publish(v.eng)
	if v.eng.Block%snapshotEvery == 0 && v.eng.Time > v.eng.LayTo {
		return v.checkpoint()
	}
	return nil
}

// checkpoint writes a snapshot and empties the journal.
func (v *Venue) checkpoint() error {
	if v.jour == nil {
		return nil
	}
	if err := v.eng.save(v.snapshotPath()); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	if err := v.jour.reset(); err != nil {
		return fmt.Errorf("reset journal: %w", err)
	}
	return nil
}

func (v *Venue) snapshotPath() string { return filepath.Join(v.cfg.StateDir, snapshotFile) }

// ErrClosed is returned by a venue after Close.
var ErrClosed = errors.New("venue is closed")

// Advance makes all blocks up to a time, at the live pace of blocks.
func (v *Venue) Advance(to time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.done {
		return ErrClosed
	}
	for next := v.eng.nextLive(v.cfg.BlockEvery); next <= to.UnixNano(); next = v.eng.nextLive(v.cfg.BlockEvery) {
		if err := v.block(next); err != nil {
			return err
		}
	}
	return nil
}

// Skip fills the time up to to with long blocks, as history is made; what is
// left under 30 s is left to Advance.
func (v *Venue) Skip(to time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.done {
		return ErrClosed
	}
	return v.fill(to.UnixNano())
}

// Run makes blocks as the clock goes until the context ends, which is not an
// error. A clock that jumps ahead by more than 30 s (a suspended machine) is
// answered with long blocks.
func (v *Venue) Run(ctx context.Context) error {
	tick := time.NewTicker(v.cfg.BlockEvery / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := v.cfg.Clock()
		if err := v.Skip(now); err != nil {
			return err
		}
		if err := v.Advance(now); err != nil {
			return err
		}
	}
}

// Now is the time of the last block.
func (v *Venue) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return time.Unix(0, v.eng.Time).UTC()
}

// Close disconnects all clients and writes a last snapshot.
func (v *Venue) Close() error {
	v.hub.close()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.done {
		return nil
	}
	v.done = true
	return errors.Join(v.checkpoint(), v.closeFiles())
}

func (v *Venue) closeFiles() error {
	err := v.files.close()
	if v.jour != nil {
		err = errors.Join(err, v.jour.f.Close())
	}
	return err
}
