package main

import (
	"net/http"
	"testing"

	"quotary/shared/data/openorders"
	"quotary/shared/testing/must"
)

func TestWhatCannotBeReadIsAnInternalErrorThatRevealsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := one(0, 0, "filled")
	broken.Sz, broken.Oid = "secret", 5
	w.put(t, broken)
	for name, body := range map[string]string{openorders.TopName: `{"all":["secret"]}`, openorders.ValuesName: `{"coins":{"BTC":{"bids":{"odd":["secret"]}}}}`} {
		must.Do(t, w.views.Publish(t.Context(), name, []byte(body)))
	}
	for _, target := range []string{
		"/orders/" + alice + "/latest", "/orders/oid/5", "/filled-orders/" + alice + "/latest", "/filled-orders/oid/5", "/orders/top-open-orders", "/orders/active-stats",
	} {
		w.Get(t, w.SubKey, root+target).Refused(t, http.StatusInternalServerError, "internal error")
	}
}
