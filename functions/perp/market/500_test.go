package main

import (
	"net/http"
	"testing"

	"quotary/shared/data/openinterest"
	"quotary/shared/data/tickers"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestABrokenViewIsAnInternalErrorThatRevealsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Do(t, w.views.Publish(t.Context(), tickers.Name, []byte(`"secret"`)))
	storetest.Publish(t, w.views, openinterest.Published, openinterest.View{Coins: []openinterest.Coin{{Coin: "BTC", LongPv: "secret"}}})
	for _, path := range []string{"/tickers", "/tickers/coin/BTC", "/open-interest/summary"} {
		w.Get(t, w.SubKey, root+path).Refused(t, http.StatusInternalServerError, "internal error")
	}
}
