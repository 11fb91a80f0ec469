// The futures function answers for perpetuals of centralised exchanges: their funding, open
// interest and liquidations over time, from what the ingester keeps.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/followrequests"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Futures, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(o.Log(), o.Series(), views, followrequests.Pairs.Open(o.Documents), o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.FundingRates, r.funding)
	api.Handle(f, catalog.CoinFundingRates, r.coinFunding)
	api.Handle(f, catalog.StablecoinInterest, r.stablecoinInterest)
	api.Handle(f, catalog.CoinMarginInterest, r.coinMarginInterest)
	api.Handle(f, catalog.PairLiquidations, r.liquidations)
	api.Handle(f, catalog.LiquidationMapNow, r.liquidationMap)
	api.Handle(f, catalog.EstimatedLiquidations, r.estimatedLiquidations)
	api.Handle(f, catalog.FuturesInterest, r.interest)
	api.Handle(f, catalog.LatestTrades, r.latestTrades)
	api.Handle(f, catalog.HistoricalDepth, r.historicalDepth)
	api.Handle(f, catalog.LatestDepth, r.latestDepth)
	api.Handle(f, catalog.FullDepth, r.fullDepth)
	api.Handle(f, catalog.GroupedDepth, r.groupedDepth)
	api.Handle(f, catalog.SuperDepths, r.superDepths)
}
