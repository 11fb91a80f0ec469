package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/perp"
	"quotary/functions/ingester/source"
	"quotary/shared/data/klines"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/venue/wire"
)

// TestMain lets the test binary be the program itself, so that it can be run
// and killed as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("QUOTARY_TEST_AS_INGESTER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// world is what the processes of a test share.
type world struct {
	t      *testing.T
	env    []string
	stores engine.Stores
	spool  string
	bucket http.Handler // of views and the archive
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	handler := storetest.S3Handler()
	objects := httptest.NewServer(handler)
	t.Cleanup(objects.Close)
	client := storetest.S3Client(t, handler)
	must.Do(t, schema.CreateBucket(t.Context(), client, "views"))
	w := &world{t: t, bucket: handler, spool: filepath.Join(t.TempDir(), "spool"), stores: engine.Stores{
		Log: store.NewLog(db, prefix+schema.LogTable), Series: store.NewSeries(db, prefix+schema.SeriesTable), Views: store.NewViews(client, "views")}}
	w.env = append(os.Environ(), "QUOTARY_TEST_AS_INGESTER=1", "QUOTARY_INGESTER_NAME=only", "QUOTARY_TABLE_PREFIX="+prefix, "QUOTARY_VIEWS_BUCKET=views", "QUOTARY_FEEDS=off",
		"QUOTARY_SPOOL_DIR="+w.spool, "AWS_ENDPOINT_URL_DYNAMODB="+storetest.Endpoint(t), "AWS_ENDPOINT_URL_S3="+objects.URL,
		"AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true")
	return w
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), os.Args[0], args...)
	cmd.Env = w.env
	return cmd
}

// process is an ingester that runs.
type process struct {
	cmd *exec.Cmd
	out *bytes.Buffer
}

func (w *world) run() *process {
	w.t.Helper()
	p := &process{w.command("run"), new(bytes.Buffer)}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	must.Do(w.t, p.cmd.Start())
	w.t.Cleanup(func() { p.end(syscall.SIGKILL) })
	return p
}

func (p *process) end(s syscall.Signal) error {
	p.cmd.Process.Signal(s)
	return p.cmd.Wait()
}

// record writes a recording of so many trades and returns its fills.
func record(t testing.TB, trades int) (path string, fills []market.Fill) {
	t.Helper()
	var text strings.Builder
	for b := 0; b*4 < trades; b++ {
		text.WriteString(block(b, 1770033590000+int64(b)*731))
	}
	path = filepath.Join(t.TempDir(), "recording")
	must.Do(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path, fillsOf(t, text.String())
}

// block is a line of a node: a block of four trades at a time, ms.
func block(b int, ms int64) string {
	var events []string
	for i := range 4 {
		n := b*4 + i
		for side, address := range [2]string{fmt.Sprintf("0x%040x", n%9), fmt.Sprintf("0x%040x", 100+n%5)} {
			events = append(events, fmt.Sprintf(`[%q,{"coin":"C%d","px":"%d.5","sz":"%d.25","side":"%c","time":%d,"startPosition":"%d.0","dir":"Buy","closedPnl":"0.0","hash":"0x0","oid":%d,"crossed":%t,"fee":"0.0","tid":%d,"feeToken":"USDC","twapId":null}]`,
				address, n%6, 100+n%7, 1+n%3, "BA"[side], ms, n, 2*n+side, side == n%2, 5000+n))
		}
	}
	return fmt.Sprintf(`{"block_number":%d,"events":[%s]}`+"\n", 700+b, strings.Join(events, ","))
}

func fillsOf(t testing.TB, text string) (fills []market.Fill) {
	t.Helper()
	for line := range strings.Lines(text) {
		var err error
		if fills, _, err = wire.ParseFills(fills, line, 0); err != nil {
			t.Fatal(err)
		}
	}
	return fills
}

// TestAKilledIngesterLosesAndDoublesNothing kills the process without warning
// several times during a replay, and holds all klines and rows against the file.
func TestAKilledIngesterLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, fills := record(t, testenv.Amount(2400, 50_000))
	replay := w.command("replay", path)
	var out bytes.Buffer
	replay.Stdout, replay.Stderr = &out, &out
	must.Do(t, replay.Start())
	replayed := make(chan error, 1)
	go func() { replayed <- replay.Wait() }()
	kills := 0
	for ended := false; !ended; {
		p := w.run()
		life := time.Duration(100+rand.IntN(400)) * time.Millisecond
		if kills >= testenv.Amount(5, 100) {
			life = time.Hour
		}
		select {
		case err := <-replayed:
			if err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			ended = true
		case <-time.After(life):
			kills++
		}
		p.end(syscall.SIGKILL)
	}
	t.Logf("killed %d times; %s", kills, strings.TrimSpace(out.String()))
	if !strings.Contains(out.String(), fmt.Sprintf("fills %d, trades %d, malformed 0, missing 0", len(fills), len(fills)/2)) {
		t.Errorf("the replay said %s", out.String())
	}
	w.checkCandles(fills)
}

// checkCandles holds the klines of every tier against the fills.
func (w *world) checkCandles(fills []market.Fill) {
	w.t.Helper()
	for coin, want := range candlesOf(fills) {
		for _, i := range market.KlineTiers {
			key := klines.Key(coin, i)
			points := must.Get(w.stores.Series.Range(w.t.Context(), key, time.Time{}, time.Time{}, 0, false))(w.t)
			var sum market.Candle
			for _, p := range points {
				c := must.Get(klines.Decode(p.Body))(w.t)
				sum.Merge(&c)
			}
			if !sum.Equal(&want) {
				w.t.Errorf("%s: %s, want %s", key, klines.Append(nil, &sum), klines.Append(nil, &want))
			}
		}
	}
}

func candlesOf(fills []market.Fill) map[string]market.Candle {
	candles := map[string]market.Candle{}
	for _, t := range market.AppendTrades(nil, fills) {
		c := candles[t.Coin]
		c.Add(&t)
		candles[t.Coin] = c
	}
	return candles
}

func TestAnInterruptedReplayGoesOnAndAStopIsClean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, _ := record(t, 40)
	replay := w.command("replay", path)
	must.Do(t, replay.Start())
	testenv.Until(t, "the file is spooled", func() bool {
		files, _ := filepath.Glob(filepath.Join(w.spool, "*.jsonl"))
		return len(files) == 1
	})
	replay.Process.Signal(os.Interrupt)
	var failed *exec.ExitError
	if err := replay.Wait(); !errors.As(err, &failed) || !failed.Exited() {
		t.Fatalf("an interrupted replay ended with %v", err)
	}
	p := w.run()
	out, err := w.command("replay", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "fills 80, trades 40, malformed 0, missing 0") {
		t.Fatalf("%v: %s", err, out)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Fatalf("it stopped with %v: %s", err, p.out)
	}
	for line := range strings.Lines(p.out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a log line is no JSON: %s", line)
		}
		if strings.Contains(line, "CloudWatchMetrics") {
			t.Errorf("nobody asked for metrics: %s", line)
		}
	}
}

func TestMissingSettingsAreNamed(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"run"}, {"setup"}, {"replay", "x"}} {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = []string{"QUOTARY_TEST_AS_INGESTER=1"}
		out, err := cmd.CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("QUOTARY_TABLE_PREFIX is not set")) || !bytes.Contains(out, []byte("QUOTARY_VIEWS_BUCKET is not set")) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}

func TestSetupMakesWhatADeploymentMakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		if out, err := w.command("setup").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

func TestTheHealthListenerAnswersAtTheAddressInTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("run")
	cmd.Env = append(cmd.Env, "QUOTARY_METRICS=quotary-test")
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	lines := bufio.NewReader(stdout)
	first := must.Get(lines.ReadBytes('\n'))(t)
	var started struct{ Health string }
	if err := json.Unmarshal(first, &started); err != nil {
		t.Fatalf("%s: %v", first, err)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		resp := must.Get(http.Get("http://" + started.Health + path))(t)
		resp.Body.Close()
		early := path == "/readyz" && resp.StatusCode == http.StatusServiceUnavailable // it has the lease, and has written nothing yet
		if resp.StatusCode != http.StatusOK && !early || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, resp.StatusCode, resp.Header.Get("Content-Type"))
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	rest := must.Get(io.ReadAll(lines))(t)
	if !strings.Contains(string(rest), `"Deployment":"quotary-test","Domain":"perp","LeaseHeld":0`) {
		t.Errorf("its metrics do not say that it holds the lease no more: %s", rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it stopped with %v", err)
	}
}

// BenchmarkIngest measures a recording from the file into the engine, on disk:
// every row that it makes, log, klines, rankings and views.
func BenchmarkIngest(b *testing.B) {
	db := storetest.Client(b, storetest.OnDisk(b))
	_, fills := record(b, 2000)
	var rows int64
	for b.Loop() {
		prefix := storetest.Tables(b, db)
		objects, bucket := storetest.S3(b)
		projections, _ := perp.Projections()
		p := &engine.Pipeline[*perp.Batch]{Domain: perp.Name, NewBatch: perp.NewBatch, Logs: perp.Logs, Projections: projections, Logger: slog.New(slog.DiscardHandler), Stores: engine.Stores{
			Log: store.NewLog(db, prefix+schema.LogTable), Series: store.NewSeries(db, prefix+schema.SeriesTable).Under(1), Views: store.NewViews(objects, bucket)}}
		p.Sources = []engine.Source[*perp.Batch]{{Name: "recording", Stats: new(source.Stats), NoCheckpoint: true,
			Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*perp.Batch]) error {
				for from := 0; from < len(fills); from += 1000 {
					to := min(from+1000, len(fills))
					d := engine.Delivery[*perp.Batch]{Batch: &perp.Batch{Events: market.Events{Fills: fills[from:to:to]}}}
					if err := sink(ctx, d); err != nil {
						return err
					}
				}
				return nil
			}}}
		must.Do(b, p.Run(b.Context()))
		rows += p.Stats.Rows.Load()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(rows)/float64(b.N*len(fills)), "rows/fill")
}
