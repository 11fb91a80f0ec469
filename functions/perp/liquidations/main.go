// The perp-liquidations function answers for what was liquidated on the perpetual venue: sums and
// rankings from the series of liquidations that the ingester keeps; and for what would be: from the
// view of all open positions, and as an estimate from K-lines and open interest.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
	"quotary/shared/service/markedpositions"
)

func main() {
	lambda.Start(service.Family(catalog.PerpLiquidations, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		(&reader{series: o.Series(), positions: markedpositions.New(views, o.Clock)}).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.LiquidationStat, r.stat)
	api.Handle(f, catalog.LiquidationStatByCoin, r.statByCoin)
	api.Handle(f, catalog.LiquidationHistory, r.history)
	api.Handle(f, catalog.TopLiquidations, r.top)
	api.Handle(f, catalog.MarketHeatmap, r.marketHeatmap)
	api.Handle(f, catalog.EstimatedHeatmap, r.estimatedHeatmap)
}
