// The distributor function serves the management endpoints: registration, the
// distributor's figures, its levels and its sub-keys.
//
// A handler translates between the wire types of the catalog and the key store,
// which holds all rules; usage adds what was requested this month. Management
// requests are never charged.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Distributor, func(o *service.Opened) error {
		m := &management{keys: o.KeyStore, usage: o.Counters(o.DB)}
		m.serve(o.Family)
		return nil
	}))
}
