// The perp-orders function answers for orders of the perpetual venue: by account and by
// order id, from the log of the statuses that they came to; and for all that rest in the
// books, from the views of them.
//
// What rests follows from the statuses and fills of all accounts, which only a node's
// files hold. Where the ingester follows none, nothing is known, and the answer is 503.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.PerpOrders, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(o.Log(), o.Series(), views, o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(family *api.Family) {
	api.Handle(family, catalog.OrdersByAddress, r.byAddress)
	api.Handle(family, catalog.OrderByOid, r.byOid)
	api.Handle(family, catalog.FilledOrdersByAddress, r.filledByAddress)
	api.Handle(family, catalog.FilledOrderByOid, r.filledByOid)
	api.Handle(family, catalog.TopOpenOrders, r.topOpen)
	api.Handle(family, catalog.ActiveOrders, r.active)
}
