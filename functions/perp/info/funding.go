package main

import (
	"context"
	"encoding/json"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/funding"
)

// maxFunding is how many hours one answer of fundingHistory holds, as at the
// venue.
const maxFunding = 500

// fundingHistory is the hourly funding of a coin between two times, both
// inclusive, oldest first; of more than fit into an answer the oldest, so that a
// caller continues from the last time. The newest hour may be the rate that the
// coin's figures showed before it, until the venue has reported what it paid.
func (i *info) fundingHistory(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	to := api.Now(ctx).UnixMilli()
	if in.EndTime != nil {
		to = int64(*in.EndTime)
	}
	hours, err := funding.Window(ctx, i.series, string(*in.Coin), int64(*in.StartTime), to, maxFunding)
	if err != nil {
		return nil, err
	}
	list := make([]catalog.FundingRate, len(hours))
	for n, h := range hours {
		list[n] = catalog.FundingRate{Coin: h.Coin, FundingRate: h.Rate, Premium: h.Premium, Time: h.Time}
	}
	return api.Encode(list)
}
