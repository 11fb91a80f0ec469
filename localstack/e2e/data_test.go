package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestARecordingIsReplayedOnceAndServed(t *testing.T) {
	t.Parallel()
	recording := filepath.Join(root, "functions", "ingester", "source", "hyperliquid", "testdata", "node_fills.jsonl")
	fills := make(map[string]int) // by address
	file := must.Get(os.Open(recording))(t)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var total int
	for lines.Scan() {
		var block struct {
			Events [][2]json.RawMessage `json:"events"`
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &block))
		for _, event := range block.Events {
			var address string
			must.Do(t, json.Unmarshal(event[0], &address))
			fills[strings.ToLower(address)]++
			total++
		}
	}
	if total == 0 {
		t.Fatal("the recording holds no fills")
	}
	for range 2 {
		cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "localstack"), "replay", recording, "--data", world.State.DataDir)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("replay: %v\n%s", err, out)
		}
		for address, want := range fills {
			got := data[[]map[string]any](t, call(t, 200, world.State.Demo.SubKey, "GET", hl+"/fills/"+address+"?limit=2000", nil))
			if len(got) != want {
				t.Errorf("%s has %d fills, the recording %d", address, len(got), want)
			}
		}
	}
}

// The simulated venue trades: prices, candles and fills arrive.
func TestLiveDataArrives(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	testenv.Until(t, "tickers and klines arrive", func() bool {
		tickers := data[[]struct{ Coin, Price string }](t, call(t, 200, key, "GET", hl+"/tickers", nil))
		klines := data[[]map[string]any](t, call(t, 200, key, "GET", hl+"/klines-with-taker-vol/BTC/1s?limit=5", nil))
		return len(tickers) > 5 && len(klines) > 0
	})
	call(t, 200, key, "GET", hl+"/tickers/coin/BTC", nil)
	mids := data[map[string]string](t, call(t, 200, key, "POST", hl+"/info", map[string]any{"type": "allMids"}))
	if mids["BTC"] == "" {
		t.Errorf("allMids = %v", mids)
	}
	meta := data[struct{ Universe []struct{ Name string } }](t, call(t, 200, key, "POST", hl+"/info", map[string]any{"type": "meta"}))
	if len(meta.Universe) == 0 {
		t.Error("meta lists no perpetual")
	}
	top := data[[]map[string]any](t, call(t, 200, key, "GET", hl+"/fills/top-trades?coin=BTC&interval=1d&limit=5", nil))
	if len(top) == 0 {
		t.Error("top-trades is empty")
	}
}
