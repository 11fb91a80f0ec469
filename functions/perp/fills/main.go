// The perp-fills function answers for fills of the perpetual venue: by account,
// order, TWAP and builder from the log of fills, and the largest of a coin from
// the series of top fills that the ingester keeps.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.PerpFills, func(o *service.Opened) error {
		r := &reader{log: o.Log(), series: o.Series()}
		r.register(o.Family)
		return nil
	}))
}

func (r *reader) register(family *api.Family) {
	api.Handle(family, catalog.FillsByAddress, r.byAddress)
	api.Handle(family, catalog.FillsByOid, r.byOid)
	api.Handle(family, catalog.FillsByTwap, r.byTwap)
	api.Handle(family, catalog.FillsByBuilder, r.byBuilder)
	api.Handle(family, catalog.TopTrades, r.topTrades)
}
