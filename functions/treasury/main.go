// The treasury function answers for what companies and others hold of coins, from the views that
// the ingester keeps.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Treasury, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(o.Series(), views, o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.TreasuryEntities, r.entities)
	api.Handle(f, catalog.TreasuryHistory, r.history)
	api.Handle(f, catalog.TreasuryAccumulated, r.accumulated)
	api.Handle(f, catalog.TreasuryLatestEntities, r.latestEntities)
	api.Handle(f, catalog.TreasuryLatestHistory, r.latestHistory)
	api.Handle(f, catalog.TreasurySummary, r.summary)
}
