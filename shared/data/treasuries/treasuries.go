// Package treasuries is what companies, governments, funds and others hold of coins: the view
// of what is known of their purchases, sales and holdings, from drops and from filings, the
// holdings that follow from it ([Holdings]), and the log of what was dropped.
//
// What is stored is what was said. Balances and costs are made of it when the view is read,
// market values when somebody asks, so that none of them is ever stored beside its source.
//
// # Who is right
//
// Of one entity and coin a filing counts for days behind the last one of which a drop says
// anything: whoever keeps a history of purchases has not to agree with rounded figures.
package treasuries

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view, of the log and of the drops.
const Name = "treasuries"

// TypeFiled is what an entity is of which only filings are known, and TypeTrusts the entities
// whose holdings are listed apart.
const (
	TypeFiled  = "public-companies"
	TypeTrusts = "trusts"
)

// View is all that is known.
type View struct {
	Entries []Dropped `json:"entries"` // by identity, those that were removed too
	Filed   []Filed   `json:"filed"`   // by identity
}

// Published is how the view is stored. Holdings change a few times a day.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Entries, func(a, b Dropped) int { return strings.Compare(a.Identity(), b.Identity()) })
	slices.SortFunc(v.Filed, func(a, b Filed) int { return strings.Compare(a.Identity(), b.Identity()) })
}}

// Open returns what is held, as a reader keeps it in memory: made once of each version.
func Open(views *store.Views, clock func() time.Time) *store.View[Holdings] {
	return store.NewView(views, Name, Published.Period, clock, func(body []byte) (Holdings, error) {
		v, err := Published.Decode(body)
		return HoldingsOf(v), err
	})
}

// Holdings is what is held by everybody, and how it came to it.
type Holdings struct {
	Holders []Holder // by coin and entity
	Changes []Change // of all of them, by day, and of one day in the order of holders
}

// Holder is an entity with a coin of which it holds something, or did.
type Holder struct {
	ID     int64  // follows from coin and entity alone, 2^53-1 at most
	Coin   string // e.g. BTC
	Entity string // id of the entity, the same for all of its coins
	Name   string
	Key    string // of its share; empty for none
	Ticker string // of its share; empty for none
	Type   string // such as public-companies; empty where it is not known
	Said   int64  // when something was said of it last, ms

	Changes []Change        // oldest first: they add up to Amount
	Amount  market.Decimal  // coins that are held
	Cost    *market.Decimal // what they have cost, US dollars; nil is not known
}

// Change is a purchase or a sale of a holder.
type Change struct {
	Holder *Holder
	ID     int64 // follows from coin, entity and what was said, 2^53-1 at most
	Day    int64 // of the change: its first moment, ms
	Said   int64 // when it was said, ms
	market.HoldingChange

	Price      string // of a coin, US dollars; empty where it is not known
	StockPrice string // of the entity's share, in its currency; empty where it is not known
}

// said is an event with what is shown of it beside.
type said struct {
	market.HoldingEvent
	identity                string
	price, stock            string
	name, key, ticker, kind string
	at                      int64 // ms
}

// HoldingsOf makes holdings of what is known.
func HoldingsOf(v View) Holdings {
	type holding struct{ coin, entity string }
	all, last := map[holding][]said{}, map[holding]string{}
	for i := range v.Entries {
		e := &v.Entries[i]
		if e.Removed {
			continue
		}
		at := holding{e.Coin, e.Entity()}
		all[at], last[at] = append(all[at], saidOf(e)), max(last[at], e.Date)
	}
	for i := range v.Filed {
		f := &v.Filed[i]
		at := holding{f.Coin, f.Key}
		amount, err := market.ParseDecimal(f.Amount)
		day, errDay := time.Parse(time.DateOnly, f.On)
		if err != nil || errDay != nil || f.Date <= last[at] {
			continue
		}
		s := said{HoldingEvent: market.HoldingEvent{Date: f.Date, Kind: market.HoldingReport, Amount: amount}, identity: f.Identity(), key: f.Key, at: day.UnixMilli()}
		if last[at] == "" {
			s.name, s.kind = f.Name, TypeFiled
		}
		all[at] = append(all[at], s)
	}
	h := Holdings{Holders: make([]Holder, 0, len(all))}
	for at, events := range all {
		h.Holders = append(h.Holders, holderOf(at.coin, at.entity, events))
	}
	slices.SortFunc(h.Holders, func(a, b Holder) int {
		return cmp.Or(strings.Compare(a.Coin, b.Coin), strings.Compare(a.Entity, b.Entity))
	})
	for i := range h.Holders {
		holder := &h.Holders[i]
		for j := range holder.Changes {
			holder.Changes[j].Holder = holder
		}
		h.Changes = append(h.Changes, holder.Changes...)
	}
	slices.SortStableFunc(h.Changes, func(a, b Change) int { return cmp.Compare(a.Day, b.Day) })
	return h
}

var kinds = map[string]market.HoldingKind{"buy": market.HoldingBuy, "sell": market.HoldingSell, holding: market.HoldingReport}

// figurePlaces is how exact a price is that follows from a cost, and a cost that follows from a price.
const figurePlaces = 8

// saidOf is what an entry says. Its figures are decimals, which lines of drops are checked for.
func saidOf(e *Dropped) said {
	s := said{identity: e.Identity(), price: e.Price, stock: e.StockPrice, name: e.Name, key: e.Key, ticker: e.Ticker, kind: e.EntityType, at: e.Place.Time}
	amount, _ := market.ParseDecimal(e.Amount)
	s.HoldingEvent = market.HoldingEvent{Date: e.Date, Kind: kinds[e.Type], Amount: amount}
	if cost, err := market.ParseDecimal(e.Cost); err == nil {
		s.Cost = &cost
	} else if price, err := market.ParseDecimal(e.Price); err == nil && s.Kind == market.HoldingBuy {
		s.Cost = new(amount.Mul(price).RoundHAZ(figurePlaces))
	}
	if e.Type != holding && e.Price == "" {
		s.price = market.Quotient(e.Cost, e.Amount, figurePlaces)
	}
	return s
}

// holderOf makes a holder of what was said of it. What it is called is said by its last day.
func holderOf(coin, entity string, all []said) Holder {
	slices.SortFunc(all, func(a, b said) int {
		return cmp.Or(strings.Compare(a.Date, b.Date), strings.Compare(a.identity, b.identity))
	})
	h := Holder{ID: number(coin, entity), Coin: coin, Entity: entity}
	events := make([]market.HoldingEvent, len(all))
	for i := range all {
		s := &all[i]
		events[i] = s.HoldingEvent
		h.Name, h.Key, h.Ticker, h.Type = cmp.Or(s.name, h.Name), cmp.Or(s.key, h.Key), cmp.Or(s.ticker, h.Ticker), cmp.Or(s.kind, h.Type)
		h.Said = max(h.Said, s.at)
	}
	if parts := strings.Split(h.Key, ":"); h.Ticker == "" && len(parts) > 1 {
		h.Ticker = strings.ToUpper(parts[1])
	}
	held := market.FoldHoldings(events)
	h.Amount, h.Cost = held.Amount, held.Cost
	h.Changes = make([]Change, len(held.Changes))
	for i, c := range held.Changes {
		s := &all[c.Event]
		day, _ := time.Parse(time.DateOnly, s.Date) // lines and filings are checked for it
		h.Changes[i] = Change{ID: number(s.identity, c.Balance.String()), Day: day.UnixMilli(), Said: s.at, HoldingChange: c, Price: s.price, StockPrice: s.stock}
	}
	return h
}

// number is the first 53 bits of the SHA-256 of texts, each with a zero behind it.
func number(texts ...string) int64 {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00") + "\x00"))
	return max(1, int64(binary.BigEndian.Uint64(sum[:8])>>11)) //nolint:gosec // 53 bits
}

// Coins are the short names of all coins of which something is known.
func (h Holdings) Coins() []string {
	known := map[string]bool{}
	for i := range h.Holders {
		known[h.Holders[i].Coin] = true
	}
	return slices.Sorted(maps.Keys(known))
}
