// The tradingpair function answers for pairs of exchanges: what trades there, and what it
// costs, from the views that the ingester keeps.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.TradingPair, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(o.Series(), views, o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.PairTickers, r.prices)
	api.Handle(f, catalog.PlatformPairs, r.platform)
	api.Handle(f, catalog.SelectedPairs, r.selected)
}
