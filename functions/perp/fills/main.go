// The perp-fills function answers for fills of the perpetual venue: by account,
// order, TWAP and builder from the log of fills, and the largest of a coin from
// the series of top fills that the ingester keeps.
package main

import (
	"context"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(string(catalog.PerpFills), func(ctx context.Context, s *service.Service) error {
		db, err := s.DynamoDB(ctx)
		if err != nil {
			return err
		}
		family, _, err := s.Family(ctx, db)
		if err != nil {
			return err
		}
		f := &fills{log: s.Rows(db), series: s.Series(db)}
		f.register(family)
		family.Start()
		return nil
	})
}

func (f *fills) register(family *api.Family) {
	api.Handle(family, catalog.FillsByAddress, f.byAddress)
	api.Handle(family, catalog.FillsByOid, f.byOid)
	api.Handle(family, catalog.FillsByTwap, f.byTwap)
	api.Handle(family, catalog.FillsByBuilder, f.byBuilder)
	api.Handle(family, catalog.TopTrades, f.topTrades)
}
