// The perp-twaps function answers for TWAP orders of the perpetual venue: the statuses that
// those of an account came to, from their log; and what all that run will trade, from the
// view of them, valued at the mark prices that the venue publishes.
//
// Only a node's files hold the TWAP orders of all accounts. Where the ingester follows none,
// nothing is known, and the answer is 503.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.PerpTwaps, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newTwaps(o.Log(), views, o.Clock).register(o.Family)
		return nil
	}))
}

func (t *twapOrders) register(f *api.Family) {
	api.Handle(f, catalog.TwapStates, t.states)
	api.Handle(f, catalog.TwapExecutionWall, t.wall)
	api.Handle(f, catalog.TwapTopImpact, t.topImpact)
}
