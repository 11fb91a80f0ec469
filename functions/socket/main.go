// The socket function serves the routes of the four WebSocket feeds: $connect,
// $disconnect and $default. It keeps who is connected and what they follow in
// the connections table, which the ingester follows to push the data.
//
// $default is a two-way route: what the function returns goes to the client. That
// is the answer to a heartbeat; other replies go into the table, too, from where
// the ingester sends them in their order, each before the data that it announces.
// A mistake is answered with an error object, and its connection lives on.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/data/listed"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
	"quotary/shared/service"
	"quotary/shared/store/schema"
)

func main() {
	service.Run(catalog.FunctionSocket, func(_ context.Context, s *service.Service) error {
		views, err := s.Views()
		if err != nil {
			return err
		}
		db := s.DynamoDB()
		store := connections.New(db, s.Table(schema.ConnectionsTable), s.Clock)
		h := &socket{
			store:      store,
			meter:      connections.NewMeter(store, budget),
			spending:   &connections.Spending{Key: keySpending, Distributor: distributorSpending, Store: store},
			keys:       keys.New(db, s.Table(schema.KeysTable), nil, s.Clock),
			coins:      listed.Open(views, s.Clock),
			delivered:  delivered.Open(views, s.Clock),
			management: newManagement(db.Options()),
			log:        s.Logger,
			metrics:    s.Metrics,
			clock:      s.Clock,
			readUnits:  catalog.MostReadUnits,

			switchWithin: 400 * time.Millisecond,
		}
		lambda.Start(h.Invoke)
		return nil
	})
}
