// The signal function keeps the alerts of sub-keys, which the ingester evaluates, and lists what
// of them went off, what the strategies said, and sudden changes.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/alerts"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Signal, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		newKeeper(o.Log(), views, alerts.Open(o.Documents), o.Clock).register(o.Family)
		return nil
	}))
}

func (k *keeper) register(f *api.Family) {
	api.Handle(f, catalog.FiredAlerts, k.fired)
	api.Handle(f, catalog.AlertChoices, choices)
	api.Handle(f, catalog.AddAlert, k.add)
	api.Handle(f, catalog.RemoveAlert, k.remove)
	api.Handle(f, catalog.SetAlerts, k.list)
	api.Handle(f, catalog.StrategySignals, k.strategies)
	api.Handle(f, catalog.ChangeSignals, k.changes)
}
