// The perp-traders function answers for what accounts of the perpetual venue do and
// have done: so far for what moved in and out of them, from the log of ledger updates.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.PerpTraders, func(o *service.Opened) error {
		r := &reader{log: o.Log()}
		r.register(o.Family)
		return nil
	}))
}

func (r *reader) register(family *api.Family) {
	api.Handle(family, catalog.DepositsWithdrawals, r.depositsWithdrawals)
}
