// Package whales is what whales, accounts with perpetual positions above [market.WhaleValue], do: a
// view of what became of their positions last, and a series of samples of which side they are on.
package whales

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// The names of the view of events and of the series of samples.
const (
	EventsName = "whaleevents"
	SidesName  = "whalesides"
)

// MostEvents is how many events the view has of each coin.
const MostEvents = 100

// Event is what became of a position of a whale within one block. What is not known is nil.
type Event struct {
	Time     int64                 `json:"time"` // of the block, ms
	User     string                `json:"user"`
	Coin     string                `json:"coin"`
	Action   market.PositionAction `json:"action"`
	Isolated *bool                 `json:"isolated"`
	Size     market.Decimal        `json:"size"`    // after it, of what was closed before it; base units, negative is short
	EntryPx  *market.Decimal       `json:"entryPx"` // quote units
	LiqPx    *market.Decimal       `json:"liqPx"`   // nil for none too
	Value    market.Decimal        `json:"value"`   // of Size at the mark, USD

	Arrival market.Arrival `json:"arrival,omitempty"` // its place among what was published; 0 where it was not
}

// Compare orders events by time, and those of one time by user and coin.
func (e *Event) Compare(o *Event) int {
	switch {
	case e.Time != o.Time:
		return int(max(-1, min(1, e.Time-o.Time)))
	case e.User != o.User:
		return strings.Compare(e.User, o.User)
	}
	return strings.Compare(e.Coin, o.Coin)
}

// Newest are the newest events of each coin, [MostEvents] at most. The zero value has none. What Of
// has returned stays as it is, whatever is kept later.
type Newest struct {
	of map[string][]Event // by coin, oldest first
}

// Keep keeps an event, and reports whether it is among the newest of its coin and was not there.
func (n *Newest) Keep(e Event) bool {
	list := n.of[e.Coin]
	at, known := slices.BinarySearchFunc(list, &e, func(x Event, y *Event) int { return x.Compare(y) })
	if known || at == 0 && len(list) == MostEvents {
		return false
	}
	if n.of == nil {
		n.of = map[string][]Event{}
	}
	if at < len(list) {
		list = slices.Clone(list) // what was returned before is never written to
	}
	list = slices.Insert(list, at, e)
	n.of[e.Coin] = list[max(0, len(list)-MostEvents):]
	return true
}

// Has reports whether an event is kept, or older than all that are kept of its coin.
func (n *Newest) Has(e *Event) bool {
	list := n.of[e.Coin]
	at, known := slices.BinarySearchFunc(list, e, func(x Event, y *Event) int { return x.Compare(y) })
	return known || at == 0 && len(list) == MostEvents
}

// Coins are those with events, in the order of their names.
func (n *Newest) Coins() []string { return slices.Sorted(maps.Keys(n.of)) }

// Of are the events of a coin, oldest first. Callers must not change them.
func (n *Newest) Of(coin string) []Event { return n.of[coin] }

// All are the events of all coins, oldest first.
func (n *Newest) All() []Event {
	all := []Event{}
	for _, list := range n.of {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(x, y Event) int { return x.Compare(&y) })
	return all
}

// Latest are the newest events of a coin, "" for all, newest first, so many at most.
func (n *Newest) Latest(coin string, most int) []Event {
	if coin == "" {
		return n.latest(most)
	}
	list := n.of[coin]
	list = slices.Clone(list[max(0, len(list)-most):])
	slices.Reverse(list)
	return list
}

// latest are the newest events of all coins, newest first. Of the tens of thousands that are kept it
// looks at the newest of each coin alone, for each that it takes.
func (n *Newest) latest(most int) (latest []Event) {
	lists := slices.Collect(maps.Values(n.of))
	for len(latest) < most {
		newest := -1
		for i, list := range lists {
			if len(list) > 0 && (newest < 0 || list[len(list)-1].Compare(&lists[newest][len(lists[newest])-1]) > 0) {
				newest = i
			}
		}
		if newest < 0 {
			break
		}
		last := len(lists[newest]) - 1
		latest = append(latest, lists[newest][last])
		lists[newest] = lists[newest][:last]
	}
	return latest
}

// Clone is a copy that shares nothing that changes with n.
func (n *Newest) Clone() (c Newest) {
	for _, list := range n.of {
		for _, e := range list {
			c.Keep(e)
		}
	}
	return c
}

// Events are the newest as they are published.
type Events struct {
	Time   int64   `json:"time"`   // when they were published, ms
	Events []Event `json:"events"` // oldest first
}

// Newest are the events by coin.
func (v *Events) Newest() (n Newest) {
	for _, e := range v.Events {
		n.Keep(e)
	}
	return n
}

// PublishedEvents is how the view is stored.
var PublishedEvents = store.ViewType[Events]{Name: EventsName, Period: 5 * time.Second}

// EventsOnly is the same view, read as the newest events by coin.
var EventsOnly = store.ViewType[Newest]{Name: EventsName, Period: PublishedEvents.Period, Read: func(body []byte) (Newest, error) {
	v, err := PublishedEvents.Decode(body)
	return v.Newest(), err
}}

// Intervals are those in which samples are taken, the finest first.
var Intervals = []market.Interval{market.Minute10, market.Hour1, market.Hour4, market.Day1}

// Sides is a sample of the positions of whales in all coins.
type Sides struct {
	Time       int64          `json:"time"` // ms
	Longs      int64          `json:"longs"`
	Shorts     int64          `json:"shorts"`
	LongValue  market.Decimal `json:"longValue"`  // USD
	ShortValue market.Decimal `json:"shortValue"` // USD
}

// NewSides is the sample of a time, ms.
func NewSides(ms int64, s market.WhaleSides) Sides {
	return Sides{ms, s.Longs, s.Shorts, s.LongValue.Decimal(), s.ShortValue.Decimal()}
}

var sides = dataset.Series[Sides]{Name: SidesName, Append: dataset.AppendJSON[Sides], Decode: dataset.FromJSON[Sides]}

// everywhere is the key of the samples of all coins.
const everywhere = "all"

// Row is the row of the bucket that opens at start, ms, in one of [Intervals].
func Row(i market.Interval, start int64, s *Sides) store.SeriesRow {
	return sides.Row(everywhere, i, start, s, 128)
}

// Samples returns the newest samples in one of [Intervals], oldest first, so many at most.
func Samples(ctx context.Context, s *store.Series, i market.Interval, most int) ([]Sides, error) {
	return dataset.Values(sides.Read(ctx, s, everywhere, i, dataset.Range{Limit: most, Newest: true}))
}
