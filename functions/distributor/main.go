// The distributor function serves the management endpoints: registration, the
// distributor's figures, its levels and its sub-keys.
//
// A handler translates between the wire types of the catalog and the key store,
// which holds all rules; usage adds what was requested this month. Management
// requests are never charged.
package main

import (
	"context"

	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(string(catalog.Distributor), func(ctx context.Context, s *service.Service) error {
		db, err := s.DynamoDB(ctx)
		if err != nil {
			return err
		}
		family, keyStore, err := s.Family(ctx, db)
		if err != nil {
			return err
		}
		m := &management{keys: keyStore, usage: s.Counters(db)}
		m.serve(family)
		family.Start()
		return nil
	})
}
