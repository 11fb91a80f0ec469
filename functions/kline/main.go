// The kline function answers for K-lines of pairs of centralised exchanges, from the
// series that the ingester keeps.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Kline, func(o *service.Opened) error {
		(&reader{series: o.Series()}).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.CommonKlines, r.common)
}
