package perp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/fills"
	"quotary/shared/data/klines"
	"quotary/shared/data/tickers"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/venue/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

const recording = "../source/hyperliquid/testdata/node_fills.jsonl"

var quiet = slog.New(slog.DiscardHandler)

func newStores(t testing.TB) engine.Stores {
	t.Helper()
	s := storetest.Open(t)
	return engine.Stores{Log: s.Log, Series: s.Series, Views: s.Views, Quarantine: engine.Quarantine{Objects: s.Objects, Bucket: s.Bucket}}
}

// newPipeline is the domain on some sources.
func newPipeline(stores engine.Stores, sources ...engine.Source[*Batch]) *engine.Pipeline[*Batch] {
	projections, _ := Projections()
	return &engine.Pipeline[*Batch]{Domain: Name, Stores: stores, NewBatch: NewBatch, Logs: Logs, Projections: projections, Sources: sources, Logger: quiet, StopWithin: 5 * time.Minute}
}

// run runs a pipeline and returns what stops it.
func run(t testing.TB, p *engine.Pipeline[*Batch]) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func readFills(t testing.TB, path string) []market.Fill {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []market.Fill
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if list, _, err = wire.ParseFills(list, line, 0); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// contents are the rows of every coin and tier, and the log of every address.
func contents(t testing.TB, s engine.Stores, list []market.Fill) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, f := range list {
		var keys []store.SeriesKey
		for _, i := range market.KlineTiers {
			keys = append(keys, klines.Key(f.Coin, i))
		}
		for _, i := range market.TopTiers {
			keys = append(keys, topfills.Key(f.Coin, i))
		}
		for _, key := range keys {
			if all[key.String()] != nil {
				continue
			}
			points := must.Get(s.Series.Range(t.Context(), key, time.Time{}, time.Time{}, 0, false))(t)
			for _, p := range points {
				all[key.String()] = append(all[key.String()], fmt.Sprint(p.Time.UnixMilli(), string(p.Body)))
			}
		}
		if all[f.Address] == nil {
			for stored := range must.All(t, fills.Newest(t.Context(), s.Log, f.Address, "", 0)) {
				all[f.Address] = append(all[f.Address], string(stored.AppendJSON(nil)))
			}
		}
	}
	view, _, _, err := s.Views.Fetch(t.Context(), tickers.Name, "")
	if err != nil {
		t.Fatal(err)
	}
	_, prices, _ := strings.Cut(string(view), `"tickers"`)
	all["tickers"] = []string{prices}
	return all
}

// TestAReplayIsThereOnceHoweverOften replays a file twice, once through an
// ingester that is stopped and started, and wants what one straight run gives.
func TestAReplayIsThereOnceHoweverOften(t *testing.T) {
	t.Parallel()
	list := readFills(t, recording)
	stores := newStores(t)
	dir := t.TempDir()
	stop := run(t, newPipeline(stores, newSpool(stores, dir).Source()))
	replay := Replay{Stores: stores, Dir: dir, Out: io.Discard, Idle: time.Minute}
	counts, err := replay.Run(t.Context(), recording)
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Lines: 48, Fills: int64(len(list)), Trades: int64(len(market.AppendTrades(nil, list)))}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Fatalf("counts (-want +got):\n%s", diff)
	}
	first := contents(t, stores, list)
	checkRows(t, first, list)

	must.Do(t, stop())
	if again, err := replay.Run(t.Context(), recording); err != nil || again != counts {
		t.Fatalf("verified again: %+v, %v", again, err)
	}
	// The same fills in another file, one a line, through another ingester.
	other := filepath.Join(t.TempDir(), "lines")
	var lines strings.Builder
	for i := range list {
		fmt.Fprintf(&lines, "[%q,%s]\n", list[i].Address, list[i].AppendJSON(nil))
	}
	must.Do(t, os.WriteFile(other, []byte(lines.String()), 0o600))
	stop = run(t, newPipeline(stores, newSpool(stores, dir).Source()))
	if counts, err = replay.Run(t.Context(), other); err != nil || counts.Fills != int64(len(list)) || counts.Lines != int64(len(list)) {
		t.Fatalf("%+v, %v", counts, err)
	}
	must.Do(t, stop())
	if diff := cmp.Diff(first, contents(t, stores, list)); diff != "" {
		t.Fatalf("after the second replay:\n%s", diff)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Fatalf("the spool holds %v", left)
	}
}

// TestARowThatIsGoneIsReplayedAgain though the checkpoint of the earlier replays is
// one that the command may not write.
func TestARowThatIsGoneIsReplayedAgain(t *testing.T) {
	t.Parallel()
	stores, dir := newStores(t), t.TempDir()
	held := stores
	held.Series = stores.Series.Under(7)
	for earlier := range 2 {
		name := must.Get(engine.SpoolName(recording, earlier+1))(t)
		must.Do(t, held.Series.SaveCheckpoint(t.Context(), engine.Checkpoint(Name, "spool", name), mustJSON(engine.SpoolProgress{Done: true})))
	}
	stop := run(t, newPipeline(held, newSpool(held, dir).Source()))
	counts, err := (&Replay{Stores: stores, Dir: dir, Out: io.Discard, Idle: time.Minute}).Run(t.Context(), recording)
	if err != nil || counts.Missing > 0 || counts.Fills == 0 {
		t.Errorf("%+v, %v", counts, err)
	}
	must.Do(t, stop())
}

// checkRows holds the rows against the fills: each once under its address, and
// volume, count and prices of every tier.
func checkRows(t *testing.T, rows map[string][]string, list []market.Fill) {
	t.Helper()
	stored := 0
	addresses := map[string]bool{}
	for _, f := range list {
		if !addresses[f.Address] {
			addresses[f.Address] = true
			stored += len(rows[f.Address])
		}
	}
	if stored != len(list) {
		t.Errorf("%d rows for %d fills", stored, len(list))
	}
	trades := map[string]int64{}
	for _, tr := range market.AppendTrades(nil, list) {
		trades[tr.Coin]++
	}
	for coin, want := range trades {
		for _, i := range market.KlineTiers {
			var got int64
			for _, row := range rows["klines "+coin+" "+i.String()] {
				c := must.Get(klines.Decode([]byte(row[strings.IndexByte(row, '{'):])))(t)
				got += c.Trades
			}
			if got != want {
				t.Errorf("%s %s: %d trades, want %d", coin, i, got, want)
			}
		}
	}
}

// TestAStoppedReplayGoesOn stops the ingester in the middle, without its last
// flush, more than once.
func TestAStoppedReplayGoesOn(t *testing.T) {
	t.Parallel()
	list := readFills(t, recording)
	clean, torn := newStores(t), newStores(t)
	dir := t.TempDir()
	stop := run(t, newPipeline(clean, newSpool(clean, dir).Source()))
	must.Get((&Replay{Stores: clean, Dir: dir, Out: io.Discard}).Run(t.Context(), recording))(t)
	must.Do(t, stop())

	// A process that dies leaves log rows and some series rows, no checkpoint.
	must.Do(t, torn.Log.Put(t.Context(), fills.Name, fills.AppendRows(nil, list[:len(list)/2])))
	for _, part := range [][]market.Fill{list[:len(list)/2], list[len(list)/3 : len(list)/2]} {
		changes := applied(t, newSet(), time.Now(), true, market.Events{Fills: part})
		must.Do(t, torn.Series.Put(t.Context(), changes.Coarse[:len(changes.Coarse)/2]))
	}

	stop = run(t, newPipeline(torn, newSpool(torn, dir).Source()))
	must.Get((&Replay{Stores: torn, Dir: dir, Out: io.Discard}).Run(t.Context(), recording))(t)
	must.Do(t, stop())
	if diff := cmp.Diff(contents(t, clean, list), contents(t, torn, list)); diff != "" {
		t.Fatalf("the torn run ended otherwise:\n%s", diff)
	}
}

// TestLiveFilesAreFollowedAcrossARestart writes a node's files while the
// ingester runs, stops it, and starts another.
func TestLiveFilesAreFollowedAcrossARestart(t *testing.T) {
	t.Parallel()
	list := readFills(t, recording)
	stores := newStores(t)
	dir := t.TempDir()
	data := must.Get(os.ReadFile(recording))(t)
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	write := func(hour string, part []string) {
		path := filepath.Join(dir, "20260202", hour)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		file := must.Get(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
		defer file.Close()
		must.Get(file.WriteString(strings.Join(part, "")))(t)
	}
	files := func() engine.Source[*Batch] {
		f := &hyperliquid.Files{Dir: dir, Stats: new(hyperliquid.Stats), Log: quiet, Poll: 5 * time.Millisecond}
		return engine.Source[*Batch]{Name: "node", Group: "node", Stats: f.Stats, Follow: follow(f.Follow)}
	}
	await := func(p *engine.Pipeline[*Batch], n int64) {
		t.Helper()
		testenv.Until(t, fmt.Sprintf("%d fills are stored", n), func() bool { return p.Stats.Events.Load() >= n })
	}
	count := func(part []string) (n int64) {
		for _, line := range part {
			f, _, _ := wire.ParseFills(nil, line, 0)
			n += int64(len(f))
		}
		return n
	}
	first := newPipeline(stores, files())
	stop := run(t, first)
	write("11", lines[:10])
	await(first, count(lines[:10]))
	must.Do(t, stop())
	write("11", lines[10:20])
	write("12", lines[20:])
	second := newPipeline(stores, files())
	stop = run(t, second)
	await(second, count(lines[10:]))
	must.Do(t, stop())
	if got, want := second.Stats.Events.Load(), count(lines[10:]); got != want {
		t.Errorf("the second run read %d fills, want %d: the checkpoint was not used", got, want)
	}
	checkRows(t, contents(t, stores, list), list)
}

func TestAReplayRefusesWhatIsNoRecording(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	dir := t.TempDir()
	stop := run(t, newPipeline(stores, newSpool(stores, dir).Source()))
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "absent"): "no such file", dir: "is no file", file(""): "is empty", file("hello\n{}\n"): "holds no fill: 2 of 2 lines",
	} {
		_, err := (&Replay{Stores: stores, Dir: dir, Out: io.Discard}).Run(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	// A consumed file is removed after its checkpoint is written, which is what
	// a replay waits for.
	testenv.Until(t, "the spool is empty", func() bool { return len(must.Get(os.ReadDir(dir))(t)) == 0 })
	must.Do(t, stop())
	// Without an ingester it says so, and what it left is taken up later.
	_, err := (&Replay{Stores: stores, Dir: dir, Out: io.Discard, Idle: 300 * time.Millisecond}).Run(t.Context(), recording)
	if err == nil || !strings.Contains(err.Error(), "is it running?") {
		t.Fatalf("%v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Fatalf("the spool holds %v", left)
	}
}
