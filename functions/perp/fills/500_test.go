package main

import (
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

func TestWhatCannotBeReadIsAnInternalErrorThatRevealsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := one(0)
	broken.Px, broken.Oid, broken.Builder = "secret", 5, builder
	w.put(t, broken)
	ranking := topfills.Row("BTC", market.Second1, apitest.Start.UnixMilli(), nil)
	ranking.Body = []byte("secret")
	storetest.PutSeries(t, w.series, ranking)
	for _, target := range []string{"/" + alice, "/oid/5", "/builder/" + builder + "/latest", "/top-trades?interval=1h&coin=BTC"} {
		w.Get(t, w.SubKey, root+target).Refused(t, http.StatusInternalServerError, "internal error")
	}
}
