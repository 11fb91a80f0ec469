// The mix function answers for the whole market of exchanges: how many accounts are long, and
// what was liquidated, and for major pairs, indexes and trusts, from what the ingester keeps. It also tells a key its plan.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Mix, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(o.Series(), views, o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.LongShortRatio, r.longShort)
	api.Handle(f, catalog.LiquidationSums, r.liquidations)
	api.Handle(f, catalog.StockMarket, r.stockMarket)
	api.Handle(f, catalog.Navigation, r.navigation)
	api.Handle(f, catalog.TrustProducts, r.trusts)
	api.Handle(f, catalog.TrustHoldings, r.trustHoldings)
	api.Handle(f, catalog.KeyPlanNow, keyPlan)
}
