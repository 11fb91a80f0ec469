package perp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// A node's file holds both what accounts paid as funding and what moved on ledgers, and
// a block may stand in it twice.
func TestMiscEventsOfANodeAreStoredOnce(t *testing.T) {
	t.Parallel()
	const alice, bob = "0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"
	block := func(n int, events string) string {
		return fmt.Sprintf(`{"local_time":"2026-02-02T11:00:00","block_time":"2026-02-02T11:00:00","block_number":%d,"events":[%s]}`+"\n", n, events)
	}
	update := func(second int, users, delta string) string {
		return fmt.Sprintf(`{"time":"2026-02-02T11:00:%02d.5","hash":"0x5a","inner":{"LedgerUpdate":{"users":[%s],"delta":%s}}}`, second, users, delta)
	}
	funding := `{"time":"2026-02-02T11:00:00.1","hash":"0x0","inner":{"Funding":{"deltas":[{"user":"` + bob + `","coin":"BTC","funding_amount":"-1.25","szi":"1.0","funding_rate":"0.0000125"}]}}}`
	deposit := block(1, funding+","+update(1, `"`+alice+`"`, `{"type":"deposit","usdc":"100.0"}`))
	transfer := block(2, update(2, `"`+alice+`","`+bob+`"`, `{"type":"internalTransfer","usdc":"5.0"}`))

	file := filepath.Join(t.TempDir(), "20260202", "11")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.Do(t, os.WriteFile(file, []byte(deposit+transfer+deposit), 0o600))
	stores := newStores(t)
	f := &hyperliquid.Files{Dir: filepath.Dir(filepath.Dir(file)), Stats: new(source.Stats), Log: quiet, Poll: 5 * time.Millisecond, Read: hyperliquid.ReadMisc}
	// Without positions the whole file is read again.
	for range 2 {
		p := newPipeline(stores, live("misc", f.Stats, func(ctx context.Context, sink hyperliquid.Sink) error {
			return f.Follow(ctx, hyperliquid.Position{}, sink)
		}))
		stop := run(t, p)
		testenv.Until(t, "all events are stored", func() bool { return p.Stats.Events.Load() >= 8 })
		must.Do(t, stop())
	}
	for address, want := range map[string][]string{alice: {"internalTransfer", "deposit"}, bob: {"internalTransfer"}} {
		var got []string
		for l := range must.All(t, ledgers.Newest(t.Context(), stores.Log, address, time.Time{}, 1000)) {
			got = append(got, l.Type)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	var paid []market.FundingPayment
	for list := range must.All(t, payments.Window(t.Context(), stores.Log, bob, time.Time{}, time.Time{})) {
		paid = append(paid, list...)
	}
	if len(paid) != 1 || paid[0].Coin != "BTC" || paid[0].USDC != "-1.25" {
		t.Errorf("paid %+v", paid)
	}
}
