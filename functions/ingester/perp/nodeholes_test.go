package perp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/accounts"
	filldata "quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// blockOfLine is the number of the block of a line.
func blockOfLine(line []byte) string {
	_, rest, _ := bytes.Cut(line, []byte(`"block_number":`))
	return string(rest[:max(0, bytes.IndexAny(rest, ",}"))])
}

// withoutBlocks copies a stream of a node's files without the lines of some blocks.
func withoutBlocks(t *testing.T, from, to, stream string, lacks map[string]bool) {
	t.Helper()
	for _, file := range must.Get(filepath.Glob(filepath.Join(from, stream, "hourly", "*", "*")))(t) {
		var left [][]byte
		for line := range bytes.Lines(must.Get(os.ReadFile(file))(t)) {
			if !lacks[blockOfLine(line)] {
				left = append(left, line)
			}
		}
		copied := filepath.Join(to, strings.TrimPrefix(file, from))
		must.Do(t, os.MkdirAll(filepath.Dir(copied), 0o700))
		must.Do(t, os.WriteFile(copied, bytes.Join(left, nil), 0o600))
	}
}

// TestHoursFillTheHolesOfANodesFiles: a node that was not there for a while, and the hours in which it was not, give the
// rows of one that always was. Of these hours only what is missing is delivered, and no other hour is read.
func TestHoursFillTheHolesOfANodesFiles(t *testing.T) {
	t.Parallel()
	const hours = 4
	bucket, nodeDir, wrote, first := publishedVenue(t, hours)
	var numbers []string
	for _, hour := range must.Get(filepath.Glob(filepath.Join(nodeDir, hyperliquid.BlockStream, "hourly", "*", "*")))(t) {
		for line := range bytes.Lines(must.Get(os.ReadFile(hour))(t)) {
			numbers = append(numbers, blockOfLine(line))
		}
	}
	slices.SortFunc(numbers, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	lacks := map[string]bool{}
	for _, n := range numbers[len(numbers)/10 : len(numbers)*2/5] {
		lacks[n] = true
	}
	holed := t.TempDir()
	for _, stream := range hyperliquid.Streams {
		withoutBlocks(t, nodeDir, holed, stream, lacks)
	}
	withoutBlocks(t, nodeDir, holed, "misc_events_by_block", lacks)

	ofNode := func(c Config) (sources []engine.Source[*Batch]) {
		for _, s := range c.nodeSources(nil) {
			if strings.HasPrefix(s.Name, hyperliquid.BlockStream) || strings.HasPrefix(s.Name, "misc_events_by_block") {
				sources = append(sources, s)
			}
		}
		return sources
	}
	whole := newStores(t)
	p := newPipeline(whole, ofNode(Config{Stores: whole, Logger: quiet, NodeDir: nodeDir})...)
	stop := run(t, p)
	testenv.Until(t, "all of the whole node's files is stored", func() bool {
		return p.Stats.Events.Load() >= int64(wrote.Len()) && p.Stats.CatchingUp.Load() == 0
	})
	testenv.Until(t, "the states of all accounts are made again from the logs", func() bool {
		got := must.Get(accounts.Load(t.Context(), whole.Series, addressesOf(&wrote)...))(t)
		return len(got) == len(addressesOf(&wrote))
	})
	must.Do(t, stop())
	want := rowsOf(t, whole, &wrote)

	stores := newStores(t)
	c := Config{Stores: stores, Logger: quiet, NodeDir: holed, Hours: bucket, HoursOf: HoursSettings{Since: time.Since(first)}, hoursPoll: 20 * time.Millisecond}
	c.holes = &nodeHoles{series: stores.Series}
	p = newPipeline(stores, ofNode(c)...)
	stop = run(t, p)
	testenv.Until(t, "the hours with holes are noted", func() bool { return len(must.Get(c.holes.all(t.Context()))(t)) >= 2 })
	testenv.Until(t, "the files are read", func() bool { return p.Stats.CatchingUp.Load() == 0 })
	must.Do(t, stop())
	if diff := gocmp.Diff(want, rowsOf(t, stores, &wrote)); diff == "" {
		t.Fatal("nothing is missing")
	}

	// The next life knows of them, and ends in the middle of one.
	c.holes = &nodeHoles{series: stores.Series}
	noted := must.Get(c.holes.all(t.Context()))(t)
	check.Equal(t, []string{hourName(first), hourName(first.Add(time.Hour))}, noted)
	here := must.Get(filldata.Unconfirmed(t.Context(), stores.Log, wrote.Fills))(t)
	trades := market.AppendTrades(nil, here[:len(here)/3]) // without the node public trades were followed for some time
	storetest.PutLog(t, stores.Log, filldata.Name, filldata.AppendRows, market.AppendProvisional(nil, trades)...)
	h := c.venueHours()
	delivered := market.Events{}
	fill := func(most int) engine.Source[*Batch] {
		s := c.holesSource(h, nil)
		follow := s.Follow
		s.Follow = func(ctx context.Context, at engine.Position, sink engine.Sink[*Batch]) error {
			return follow(ctx, at, func(ctx context.Context, d engine.Delivery[*Batch]) error {
				if d.Batch != nil {
					if most--; most < 0 {
						<-ctx.Done()
						return ctx.Err()
					}
					delivered.Merge(&d.Batch.Events)
				}
				return sink(ctx, d)
			})
		}
		return s
	}
	h.Most = 20
	p = newPipeline(stores, fill(1))
	stop = run(t, p)
	testenv.Until(t, "a part is stored", func() bool { return p.Stats.Events.Load() > 0 })
	must.Do(t, stop())
	h = c.venueHours()
	p = newPipeline(stores, append(ofNode(c), fill(1_000_000))...)
	stop = run(t, p)
	testenv.Until(t, "the holes are filled", func() bool { return len(must.Get(c.holes.all(t.Context()))(t)) == 0 })
	got := map[string][]string{}
	defer func() {
		if t.Failed() {
			t.Logf("(-whole +filled):\n%.3000s", gocmp.Diff(want, got))
		}
	}()
	testenv.Until(t, "the rows are those of a whole node", func() bool {
		got = rowsOf(t, stores, &wrote)
		return gocmp.Equal(want, got)
	})
	must.Do(t, stop())
	if n := h.Figures.Hours.Load(); n != int64(len(noted)) || h.Figures.Owed.Load() != 0 {
		t.Errorf("%d hours are read of %d, %d are left", n, len(noted), h.Figures.Owed.Load())
	}
	if len(delivered.Fills) >= len(wrote.Fills)/2 || len(delivered.Payments) >= len(wrote.Payments) {
		t.Errorf("of %d fills and %d payments %d and %d are delivered: most were stored", len(wrote.Fills), len(wrote.Payments), len(delivered.Fills), len(delivered.Payments))
	}
}

func hourName(at time.Time) string { return fmt.Sprint(at.Format("20060102"), "/", at.Hour()) }
