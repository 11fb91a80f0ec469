package traders_test

import (
	"strconv"
	"testing"

	"quotary/shared/data/traderhistory"
	"quotary/shared/market"
	"quotary/shared/service/traderwindows"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
)

// TestWhatABuilderRoutedIsCorrectedWithItsTraders: fills that come late, in an hour that has a file and in one
// before it, what is not known of an hour, another trader, another builder for what was there, and nothing any
// more. The first builder does nothing itself, and no more is noted of it than that it is there.
func TestWhatABuilderRoutedIsCorrectedWithItsTraders(t *testing.T) {
	t.Parallel()
	w := open(t)
	builder, other, first, second := w.add(false), w.add(false), w.add(false), w.add(false)
	hour := w.ms - w.ms%hourMs - 3*hourMs
	fill := func(ms, oid int64, by *account) market.Fill {
		return market.Fill{Coin: "BTC", Side: market.Buy, Time: ms + oid, Px: "10", Sz: strconv.FormatInt(oid, 10), Fee: "0.5", FeeToken: "USDC", ClosedPnl: "0", Tid: oid, Oid: oid / 2, Builder: by.state.Address, BuilderFee: "0.25"}
	}
	work := w.term()
	for step, did := range []map[*account][]market.Fill{
		{first: {fill(hour, 2, builder)}},
		{first: {fill(hour, 2, builder), fill(hour, 3, builder), fill(hour, 4, builder)}},
		{first: {fill(hour-hourMs, 5, builder), fill(hour, 2, builder), fill(hour, 4, builder), fill(hour+hourMs, 5, builder)}},
		{second: {fill(hour, 7, builder), fill(hour, 9, other)}},
		{first: {fill(hour, 2, other)}},
		{second: nil, first: {fill(hour-hourMs, 2, builder)}},
	} {
		for a, fills := range did {
			a.did, a.since = market.FactsByHour{}, hour-hourMs
			orders, builders := map[int64]*market.OrderSeen{}, map[string]*market.HoursSeen{}
			for i := range fills {
				f := &fills[i]
				if orders[f.Oid] == nil {
					orders[f.Oid] = new(market.OrderSeen)
				}
				if builders[f.Builder] == nil {
					builders[f.Builder] = new(market.HoursSeen)
				}
				a.did.Fill(f, orders[f.Oid], builders[f.Builder])
			}
			if step == 2 { // and up to the fourth, as its row has no room for it
				a.did[hour].Builders[0].Unknown = 1
			}
			w.store(a)
		}
		if step%2 == 1 {
			work = w.term()
		}
		must.Do(t, work.Publish(t.Context()))
		rows := w.rows()
		for _, a := range w.accounts {
			w.has(rows[a.address], w.trader(a), isDone)
		}
		fields := asked()
		for from := hour - 2*hourMs; from <= hour+hourMs; from += hourMs {
			of := traderwindows.Window{From: from, To: hour + 2*hourMs}
			for _, row := range must.Get(w.windows().Ask(t.Context(), of, &table.Query{Order: fields[0], Limit: 9}, fields))(t).Rows {
				a := w.accounts[row.Address[19]]
				want := w.past(a, of)
				for i, f := range fields {
					field := &traderfields.Fields[f]
					if v, known := field.Figure(want, traderhistory.Period); field.Group == "builders" && (row.Values[i].Value != v || row.Values[i].Known != known) {
						t.Errorf("step %d: %s of account %d from %d on is %+v, want %d", step, field.Name, row.Address[19], (from-hour)/hourMs, row.Values[i], v)
					}
				}
			}
		}
		w.ms += 5 * 60_000
	}
}

// TestWhatABuilderRoutedIsNullWhileThereIsNoRoomForATraderOfIt, in its row and in every window with the hour;
// what it did itself, and what others routed, is known.
func TestWhatABuilderRoutedIsNullWhileThereIsNoRoomForATraderOfIt(t *testing.T) {
	t.Parallel()
	w := open(t)
	builder, other, first, second := w.add(false), w.add(false), w.add(false), w.add(false)
	hour := w.ms - w.ms%hourMs - 3*hourMs
	route := func(a *account, by ...table.Address) {
		a.did, a.since = market.FactsByHour{}, hour
		for i, b := range by {
			f := market.Fill{Coin: "BTC", Side: market.Buy, Time: hour + int64(i), Px: "10", Sz: "1", Fee: "0.5", FeeToken: "USDC", ClosedPnl: "0", Tid: int64(i + 1), Oid: int64(i), Builder: market.AddressOf(b)}
			a.did.Fill(&f, new(market.OrderSeen), new(market.HoursSeen))
		}
		w.store(a)
	}
	route(first, builder.address)
	c := w.config()
	c.MostRoutes = 200
	for _, step := range []struct {
		many    int // builders of the second trader
		unknown *account
	}{{8, other}, {0, nil}} {
		by := []table.Address{other.address}
		for n := range step.many {
			by = append(by, table.Address{0: 0xff, 19: byte(n)})
		}
		route(second, by[:min(len(by), step.many)]...)
		work := c.Begin()
		must.Do(t, work.Publish(t.Context()))
		figures := work.Status().Figures
		if left := figures[len(figures)-1].Value; left != int64(min(1, step.many)) {
			t.Errorf("there is no room for %d traders", left)
		}
		rows, of := w.rows(), traderwindows.Window{From: hour, To: hour + 2*hourMs}
		past := map[table.Address][]tablefile.Value{}
		for _, row := range must.Get(w.windows().Ask(t.Context(), of, &table.Query{Limit: 9}, asked()))(t).Rows {
			past[row.Address] = row.Values
		}
		for _, a := range w.accounts {
			for i, f := range asked() {
				if field := &traderfields.Fields[f]; isDone(field) {
					v, known := field.Figure(w.past(a, of), traderhistory.Period)
					if a == step.unknown && field.Group == "builders" {
						v, known = 0, false
					}
					if got := past[a.address][i]; got != (tablefile.Value{Value: v, Known: known}) {
						t.Errorf("with %d builders more %s of account %d in a window is %+v, want %d, known %t", step.many, field.Name, a.address[19], got, v, known)
					}
				}
			}
			want := w.trader(a)
			if a == step.unknown {
				for _, w := range want.Did {
					w.Did.Routed.Unknown = 1
				}
			}
			w.has(rows[a.address], want, isDone)
		}
		w.ms += 5 * 60_000
	}
}
