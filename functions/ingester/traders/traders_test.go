package traders_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	publishing "quotary/functions/ingester/traders"
	"quotary/shared/data/accountchanges"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/meta"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/traderfields"
)

const (
	hourMs = 3_600_000
	dayMs  = 24 * hourMs
)

// account is what there is of one, beside its rows.
type account struct {
	address table.Address
	state   *market.Account
	did     market.FactsByHour
	worth   map[int64]market.Decimal // of its perpetuals at hours, ms
	since   int64                    // the first hour in which it did something that is not stored, ms; 0 for none
}

// world is accounts in a store, and the time.
type world struct {
	storetest.Stores
	t        testing.TB
	ms       int64
	began    int64
	accounts []*account
	markets  *market.Markets
	marks    market.Marks
}

func open(t testing.TB) *world {
	w := &world{Stores: storetest.Open(t), t: t, ms: markettest.Base + 60*dayMs + 25*60_000}
	described := meta.View{Time: w.ms, Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[{"name":"BTC","szDecimals":5,"maxLeverage":40},{"name":"ETH","szDecimals":4,"maxLeverage":25}]}`)}}
	storetest.Publish(t, w.Views, meta.Published, described)
	w.markets, w.began = described.Markets(), w.ms
	w.mark("100", "7")
	return w
}

// mark sets the marks.
func (w *world) mark(btc, eth string) {
	w.marks = market.Marks{"BTC": one(btc), "ETH": one(eth)}
	storetest.Publish(w.t, w.Views, contexts.Published, contexts.View{Time: w.ms, Marks: map[string]string{"BTC": btc, "ETH": eth}})
}

func (w *world) now() time.Time { return time.UnixMilli(w.ms).UTC() }

// term begins to publish, as a process does that has taken the lease.
func (w *world) term() *publishing.Work { return w.config().Begin() }

func (w *world) config() publishing.Config {
	return publishing.Config{Every: time.Hour, Now: w.now, Log: w.Log, Series: w.Series, Views: w.Views, Objects: w.Objects, Bucket: w.Bucket, Logger: slog.New(slog.DiscardHandler)}
}

func one(text string) market.Decimal { d, _ := market.ParseDecimal(text); return d }

// add makes an account that did something at times, ms, and has a position or not.
func (w *world) add(holds bool, times ...int64) *account {
	n := len(w.accounts)
	a := &account{address: table.Address{0: byte(n * 7), 18: byte(n >> 8), 19: byte(n)}, did: market.FactsByHour{}, worth: map[int64]market.Decimal{}}
	a.state = &market.Account{Address: market.AddressOf(a.address), Time: w.ms, Since: 1}
	if holds {
		a.trade(w.ms, "BTC", "2")
	}
	w.accounts = append(w.accounts, a)
	for _, ms := range times {
		a.do(n, ms)
		w.note(a, ms)
	}
	w.store(a)
	return a
}

// trade has an account buy.
func (a *account) trade(ms int64, coin, size string) {
	f := market.Fill{Address: a.state.Address, Coin: coin, Px: "90", Sz: size, Side: market.Buy, Time: ms, Tid: ms, Oid: ms, StartPosition: "0", ClosedPnl: "0", Fee: "0", FeeToken: "USDC", Dir: "Open Long"}
	a.state.Fill(&f, nil, nil)
}

// do has an account do something in an hour.
func (a *account) do(seed int, ms int64) {
	deeds := markettest.DidAtMost(4, rapid.Just(ms)).Example(seed + int(ms/hourMs)%1000)
	deeds.Routed = nil // that is what the others do by way of it
	a.did.Merge(deeds.Facts())
	of := market.MicrosOf(one(fmt.Sprint(ms % 97))).Decimal()
	a.worth[market.Hour1.StartMs(ms)] = of
	if hour := market.Hour1.StartMs(ms); a.since == 0 || hour < a.since {
		a.since = hour
	}
}

// note notes at a time that an account did something, in that hour or before.
func (w *world) note(a *account, ms int64) {
	storetest.PutLog(w.t, w.Log, accountchanges.Name, func(_ []store.Row, c []accountchanges.Changes) []store.Row {
		return accountchanges.Rows(time.UnixMilli(ms), &c[0])
	}, accountchanges.Changes{Did: []accountchanges.Did{{Address: a.address, Since: cmp.Or(a.since, ms-ms%hourMs)}}})
}

// store writes the rows of an account, behind the note of it.
func (w *world) store(a *account) {
	w.note(a, w.ms)
	a.since = 0
	storetest.PutSeries(w.t, w.Series, a.rows()...)
}

// rows are those that are stored of an account.
func (a *account) rows() []store.SeriesRow {
	address := market.AddressOf(a.address)
	stats := market.TraderStats{}
	for _, hour := range sortedHours(a.worth) {
		markettest.Valued(&stats, hour, a.worth[hour])
	}
	newest := int64(0)
	for hour := range a.did {
		newest = max(newest, market.Day1.StartMs(hour))
	}
	openRow, days := traderfacts.Open{Hours: market.FactsByHour{}}, map[int64]market.FactsByHour{}
	before := market.Window{}
	for hour, f := range a.did {
		day := market.Day1.StartMs(hour)
		if day >= newest-dayMs {
			openRow.Hours[hour] = f
			continue
		}
		if days[day] == nil {
			days[day] = market.FactsByHour{}
		}
		days[day][hour] = f
		before.Add(f)
	}
	openRow.Before = before.Did
	rows := []store.SeriesRow{accounts.Row(a.state), accountstats.Row(address, &stats), traderfacts.OpenRow(address, &openRow)}
	ever := a.did.Within(0, market.MaxTime)
	rows = append(rows, traderfacts.PlacedRow(address, &traderfacts.Placed{OrderTimes: ever.Did.Placed}))
	for day, hours := range days {
		rows = append(rows, traderfacts.Row(address, day, hours))
	}
	return rows
}

func sortedHours(worth map[int64]market.Decimal) (list []int64) {
	for hour := range worth {
		list = append(list, hour)
	}
	slices.Sort(list)
	return list
}

// did is what an account did from one time on and before another, ms, with what it routed for all.
func (w *world) did(a *account, from, to int64) market.Window {
	did := a.did.Within(from, to)
	for _, hour := range w.routed(a) {
		if hour.ms >= from && hour.ms < to {
			did.Add(&market.Facts{Routed: hour.did})
		}
	}
	return did
}

// routedHour is what a builder routed in an hour.
type routedHour struct {
	ms  int64
	did market.RoutedFacts
}

// routed is what an account routed as a builder, by a loop over all accounts.
func (w *world) routed(by *account) (list []routedHour) {
	sums := map[int64]*market.RoutedFacts{}
	for _, a := range w.accounts {
		for ms, f := range a.did {
			for i := range f.Builders {
				if f.Builders[i].Builder != by.address {
					continue
				}
				if sums[ms] == nil {
					sums[ms] = new(market.RoutedFacts)
				}
				sums[ms].Merge(&f.Builders[i].RoutedFacts)
			}
		}
	}
	for ms, did := range sums {
		list = append(list, routedHour{ms, *did})
	}
	return list
}

// trader is what an account's row is to be made of now.
func (w *world) trader(a *account) *traderfields.Trader {
	hour := w.ms - w.ms%hourMs
	held := a.state.Summary(w.markets, w.marks, w.ms)
	of := &traderfields.Trader{Holds: &held, Did: map[traderfields.Period]*market.Window{}, Worth: map[traderfields.Period]traderfields.Worth{}, Fell: map[traderfields.Period]*market.Drawdown{}}
	stats := market.TraderStats{}
	for _, hour := range sortedHours(a.worth) {
		markettest.Valued(&stats, hour, a.worth[hour])
	}
	for _, p := range traderfields.Periods {
		begin := hour - int64(p)*dayMs
		if p == traderfields.AllTime {
			begin = 0
		} else {
			of.Worth[p] = traderfields.WorthOf(stats.Curve, new(market.VenueCurve), begin, hour)
		}
		did := w.did(a, begin, hour+hourMs)
		of.Did[p] = &did
		if d, known := market.MaxDrawdown(stats.Curve.Between(begin, w.ms).Values(nil, market.ScopePerp)); known {
			of.Fell[p] = &d
		}
	}
	return of
}

// rows reads the table: each row of each trader.
func (w *world) rows() map[table.Address]tablefile.Row {
	w.t.Helper()
	version, rows := datatest.ReadTraders(w.t, datatest.OpenTraders(w.Views, w.Objects, w.Bucket))
	if version != w.ms {
		w.t.Fatalf("the newest version is of %d, want %d", version, w.ms)
	}
	return rows
}

// has holds the figures of a row to what they are to be.
func (w *world) has(row tablefile.Row, want *traderfields.Trader, which func(*traderfields.Field) bool) {
	w.t.Helper()
	for i, c := range traderfields.Columns() {
		if !which(c.Field) {
			continue
		}
		v, known := c.Field.Figure(want, c.Period)
		if len(row.Values) == 0 || row.Values[i] != (tablefile.Value{Value: v, Known: known}) {
			w.t.Fatalf("%s: %s of %s is %+v, want %d, known %t", w.now(), c.Name(), market.AddressOf(row.Address), row.Values[i], v, known)
		}
	}
	for i, f := range traderfields.TextFields() {
		if texts := row.NamesAt(len(traderfields.Columns()) + i); which(f) && !slices.Equal(texts, f.Texts(want)) {
			w.t.Fatalf("%s: %s of %s is %q, want %q", w.now(), f.Name, market.AddressOf(row.Address), texts, f.Texts(want))
		}
	}
}

func isDone(f *traderfields.Field) bool {
	return f.Adds != traderfields.Latest && f.Group != "account value change" && f.Group != "max drawdown"
}

func isAny(*traderfields.Field) bool { return true }

func isNotHeld(f *traderfields.Field) bool { return f.Adds != traderfields.Latest }

func isHeld(f *traderfields.Field) bool { return f.Adds == traderfields.Latest }

// TestEveryRowIsWhatItsAccountDidUpToNow over hours in which windows end, accounts do things and rest,
// positions are opened, and another process goes on: what rows say of deeds is right whenever a new hour
// was published, and all that hot rows say.
func TestEveryRowIsWhatItsAccountDidUpToNow(t *testing.T) {
	t.Parallel()
	w := open(t)
	for n := range 24 { // in each hour from now on, windows of some end
		var times []int64
		for k, p := range []int64{1, 7, 30} {
			if n%3 != k {
				times = append(times, w.ms-p*dayMs+int64((n/3+3*k)%8-1)*hourMs)
			}
		}
		w.add(n%3 == 0, times...)
	}
	work := w.term()
	for step := range testenv.Amount(7, 24*40) {
		if step%5 == 3 {
			work = w.term()
		}
		changed := w.accounts[step%len(w.accounts)]
		changed.do(step, w.ms-int64(step%3)*hourMs)
		w.store(changed)
		must.Do(t, work.Publish(t.Context()))
		rows := w.rows()
		if len(rows) != len(w.accounts) {
			t.Fatalf("%d rows of %d accounts", len(rows), len(w.accounts))
		}
		for n, a := range w.accounts {
			which := isDone
			if n%3 == 0 || a == changed { // it is hot
				which = isAny
			}
			w.has(rows[a.address], w.trader(a), which)
		}
		w.ms += hourMs
	}
}

// TestBetweenHoursHotRowsAreValuedAnewAndOthersStay: who has changed is made anew, whatever tier it was
// in; who holds positions is valued at the marks of now and keeps all else; the rest stays.
func TestBetweenHoursHotRowsAreValuedAnewAndOthersStay(t *testing.T) {
	t.Parallel()
	w := open(t)
	cold, wakes := w.add(false, w.ms-10*dayMs), w.add(false, w.ms-20*dayMs)
	closes, holds := w.add(true, w.ms-40*dayMs), w.add(true, w.ms-3*dayMs)
	work := w.term()
	must.Do(t, work.Publish(t.Context()))
	before, asBefore := w.rows(), map[*account]*traderfields.Trader{}
	for _, a := range w.accounts {
		w.has(before[a.address], w.trader(a), isAny)
		asBefore[a] = w.trader(a)
	}
	w.ms += 5 * 60_000
	w.mark("120", "8")
	wakes.do(1, w.ms)
	w.store(wakes)
	*closes.state = market.Account{Address: closes.state.Address, Time: w.ms, Since: 1}
	w.store(closes)
	must.Do(t, work.Publish(t.Context()))
	rows := w.rows()
	w.has(rows[cold.address], asBefore[cold], isAny)
	w.has(rows[holds.address], asBefore[holds], isNotHeld)
	for _, a := range []*account{holds, wakes, closes} {
		w.has(rows[a.address], w.trader(a), isHeld)
	}
	for _, a := range []*account{wakes, closes} {
		w.has(rows[a.address], w.trader(a), isAny)
	}
	if i := slices.IndexFunc(traderfields.Columns(), func(c traderfields.Column) bool { return c.Name() == "snapPositionValue" }); rows[holds.address].Values[i].Value == before[holds.address].Values[i].Value {
		t.Error("the position is not worth another thing at another mark")
	}
	hot := work.Status().Figures[0]
	if hot.Value != 2 {
		t.Errorf("%d rows are hot, want those of who holds a position and of who did something", hot.Value)
	}
}
