// The perp-orders function answers for orders of the perpetual venue, by account
// and by order id, from the log of the statuses that they came to.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.PerpOrders, func(o *service.Opened) error {
		r := &reader{log: o.Log()}
		r.register(o.Family)
		return nil
	}))
}

func (r *reader) register(family *api.Family) {
	api.Handle(family, catalog.OrdersByAddress, r.byAddress)
	api.Handle(family, catalog.OrderByOid, r.byOid)
	api.Handle(family, catalog.FilledOrdersByAddress, r.filledByAddress)
	api.Handle(family, catalog.FilledOrderByOid, r.filledByOid)
}
