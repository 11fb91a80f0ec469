// The index function answers for indexes: what they are called and what they stand at, from the
// views that the ingester keeps; and for exchange rates.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Index, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(views, o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.IndexList, r.list)
	api.Handle(f, catalog.IndexPrice, r.price)
	api.Handle(f, catalog.IndexInfo, r.info)
}
