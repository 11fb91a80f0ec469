// The coin function answers for coins: what they are called and what they cost, from
// the views that the ingester keeps.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Coins, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(views, o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.CoinList, r.list)
	api.Handle(f, catalog.CoinTickers, r.tickers)
	api.Handle(f, catalog.CoinSearch, r.search)
	api.Handle(f, catalog.CoinSearchOld, r.search)
	api.Handle(f, catalog.CoinConfigs, r.configs)
}
