package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/api/apitest"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// QUOTARY_TESTDATA names a folder of genuine recordings, where there is one.
// What the venue wrote of each account must come back as it was written: read here
// with encoding/json, stored through the product's own parser.
func TestARecordingIsServedAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	file := must.Get(os.Open(filepath.Join(dir, "hyperliquid", "node_fills_sample.jsonl")))(t)
	defer file.Close()
	w := newWorld(t)
	recorded := map[string][]map[string]any{} // by address, in order
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		fills, skipped, err := wire.ParseFills(nil, lines.Text(), 0)
		if err != nil || skipped > 0 {
			t.Fatalf("%d fills skipped, error %v", skipped, err)
		}
		w.put(t, fills...)
		var block struct{ Events [][2]json.RawMessage }
		must.Do(t, json.Unmarshal(lines.Bytes(), &block))
		for _, event := range block.Events {
			var address string
			fill := map[string]any{}
			must.Do(t, json.Unmarshal(event[0], &address))
			must.Do(t, json.Unmarshal(event[1], &fill))
			delete(fill, "builder")
			recorded[address] = append(recorded[address], fill)
		}
	}
	must.Do(t, lines.Err())
	n := 0
	for address, want := range recorded {
		got := apitest.Data[[]map[string]any](t, w.ask(t, fmt.Sprintf(`{"type":"userFillsByTime","user":%q,"startTime":0}`, address)))
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-recorded +served):\n%s", address, diff)
		}
		n += len(got)
	}
	t.Logf("%d fills of %d accounts", n, len(recorded))
}

// What the venue answered of orders, brought as a node writes it, must come back as
// the venue answered it.
func TestRecordedOrdersAreServedAsTheyWereAnswered(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	compared := 0
	for _, name := range []string{"hl_python_sdk_info_cassettes.jsonl", "sonirico_info_cassettes.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, "hyperliquid", name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var recorded struct {
				Request  struct{ Type, User string }
				Response json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &recorded); err != nil {
				continue // questions of other shapes
			}
			var orders []recordedOrder
			switch recorded.Request.Type {
			case "historicalOrders":
				err = json.Unmarshal(recorded.Response, &orders)
			case "orderStatus":
				var answer struct{ Order *recordedOrder }
				if err = json.Unmarshal(recorded.Response, &answer); answer.Order != nil {
					orders = []recordedOrder{*answer.Order}
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(orders) == 0 {
				continue
			}
			w := newWorld(t)
			var events market.Events
			for i := range orders {
				o := &orders[len(orders)-1-i] // the newest came last
				node := fmt.Sprintf(`{"time":%q,"user":%q,"hash":null,"builder":null,"status":%q,"order":%s}`,
					time.UnixMilli(o.StatusTimestamp).UTC().Format("2006-01-02T15:04:05.000000000"), recorded.Request.User, o.Status, o.Order)
				if skipped, err := hyperliquid.ReadOrders(&events, node, int64(i)); skipped > 0 || err != nil {
					t.Fatalf("%d skipped: %v", skipped, err)
				}
			}
			w.putOrders(t, events.Orders...)
			var want []any
			must.Do(t, json.Unmarshal(encodeOrders(t, orders), &want))
			got := apitest.Data[[]any](t, w.ask(t, fmt.Sprintf(`{"type":"historicalOrders","user":%q}`, recorded.Request.User)))
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-recorded +served):\n%s", recorded.Request.User, diff)
			}
			compared += len(got)
		}
	}
	if compared == 0 {
		t.Error("no recorded order was found")
	}
	t.Logf("%d orders", compared)
}

type recordedOrder struct {
	Order           json.RawMessage `json:"order"`
	Status          string          `json:"status"`
	StatusTimestamp int64           `json:"statusTimestamp"`
}

func encodeOrders(t *testing.T, orders []recordedOrder) []byte {
	t.Helper()
	return must.Get(json.Marshal(orders))(t)
}
