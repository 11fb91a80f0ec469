// The perp-info function answers the venue's own kind of question, POST /info,
// from what the ingester keeps: the logs of fills and orders, the series of
// klines and funding and the views of mid prices, books, figures and market
// descriptions.
package main

import (
	"context"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(string(catalog.PerpInfo), func(ctx context.Context, s *service.Service) error {
		db, err := s.DynamoDB(ctx)
		if err != nil {
			return err
		}
		family, _, err := s.Family(ctx, db)
		if err != nil {
			return err
		}
		views, err := s.Views()
		if err != nil {
			return err
		}
		newInfo(s.Rows(db), s.Series(db), views, s.Clock).register(family)
		family.Start()
		return nil
	})
}

func (i *info) register(f *api.Family) {
	api.Handle(f, catalog.Info, i.answer)
}
