// The stock function answers for shares of listed companies, from the days and the filings that
// the ingester keeps.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Stock, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(o.Series(), views, o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.StockQuotes, r.quotes)
	api.Handle(f, catalog.StockCompany, r.company)
	api.Handle(f, catalog.StockGainers, r.gainers)
	api.Handle(f, catalog.StockGainersPost, r.gainersPost)
}
