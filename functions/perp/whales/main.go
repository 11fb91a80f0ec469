// The perp-whales function answers for whales, the accounts of the perpetual venue with positions
// above 1,000,000 USD: what they hold, from the view of all open positions, valued at the current
// marks; and what they did, from the view of their last events and the series of their sides.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/whales"
	"quotary/shared/service"
	"quotary/shared/service/markedpositions"
	"quotary/shared/store"
)

func main() {
	lambda.Start(service.Family(catalog.PerpWhales, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		r := &reader{series: o.Series(), positions: markedpositions.New(views, o.Clock), events: whales.EventsOnly.Open(views, o.Clock)}
		r.register(o.Family)
		return nil
	}))
}

type reader struct {
	series    *store.Series
	positions *markedpositions.Positions
	events    *store.View[whales.Newest]
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.WhalePositions, r.openPositions)
	api.Handle(f, catalog.WhaleEvents, r.latestEvents)
	api.Handle(f, catalog.WhaleDirections, r.directions)
	api.Handle(f, catalog.WhaleLongRatios, r.longRatios)
}
