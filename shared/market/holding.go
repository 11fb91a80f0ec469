package market

import (
	"cmp"
	"slices"
)

// HoldingKind is what is known of a holding.
type HoldingKind int

// The kinds, in the order in which those of one day count.
const (
	HoldingBuy    HoldingKind = iota // coins were bought
	HoldingSell                      // coins were sold
	HoldingReport                    // so many coins are held
)

// HoldingEvent is what an entity did with a coin on a day, or what it held at its end.
type HoldingEvent struct {
	Date   string // yyyy-mm-dd
	Kind   HoldingKind
	Amount Decimal // coins that were bought, sold or held; not negative

	// Cost is what was paid for those that were bought, or what all that are held have cost,
	// US dollars; nil is not known. That of a sale is of no meaning.
	Cost *Decimal
}

// HoldingChange is a purchase or a sale. All changes of an entity in their order add up to
// what it holds.
type HoldingChange struct {
	Event   int     // of which it follows, an index
	Change  Decimal // coins, negative of a sale
	Balance Decimal // coins that are held then

	// Cost is what all that are held then have cost, US dollars; nil is not known. A sale
	// takes its part of what they have cost on average.
	Cost *Decimal
}

// Holdings is what an entity holds of a coin.
type Holdings struct {
	Changes []HoldingChange // oldest first
	Amount  Decimal         // coins
	Cost    *Decimal        // what they have cost, US dollars; nil is not known
}

// costPlaces is how exact a part of a cost is.
const costPlaces = 8

// FoldHoldings makes changes of events in any order. What is held by a report beyond what was
// known is a purchase on its day, and what is missing a sale. Of what was sold, but is not
// known to have been bought, a purchase on that day is made, of which no cost is known.
func FoldHoldings(events []HoldingEvent) Holdings {
	order := make([]int, len(events))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(events[a].Date, events[b].Date), cmp.Compare(events[a].Kind, events[b].Kind))
	})
	h := Holdings{Cost: new(Decimal)}
	for _, i := range order {
		switch e := &events[i]; e.Kind {
		case HoldingBuy:
			h.buy(i, e.Amount, e.Cost)
		case HoldingSell:
			if e.Amount.GreaterThan(h.Amount) {
				h.buy(i, e.Amount.Sub(h.Amount), nil)
			}
			h.sell(i, e.Amount)
		case HoldingReport:
			h.report(i, e)
		}
	}
	return h
}

// buy takes what was bought, of which the cost may be known.
func (h *Holdings) buy(event int, amount Decimal, paid *Decimal) {
	if amount.IsZero() {
		return
	}
	h.Amount = h.Amount.Add(amount)
	if h.Cost != nil && paid != nil {
		h.Cost = new(h.Cost.Add(*paid))
	} else {
		h.Cost = nil
	}
	h.Changes = append(h.Changes, HoldingChange{event, amount, h.Amount, h.Cost})
}

// sell takes what was sold, no more than is held. Nothing that is left has cost nothing.
func (h *Holdings) sell(event int, amount Decimal) {
	if amount.IsZero() {
		return
	}
	before := h.Amount
	h.Amount = before.Sub(amount)
	switch {
	case h.Amount.IsZero():
		h.Cost = new(Decimal)
	case h.Cost != nil:
		left, err := h.Cost.Mul(h.Amount).Div(before)
		h.Cost = nil
		if err == nil {
			h.Cost = new(left.RoundHAZ(costPlaces))
		}
	}
	h.Changes = append(h.Changes, HoldingChange{event, amount.Neg(), h.Amount, h.Cost})
}

// report takes what was reported: the difference from what was known, and the cost of all.
func (h *Holdings) report(event int, e *HoldingEvent) {
	before := len(h.Changes)
	if e.Amount.GreaterThan(h.Amount) {
		h.buy(event, e.Amount.Sub(h.Amount), nil)
	} else {
		h.sell(event, h.Amount.Sub(e.Amount))
	}
	if e.Cost == nil || h.Amount.IsZero() {
		return
	}
	h.Cost = e.Cost
	if len(h.Changes) > before {
		h.Changes[before].Cost = e.Cost
	}
}
