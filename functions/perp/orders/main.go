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
		b := &book{log: o.Rows(o.DB)}
		b.register(o.Family)
		return nil
	}))
}

func (b *book) register(family *api.Family) {
	api.Handle(family, catalog.OrdersByAddress, b.byAddress)
	api.Handle(family, catalog.OrderByOid, b.byOid)
	api.Handle(family, catalog.FilledOrdersByAddress, b.filledByAddress)
	api.Handle(family, catalog.FilledOrderByOid, b.filledByOid)
}
