package market_test

import (
	"fmt"
	"runtime"
	"testing"

	"quotary/shared/market"
)

// busyAccount has holdings in coins, the first of them with open positions.
func busyAccount(n, coins, open int) *market.Account {
	a := &market.Account{Address: fmt.Sprintf("0x%040x", n)}
	for i := range coins {
		coin := fmt.Sprint("COIN", i)
		f := market.Fill{Address: a.Address, Coin: coin, Px: "105056.0", Sz: "0.00219", Side: market.Buy, Time: at(int64(2 * i)), Seq: int64(2*i + 1), Tid: int64(i + 1),
			StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.1035", Oid: int64(i + 1)}
		a.Fill(&f, nil, nil)
		if i >= open {
			f.Side, f.StartPosition, f.Px, f.ClosedPnl = market.Sell, "0.00219", "105057.0", "0.00219"
			f.Time, f.Seq, f.Tid, f.Oid = f.Time+1, f.Seq+1, f.Tid+1000, f.Oid+1000
			a.Fill(&f, nil, nil)
		}
	}
	return a
}

// BenchmarkAccountFills folds fills that open, add, reduce and flip, of 1,000 accounts
// with eight coins each.
func BenchmarkAccountFills(b *testing.B) {
	const accounts, coins = 1000, 8
	list := make([]market.Account, accounts)
	steps := []struct {
		side               market.Side
		sz, start, pnl, px string
	}{
		{market.Buy, "0.00219", "0.0", "0.0", "105056.0"}, {market.Buy, "0.00219", "0.00219", "0.0", "105060.0"}, {market.Sell, "0.001", "0.00438", "0.012", "105070.0"},
		{market.Sell, "0.00438", "0.00338", "0.03", "105071.0"}, {market.Buy, "0.001", "-0.001", "0.001", "105070.0"},
	}
	names := make([]string, coins)
	for i := range names {
		names[i] = fmt.Sprint("COIN", i)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		account, step := n%accounts, n/accounts
		coin, turn := names[step%coins], step/coins
		s := &steps[turn%len(steps)]
		f := market.Fill{Address: alice, Coin: coin, Px: s.px, Sz: s.sz, Side: s.side, Time: at(int64(step)), Seq: int64(n + 1), Tid: int64(n + 1),
			StartPosition: s.start, ClosedPnl: s.pnl, Fee: "0.1035", FeeToken: "USDC", Oid: int64(turn / 2)}
		if got, _ := list[account].Fill(&f, nil, nil); got != market.Applied {
			b.Fatalf("%+v: %s", f, got)
		}
		n++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "fills/s")
}

// BenchmarkAccountMemory prints what an account takes in memory that has traded two
// coins, and what each more coin and open position adds.
func BenchmarkAccountMemory(b *testing.B) {
	const n = 20_000
	measure := func(coins, open int) float64 {
		kept := make([]*market.Account, n)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range kept {
			kept[i] = busyAccount(i, coins, open)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		return float64(after.HeapAlloc-before.HeapAlloc) / n
	}
	for b.Loop() {
		flat, more, open := measure(2, 0), measure(10, 0), measure(10, 8)
		b.ReportMetric(flat, "B/account")
		b.ReportMetric((more-flat)/8, "B/coin")
		b.ReportMetric((open-more)/8, "B/position")
	}
}

// BenchmarkAccountState values an account with ten positions.
func BenchmarkAccountState(b *testing.B) {
	a, markets, marks := busyAccount(1, 10, 10), someMarkets(), market.Marks{}
	for i := range 10 {
		marks[fmt.Sprint("COIN", i)] = num("105100.5")
	}
	b.ReportAllocs()
	for b.Loop() {
		a.State("", markets, marks, 1)
	}
}
