package venue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

// copyTree copies a directory, as a crash would leave it.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	must.Do(t, os.CopyFS(to, os.DirFS(from)))
}

// reopen opens a venue on directories that another one has left.
func reopen(t testing.TB, cfg Config) *Venue {
	t.Helper()
	v := must.Get(Open(cfg))(t)
	t.Cleanup(func() { v.Close() })
	return v
}

func TestARestartContinuesWithTheSameBytes(t *testing.T) {
	t.Parallel()
	end := noon.Add(90 * time.Second)
	intact := t.TempDir()
	busy(t, Config{NodeDir: intact, HistoryDays: 2}, 90*time.Second)
	want := tree(t, intact)

	t.Run("after a clean stop", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		cfg := Config{NodeDir: dir + "/node", StateDir: dir + "/state", HistoryDays: 2, Traders: 120, Clock: still(noon)}
		must.Do(t, busy(t, cfg, 40*time.Second).Close())
		cfg.Clock = still(noon.Add(40 * time.Second))
		must.Do(t, reopen(t, cfg).Advance(end))
		same(t, want, tree(t, cfg.NodeDir))
	})

	crashes := map[string]func(t *testing.T, node, state string){
		"after a kill between blocks": func(*testing.T, string, string) {},
		"after a kill in the middle of a line": func(t *testing.T, node, _ string) {
			for s := range streamCount {
				cutLast(t, node, s, 25)
			}
		},
		"after a kill between the journal and the files": func(t *testing.T, node, _ string) {
			for s := range streamCount {
				cutLast(t, node, s, 1<<20)
			}
		},
		"after a kill in the middle of a journal entry": func(t *testing.T, _, state string) {
			f := filepath.Join(state, journalFile)
			info := must.Get(os.Stat(f))(t)
			must.Do(t, os.Truncate(f, info.Size()-5))
		},
	}
	for name, crash := range crashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cfg := Config{NodeDir: dir + "/a/node", StateDir: dir + "/a/state", HistoryDays: 2, Traders: 120, Clock: still(noon)}
			v := busy(t, cfg, 41*time.Second)
			copyTree(t, dir+"/a", dir+"/b") // v is still running: nothing was flushed or closed
			last := v.Now()
			cfg.NodeDir, cfg.StateDir, cfg.Clock = dir+"/b/node", dir+"/b/state", still(last)
			crash(t, cfg.NodeDir, cfg.StateDir)
			must.Do(t, reopen(t, cfg).Advance(end))
			same(t, want, tree(t, cfg.NodeDir))
		})
	}
}

// cutLast cuts bytes off a stream's newest line, at most the whole line.
func cutLast(t *testing.T, node string, s stream, n int64) {
	t.Helper()
	files := must.Get((&nodeFiles{dir: node}).list(s))(t)
	path := files[len(files)-1]
	data := must.Get(os.ReadFile(path))(t)
	line := int64(len(data) - 1 - strings.LastIndexByte(string(data[:len(data)-1]), '\n'))
	must.Do(t, os.Truncate(path, int64(len(data))-min(n, line)))
}

func TestAKillWhileHistoryIsLaidContinuesWithTheSameBytes(t *testing.T) {
	t.Parallel()
	intact := t.TempDir()
	busy(t, Config{NodeDir: intact, HistoryDays: 2}, 0)
	dir := t.TempDir()
	cfg := Config{NodeDir: dir + "/node", StateDir: dir + "/state", HistoryDays: 2, Traders: 120, Clock: still(noon)}
	cfg = must.Get(cfg.withDefaults())(t)
	v := &Venue{cfg: cfg, files: nodeFiles{dir: cfg.NodeDir}}
	v.hub = newHub(v)
	must.Do(t, v.restore())
	for next := v.eng.Origin; v.eng.Block < 300; next = v.eng.nextCoarse() {
		must.Do(t, v.block(next))
	}
	v.closeFiles()
	cutLast(t, cfg.NodeDir, streamFills, 40)
	reopen(t, cfg)
	same(t, tree(t, intact), tree(t, cfg.NodeDir))
}

func TestTimeWhileTheVenueWasDownIsFilledWithLongBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := Config{NodeDir: dir + "/node", StateDir: dir + "/state", HistoryDays: 1, Traders: 120, Clock: still(noon)}
	v := busy(t, cfg, 10*time.Second)
	before := v.Truth()
	must.Do(t, v.Close())
	cfg.Clock = still(noon.Add(5 * time.Hour))
	v = reopen(t, cfg)
	after := v.Truth()
	if blocks := after.Block - before.Block; blocks < 50 || blocks > 80 {
		t.Errorf("%d blocks in five hours", blocks)
	}
	if got := v.Now(); noon.Add(5*time.Hour).Sub(got) > 30*time.Second {
		t.Errorf("last block is of %s", got)
	}
	must.Do(t, v.Advance(noon.Add(5*time.Hour+10*time.Second)))
	checkPairs(t, withoutDust(nodeFills(t, cfg.NodeDir)))
}

func TestOpenRefusesWhatItCannotContinue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := Config{NodeDir: dir + "/node", StateDir: dir + "/state", HistoryDays: 1, Traders: 60, Clock: still(noon)}
	busy(t, cfg, time.Second).Close()
	cases := map[string]struct {
		change func(*Config)
		want   string
	}{
		"another seed":           {func(c *Config) { c.Seed = 9 }, "belongs to seed 1, not 9"},
		"node files, no state":   {func(c *Config) { c.StateDir = dir + "/other" }, "no state to go on from"},
		"too few traders":        {func(c *Config) { c.Traders = 3 }, "accepted are 40 to 10000"},
		"a block every minute":   {func(c *Config) { c.BlockEvery = time.Minute }, "accepted are 10ms to 10s"},
		"two years of history":   {func(c *Config) { c.HistoryDays = 700 }, "accepted are 0 to 365"},
		"a million fills/s":      {func(c *Config) { c.FillsPerSecond = 1e6 }, "accepted are 0 to 1000"},
		"a snapshot cut short":   {func(c *Config) { c.StateDir = cutSnapshot(t, c.StateDir) }, "read snapshot"},
		"a state that is a file": {func(c *Config) { c.StateDir = c.StateDir + "/" + snapshotFile }, "state directory"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := cfg
			tc.change(&c)
			v, err := Open(c)
			if err == nil {
				v.Close()
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %q, want one with %q", err, tc.want)
			}
		})
	}
}

func cutSnapshot(t *testing.T, state string) string {
	t.Helper()
	to := t.TempDir()
	copyTree(t, state, to)
	must.Do(t, os.Truncate(filepath.Join(to, snapshotFile), 5000))
	return to
}

func TestAClosedVenueMakesNoBlocks(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{}, time.Second)
	must.Do(t, v.Close())
	if err := v.Advance(noon.Add(time.Hour)); !errors.Is(err, ErrClosed) {
		t.Errorf("Advance gives %v", err)
	}
	if err := v.Skip(noon.Add(time.Hour)); !errors.Is(err, ErrClosed) {
		t.Errorf("Skip gives %v", err)
	}
	if err := v.Close(); err != nil {
		t.Errorf("second Close gives %v", err)
	}
}

func TestOldDaysOfBulkyStreamsAreRemovedButNotTheHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{NodeDir: dir, HistoryDays: 1, Retain: 24 * time.Hour}, time.Second)
	for range 5 {
		must.Do(t, v.Skip(v.Now().Add(24*time.Hour)))
	}
	days := func(s stream) (names []string) {
		entries := must.Get(os.ReadDir(filepath.Join(dir, streamDirs[s], "hourly")))(t)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if got := strings.Join(days(streamOrders), " "); got != "20260228 20260305 20260306" {
		t.Errorf("order statuses keep %s", got)
	}
	if got := len(days(streamFills)); got != 7 {
		t.Errorf("fills keep %d days", got)
	}
}
