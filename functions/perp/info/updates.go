package main

import (
	"context"
	"encoding/json"
	"strings"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/payments"
)

// maxUpdates is how many updates one answer holds, as at the venue.
const maxUpdates = 500

// noHash is what the venue gives as the hash of what no transaction has made.
var noHash = "0x" + strings.Repeat("0", 64)

// userFunding is what an account paid and received for funding between two times, both
// inclusive, oldest first. Of more than fit into an answer it has the oldest, hour by hour: an
// hour is never cut, so that a caller continues behind the last time.
func (i *info) userFunding(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	list := []catalog.InfoUpdate{}
	for hour, err := range payments.Window(ctx, i.log, string(*in.User), in.StartTime.Time(), in.EndTime.Time()) {
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && len(list)+len(hour) > maxUpdates {
			break
		}
		for n := range hour {
			p := &hour[n]
			delta, err := json.Marshal(catalog.FundingDelta{Type: "funding", Coin: p.Coin, USDC: p.USDC, Szi: p.Szi, FundingRate: p.Rate})
			if err != nil {
				return nil, err
			}
			list = append(list, catalog.InfoUpdate{Time: p.Time, Hash: noHash, Delta: delta})
		}
	}
	return api.Encode(list)
}

// ledgerUpdates is what else moved the funds of an account between two times, both inclusive,
// oldest first; of more than fit into an answer the oldest.
func (i *info) ledgerUpdates(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	list := []catalog.InfoUpdate{}
	for l, err := range ledgers.Window(ctx, i.log, string(*in.User), in.StartTime.Time(), in.EndTime.Time(), maxUpdates) {
		if err != nil {
			return nil, err
		}
		list = append(list, catalog.InfoUpdate{Time: l.Time, Hash: l.Hash, Delta: l.Delta})
	}
	return api.Encode(list)
}
