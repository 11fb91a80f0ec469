// The perp-orders function answers for orders of the perpetual venue, by account
// and by order id, from the log of the statuses that they came to.
package main

import (
	"context"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(string(catalog.PerpOrders), func(ctx context.Context, s *service.Service) error {
		db, err := s.DynamoDB(ctx)
		if err != nil {
			return err
		}
		family, _, err := s.Family(ctx, db)
		if err != nil {
			return err
		}
		b := &book{log: s.Rows(db)}
		b.register(family)
		family.Start()
		return nil
	})
}

func (b *book) register(family *api.Family) {
	api.Handle(family, catalog.OrdersByAddress, b.byAddress)
	api.Handle(family, catalog.OrderByOid, b.byOid)
	api.Handle(family, catalog.FilledOrdersByAddress, b.filledByAddress)
	api.Handle(family, catalog.FilledOrderByOid, b.filledByOid)
}
