// Package whales is what whales, accounts with perpetual positions above [market.WhaleValue], do: a
// view of what became of their positions last, and a series of samples of which side they are on.
package whales

import (
	"context"
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

// Events are the newest of each coin, oldest first.
type Events struct {
	Time   int64   `json:"time"` // when they were published, ms
	Newest []Event `json:"events"`
}

// Latest are the newest events of a coin, "" for all, newest first, so many at most.
func (e *Events) Latest(coin string, most int) (list []Event) {
	for _, one := range slices.Backward(e.Newest) {
		if len(list) == most {
			break
		}
		if coin == "" || one.Coin == coin {
			list = append(list, one)
		}
	}
	return list
}

// PublishedEvents is how the view is stored.
var PublishedEvents = store.ViewType[Events]{Name: EventsName, Period: 5 * time.Second}

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

// Newest returns the newest samples in one of [Intervals], oldest first, so many at most.
func Newest(ctx context.Context, s *store.Series, i market.Interval, most int) ([]Sides, error) {
	return dataset.Values(sides.Read(ctx, s, everywhere, i, dataset.Range{Limit: most, Newest: true}))
}
