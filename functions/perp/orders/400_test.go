package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestBadParametersOfOpenOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for target, want := range map[string]string{
		"top-open-orders?limit=101":          "invalid limit: ",
		"top-open-orders?limit=0":            "invalid limit: ",
		"top-open-orders?minVal=much":        "invalid minVal: ",
		"top-open-orders?min_val=-1":         "invalid minVal: ",
		"top-open-orders?coin=B%20C":         "invalid coin: ",
		"active-stats?whaleThreshold=NaN":    "invalid whaleThreshold: ",
		"active-stats?whale_threshold=-0.01": "invalid whaleThreshold: ",
		"active-stats?coin=%22":              "invalid coin: ",
	} {
		answer := w.Get(t, w.SubKey, root+"/orders/"+target)
		if answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Body), want) {
			t.Errorf("%s answers %d %s, want %q", target, answer.Status, answer.Body, want)
		}
	}
}
