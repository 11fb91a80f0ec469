package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/market"
)

// QUOTARY_TESTDATA names a folder of genuine recordings, where there is one.
// What the venue told of each account must come back as it was told: read here
// with encoding/json, stored through the product's own parser.
func TestARecordingIsServedAsItWasTold(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	file, err := os.Open(filepath.Join(dir, "hyperliquid", "node_fills_sample.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := newWorld(t)
	told := map[string][]map[string]any{} // by address, in order
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		fills, skipped, err := market.AppendFills(nil, lines.Text(), 0)
		if err != nil || skipped > 0 {
			t.Fatalf("%d fills skipped, error %v", skipped, err)
		}
		w.put(t, fills...)
		var block struct{ Events [][2]json.RawMessage }
		if err := json.Unmarshal(lines.Bytes(), &block); err != nil {
			t.Fatal(err)
		}
		for _, event := range block.Events {
			var address string
			fill := map[string]any{}
			if err := json.Unmarshal(event[0], &address); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(event[1], &fill); err != nil {
				t.Fatal(err)
			}
			delete(fill, "builder")
			told[address] = append(told[address], fill)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for address, want := range told {
		got := apitest.Data[[]map[string]any](t, w.ask(t, fmt.Sprintf(`{"type":"userFillsByTime","user":%q,"startTime":0}`, address)))
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-told +served):\n%s", address, diff)
		}
		n += len(got)
	}
	t.Logf("%d fills of %d accounts", n, len(told))
}
