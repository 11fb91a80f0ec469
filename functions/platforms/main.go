// The platforms function answers for the exchanges that data are of, from the views that
// the ingester keeps.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Platforms, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newReader(o.Series(), views, o.Clock).register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.PlatformList, r.list)
	api.Handle(f, catalog.PlatformTickers, r.inflow)
	api.Handle(f, catalog.ThemeCoins, r.themeCoins)
}
