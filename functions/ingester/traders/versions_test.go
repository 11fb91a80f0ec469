package traders_test

import (
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/data/accountchanges"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/delivered"
	"quotary/shared/data/drop"
	"quotary/shared/data/othervenues"
	"quotary/shared/data/traderfacts"
	"quotary/shared/data/traderhistory"
	tabled "quotary/shared/data/traders"
	"quotary/shared/data/vaults"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
)

// TestWhatListsSayIsInEveryRowByTheNextHour: hot rows have it at once.
func TestWhatListsSayIsInEveryRowByTheNextHour(t *testing.T) {
	t.Parallel()
	w := open(t)
	cold, hot := w.add(false, w.ms-10*dayMs), w.add(true, w.ms-3*dayMs)
	work := w.term()
	must.Do(t, work.Publish(t.Context()))
	listed := func(f *traderfields.Field) bool { return f.ByList }
	publish := func(after int64, want map[*account]*traderfields.VaultRole) {
		t.Helper()
		w.ms += after
		must.Do(t, work.Publish(t.Context()))
		rows := w.rows()
		for a, role := range want {
			w.has(rows[a.address], &traderfields.Trader{Vault: role}, listed)
		}
	}
	list := func(of ...vaults.Vault) {
		storetest.Publish(t, w.Views, vaults.Published, vaults.View{Vaults: of})
	}
	publish(5*60_000, map[*account]*traderfields.VaultRole{cold: nil, hot: nil}) // after it, nothing is noted of them any more
	one := vaults.Vault{Address: cold.state.Address, Leader: hot.state.Address, Name: "One", Created: 7}
	list(one)
	is, leads := &traderfields.VaultRole{Created: 7, Name: "One", Leader: one.Leader}, &traderfields.VaultRole{Led: 1, Leads: 1}
	publish(5*60_000, map[*account]*traderfields.VaultRole{cold: nil, hot: leads})
	publish(hourMs, map[*account]*traderfields.VaultRole{cold: is, hot: leads})
	one.Name, one.Closed = "Another", true
	list(one)
	publish(hourMs, map[*account]*traderfields.VaultRole{cold: {Created: 7, Name: "Another", Leader: one.Leader}, hot: {Led: 1}})
	list()
	publish(5*60_000, map[*account]*traderfields.VaultRole{hot: nil})
	publish(hourMs, map[*account]*traderfields.VaultRole{cold: nil, hot: nil})
}

// TestOtherVenuesAreInEveryRowByTheNextHour, with those of no venue and those of whom nothing is known.
func TestOtherVenuesAreInEveryRowByTheNextHour(t *testing.T) {
	t.Parallel()
	w := open(t)
	cold, hot := w.add(false, w.ms-10*dayMs), w.add(true, w.ms-3*dayMs)
	work := w.term()
	must.Do(t, work.Publish(t.Context()))
	book, line := othervenues.NewBook(), int64(0)
	say := func(a *account, venues ...string) {
		line++
		book.Take(&othervenues.Dropped{Entry: othervenues.Entry{Address: a.state.Address, Venues: venues}, Place: drop.Place{Time: 1, File: "a", Line: line}})
		storetest.Publish(t, w.Views, othervenues.Published, book.View())
	}
	publish := func(after int64, want map[*account]*traderfields.OtherVenues) {
		t.Helper()
		w.ms += after
		must.Do(t, work.Publish(t.Context()))
		rows := w.rows()
		for a, other := range want {
			w.has(rows[a.address], &traderfields.Trader{Other: other}, func(f *traderfields.Field) bool { return f.ByList })
		}
	}
	some := func(names ...string) *traderfields.OtherVenues { return &traderfields.OtherVenues{Names: names} }
	publish(5*60_000, map[*account]*traderfields.OtherVenues{cold: nil, hot: nil})
	say(cold, "A", "B")
	say(hot, "B")
	publish(5*60_000, map[*account]*traderfields.OtherVenues{cold: nil, hot: some("B")})
	publish(hourMs, map[*account]*traderfields.OtherVenues{cold: some("A", "B"), hot: some("B")})
	say(cold)
	say(hot)
	publish(hourMs, map[*account]*traderfields.OtherVenues{cold: some(), hot: some()})
}

// TestWhatMovesOfAHotRowIsOfNow in a new hour, though nothing was noted of it: what it was worth, how that fell, and
// the orders that it placed; and within an hour, once it is noted that it holds something else.
func TestWhatMovesOfAHotRowIsOfNow(t *testing.T) {
	t.Parallel()
	w := open(t)
	rests, closes := w.add(true, w.ms-3*dayMs), w.add(true, w.ms-3*dayMs)
	work := w.term()
	must.Do(t, work.Publish(t.Context()))
	worth := func(a *account, ago int64, usd string) { a.worth[w.ms-w.ms%hourMs-ago*hourMs] = one(usd) }
	check := func() {
		t.Helper()
		must.Do(t, work.Publish(t.Context()))
		rows := w.rows()
		for _, a := range w.accounts {
			w.has(rows[a.address], w.trader(a), isAny)
		}
	}
	for step := range 3 {
		w.ms += hourMs
		for _, a := range w.accounts {
			worth(a, 6, "900")
			worth(a, 0, []string{"700", "400", "800"}[step])
			for _, f := range a.did {
				f.Placed = market.OrderTimes{Count: int64(2 + step), First: w.ms - 3*dayMs, Last: w.ms}
			}
			storetest.PutSeries(t, w.Series, a.rows()...)
		}
		check()
	}
	w.ms += 5 * 60_000
	*closes.state = market.Account{Address: closes.state.Address, Time: w.ms, Since: 1}
	rests.trade(w.ms, "ETH", "1")
	for _, a := range w.accounts {
		worth(a, 0, "300")
		storetest.PutLog(t, w.Log, accountchanges.Name, func(_ []store.Row, c []accountchanges.Changes) []store.Row {
			return accountchanges.Rows(w.now(), &c[0])
		}, accountchanges.Changes{Others: []table.Address{a.address}})
		for _, f := range a.did {
			f.Placed.Last = w.ms - 2*dayMs
		}
		storetest.PutSeries(t, w.Series, a.rows()...)
	}
	check()
	if hot := work.Status().Figures[0].Value; hot != 1 {
		t.Errorf("%d rows are hot, want that of who holds something", hot)
	}
}

// TestWhoDidNothingIsKnownToByItsRows: no row of what it did is stored of who did nothing, and none of before there were any.
func TestWhoDidNothingIsKnownToByItsRows(t *testing.T) {
	t.Parallel()
	w := open(t)
	idle := func(n byte, facts ...[]byte) *account {
		a := &account{address: table.Address{19: n}}
		a.state = &market.Account{Address: market.AddressOf(a.address), Time: w.ms, Since: 1}
		row := accounts.Row(a.state)
		w.note(a, w.ms)
		storetest.PutSeries(t, w.Series, row, accountstats.RowOf(a.state.Address, new(market.TraderStats), accountstats.VersionOf(append([][]byte{row.Extra}, facts...)...)))
		w.accounts = append(w.accounts, a)
		return a
	}
	nothing := new(traderfacts.Kept).Stored()
	rests, unknown, places := idle(1, nothing), idle(2), idle(3, nothing)
	placed := traderfacts.Placed{OrderTimes: market.OrderTimes{Count: 3, First: w.ms - 9*dayMs, Last: w.ms - dayMs + hourMs}}
	storetest.PutSeries(t, w.Series, traderfacts.PlacedRow(market.AddressOf(places.address), &placed))
	work := w.term()
	must.Do(t, work.Publish(t.Context()))
	rows := w.rows()
	for i, c := range traderfields.Columns() {
		want := tablefile.Value{}
		if c.Name() == "trFills30d" || c.Name() == "oaOrderCount" {
			want.Known = true
		} else if c.Name() != "avgPnl7d" {
			continue
		}
		for a, want := range map[*account]tablefile.Value{rests: want, unknown: {}, places: want} {
			if a == places && c.Name() == "oaOrderCount" {
				want.Value = 3
			}
			if got := rows[a.address].Values[i]; got != want {
				t.Errorf("%s is %+v, want %+v", c.Name(), got, want)
			}
		}
	}
	if hot := work.Status().Figures[0].Value; hot != 1 {
		t.Errorf("%d rows are hot, want that of who placed an order within a day", hot)
	}
}

// TestAVersionSaysUpToWhenAllIsInIt that comes with the venue's hours, as it is when the version is made.
func TestAVersionSaysUpToWhenAllIsInIt(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.add(false, w.ms-hourMs)
	work := w.term()
	for _, until := range []int64{0, w.ms - 2*hourMs, w.ms - hourMs} {
		storetest.Publish(t, w.Views, delivered.Published(catalog.PerpDomain.Name), delivered.View{catalog.VenueFills.Name: {Since: 1, Until: until}})
		must.Do(t, work.Publish(t.Context()))
		table, past := must.Get(tabled.Newest.Load(t.Context(), w.Views))(t), must.Get(traderhistory.Newest.Load(t.Context(), w.Views))(t)
		if table.Until != until || past.Until != until {
			t.Errorf("the table is whole up to %d, and the history up to %d, want %d", table.Until, past.Until, until)
		}
		w.ms += 5 * 60_000
	}
}
