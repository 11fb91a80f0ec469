// The kline function answers for K-lines of pairs of exchanges, from the series that the
// ingester keeps, and asks it for those that it does not follow.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/followrequests"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Kline, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(o.Series(), views, followrequests.Pairs.Open(o.Documents), o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.CommonKlines, r.common)
	api.Handle(f, catalog.IndicatorPairs, r.indicatorPairs)
	api.Handle(f, catalog.IndicatorKlineRows, r.indicator)
}
