package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// recentFunding is how many hours are looked at for one that is final; more are
// provisional only after an outage of the venue's info endpoint.
const recentFunding = 24

// NewestFunding is when the newest stored funding of a coin was paid that the
// venue itself has told; zero without any.
func (s Stores) NewestFunding(ctx context.Context, coin string) (time.Time, error) {
	key := store.SeriesKey{Name: store.FundingSeries, Key: coin, Interval: market.Hour1.String()}
	points, err := s.Series.Range(ctx, key, time.Time{}, time.Time{}, recentFunding, true)
	if err != nil {
		return time.Time{}, err
	}
	for i := len(points) - 1; i >= 0; i-- {
		var row struct {
			Time        int64 `json:"time"`
			Provisional bool  `json:"provisional"`
		}
		if err := json.Unmarshal(points[i].Body, &row); err != nil {
			return time.Time{}, fmt.Errorf("funding of %s at %s: %w", coin, points[i].Time.Format(time.RFC3339), err)
		}
		if !row.Provisional {
			return time.UnixMilli(row.Time).UTC(), nil
		}
	}
	return time.Time{}, nil
}
