package main

import (
	"net/http"
	"testing"
)

func TestBadParametersAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct{ query, part string }{
		{"/funding-rate/history?symbol=" + btc + "&interval=3m", "interval"},
		{"/funding-rate/history?interval=8h", "symbol"},
		{"/funding-rate/history?symbol=" + btc + "&limit=1001", "limit"},
		{"/liquidation/map?dbkey=" + btc + "&cycle=1d", "cycle"},
		{"/liquidation/map?dbkey=" + btc + "&leverage=20", "invalid leverage: must be one of 10, 25, 50, 100"},
		{"/estimated-liquidation/history?dbkey=" + btc + "&limit=101", "limit"},
	} {
		w.Get(t, w.SubKey, base+test.query).Refused(t, http.StatusBadRequest, test.part)
	}
}
