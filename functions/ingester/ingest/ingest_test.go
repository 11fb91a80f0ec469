package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/projection"
	"quotary/shared/data/fills"
	"quotary/shared/data/klines"
	"quotary/shared/data/tickers"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/source/hyperliquid/wire"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

const recording = "../../../shared/source/hyperliquid/testdata/node_fills.jsonl"

var quiet = slog.New(slog.DiscardHandler)

func newStores(t testing.TB) Stores {
	t.Helper()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	objects, bucket := storetest.S3(t)
	return Stores{store.NewLog(db, prefix+schema.LogTable), store.NewSeries(db, prefix+schema.SeriesTable), store.NewViews(objects, bucket)}
}

// start runs a pipeline and returns what stops it.
func start(t testing.TB, p *Pipeline) (stop func() error) {
	t.Helper()
	p.Log = quiet
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func newSpool(dir string) *Spool {
	return &Spool{Dir: dir, Stats: new(hyperliquid.Stats), Log: quiet}
}

func fillsIn(t testing.TB, path string) []market.Fill {
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
func contents(t testing.TB, s Stores, list []market.Fill) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, f := range list {
		for name, tiers := range map[string][]market.Interval{klines.Name: market.KlineTiers[:], topfills.Name: market.TopTiers[:]} {
			for _, i := range tiers {
				key := store.SeriesKey{Name: name, Key: f.Coin, Interval: i.String()}
				if all[key.String()] != nil {
					continue
				}
				points, err := s.Series.Range(t.Context(), key, time.Time{}, time.Time{}, 0, false)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range points {
					all[key.String()] = append(all[key.String()], fmt.Sprint(p.Time.UnixMilli(), string(p.Body)))
				}
			}
		}
		if all[f.Address] == nil {
			for row, err := range s.Log.Rows(t.Context(), store.Query{Dataset: fills.Name, Subject: f.Address}) {
				if err != nil {
					t.Fatal(err)
				}
				all[f.Address] = append(all[f.Address], string(row.Body))
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
	told := fillsIn(t, recording)
	stores := newStores(t)
	dir := t.TempDir()
	stop := start(t, &Pipeline{Stores: stores, Spool: newSpool(dir)})
	replay := Replay{Stores: stores, Spool: Spool{Dir: dir}, Out: io.Discard, Idle: time.Minute}
	counts, err := replay.Run(t.Context(), recording)
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{Lines: 48, Fills: int64(len(told)), Trades: int64(len(market.AppendTrades(nil, told)))}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Fatalf("counts (-want +got):\n%s", diff)
	}
	first := contents(t, stores, told)
	checkRows(t, first, told)

	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if again, err := replay.Run(t.Context(), recording); err != nil || again != counts {
		t.Fatalf("verified again: %+v, %v", again, err)
	}
	// The same fills in another file, one a line, told by another ingester.
	other := filepath.Join(t.TempDir(), "lines")
	var lines strings.Builder
	for i := range told {
		fmt.Fprintf(&lines, "[%q,%s]\n", told[i].Address, wire.AppendFill(nil, &told[i]))
	}
	if err := os.WriteFile(other, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	stop = start(t, &Pipeline{Stores: stores, Spool: newSpool(dir)})
	if counts, err = replay.Run(t.Context(), other); err != nil || counts.Fills != int64(len(told)) || counts.Lines != int64(len(told)) {
		t.Fatalf("%+v, %v", counts, err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, contents(t, stores, told)); diff != "" {
		t.Fatalf("after the second replay:\n%s", diff)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Fatalf("the spool holds %v", left)
	}
}

// checkRows holds the rows against the fills: each once under its address, and
// volume, count and prices of every tier.
func checkRows(t *testing.T, rows map[string][]string, told []market.Fill) {
	t.Helper()
	stored := 0
	addresses := map[string]bool{}
	for _, f := range told {
		if !addresses[f.Address] {
			addresses[f.Address] = true
			stored += len(rows[f.Address])
		}
	}
	if stored != len(told) {
		t.Errorf("%d rows for %d fills", stored, len(told))
	}
	trades := map[string]int64{}
	for _, tr := range market.AppendTrades(nil, told) {
		trades[tr.Coin]++
	}
	for coin, want := range trades {
		for _, i := range market.KlineTiers {
			var got int64
			for _, row := range rows["klines "+coin+" "+i.String()] {
				c, err := klines.Decode([]byte(row[strings.IndexByte(row, '{'):]))
				if err != nil {
					t.Fatal(err)
				}
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
	told := fillsIn(t, recording)
	clean, torn := newStores(t), newStores(t)
	dir := t.TempDir()
	stop := start(t, &Pipeline{Stores: clean, Spool: newSpool(dir)})
	if _, err := (&Replay{Stores: clean, Spool: Spool{Dir: dir}, Out: io.Discard}).Run(t.Context(), recording); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	// A process that dies leaves log rows and some series rows, no checkpoint.
	half := &market.Events{Fills: told[:len(told)/2]}
	dying := &Pipeline{Stores: torn, Log: quiet, Now: time.Now, set: projection.New()}
	if err := dying.write(t.Context(), half); err != nil {
		t.Fatal(err)
	}
	dying = &Pipeline{Stores: torn, Log: quiet, Now: time.Now, set: projection.New()}
	if err := dying.apply(t.Context(), &market.Events{Fills: told[len(told)/3 : len(told)/2]}); err != nil {
		t.Fatal(err)
	}
	changes := dying.set.Changes(time.Now(), true)
	if err := torn.Series.Put(t.Context(), changes.Coarse[:len(changes.Coarse)/2]); err != nil {
		t.Fatal(err)
	}

	stop = start(t, &Pipeline{Stores: torn, Spool: newSpool(dir)})
	if _, err := (&Replay{Stores: torn, Spool: Spool{Dir: dir}, Out: io.Discard}).Run(t.Context(), recording); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, clean, told), contents(t, torn, told)); diff != "" {
		t.Fatalf("the torn run ended otherwise:\n%s", diff)
	}
}

// TestLiveFilesAreFollowedAcrossARestart writes a node's files while the
// ingester runs, stops it, and starts another.
func TestLiveFilesAreFollowedAcrossARestart(t *testing.T) {
	t.Parallel()
	told := fillsIn(t, recording)
	stores := newStores(t)
	dir := t.TempDir()
	data, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	write := func(hour string, part []string) {
		path := filepath.Join(dir, "20260202", hour)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(strings.Join(part, "")); err != nil {
			t.Fatal(err)
		}
	}
	files := func() []Source {
		f := &hyperliquid.Files{Dir: dir, Stats: new(hyperliquid.Stats), Log: quiet, Poll: 5 * time.Millisecond}
		return []Source{{Name: "node", Group: "node", Stats: f.Stats, Follow: f.Follow}}
	}
	await := func(p *Pipeline, fills int64) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); p.Stats.Fills.Load() < fills; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d fills after 30 s, want %d", p.Stats.Fills.Load(), fills)
			}
		}
	}
	count := func(part []string) (n int64) {
		for _, line := range part {
			f, _, _ := wire.ParseFills(nil, line, 0)
			n += int64(len(f))
		}
		return n
	}
	first := &Pipeline{Stores: stores, Sources: files()}
	stop := start(t, first)
	write("11", lines[:10])
	await(first, count(lines[:10]))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	write("11", lines[10:20])
	write("12", lines[20:])
	second := &Pipeline{Stores: stores, Sources: files()}
	stop = start(t, second)
	await(second, count(lines[10:]))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got, want := second.Stats.Fills.Load(), count(lines[10:]); got != want {
		t.Errorf("the second run read %d fills, want %d: the checkpoint was not used", got, want)
	}
	checkRows(t, contents(t, stores, told), told)
}

func TestAReplayRefusesWhatIsNoRecording(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	dir := t.TempDir()
	stop := start(t, &Pipeline{Stores: stores, Spool: newSpool(dir)})
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "absent"): "no such file", dir: "is no file", file(""): "is empty", file("hello\n{}\n"): "holds no fill: 2 of 2 lines",
	} {
		_, err := (&Replay{Stores: stores, Spool: Spool{Dir: dir}, Out: io.Discard}).Run(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	// A consumed file is removed after its checkpoint is written, which is what
	// a replay waits for.
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left, err := os.ReadDir(dir)
		if err == nil && len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the spool still holds %v (%v)", left, err)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	// Without an ingester it says so, and what it left is taken up later.
	_, err := (&Replay{Stores: stores, Spool: Spool{Dir: dir}, Out: io.Discard, Idle: 300 * time.Millisecond}).Run(t.Context(), recording)
	if err == nil || !strings.Contains(err.Error(), "is it running?") {
		t.Fatalf("%v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Fatalf("the spool holds %v", left)
	}
}

func TestReadinessFollowsTheSources(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	one, two, other := new(hyperliquid.Stats), new(hyperliquid.Stats), new(hyperliquid.Stats)
	p := &Pipeline{Sources: []Source{{Name: "a", Group: "node", Stats: one}, {Name: "b", Group: "node", Stats: two}, {Name: "c", Group: "feed", Stats: other}}, Spool: newSpool("")}
	h := &Health{Lease: new(lease.Lease), Now: func() time.Time { return now }}
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if status, body := get("/readyz"); status != 200 || !strings.Contains(body, `"status":"standby","role":"standby"`) {
		t.Errorf("/readyz of one that stands by: %d %s", status, body)
	}
	if status, body := get("/metrics"); status != 200 || !strings.Contains(body, `"role":"standby","epoch":0,"sources":{}`) {
		t.Errorf("/metrics of one that stands by: %d %s", status, body)
	}
	h.Begin(Duty{Pipeline: p, Began: now})
	expect := func(status int, holds string) {
		t.Helper()
		if got, body := get("/readyz"); got != status || !strings.Contains(body, holds) {
			t.Errorf("/readyz: %d %s, want %d %s", got, body, status, holds)
		}
	}
	now = now.Add(59 * time.Second)
	expect(200, "ready")
	now = now.Add(2 * time.Second)
	expect(503, "source node is silent")
	two.LastSeen.Store(now.UnixMilli())
	expect(503, "source feed is silent")
	other.LastSeen.Store(now.UnixMilli())
	other.LastEvent.Store(now.Add(-3 * time.Second).UnixMilli())
	expect(200, "ready")
	p.Stats.TroubleSince.Store(now.Add(-time.Minute).UnixMilli())
	expect(503, "the stores refuse")
	if status, body := get("/healthz"); status != 200 || !strings.Contains(body, `"role":"active"`) {
		t.Errorf("/healthz: %d %s", status, body)
	}
	var m figures
	_, body := get("/metrics")
	if err := json.Unmarshal([]byte(body), &m); err != nil || *m.Sources["c"].LagMs != 3000 || m.Sources["a"].LagMs != nil || len(m.Sources) != 4 {
		t.Errorf("/metrics: %s %v", body, err)
	}
}

// TestTheStoresMayBeAway: nothing is lost while they refuse, and a stop ends.
func TestTheStoresMayBeAway(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	tries := 0
	p := &Pipeline{Stores: stores, Log: quiet, Now: time.Now}
	err := p.retry(t.Context(), "test", func() error {
		if tries++; tries < 3 {
			return io.ErrUnexpectedEOF
		}
		if p.Stats.TroubleSince.Load() == 0 {
			t.Error("the trouble is not told")
		}
		return nil
	})
	if err != nil || tries != 3 || p.Stats.TroubleSince.Load() != 0 {
		t.Fatalf("%v after %d tries", err, tries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.retry(ctx, "test", func() error { return io.ErrUnexpectedEOF }); err == nil {
		t.Fatal("it did not end")
	}
}
