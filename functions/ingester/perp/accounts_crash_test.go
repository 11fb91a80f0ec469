package perp

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// derived is what a disk holds of all accounts.
func (d *disk) derived(sim *simVenue, orders *openorders.Reserves) *derived {
	sim.t.Helper()
	all := &derived{sim: sim, flows: map[market.Mode]int64{}, accounts: map[string]*market.Account{}, stats: map[string]*market.TraderStats{},
		markets: sim.markets, marks: sim.marks(), reserves: *orders}
	for at, point := range d.rows {
		if at.Name == accountstats.Name {
			stats := must.Get(accountstats.Decode(point.Extra))(sim.t)
			all.stats[at.Key] = &stats
		}
		if at.Name != accounts.Name {
			continue
		}
		a := must.Get(accounts.Decode(at.Key, point))(sim.t)
		all.accounts[a.Address] = a
	}
	for key, row := range d.log {
		if !strings.HasPrefix(key, completedtrades.Name+" ") {
			continue
		}
		trade := must.Get(completedtrades.Decode(row))(sim.t)
		all.trades = append(all.trades, &trade)
	}
	return all
}

// accountLife is a life of the projection of accounts alone that has read the past.
func accountLife(d *disk, r *rand.Rand, now time.Time) (*process, error) {
	p, err := begin(d, only(accounts.Name), r, now)
	if err == nil {
		p.set.join()
	}
	return p, err
}

// settle writes all that there is, but for what may still come.
func (p *process) settle(position int) error {
	p.now = p.now.Add(3 * time.Second)
	if err := p.apply(NewBatch()); err != nil {
		return err
	}
	return p.flush(position, true)
}

// checkFlows compares what all ledger updates of an account have moved with the venue's books.
// What these have beside that comes of a change of mode, and of what moves from one part to the
// other where balances stand behind positions: there the sum of both is compared. Of an account
// with an update of which no rule tells nothing is.
func (d *derived) checkFlows(address string) (list []string) {
	truth, stats := d.sim.venue.TruthOf(address), d.stats[address]
	if !d.isTold(address) || d.sim.untold[address] > 0 || truth.Modes > 0 || stats == nil {
		return nil
	}
	d.flows[market.ParseMode(truth.Mode)] += stats.Flows.Count
	differs := func(what string, got market.Decimal, want int64) {
		if !got.Equal(millionths(want)) {
			list = append(list, fmt.Sprintf("net flow of %s: %s, the venue says %s", what, got, millionths(want)))
		}
	}
	if all := stats.NetFlow(0, market.MaxTime); all.Count != stats.Flows.Count || !all.Perp.Equal(stats.Flows.Perp) || !all.Spot.Equal(stats.Flows.Spot) {
		list = append(list, fmt.Sprintf("the flows of its days are %+v, all are %+v", all, stats.Flows))
	}
	if market.ParseMode(truth.Mode) == market.ModeStandard {
		differs("the perpetuals", stats.Flows.Perp, truth.NetPerp)
		differs("the spot part", stats.Flows.Spot, truth.NetSpot)
	} else {
		differs("both parts", stats.Flows.Perp.Add(stats.Flows.Spot), truth.NetPerp+truth.NetSpot)
	}
	return list
}

// TestRowsOfAccountsAreWhatTheVenueSays folds a simulated venue into rows in memory, and
// compares all of them with what the venue says, several times.
func TestRowsOfAccountsAreWhatTheVenueSays(t *testing.T) {
	t.Parallel()
	for name, modes := range map[string]bool{"standard accounts": false, "every mode": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rowsAreWhatTheVenueSays(t, newSimVenue(t, 23, testenv.Amount(80, 400), modes))
		})
	}
}

func rowsAreWhatTheVenueSays(t *testing.T, sim *simVenue) {
	t.Helper()
	enough, rows := testenv.Amount(2_000, 100_000), newDisk()
	r := rand.New(rand.NewPCG(23, 1))
	p := must.Get(accountLife(rows, r, sim.venue.Now()))(t)
	orders, seen, reduced := new(market.OpenOrders), map[string]bool{}, map[string]reducing{}
	events, batches := 0, 0
	take := func(b *Batch) {
		batches++
		p.now = sim.venue.Now()
		must.Do(t, p.apply(b))
		must.Do(t, p.flush(batches, false))
	}
	about := NewBatch()
	about.Meta, about.Contexts = sim.meta(), sim.contexts()
	take(about)
	for moment := range 5 {
		latest := map[string][]string{}
		steps(sim, func() bool { return events >= enough*(moment+1)/5 }, func(b *Batch) {
			events += len(b.Fills) + len(b.Payments) + len(b.Ledgers)
			happened := eventsOf(b)
			maps.Copy(latest, happened)
			for i := range b.Orders {
				o := &b.Orders[i]
				orders.Add(o, false)
				if reduced[o.Address] == nil {
					reduced[o.Address] = reducing{}
				}
				reduced[o.Address].add(o)
			}
			for i := range b.Fills {
				orders.AddFill(&b.Fills[i], false)
			}
			take(b)
			asked := NewBatch()
			changed := sim.adjusted(b)
			for _, address := range slices.Sorted(maps.Keys(happened)) {
				if !seen[address] {
					seen[address] = true
					changed[address] = adjusted{}
				}
			}
			for _, address := range slices.Sorted(maps.Keys(changed)) {
				asked.AnchorRequests, asked.Anchors = append(asked.AnchorRequests, address), append(asked.Anchors, sim.anchor(address))
			}
			if len(asked.Anchors) > 0 {
				take(asked)
			}
		})
		must.Do(t, p.settle(batches))
		reserves := openorders.Reserves{Coins: map[string]openorders.ReserveColumn{}}
		for _, coin := range orders.Rank(true) {
			reserves.Coins[coin.Coin] = openorders.NewReserveColumn(coin.Reserves)
		}
		d := rows.derived(sim, &reserves)
		for address := range seen {
			if list := append(d.check(address), d.checkFlows(address)...); len(list) > 0 {
				t.Errorf("after event %d, account %s differs:\n%s\nafter its last events\n%s", events, address, strings.Join(list, "\n"), strings.Join(latest[address], "\n"))
			}
		}
		d.sums()
		d.checkReducing(reduced)
		if n := rows.checkFacts(t); n < 50 {
			t.Errorf("of %d accounts what they did was compared", n)
		}
		if d.flows[market.ModeStandard] < 50 || d.flows[market.ModeUnified] == 0 && len(d.sim.dexes) > 2 {
			t.Errorf("of flows are compared, by mode: %v", d.flows)
		}
		if t.Failed() {
			return
		}
		t.Logf("%d events, %d accounts, %d trades", events, len(d.accounts), len(d.trades))
	}
}

// TestRowsOfAccountsSurviveCrashes lets a replay of what a simulated venue's node wrote
// die between any two writes, again and again, and wants the rows of one clean run.
func TestRowsOfAccountsSurviveCrashes(t *testing.T) {
	t.Parallel()
	sim := newSimVenue(t, 31, 60, true)
	enough, events := testenv.Amount(1_000, 20_000), 0
	about := NewBatch()
	about.Meta = sim.meta()
	batches := []*Batch{about}
	steps(sim, func() bool { return events >= enough }, func(b *Batch) {
		events += len(b.Fills) + len(b.Payments) + len(b.Ledgers)
		batches = append(batches, b)
	})
	began := sim.venue.Now()
	life := func(d *disk, r *rand.Rand) error {
		p, err := accountLife(d, r, began)
		if err != nil {
			return err
		}
		for i := d.position; i < len(batches); i++ {
			p.now = p.now.Add(time.Duration(r.IntN(2000)) * time.Millisecond)
			if err := p.apply(batches[i]); err != nil {
				return err
			}
			if r.IntN(3) == 0 {
				if err := p.flush(i+1, r.IntN(10) == 0); err != nil {
					return err
				}
			}
		}
		// What is made again from the logs comes to its end without events.
		for quiet := 0; quiet < 5; quiet++ {
			if err := p.settle(len(batches)); err != nil {
				return err
			}
			if len(of[*accountStates](p.set).rebuilds) > 0 {
				quiet = 0
			}
		}
		return nil
	}
	clean := newDisk()
	must.Do(t, life(clean, rand.New(rand.NewPCG(1, 1))))
	clean.checkFacts(t)
	for seed := range uint64(testenv.Amount(3, 20)) {
		r := rand.New(rand.NewPCG(seed, 2))
		torn, crashes, most := newDisk(), 0, 100
		for {
			from := torn.position
			torn.writes = r.IntN(most)
			err := life(torn, r)
			if err == nil {
				break
			}
			if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			if crashes++; torn.position == from {
				most *= 2 // it did not get to the next checkpoint
			} else {
				most = 100
			}
		}
		exact := gocmp.Comparer(market.Decimal.Equal)
		want, got := clean.derived(sim, &openorders.Reserves{}), torn.derived(sim, &openorders.Reserves{})
		for address := range want.accounts {
			if diff := gocmp.Diff(want.accounts[address], got.accounts[address], exact); diff != "" {
				t.Fatalf("after %d crashes, account %s (-clean +crashed):\n%s", crashes, address, diff)
			}
		}
		for at, point := range clean.rows {
			if at.Name != accountstats.Name {
				continue
			}
			want, err1 := accountstats.Decode(point.Extra)
			got, err2 := accountstats.Decode(torn.rows[at].Extra)
			if diff := gocmp.Diff(want, got, exact); err1 != nil || err2 != nil || diff != "" {
				t.Fatalf("after %d crashes, statistics of account %s, %v, %v (-clean +crashed):\n%s", crashes, at.Key, err1, err2, diff)
			}
		}
		clean.compare(t, "after crashes", torn, false)
		t.Logf("%d crashes, %d events, %d rows", crashes, events, len(torn.rows))
	}
}
