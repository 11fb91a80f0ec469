// Package funding is the series of what perpetuals paid hour by hour: by coin, one
// row an hour.
package funding

import (
	"context"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series.
const Name = "funding"

// interval is the only one in which funding is stored.
const interval = market.Hour1

// Hour is what a coin paid in one hour.
type Hour struct {
	market.Funding
	Provisional bool // until the venue has reported what was paid
}

// stored is an Hour as it is stored.
type stored struct {
	Coin        string `json:"coin"`
	Rate        string `json:"fundingRate"`
	Premium     string `json:"premium"`
	Time        int64  `json:"time"`
	Provisional bool   `json:"provisional,omitempty"`
}

var series = dataset.Series[Hour]{
	Name: Name,
	Append: func(b []byte, h *Hour) []byte {
		return dataset.AppendJSON(b, &stored{h.Coin, h.Rate, h.Premium, h.Time, h.Provisional})
	},
	Decode: func(body []byte) (Hour, error) {
		s, err := dataset.FromJSON[stored](body)
		if err != nil {
			return Hour{}, err
		}
		h := Hour{market.Funding{Coin: s.Coin, Rate: s.Rate, Premium: s.Premium, Time: s.Time}, s.Provisional}
		return h, h.Check()
	},
}

// Row is the row of the hour that h.Time falls in.
func Row(h *Hour) store.SeriesRow {
	return series.Row(h.Coin, interval, interval.StartMs(h.Time), h, 128)
}

// At is the key of the row of a coin in the hour that opens at start, ms.
func At(coin string, start int64) store.SeriesAt { return series.At(coin, interval, start) }

// Decode reads the body of a row.
func Decode(body []byte) (Hour, error) { return series.Decode(body) }

// Window returns what a coin paid between two times, ms and both inclusive,
// oldest first; of more than limit hours the oldest.
func Window(ctx context.Context, s *store.Series, coin string, from, to int64, limit int) ([]Hour, error) {
	// The row of an hour opens with it; what was paid, a moment later. One row
	// more is read, as the first may have been paid before from.
	r := dataset.Range{From: interval.Start(time.UnixMilli(from)), To: time.UnixMilli(to + 1), Limit: limit + 1}
	all, err := dataset.Values(series.Read(ctx, s, coin, interval, r))
	if err != nil {
		return nil, err
	}
	hours := make([]Hour, 0, len(all))
	for _, h := range all {
		if h.Time >= from && h.Time <= to && len(hours) < limit {
			hours = append(hours, h)
		}
	}
	return hours, nil
}

// Newest returns what a coin paid in the hours that begin in a time, from inclusive, to
// exclusive and both open when zero, oldest first; of more than limit hours the newest.
func Newest(ctx context.Context, s *store.Series, coin string, from, to time.Time, limit int) ([]Hour, error) {
	return dataset.Values(series.Read(ctx, s, coin, interval, dataset.Range{From: from, To: to, Limit: limit, Newest: true}))
}

// recent is how many hours are looked at for one that is final; more are
// provisional only after an outage of the venue's info endpoint.
const recent = 24

// NewestFinal is when the newest stored funding of a coin was paid that the venue
// itself has reported; zero without any.
func NewestFinal(ctx context.Context, s *store.Series, coin string) (time.Time, error) {
	hours, err := Newest(ctx, s, coin, time.Time{}, time.Time{}, recent)
	if err != nil {
		return time.Time{}, err
	}
	for i := len(hours) - 1; i >= 0; i-- {
		if !hours[i].Provisional {
			return time.UnixMilli(hours[i].Time).UTC(), nil
		}
	}
	return time.Time{}, nil
}
