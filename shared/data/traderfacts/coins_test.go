package traderfacts

import (
	"fmt"
	"runtime"
	"testing"

	"quotary/shared/market"
)

// An account that trades more coins than there are, of names as long as any, costs what its fills are
// long, and its rows stay such as the store takes.
func TestAnAccountOfEndlessCoinsStaysSmall(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	fill := func(k *Kept, n, hour int) {
		k.Fill(&market.Fill{
			Coin: fmt.Sprintf("%064d", n), Px: "1", Sz: "1", Side: market.Sell, Time: first + int64(hour)*hourMs, StartPosition: "0", ClosedPnl: "0", Fee: "0",
			Oid: int64(n), Tid: int64(n + 1),
		})
	}
	var before, after runtime.MemStats
	k := new(Kept)
	runtime.ReadMemStats(&before)
	for n := range 20_000 {
		fill(k, n, 0)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 200<<20 {
		t.Errorf("20,000 coins allocate %d bytes", n)
	}
	for n := range 20_000 {
		fill(k, 20_000+n, n*72/20_000) // in three days
	}
	days, open := k.Rows("0xaa")
	if len(days) == 0 || open == nil {
		t.Fatalf("%d days are closed, and the open row is %v", len(days), open)
	}
	for _, row := range append(days, *open) {
		if n := len(row.Extra); n > 300<<10 {
			t.Errorf("the row of %s has %d bytes", row.Time, n)
		}
	}
	o, err := DecodeOpen(open.Extra)
	if err != nil {
		t.Fatal(err)
	}
	all := o.AllTime()
	done := all.Fills()
	if fills := done.All().Count; fills != 40_000 || len(all.Coins) != market.MostCoins {
		t.Errorf("%d fills of %d coins are known", fills, len(all.Coins))
	}
}
