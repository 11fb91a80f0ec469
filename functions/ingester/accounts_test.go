package main

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/localstack/sim/venue"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/venue/wire"
)

// simulateNode writes what a node writes of some hours of a simulated venue.
func simulateNode(t *testing.T, hours int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	at := time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)
	v := must.Get(venue.Open(venue.Config{Seed: 5, Traders: 60, FillsPerSecond: 60, NodeDir: dir, Clock: func() time.Time { return at }}))(t)
	for range hours {
		at = at.Add(time.Hour)
		must.Do(t, v.Skip(at))
		must.Do(t, v.Advance(at.Add(5*time.Second)))
	}
	must.Do(t, v.Close())
	return dir
}

// folded is every account after all that the node wrote, folded in one go, and how many
// trades each completed.
func folded(t *testing.T, dir string) (all map[string]*market.Account, trades map[string]int) {
	t.Helper()
	var e market.Events
	for _, stream := range []string{hyperliquid.Streams[0], hyperliquid.LedgerStreams[0]} {
		files := must.Get(filepath.Glob(filepath.Join(dir, stream, "hourly", "*", "*")))(t)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if stream == hyperliquid.Streams[0] {
					e.Fills, _, err = wire.ParseFills(e.Fills, strings.TrimSpace(line), 0)
				} else {
					_, err = hyperliquid.ReadMisc(&e, strings.TrimSpace(line), 0)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	type event struct {
		ms, kind, seq int64
		fold          func(*market.Account) *market.CompletedTrade
		address       string
	}
	var events []event
	for i := range e.Payments {
		p := &e.Payments[i]
		events = append(events, event{p.Time, 0, 0, func(a *market.Account) *market.CompletedTrade { a.Payment(p, nil); return nil }, p.Address})
	}
	for i := range e.Ledgers {
		l := &e.Ledgers[i]
		events = append(events, event{l.Time, 1, 0, func(a *market.Account) *market.CompletedTrade { a.Ledger(l, nil, nil); return nil }, l.Address})
	}
	for i := range e.Fills {
		f := &e.Fills[i]
		events = append(events, event{f.Time, 2, f.Seq, func(a *market.Account) *market.CompletedTrade { _, trade := a.Fill(f, nil, nil); return trade }, f.Address})
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.ms, b.ms), cmp.Compare(a.kind, b.kind), cmp.Compare(a.seq, b.seq))
	})
	all, trades = map[string]*market.Account{}, map[string]int{}
	for _, one := range events {
		if all[one.address] == nil {
			all[one.address] = &market.Account{Address: one.address}
		}
		if one.fold(all[one.address]) != nil {
			trades[one.address]++
		}
	}
	t.Logf("%d fills, %d payments, %d ledger updates of %d accounts", len(e.Fills), len(e.Payments), len(e.Ledgers), len(all))
	return all, trades
}

// accounts are the stored ones.
func (w *world) accounts(addresses []string) map[string]*market.Account {
	w.t.Helper()
	return must.Get(accounts.Load(w.t.Context(), w.stores.Series, addresses...))(w.t)
}

// trading is how accounts trade, and how many trades each completed, as it is stored.
func (w *world) trading(addresses []string) (stats map[string]*market.TraderStats, trades map[string]int) {
	w.t.Helper()
	stats, trades = map[string]*market.TraderStats{}, map[string]int{}
	for _, address := range addresses {
		for of := range must.All(w.t, accountstats.Read(w.t.Context(), w.stores.Series, []string{address})) {
			if stats[address] = of; of == nil {
				stats[address] = new(market.TraderStats)
			}
		}
		for range must.All(w.t, completedtrades.Oldest(w.t.Context(), w.stores.Log, completedtrades.Selection{Address: address})) {
			trades[address]++
		}
	}
	return stats, trades
}

var exact = gocmp.Comparer(market.Decimal.Equal)

// TestAccountsOfAKilledIngesterAreThoseOfOneThatWasNot kills the process without warning,
// again and again, while it reads what a node has written, and wants what one run without
// an end stores, which is what the events give in one go.
func TestAccountsOfAKilledIngesterAreThoseOfOneThatWasNot(t *testing.T) {
	t.Parallel()
	dir := simulateNode(t, testenv.Amount(2, 24))
	want, completed := folded(t, dir)
	addresses := slices.Sorted(maps.Keys(want))
	var kept map[string]*market.TraderStats
	for name, kills := range map[string]int{"killed": testenv.Amount(3, 20), "not killed": 0} {
		w := newWorld(t)
		w.env = append(w.env, "QUOTARY_NODE_DIR="+dir)
		for range kills {
			p := w.run()
			<-time.After(time.Duration(200+rand.IntN(testenv.Amount(1500, 4000))) * time.Millisecond)
			p.end(syscall.SIGKILL)
		}
		p := w.run()
		testenv.Until(t, "the accounts of the process that was "+name+" are those of the events", func() bool {
			return gocmp.Equal(want, w.accounts(addresses), exact)
		})
		if err := p.end(syscall.SIGTERM); err != nil {
			t.Fatalf("it stopped with %v: %s", err, p.out)
		}
		stats, trades := w.trading(addresses)
		if diff := gocmp.Diff(want, w.accounts(addresses), exact); diff != "" {
			t.Errorf("%s: accounts (-want +got):\n%s", name, diff)
		}
		check.Equalf(t, completed, trades, "%s: completed trades", name)
		if kept != nil {
			if diff := gocmp.Diff(kept, stats, exact); diff != "" {
				t.Errorf("%s: statistics (-other +got):\n%s", name, diff)
			}
		}
		kept = stats
	}
}
