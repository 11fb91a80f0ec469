package liquidations

import (
	"context"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// MostTop is how many events a row of the largest has, and [Top] returns, at most.
const MostTop = 100

// TopTiers are the intervals in which the largest events are stored, finest first.
var TopTiers = [...]market.Interval{market.Hour1, market.Day1}

var top = dataset.Series[[]market.LiquidationEvent]{Name: "topliquidations", Append: appendEvents, Decode: decodeEvents}

// TopAt is the key of the row of a tier that holds a time, ms.
func TopAt(coin string, tier market.Interval, ms int64) store.SeriesAt {
	return top.At(coin, tier, tier.StartMs(ms))
}

// TopRow is the row of the largest events of a bucket.
func TopRow(at store.SeriesAt, list market.TopLiquidations) store.SeriesRow {
	events := []market.LiquidationEvent(list)
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: top.Append(nil, &events)}}
}

// DecodeTop reads the body of a row of the largest events.
func DecodeTop(body []byte) (market.TopLiquidations, error) { return top.Decode(body) }

// Top returns the largest events of a coin from a time on, at most limit of them, the largest
// first: those of full days and hours are read ranked, those before them one by one.
func Top(ctx context.Context, series *store.Series, coin string, from time.Time, limit int) (market.TopLiquidations, error) {
	hour := market.Hour1.Next(from.Add(-time.Millisecond))
	day := market.Day1.Next(hour.Add(-time.Millisecond))
	list, err := between(ctx, series, from, hour)
	if err != nil {
		return nil, err
	}
	for _, part := range [...]struct {
		tier     market.Interval
		from, to time.Time
	}{{TopTiers[0], hour, day}, {TopTiers[1], day, time.Time{}}} {
		if part.from.Equal(part.to) {
			continue
		}
		rows, err := dataset.Values(top.Read(ctx, series, coin, part.tier, dataset.Range{From: part.from, To: part.to}))
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			list = append(list, row...)
		}
	}
	var ranked market.TopLiquidations
	for i := range list {
		if list[i].Coin == coin {
			ranked.Put(&list[i], limit)
		}
	}
	return ranked, nil
}
