// Package largeorders is the large orders of the pairs whose order books are followed: a view of
// those that rest now, and a log of those that were.
//
// Both have an order under its pair, the time when it was first seen, and its name, so that one
// that is written again replaces itself. The log has no retention: a row is one order, and even
// the busiest pair has few thousand a day. Whoever writes them bounds those of a pair.
package largeorders

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view and of the log.
const Name = "largeorders"

// View is what rests now.
type View struct {
	Time  int64  `json:"time"`  // ms: what happened until then is in it
	Pairs []Pair `json:"pairs"` // whose books are followed, by key
}

// Pair is what rests of a pair.
type Pair struct {
	Key    string  `json:"key"`
	Until  int64   `json:"until"` // ms: what happened until then is in it
	Heard  int64   `json:"heard"` // when its book was heard of last, ms
	Orders []Order `json:"orders"`
}

// Order is how a [market.LargeOrder] is stored.
type Order struct {
	Bid      bool           `json:"bid,omitzero"`
	Px       market.Decimal `json:"px"`
	Contract market.Decimal `json:"contract,omitzero"`
	Inverse  bool           `json:"inverse,omitzero"`
	Start    int64          `json:"start"`
	Changed  int64          `json:"changed"`
	End      int64          `json:"end,omitzero"`
	Missed   int64          `json:"missed,omitzero"`
	First    market.Decimal `json:"first"`
	Last     market.Decimal `json:"last"`
	Highest  market.Decimal `json:"highest"`
	Gone     market.Decimal `json:"gone,omitzero"`
	Met      market.Decimal `json:"met,omitzero"`
	Trades   int64          `json:"trades,omitzero"`
	Largest  market.Decimal `json:"largest,omitzero"`
	From     int64          `json:"from,omitzero"`
	To       int64          `json:"to,omitzero"`

	Near *market.Decimal `json:"near,omitempty"`
}

// NewOrder is an order as it is stored.
func NewOrder(o *market.LargeOrder) Order {
	s := Order{
		Bid: o.Side == market.Buy, Px: o.Px, Contract: o.Contract, Inverse: o.Inverse, Start: o.Start, Changed: o.Changed, End: o.End, Missed: o.Missed,
		First: o.First, Last: o.Last, Highest: o.Highest, Gone: o.Gone, Met: o.Met, Trades: o.Trades, Largest: o.LargestTrade, From: o.FirstTrade, To: o.LastTrade,
	}
	if o.NearKnown {
		s.Near = &o.Near
	}
	return s
}

var errOrder = errors.New("a stored large order has no price or no size")

// Of is the order of a pair.
func (s *Order) Of(pair string) (market.LargeOrder, error) {
	o := market.LargeOrder{
		Pair: pair, Side: market.Sell, Px: s.Px, Contract: s.Contract, Inverse: s.Inverse, Start: s.Start, Changed: s.Changed, End: s.End, Missed: s.Missed,
		First: s.First, Last: s.Last, Highest: s.Highest, Gone: s.Gone, Met: s.Met, Trades: s.Trades, LargestTrade: s.Largest, FirstTrade: s.From, LastTrade: s.To,
	}
	if s.Bid {
		o.Side = market.Buy
	}
	if s.Near != nil {
		o.Near, o.NearKnown = *s.Near, true
	}
	if !o.Px.IsPos() || !o.Highest.IsPos() || o.Contract.IsNeg() {
		return o, errOrder
	}
	return o, nil
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 5 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Pairs, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
}}

func (v View) find(pair string) (Pair, bool) {
	return dataset.Find(v.Pairs, pair, func(p *Pair) string { return p.Key })
}

// Follows reports whether the book of a pair is followed.
func (v View) Follows(pair string) bool {
	_, followed := v.find(pair)
	return followed
}

// Running are the orders that rest of a pair now.
func (v View) Running(pair string) (list []market.LargeOrder, err error) {
	p, _ := v.find(pair)
	for i := range p.Orders {
		o, err := p.Orders[i].Of(pair)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

var log = dataset.Log[market.LargeOrder]{Name: Name, Row: row, Decode: Decode}

func row(o *market.LargeOrder) store.Row {
	return store.Row{Subject: o.Pair, Time: time.UnixMilli(o.Start), ID: o.ID(), Body: dataset.JSON(NewOrder(o))}
}

// Decode reads a row.
func Decode(r store.Row) (o market.LargeOrder, err error) {
	s, err := dataset.FromJSON[Order](r.Body)
	if err != nil {
		return o, err
	}
	return s.Of(r.Subject)
}

// AppendRows appends the row of each order that is over to rows.
func AppendRows(rows []store.Row, list []market.LargeOrder) []store.Row {
	return log.AppendRows(rows, list)
}

// Newest are the orders of a pair that were first seen in a time, both ends inclusive and open
// where they are zero, newest first: those that rest, and those that are over, each once. An error
// ends the sequence.
func Newest(ctx context.Context, l *store.Log, v View, pair string, from, to time.Time, limit int) iter.Seq2[market.LargeOrder, error] {
	return func(yield func(market.LargeOrder, error) bool) {
		running, err := v.Running(pair)
		if err != nil {
			yield(market.LargeOrder{}, err)
			return
		}
		running = slices.DeleteFunc(running, func(o market.LargeOrder) bool {
			return !from.IsZero() && o.Start < from.UnixMilli() || !to.IsZero() && o.Start > to.UnixMilli()
		})
		slices.SortFunc(running, newestFirst)
		for over, err := range log.Read(ctx, l, dataset.Query{Subject: pair, From: from, To: to, Newest: true, Expect: limit}) {
			if err != nil {
				yield(over, err)
				return
			}
			for len(running) > 0 && newestFirst(running[0], over) <= 0 {
				if running[0].ID() != over.ID() && !yield(running[0], nil) { // else the view is older than the row
					return
				}
				running = running[1:]
			}
			if !yield(over, nil) {
				return
			}
		}
		for _, o := range running {
			if !yield(o, nil) {
				return
			}
		}
	}
}

// newestFirst is the order of rows that are read backwards: by time, then by name.
func newestFirst(a, b market.LargeOrder) int {
	return cmp.Or(cmp.Compare(b.Start, a.Start), strings.Compare(b.ID(), a.ID()))
}
