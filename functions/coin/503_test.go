package main

import (
	"net/http"
	"testing"
)

// A client checks a new key with this call: it succeeds where no source of prices is
// configured.
func TestAKeyIsCheckedWithoutAnySourceOfPrices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Deliver(t)
	if answer := w.Get(t, w.SubKey, "/v2/coin/ticker?coin_list=bitcoin"); answer.Status != 200 || string(answer.Body) != `{"success":true,"errorCode":200,"error":"","data":[]}` {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	w.Get(t, w.SubKey, "/v2/coin").Refused(t, http.StatusServiceUnavailable, "names of coins are not configured in this deployment")
}
