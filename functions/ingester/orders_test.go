package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/perp"
	"quotary/shared/data/orders"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

const orderTrader = "0xa11ce00000000000000000000000000000000001"

// TestTheOperatorSaysWhichOrdersAreKept runs the program on a node's files, with
// the default and with all.
func TestTheOperatorSaysWhichOrdersAreKept(t *testing.T) {
	t.Parallel()
	line := `{"block_number":7,"events":[`
	for i, status := range []string{"open", "canceled", "filled"} {
		if i > 0 {
			line += ","
		}
		line += `{"time":"2026-02-02T11:00:00.000000000","user":"` + orderTrader + `","status":"` + status + `","order":{"coin":"BTC","side":"B","limitPx":"1.5","sz":"1.0","oid":` +
			string(rune('1'+i)) + `,"timestamp":1770030000000,"triggerCondition":"N/A","triggerPx":"0.0","orderType":"Limit","origSz":"1.0","tif":"Gtc"}}`
	}
	for setting, want := range map[string][]string{
		"":       {"3#filled"},
		"filled": {"3#filled"},
		"all":    {"3#filled", "2#canceled", "1#open"},
	} {
		t.Run("QUOTARY_ORDERS="+setting, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			node := t.TempDir()
			file := filepath.Join(node, "node_order_statuses_by_block", "hourly", "20260202", "11")
			must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
			must.Do(t, os.WriteFile(file, []byte(line+"]}\n"), 0o600))
			w.env = append(w.env, "QUOTARY_NODE_DIR="+node, "QUOTARY_ORDERS="+setting)
			p := w.run()
			var got []string
			testenv.Until(t, "the orders are stored", func() bool { got = w.orderIDs(); return len(got) >= len(want) })
			must.Do(t, p.end(syscall.SIGTERM))
			if got = w.orderIDs(); !slices.Equal(got, want) {
				t.Errorf("kept %v, want %v", got, want)
			}
			body, err := w.stores.Series.Checkpoint(t.Context(), engine.Checkpoint(perp.Name, "node_order_statuses_by_block", ""))
			if err != nil || !strings.Contains(string(body), "20260202/11") {
				t.Errorf("the checkpoint is %s (%v)", body, err)
			}
		})
	}
}

func (w *world) orderIDs() (ids []string) {
	w.t.Helper()
	for status := range must.All(w.t, orders.Statuses(w.t.Context(), w.stores.Log, orders.OfAccount(orderTrader, ""), 10)) {
		ids = append(ids, fmt.Sprintf("%d#%s", status.Oid, status.Status))
	}
	return ids
}

func TestAnUnknownChoiceOfOrdersIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = append(w.env, "QUOTARY_ORDERS=some")
	out, err := w.command("run").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `QUOTARY_ORDERS must be filled or all, not "some"`) {
		t.Errorf("%v: %s", err, out)
	}
}
