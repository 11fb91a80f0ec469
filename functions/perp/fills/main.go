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
		f := &fills{log: o.Rows(o.DB), series: o.Series(o.DB)}
		f.register(o.Family)
		return nil
	}))
}

func (f *fills) register(family *api.Family) {
	api.Handle(family, catalog.FillsByAddress, f.byAddress)
	api.Handle(family, catalog.FillsByOid, f.byOid)
	api.Handle(family, catalog.FillsByTwap, f.byTwap)
	api.Handle(family, catalog.FillsByBuilder, f.byBuilder)
	api.Handle(family, catalog.TopTrades, f.topTrades)
}
