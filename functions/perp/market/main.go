// The perp-market function answers for prices, volumes, books and open interest
// of the perpetual venue's markets: from the views of tickers and open interest
// and the series of klines and samples that the ingester keeps.
//
// Open interest is summed over the accounts whose fills are known. Only a node's
// files hold the fills of all; where the ingester follows none, there is nothing
// to sum, and the answer is 503.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.PerpMarket, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newMarkets(o.Series(), views, o.Clock).register(o.Family)
		return nil
	}))
}

func (m *markets) register(f *api.Family) {
	api.Handle(f, catalog.Tickers, m.all)
	api.Handle(f, catalog.TickerCoin, m.one)
	api.Handle(f, catalog.TakerKlines, m.klines)
	api.Handle(f, catalog.TakerDelta, m.takerDelta)
	api.Handle(f, catalog.BookSummaries, m.bookSummaries)
	api.Handle(f, catalog.OpenInterestSummary, m.openSummary)
	api.Handle(f, catalog.OpenInterestTopCoins, m.openTopCoins)
	api.Handle(f, catalog.OpenInterestHistory, m.openHistory)
}
