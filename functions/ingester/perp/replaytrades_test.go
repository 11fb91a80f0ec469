package perp

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quotary/shared/data/accounts"
	"quotary/shared/data/completedtrades"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestAReplayCompletesTrades: of the positions that a file closes, and of those that
// began in a file which is replayed only later, as an import of the past is.
func TestAReplayCompletesTrades(t *testing.T) {
	t.Parallel()
	stores, dir := newStores(t), t.TempDir()
	stop := run(t, newPipeline(stores, newSpool(stores, dir).Source()))
	replay := func(name string, list ...market.Fill) {
		t.Helper()
		var text strings.Builder
		for i := range list {
			text.WriteString(blockLine(list[i].Tid, list[i]) + "\n")
		}
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(text.String()), 0o600))
		counts, err := (&Replay{Stores: stores, Dir: dir, Out: io.Discard}).Run(t.Context(), path)
		if err != nil || counts.Missing > 0 {
			t.Fatalf("%+v, %v", counts, err)
		}
	}
	trades := func() (list []market.CompletedTrade) {
		t.Helper()
		list = slices.AppendSeq(list, must.All(t, completedtrades.Oldest(t.Context(), stores.Log, completedtrades.Selection{Address: faultyAccount})))
		return list
	}
	replay("today", step(3, market.Sell, "3.0", "3.0", "5.0"), step(4, market.Buy, "1.0", "0.0", "0.0"), step(5, market.Sell, "1.0", "1.0", "2.0"))
	list := trades()
	if len(list) != 2 || !list[0].Partial || list[0].Size.String() != "3" || list[1].Partial || list[1].Pnl.String() != "2" {
		t.Fatalf("completed are %+v", list)
	}
	replay("before", step(1, market.Buy, "2.0", "0.0", "0.0"), step(2, market.Buy, "1.0", "2.0", "0.0"))
	testenv.Until(t, "the first trade has its beginning", func() bool {
		list = trades()
		return len(list) == 2 && !list[0].Partial && list[0].Fills == 3 && list[0].Start == noon.UnixMilli()+1000
	})
	testenv.Until(t, "the account is stored", func() bool {
		known, err := accounts.Load(t.Context(), stores.Series, faultyAccount)
		return err == nil && known[faultyAccount] != nil && known[faultyAccount].Since == noon.UnixMilli()+1000
	})
	must.Do(t, stop())
}
