package main

import (
	"context"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/meta"
	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue"
)

// twapOrders holds what the answers are read from.
type twapOrders struct {
	log     *store.Log
	running *store.View[twaps.Running]
	figures *store.View[venue.Figures]
	markets *store.View[*market.Markets]
}

func newTwaps(log *store.Log, views *store.Views, clock func() time.Time) *twapOrders {
	return &twapOrders{log: log, running: twaps.PublishedRunning.Open(views, clock), figures: venue.AllFigures.Open(views, clock), markets: meta.Markets.Open(views, clock)}
}

// states returns the newest statuses of the TWAPs of an account, newest first. What was
// executed of one that runs is that of the view.
func (t *twapOrders) states(ctx context.Context, in catalog.TwapStatesIn) ([]catalog.TwapOrderState, error) {
	running, err := store.OrZero(t.running.Get(ctx))
	if err != nil {
		return nil, err
	}
	now := map[int64]market.TwapStatus{}
	for _, s := range running.Of(string(in.Address)) {
		now[*s.TwapID] = s
	}
	list := []catalog.TwapOrderState{}
	for s, err := range twaps.Newest(ctx, t.log, string(in.Address), string(in.Coin), int(in.Limit)) {
		if err != nil {
			return nil, err
		}
		if s.Status == market.TwapActivated && s.TwapID != nil {
			if runs, ok := now[*s.TwapID]; ok {
				s.ExecutedSz, s.ExecutedNtl = runs.ExecutedSz, runs.ExecutedNtl
			}
		}
		list = append(list, catalog.TwapOrderState{TwapID: s.TwapID, Time: s.Time, Status: s.Status, Error: catalog.OrNull(s.Error), State: venue.TwapState(&s)})
	}
	return list, nil
}
