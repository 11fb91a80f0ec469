package main

import (
	"context"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store/retention"
)

// netFlow sums up what ledger updates moved into the two parts of an account in a window.
func (r *reader) netFlow(ctx context.Context, in catalog.NetFlowIn) (flows catalog.NetFlows, err error) {
	from, now := accountlookup.Days(api.Now(ctx), int64(in.Days))
	if err := r.knownSince(ctx, in.Address, from); err != nil {
		return flows, err
	}
	stats, err := r.statsOf(ctx, string(in.Address))
	if err != nil {
		return flows, err
	}
	if stats.Began > from {
		retention.Reached(ctx, time.UnixMilli(stats.Began).UTC())
	}
	sum := stats.NetFlow(from, now)
	return catalog.NetFlows{NetPerpIn: market.Text(sum.Perp), NetSpotIn: market.Text(sum.Spot)}, nil
}

// batchNetFlow does so for many accounts, one row an address in their order.
func (r *reader) batchNetFlow(ctx context.Context, in catalog.BatchNetFlowIn) ([]catalog.NetFlowRow, error) {
	from, now := accountlookup.Days(api.Now(ctx), int64(in.Days))
	in.Addresses = accountlookup.Distinct(in.Addresses)
	rows := make([]catalog.NetFlowRow, 0, len(in.Addresses))
	var unknown []string
	for stats, err := range accountstats.Read(ctx, r.series, accountlookup.Texts(in.Addresses)) {
		if err != nil {
			return nil, err
		}
		row := catalog.NetFlowRow{Address: string(in.Addresses[len(rows)])}
		switch {
		case stats == nil:
			unknown = append(unknown, row.Address)
		case in.Days == 0:
			row.NetPerpIn, row.NetSpotIn = flowTexts(stats.Flows)
		default:
			row.NetPerpIn, row.NetSpotIn = flowTexts(stats.NetFlow(from, now))
		}
		if stats != nil {
			row.Since = accountlookup.Later(stats.Began, from)
		}
		rows = append(rows, row)
	}
	r.accounts.WantAll(ctx, unknown)
	return rows, nil
}

func flowTexts(sum market.FlowSum) (perp, spot *string) {
	return new(market.Text(sum.Perp)), new(market.Text(sum.Spot))
}
