package venue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// copyTree copies a directory, as a crash would leave it.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// reopen opens a venue on directories that another one has left.
func reopen(t testing.TB, cfg Config) *Venue {
	t.Helper()
	v, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := busy(t, cfg, 40*time.Second).Close(); err != nil {
			t.Fatal(err)
		}
		cfg.Clock = still(noon.Add(40 * time.Second))
		if err := reopen(t, cfg).Advance(end); err != nil {
			t.Fatal(err)
		}
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
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(f, info.Size()-5); err != nil {
				t.Fatal(err)
			}
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
			if err := reopen(t, cfg).Advance(end); err != nil {
				t.Fatal(err)
			}
			same(t, want, tree(t, cfg.NodeDir))
		})
	}
}

// cutLast cuts bytes off a stream's newest line, at most the whole line.
func cutLast(t *testing.T, node string, s stream, n int64) {
	t.Helper()
	files, err := (&nodeFiles{dir: node}).list(s)
	if err != nil {
		t.Fatal(err)
	}
	path := files[len(files)-1]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := int64(len(data) - 1 - strings.LastIndexByte(string(data[:len(data)-1]), '\n'))
	if err := os.Truncate(path, int64(len(data))-min(n, line)); err != nil {
		t.Fatal(err)
	}
}

func TestAKillWhileHistoryIsLaidContinuesWithTheSameBytes(t *testing.T) {
	t.Parallel()
	intact := t.TempDir()
	busy(t, Config{NodeDir: intact, HistoryDays: 2}, 0)
	dir := t.TempDir()
	cfg := Config{NodeDir: dir + "/node", StateDir: dir + "/state", HistoryDays: 2, Traders: 120, Clock: still(noon)}
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	v := &Venue{cfg: cfg, files: nodeFiles{dir: cfg.NodeDir}}
	v.hub = newHub(v)
	if err := v.restore(); err != nil {
		t.Fatal(err)
	}
	for next := v.eng.Origin; v.eng.Block < 300; next = v.eng.nextCoarse() {
		if err := v.block(next); err != nil {
			t.Fatal(err)
		}
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
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Clock = still(noon.Add(5 * time.Hour))
	v = reopen(t, cfg)
	after := v.Truth()
	if blocks := after.Block - before.Block; blocks < 50 || blocks > 80 {
		t.Errorf("%d blocks in five hours", blocks)
	}
	if got := v.Now(); noon.Add(5*time.Hour).Sub(got) > 30*time.Second {
		t.Errorf("last block is of %s", got)
	}
	if err := v.Advance(noon.Add(5*time.Hour + 10*time.Second)); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Truncate(filepath.Join(to, snapshotFile), 5000); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestAClosedVenueMakesNoBlocks(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{}, time.Second)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
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
		if err := v.Skip(v.Now().Add(24 * time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	days := func(s stream) (names []string) {
		entries, err := os.ReadDir(filepath.Join(dir, streamDirs[s], "hourly"))
		if err != nil {
			t.Fatal(err)
		}
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
