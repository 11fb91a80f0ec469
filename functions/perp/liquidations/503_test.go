package main

import (
	"net/http"
	"testing"

	"quotary/shared/catalog"
)

// Without a node nobody tells of liquidations: none are not said to be none.
func TestWithoutTheSourceOfFillsNothingIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Deliver(t, catalog.VenueTrades, catalog.VenueContexts)
	for _, target := range []string{"/stat", "/stat-by-coin", "/history", "/top-positions?coin=BTC&interval=1d"} {
		w.Get(t, w.SubKey, root+target).Refused(t, http.StatusServiceUnavailable, "fills of the accounts of Hyperliquid", "the files of a node")
	}
	if answer := w.Get(t, w.SubKey, root+"/estimated-heatmap?interval=1m"); answer.Status != http.StatusOK {
		t.Errorf("the estimate is answered %d", answer.Status)
	}
	w.Deliver(t)
	w.Get(t, w.SubKey, root+"/estimated-heatmap?interval=1m").Refused(t, http.StatusServiceUnavailable, "figures of the markets of Hyperliquid")
}
