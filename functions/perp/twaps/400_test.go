package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestBadParametersOfTwaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for target, want := range map[string]string{
		"/twap-states/0x12/latest":                          "invalid address: ",
		"/twap-states/" + alice + "/latest?limit=101":       "invalid limit: ",
		"/twap-states/" + alice + "/latest?limit=0":         "invalid limit: ",
		"/twap-states/" + alice + "/latest?limit=x":         "invalid limit: ",
		"/twap-states/" + alice + "/latest?coin=B%20C":      "invalid coin: ",
		"/twaps/execution-wall?horizon=2h":                  "invalid horizon: ",
		"/twaps/execution-wall?horizon=60":                  "invalid horizon: ",
		"/twaps/execution-wall?topContributors=101":         "invalid topContributors: ",
		"/twaps/execution-wall?topContributors=-1":          "invalid topContributors: ",
		"/twaps/execution-wall?topContributors=1.5":         "invalid topContributors: ",
		"/twaps/execution-wall?coin=%22":                    "invalid coin: ",
		"/twaps/top-impact?limit=101":                       "invalid limit: ",
		"/twaps/top-impact?limit=0":                         "invalid limit: ",
		"/twaps/top-impact?horizon=1d":                      "invalid horizon: ",
		"/twaps/top-impact?coin=" + strings.Repeat("A", 33): "invalid coin: ",
	} {
		answer := w.Get(t, w.SubKey, root+target)
		if answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Body), want) {
			t.Errorf("%s answers %d %s, want %q", target, answer.Status, answer.Body, want)
		}
	}
}
