package market

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHoldingsFollowFromBuysSellsAndReports(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, events, want string }{
		{"nothing", "", "holds 0 for 0"},
		{"purchases with their costs", "02-01 buy 10 100|01-01 buy 5 40", "+5=5@40 +10=15@140 holds 15 for 140"},
		{"a cost that is not known", "01-01 buy 5 40|02-01 buy 10", "+5=5@40 +10=15@? holds 15 for ?"},
		{"a sale takes its part of the cost", "01-01 buy 4 100|02-01 sell 1", "+4=4@100 -1=3@75 holds 3 for 75"},
		{"a part that is not exact", "01-01 buy 3 100|02-01 sell 1", "+3=3@100 -1=2@66.66666667 holds 2 for 66.66666667"},
		{"all is sold", "01-01 buy 4|02-01 sell 4|03-01 buy 1 9", "+4=4@? -4=0@0 +1=1@9 holds 1 for 9"},
		{"more is sold than was known", "01-01 buy 4 8|02-01 sell 6", "+4=4@8 +2=6@? -6=0@0 holds 0 for 0"},
		{"a report of what is known", "01-01 buy 4 8|01-01 holds 4", "+4=4@8 holds 4 for 8"},
		{"a report of more", "01-01 buy 4 8|02-01 holds 7", "+4=4@8 +3=7@? holds 7 for ?"},
		{"a report of less", "01-01 holds 4 8|02-01 holds 1", "+4=4@8 -3=1@2 holds 1 for 2"},
		{"a report of the cost of all", "01-01 buy 4|02-01 holds 7 70|03-01 holds 7 71", "+4=4@? +3=7@70 holds 7 for 71"},
		{"a report of nothing", "01-01 holds 0 5", "holds 0 for 0"},
		{"of one day what was bought counts first", "01-01 sell 4|01-01 holds 1|01-01 buy 5 10", "+5=5@10 -4=1@2 holds 1 for 2"},
	} {
		if got := holdings(t, tt.events); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func holdings(t *testing.T, text string) string {
	t.Helper()
	kinds := map[string]HoldingKind{"buy": HoldingBuy, "sell": HoldingSell, "holds": HoldingReport}
	var events []HoldingEvent
	for line := range strings.SplitSeq(text, "|") {
		if words := strings.Fields(line); len(words) > 0 {
			e := HoldingEvent{Date: words[0], Kind: kinds[words[1]], Amount: mustDecimal(words[2])}
			if len(words) > 3 {
				e.Cost = new(mustDecimal(words[3]))
			}
			events = append(events, e)
		}
	}
	cost := func(d *Decimal) string {
		if d == nil {
			return "?"
		}
		return d.String()
	}
	h, out := FoldHoldings(events), ""
	for _, c := range h.Changes {
		sign := "+"
		if c.Change.IsNeg() {
			sign = ""
		}
		out += fmt.Sprint(sign, c.Change, "=", c.Balance, "@", cost(c.Cost), " ")
	}
	return fmt.Sprint(out, "holds ", h.Amount, " for ", cost(h.Cost))
}

// Whatever is known of an entity: its changes add up to what it holds, nothing is ever below
// zero, and a report is what is held behind it. The order of events of several days is of no
// meaning.
func TestChangesAddUpToWhatIsHeld(t *testing.T) {
	t.Parallel()
	event := rapid.Custom(func(t *rapid.T) HoldingEvent {
		e := HoldingEvent{Date: fmt.Sprint("2026-01-", rapid.IntRange(10, 18).Draw(t, "day")), Kind: HoldingKind(rapid.IntRange(0, 2).Draw(t, "kind")), Amount: decimalOf(rapid.Int64Range(0, 9).Draw(t, "amount"))}
		if rapid.Bool().Draw(t, "known") {
			e.Cost = new(decimalOf(rapid.Int64Range(0, 99).Draw(t, "cost")))
		}
		return e
	})
	rapid.Check(t, func(t *rapid.T) {
		// Of one day and kind there is one: their order is that in which they are given.
		events := rapid.SliceOfNDistinct(event, 0, 12, func(e HoldingEvent) string { return fmt.Sprint(e.Date, e.Kind) }).Draw(t, "events")
		h := FoldHoldings(events)
		sum := Decimal{}
		for i, c := range h.Changes {
			if sum = sum.Add(c.Change); !sum.Equal(c.Balance) || sum.IsNeg() || c.Cost != nil && c.Cost.IsNeg() || c.Change.IsZero() {
				t.Fatalf("change %d of %+v: %s are %s", i, events, c.Balance, sum)
			}
		}
		if !sum.Equal(h.Amount) {
			t.Fatalf("%s are held, changes add up to %s", h.Amount, sum)
		}
		shuffled := append([]HoldingEvent(nil), events...)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		other := FoldHoldings(shuffled)
		if len(other.Changes) != len(h.Changes) || !other.Amount.Equal(h.Amount) {
			t.Fatalf("in another order %+v, want %+v", other, h)
		}
		for i, e := range events {
			if e.Kind != HoldingReport {
				continue
			}
			held := Decimal{}
			for _, c := range h.Changes {
				if at := events[c.Event]; at.Date <= e.Date {
					held = c.Balance
				}
			}
			if !held.Equal(e.Amount) {
				t.Fatalf("event %d reports %s, there are %s", i, e.Amount, held)
			}
		}
	})
}
