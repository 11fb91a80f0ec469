package main

import (
	"net/http"
	"testing"
)

func TestAnUnknownCoinIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, someTickers...)
	for _, coin := range []string{"NOPE", "btc"} {
		w.Get(t, w.SubKey, root+"/tickers/coin/"+coin).Refused(t, http.StatusBadRequest, "unknown coin "+coin+": it must be one that has traded")
	}
}
