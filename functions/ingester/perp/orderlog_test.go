package perp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/orders"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// orderLines are blocks of a node in each of which an order of one of three
// accounts is opened and the one before is filled or canceled.
func orderLines(blocks int) (lines []string) {
	event := func(n int, status string, at time.Time) string {
		return fmt.Sprintf(`{"time":"%s","user":"0x%040x","hash":null,"builder":null,"status":"%s","order":{"coin":"BTC","side":"B","limitPx":"%d.5","sz":"1.0","oid":%d,`+
			`"timestamp":%d,"triggerCondition":"N/A","isTrigger":false,"triggerPx":"0.0","children":[],"isPositionTpsl":false,"reduceOnly":false,`+
			`"orderType":"Limit","origSz":"1.0","tif":"Gtc","cloid":null}}`, at.Format("2006-01-02T15:04:05.000000000"), n%3, status, n, 1000+n, at.UnixMilli())
	}
	at := time.Date(2026, 2, 2, 11, 0, 0, 0, time.UTC)
	for n := range blocks {
		at = at.Add(70 * time.Millisecond)
		events := event(n, "open", at)
		if n > 0 {
			events += "," + event(n-1, []string{"filled", "canceled"}[n%2], at)
		}
		lines = append(lines, fmt.Sprintf(`{"block_number":%d,"events":[%s]}`+"\n", 900+n, events))
	}
	return lines
}

// storedOrders are the statuses of the three accounts, by account.
func storedOrders(t *testing.T, s engine.Stores) map[string][]market.OrderStatus {
	t.Helper()
	all := map[string][]market.OrderStatus{}
	for n := range 3 {
		account := fmt.Sprintf("0x%040x", n)
		for status := range must.All(t, orders.Statuses(t.Context(), s.Log, orders.OfAccount(account, ""), 1000)) {
			all[account] = append(all[account], status)
		}
	}
	return all
}

// TestOrdersAreStoredOnceAcrossCrashes lets one ingester die between its rows
// and its checkpoint, stops another one, and wants what a straight run gives.
func TestOrdersAreStoredOnceAcrossCrashes(t *testing.T) {
	t.Parallel()
	lines := orderLines(60)
	dir := t.TempDir()
	file := filepath.Join(dir, "20260202", "11")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	write := func(part []string) {
		t.Helper()
		out := must.Get(os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
		defer out.Close()
		must.Get(out.WriteString(strings.Join(part, "")))(t)
	}
	var expected market.Events
	for _, line := range lines {
		if skipped, err := hyperliquid.ReadOrders(&expected, line, 0); skipped > 0 || err != nil {
			t.Fatalf("%d skipped: %v", skipped, err)
		}
	}
	run := func(stores engine.Stores, until int) {
		t.Helper()
		f := &hyperliquid.Files{Dir: dir, Stats: new(hyperliquid.Stats), Log: quiet, Poll: 5 * time.Millisecond, Read: hyperliquid.ReadOrders}
		p := newPipeline(stores, engine.Source[*Batch]{Name: "orders", Stats: f.Stats, Follow: follow(f.Follow)})
		stop := run(t, p)
		testenv.Until(t, fmt.Sprintf("%d statuses are stored", until), func() bool { return p.Stats.Events.Load() >= int64(until) })
		must.Do(t, stop())
	}

	torn, clean := newStores(t), newStores(t)
	write(lines[:20])
	dying := &Batch{Events: market.Events{Orders: expected.Orders[:25]}}
	for _, log := range Logs {
		must.Do(t, torn.Log.Put(t.Context(), log.Dataset, log.Append(nil, dying)))
	}
	run(torn, 39) // of the first 20 blocks
	write(lines[20:])
	run(torn, len(expected.Orders)-39) // only what came after the checkpoint
	run(clean, len(expected.Orders))

	want := storedOrders(t, clean)
	filled := func(s market.OrderStatus) bool { return s.Status == market.StatusFilled }
	if !slices.ContainsFunc(want[expected.Orders[0].Address], filled) {
		t.Fatal("no filled order is stored")
	}
	stored := 0
	for _, list := range want {
		stored += len(list)
	}
	if stored != len(expected.Orders) {
		t.Errorf("%d rows of %d statuses", stored, len(expected.Orders))
	}
	if diff := cmp.Diff(want, storedOrders(t, torn)); diff != "" {
		t.Errorf("the torn run ended otherwise:\n%s", diff)
	}
}
