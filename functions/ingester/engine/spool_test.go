package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestAFileThatAlwaysFailsIsTriedLessAndLess, and another one is consumed meanwhile.
func TestAFileThatAlwaysFailsIsTriedLessAndLess(t *testing.T) {
	t.Parallel()
	stores, dir := newStores(t), t.TempDir()
	bad, good := filepath.Join(dir, "bad.jsonl"), filepath.Join(dir, "good.jsonl")
	for i, path := range []string{bad, good} {
		must.Do(t, os.WriteFile(path, []byte("line\n"), 0o600))
		at := time.Now().Add(time.Duration(i-2) * time.Hour)
		must.Do(t, os.Chtimes(path, at, at))
	}
	const tries = 4
	tried, again := 0, make(chan struct{})
	var log bytes.Buffer
	spool := &Spool[*words]{Domain: "small", Dir: dir, Series: stores.Series, Stats: new(source.Stats), Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		Read: func(ctx context.Context, path string, _ Position, sink Sink[*words]) error {
			if path == good {
				return sink(ctx, Delivery[*words]{Batch: &words{[]string{"ant"}}, Position: encode(1)})
			}
			if tried++; tried == tries+1 {
				close(again)
			}
			return errors.New("no line")
		}}
	stop := run(t, newPipeline(stores, spool.Source()))
	testenv.Until(t, "the good file is consumed", func() bool {
		_, err := os.Stat(good)
		return errors.Is(err, os.ErrNotExist) && stored(t, stores, "vocabulary", "a") == "ant"
	})
	<-again
	must.Do(t, stop())
	if _, err := os.Stat(bad); err != nil {
		t.Errorf("the bad file is gone: %v", err)
	}
	var pauses []time.Duration
	for line := range bytes.Lines(log.Bytes()) {
		var said struct{ File, In string }
		must.Do(t, json.Unmarshal(line, &said))
		if said.In == "" {
			continue
		}
		pause, err := time.ParseDuration(said.In)
		if err != nil || said.File != "bad.jsonl" {
			t.Fatalf("%s: %v", line, err)
		}
		pauses = append(pauses, pause)
	}
	for try := range tries {
		if ceiling := turnRetries.Min << try; len(pauses) <= try || pauses[try] < ceiling/4 || pauses[try] > ceiling {
			t.Fatalf("the pauses were %v", pauses)
		}
	}
}
