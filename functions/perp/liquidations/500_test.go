package main

import (
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/data/liquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

func TestWhatCannotBeReadIsAnInternalErrorThatRevealsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := apitest.Start.UnixMilli()
	for _, at := range []store.SeriesAt{liquidations.Stats.At(liquidations.All, pairseries.Tiers[1], now), liquidations.EventsAt(now - 60_000)} {
		storetest.PutSeries(t, w.series, store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: []byte("secret")}})
	}
	for _, target := range []string{"/stat", "/stat-by-coin", "/history", "/top-positions?coin=BTC&interval=31m"} {
		w.Get(t, w.SubKey, root+target).Refused(t, http.StatusInternalServerError, "internal error")
	}
}
