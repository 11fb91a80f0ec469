package perp

import (
	"fmt"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/openpositions"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// TestPublicTradesMoveWhatHoursHaveConfirmed: open interest, whales and what they do are of now, and
// nothing of it counts or comes twice when the hour is read, whose fills alone are saved.
func TestPublicTradesMoveWhatHoursHaveConfirmed(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	interest := of[*openInterest](w.set)
	interest.late = true
	hour := w.at.Truncate(time.Hour)
	at := func(n int64) int64 { return hour.UnixMilli() + 1000*n }
	fill := func(n int64, start, size string, side market.Side) market.Fill {
		return whaleFill(1, "BTC", at(n), n, start, size, side)
	}
	public := func(f market.Fill) market.Fill {
		f.StartPosition, f.Dir, f.ClosedPnl, f.Fee, f.FeeToken, f.Oid, f.Seq, f.Provisional = "", "", "", "", "", 0, 0, true
		return f
	}
	var events []string
	var last engine.Changes
	next := func(b *Batch) {
		t.Helper()
		last = w.next(t, b)
		if got, published := eventsIn(t, last); published {
			events = got
		}
	}
	stands := func(when, size string) {
		t.Helper()
		interest.Changes(w.at, true)
		table := interest.now().Table(0)
		if len(table.Rows) != 1 || market.Text(interest.now().OpenInterest("BTC").LongSize) != size {
			t.Errorf("%s: %+v stand, want %s", when, table.Rows, size)
		}
	}
	before, more, less := fill(-60, "0.0", "50.0", market.Buy), fill(10, "50.0", "10.0", market.Buy), fill(20, "60.0", "25.0", market.Sell)
	next(&Batch{Events: market.Events{TradesWhole: []market.TradesWhole{{Coin: "BTC", Since: at(-3600)}}}})
	next(&Batch{Events: market.Events{Fills: []market.Fill{before}}, Hourly: true, Until: hour.UnixMilli()})
	stands("an hour has come", "50.0")
	next(&Batch{Events: market.Events{Provisional: []market.Fill{public(more)}}})
	stands("a trade is public", "60.0")
	for _, view := range last.Views {
		switch view.Name {
		case openpositions.Name:
			if table := must.Get(openpositions.Published.Decode(view.Body))(t); table.Rows[0].Size != 60 {
				t.Errorf("published is %+v", table.Rows)
			}
		case openinterest.Name:
			if v := must.Get(openinterest.Published.Decode(view.Body))(t); len(v.Coins) != 1 || v.Coins[0].TotalPv != "1800000.0" {
				t.Errorf("published is %+v", v.Coins)
			}
		}
	}
	next(&Batch{Events: market.Events{Provisional: []market.Fill{public(less), public(less)}}})
	stands("another comes twice", "35.0")
	want := []string{fmt.Sprint(at(-60), " 1 BTC 1 50.0 1500000.0"), fmt.Sprint(at(10), " 1 BTC 3 60.0 1800000.0"), fmt.Sprint(at(20), " 1 BTC 4 35.0 1050000.0")}
	check.Equal(t, want, events)

	next(&Batch{Events: market.Events{Fills: []market.Fill{more}}, Hourly: true})
	stands("a part of their hour has come", "35.0")
	if got := interest.positions.OpenInterest("BTC").LongSize; market.Text(got) != "60.0" {
		t.Errorf("confirmed are %s", got)
	}
	next(&Batch{Events: market.Events{Fills: []market.Fill{less}}, Hourly: true, Until: at(3600)})
	stands("it is whole", "35.0")
	check.Equal(t, want, events)

	next(&Batch{Events: market.Events{TradesWhole: []market.TradesWhole{{Coin: "BTC", Since: at(3700)}}, Provisional: []market.Fill{public(fill(3800, "", "5.0", market.Buy))}}})
	stands("trades were missed", "35.0")
	next(&Batch{Until: at(7200)})
	stands("the hour in which they were has come", "35.0")
}
