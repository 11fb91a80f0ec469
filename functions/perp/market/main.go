// The perp-market function answers for prices and volumes of the perpetual
// venue's markets: from the view of tickers and the series of klines that the
// ingester keeps.
package main

import (
	"context"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/service"
)

func main() {
	service.Run(string(catalog.PerpMarket), func(ctx context.Context, s *service.Service) error {
		db := s.DynamoDB()
		family, _, err := s.Family(ctx, db)
		if err != nil {
			return err
		}
		views, err := s.Views()
		if err != nil {
			return err
		}
		newMarkets(s.Series(db), views, s.Clock).register(family)
		family.Start()
		return nil
	})
}

func (m *markets) register(f *api.Family) {
	api.Handle(f, catalog.Tickers, m.all)
	api.Handle(f, catalog.TickerCoin, m.one)
	api.Handle(f, catalog.TakerKlines, m.klines)
	api.Handle(f, catalog.TakerDelta, m.takerDelta)
}
