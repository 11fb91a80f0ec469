// The perp-info function answers the venue's own kind of question, POST /info,
// from what the ingester keeps: the logs of fills and orders, the series of
// klines and funding, the rows of accounts (see package accountlookup) and the views of mid
// prices, books, figures and market descriptions. What the venue alone knows it asks the venue (see
// package venuerelay).
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/followrequests"
	"quotary/shared/service"
	"quotary/shared/service/venuerelay"
)

func main() {
	lambda.Start(service.Family(catalog.PerpInfo, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		relay, err := venuerelay.Open(o)
		if err != nil {
			return err
		}
		i := newInfo(o.Log(), o.Series(), followrequests.Accounts.Open(o.Documents), views, relay, o.Clock)
		i.accounts.Metrics = o.Family.Metrics
		i.register(o.Family)
		return nil
	}))
}

func (i *info) register(f *api.Family) {
	api.Handle(f, catalog.Info, i.answer)
	api.Handle(f, catalog.VenueInfo, i.asTheVenue)
}
