package perp

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// deeds is what accounts did by the rows of logs, by their addresses.
type deeds map[string]*markettest.Deeds

func (d deeds) of(address string) *markettest.Deeds {
	if d[address] == nil {
		d[address] = new(markettest.Deeds)
	}
	return d[address]
}

// add takes in rows of a log, if accounts are made from it.
func (d deeds) add(t rapid.TB, dataset string, rows []store.Row) {
	t.Helper()
	for _, from := range rebuiltFrom {
		if from.dataset != dataset {
			continue
		}
		for _, row := range rows {
			of := d.of(row.Subject)
			for _, e := range must.Get(from.read(nil, row))(t) {
				switch e.kind {
				case fillEvent:
					of.Fills = append(of.Fills, *e.fill)
				case tradeEvent:
					of.Trades = append(of.Trades, *e.trade)
				case orderEvent:
					of.Orders = append(of.Orders, *e.order)
				case paymentEvent, ledgerEvent: // what the latter moved stands in the statistics
				}
			}
		}
	}
}

// sum is what an account did from one time on and before another, ms, by loops over the rows; what
// ledger updates moved is in its statistics.
func sum(t rapid.TB, d *markettest.Deeds, stats *market.TraderStats, from, to int64) market.Facts {
	t.Helper()
	part := d.Within(from, to)
	f := part.Sum(t)
	if stats == nil {
		return f
	}
	for _, day := range stats.Days {
		for _, flow := range day.Flows {
			if flow.Time >= from && flow.Time < to {
				f.Flows.Count, f.Flows.Perp, f.Flows.Spot = f.Flows.Count+flow.Count, f.Flows.Perp.Add(flow.Perp), f.Flows.Spot.Add(flow.Spot)
			}
		}
	}
	return f
}

var sameFacts = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(market.Decimal.Equal)}

// compareFacts compares what is stored of what an account did with its rows: in each hour, from each
// hour on, and in all time.
func compareFacts(t rapid.TB, stored *traderfacts.Did, d *markettest.Deeds, stats *market.TraderStats) string {
	t.Helper()
	const end = int64(market.MaxTime)
	if diff := cmp.Diff(sum(t, d, stats, 0, end), stored.AllTime(), sameFacts); diff != "" {
		return "in all time (-rows +stored):\n" + diff
	}
	hours := map[int64]bool{}
	for _, known := range [...]market.FactsByHour{stored.Days, stored.Hours} {
		for hour := range known {
			hours[hour] = true
		}
	}
	for _, hour := range sorted(hours) {
		for _, to := range [...]int64{hour + hourMs, end} {
			if diff := cmp.Diff(sum(t, d, stats, hour, to), stored.Within(hour, to).Did, sameFacts); diff != "" {
				return fmt.Sprintf("from %s to %d (-rows +stored):\n%s", time.UnixMilli(hour).UTC(), to, diff)
			}
		}
	}
	return ""
}

// didOf are the rows of what an account did.
func didOf(t rapid.TB, address string, rows map[store.SeriesAt]store.Point) *traderfacts.Did {
	t.Helper()
	did := &traderfacts.Did{Days: market.FactsByHour{}}
	if open, ok := rows[traderfacts.OpenAt(address)]; ok {
		did.Open = must.Get(traderfacts.DecodeOpen(open.Extra))(t)
	}
	for at, point := range rows {
		if at.SeriesKey == traderfacts.OpenAt(address).SeriesKey && at != traderfacts.OpenAt(address) {
			did.Days.Merge(must.Get(traderfacts.Decode(point))(t))
		}
	}
	return did
}

// checkFacts compares what is stored of what accounts did with the rows of the logs.
func (d *disk) checkFacts(t rapid.TB) (compared int) {
	t.Helper()
	did := deeds{}
	for key, rows := range d.sources {
		dataset, _, _ := strings.Cut(key, " ")
		did.add(t, dataset, rows)
	}
	for key, row := range d.log {
		dataset, _, _ := strings.Cut(key, " ")
		did.add(t, dataset, []store.Row{row})
	}
	for address, rows := range did {
		stored := didOf(t, address, d.rows)
		stats := must.Get(accountstats.Decode(d.rows[accountstats.At(address)].Extra))(t)
		if diff := compareFacts(t, stored, rows, &stats); diff != "" {
			t.Fatalf("what %s did %s", address, diff)
		}
		compared++
	}
	return compared
}

// TestWhatAccountsDidIsWhatTheirRowsSumUpTo folds events of some days in lives that crash after any
// write, doubled, and in any order.
func TestWhatAccountsDidIsWhatTheirRowsSumUpTo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawAccounts(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		d := newDisk()
		d.joins = true
		crash(t, d, accounts.Name, generators[accounts.Name].muddle(t, drawn, r), r)
		d.checkFacts(t)
	})
}

// factDays are the fills of some days, one a day, and the orders that were filled by them.
func factDays(days ...int64) (all []*Batch) {
	for i, day := range days {
		f := step(day*86_400, [...]market.Side{market.Buy, market.Sell}[i%2], "2.0", [...]string{"0.0", "2.0"}[i%2], [...]string{"0.0", "5.0"}[i%2])
		all = append(all, &Batch{Events: market.Events{Fills: []market.Fill{f}, Orders: []market.OrderStatus{filledBy(&f)}}})
	}
	return all
}

func depositOn(day int64) *Batch {
	return &Batch{Past: true, Events: market.Events{Ledgers: []market.Ledger{{
		Address: faultyAccount, Time: noon.UnixMilli() + day*dayMs, Hash: fmt.Sprint("0x", day), Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "5.5", Delta: []byte(`{"type":"deposit","usdc":"5.5"}`),
	}}}}
}

const dayMs = 24 * hourMs

// write takes batches in and writes what changes, as the ingester does.
func (w *accountWorld) write(batches ...*Batch) {
	w.t.Helper()
	for _, b := range append(batches, NewBatch(), NewBatch(), NewBatch()) { // in which what is broken is made again
		w.disk.put(b)
		for range 5 {
			must.Get(w.set.apply(b, w.now, w.disk.load))(w.t)
			p := &process{disk: w.disk, set: w.set, rand: rand.New(rand.NewPCG(1, 1)), now: w.now}
			must.Do(w.t, p.flush(0, true))
			b, w.now = NewBatch(), w.now.Add(10*time.Second)
		}
	}
}

// restart goes on with nothing in memory.
func (w *accountWorld) restart() {
	w.p = newAccountStates(newWantedAccounts(1_000_000), slog.New(slog.DiscardHandler))
	w.set.all = []Projection{w.p}
	must.Do(w.t, w.p.Restore(w.disk.views))
	w.p.Joined()
}

// TestWhatComesBehindTheOpenDaysIsInTheirRows: a ledger update and an order that come days late.
func TestWhatComesBehindTheOpenDaysIsInTheirRows(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	all := factDays(0, 3, 4, 5, 9)
	w.write(all[:4]...)
	if did := didOf(t, faultyAccount, w.disk.rows); len(did.Days) != 2 || len(did.Hours) != 2 || w.p.figures.rebuilt.Load() != 0 {
		t.Fatalf("%d hours of closed days, %d of open ones, %d rebuilds: want 2, 2 and none", len(did.Days), len(did.Hours), w.p.figures.rebuilt.Load())
	}
	w.write(depositOn(4))
	if n := w.p.figures.rebuilt.Load(); n != 0 {
		t.Errorf("for what is a day late %d accounts were made again", n)
	}
	w.write(depositOn(1))
	w.write(&Batch{Past: true, Events: market.Events{Orders: factDays(1)[0].Orders}})
	if n := w.p.figures.rebuilt.Load(); n != 2 {
		t.Errorf("for two things that came behind the open days %d accounts were made again", n)
	}
	w.write(all[4])
	did := didOf(t, faultyAccount, w.disk.rows)
	if one := did.Days[fullHour(24)]; one == nil || one.Flows.Count != 1 || one.Filled.Count != 1 {
		t.Errorf("the day of both is %+v", one)
	}
	w.disk.checkFacts(t)
}

// TestADeployOverAccountsWithoutFactsMakesThem: their rows are of before there was any row of what
// they did.
func TestADeployOverAccountsWithoutFactsMakesThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		since int64 // ms of before which the logs have expired
		known int64 // ms from when on what it did is known; 0 is from its beginning
	}{
		"all logs are there":     {},
		"a part has expired":     {since: noon.UnixMilli() + 4*dayMs, known: noon.UnixMilli() + 5*dayMs},
		"none is old enough yet": {since: noon.UnixMilli() - dayMs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newAccountWorld(t)
			all := factDays(0, 3, 4, 5, 9, 10)
			w.write(all[:4]...)
			want := must.Get(accounts.Decode(faultyAccount, w.disk.rows[accounts.At(faultyAccount)]))(t)
			for at := range w.disk.rows {
				if at.Name == traderfacts.Name {
					delete(w.disk.rows, at)
				}
			}
			own, stats := w.disk.rows[accounts.At(faultyAccount)], w.disk.rows[accountstats.At(faultyAccount)]
			figures := must.Get(accountstats.Decode(stats.Extra))(t)
			w.disk.rows[accountstats.At(faultyAccount)] = accountstats.RowOf(faultyAccount, &figures, accountstats.VersionOf(own.Extra)).Point
			w.disk.since = c.since
			w.restart()
			w.write(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}})
			if n := w.p.figures.rebuilt.Load(); n != 1 {
				t.Fatalf("it was made again %d times", n)
			}
			got := must.Get(accounts.Decode(faultyAccount, w.disk.rows[accounts.At(faultyAccount)]))(t)
			if diff := cmp.Diff(want, got, sameFacts); diff != "" {
				t.Fatalf("the account (-before +after):\n%s", diff)
			}
			w.restart()
			w.write(all[4:]...)
			did := didOf(t, faultyAccount, w.disk.rows)
			if did.Since != c.known {
				t.Errorf("known since %d, want %d", did.Since, c.known)
			}
			rows := deeds{}
			for key, list := range w.disk.sources {
				dataset, _, _ := strings.Cut(key, " ")
				rows.add(t, dataset, list)
			}
			for _, row := range w.disk.log {
				rows.add(t, completedtrades.Name, []store.Row{row})
			}
			part := rows[faultyAccount].Within(c.known+1, market.MaxTime)
			if diff := compareFacts(t, did, &part, nil); diff != "" {
				t.Errorf("what it did since %d %s", c.known, diff)
			}
		})
	}
}

// TestWhoOnlyPaysFundingHasNoFactsWritten: at a full hour every open position pays.
func TestWhoOnlyPaysFundingHasNoFactsWritten(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.write(factDays(0)...)
	before := w.disk.rows[traderfacts.OpenAt(faultyAccount)]
	delete(w.disk.rows, traderfacts.OpenAt(faultyAccount))
	paid := market.FundingPayment{Address: faultyAccount, Coin: "BTC", Time: noon.UnixMilli() + hourMs, USDC: "-0.5", Szi: "2.0", Rate: "0.0001", Seq: 1}
	w.write(&Batch{Events: market.Events{Payments: []market.FundingPayment{paid}}})
	if a := must.Get(accounts.Decode(faultyAccount, w.disk.rows[accounts.At(faultyAccount)]))(t); a.Time != paid.Time {
		t.Fatal("the payment is not stored")
	}
	if _, ok := w.disk.rows[traderfacts.OpenAt(faultyAccount)]; ok {
		t.Error("what it did was written again")
	}
	w.disk.rows[traderfacts.OpenAt(faultyAccount)] = before
	w.restart()
	w.write(factDays(0, 1)[1])
	if n := w.p.figures.rebuilt.Load(); n != 0 {
		t.Error("the rows are of different versions")
	}
	w.disk.checkFacts(t)
}
