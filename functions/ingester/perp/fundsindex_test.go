package perp

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"quotary/shared/data/ledgers"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// Rows that were written while the old bridge was the only known route lack their place among
// deposits and withdrawals.
func TestStoredDepositsByOtherRoutesAreFoundAmongThem(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	var list []market.Ledger
	for i, kind := range []string{"send", "deposit", "spotTransfer", "send"} {
		from := "0x2000000000000000000000000000000000000000"
		if i == 3 {
			from = "0xb0b0000000000000000000000000000000000002" // a transfer
		}
		l := market.Ledger{Address: faultyAccount, Time: noon.UnixMilli() + int64(i), Hash: fmt.Sprint("0x", i), Type: kind, Delta: json.RawMessage(
			`{"type":"` + kind + `","user":"` + from + `","destination":"` + faultyAccount + `","token":"USDC","amount":"5.5","usdc":"5.5"}`)}
		if kind == market.LedgerDeposit {
			l.Funds, l.USDC = kind, "5.5"
		}
		list = append(list, l)
	}
	must.Do(t, stores.Log.Put(t.Context(), ledgers.Name, ledgers.AppendRows(nil, list)))
	found := func() (times []int64) {
		for l := range must.All(t, ledgers.NewestFunds(t.Context(), stores.Log, faultyAccount, time.Time{}, time.Time{}, 8)) {
			times = append(times, l.Time-noon.UnixMilli())
		}
		return times
	}
	if early := found(); len(early) != 1 {
		t.Fatalf("before, those of %v ms are found", early)
	}
	before := newPipeline(stores, replayed(readFills(t, recording)[:1]))
	before.Projections = nil
	stop := run(t, before)
	testenv.Until(t, "the domain has run before", func() bool { return before.Stats.Events.Load() == 1 })
	must.Do(t, stop())
	p := newPipeline(stores, replayed(nil))
	p.Projections = []Projection{&fundsIndex{}}
	stop = run(t, p)
	testenv.Until(t, "all routes are found", func() bool { return fmt.Sprint(found()) == "[2 1 0]" })
	must.Do(t, stop())
}
