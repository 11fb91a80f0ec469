package main

import (
	"net/http"
	"testing"
)

func TestWhatIsWrongWithARequestIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for target, want := range map[string][]string{
		"/stat?interval=61d":                           {"interval", "1s", "60d"},
		"/stat?interval=day":                           {"interval", "a whole number and one of s, m, h, d, w"},
		"/stat?coin=@107":                              {"coin @107 is no perpetual: it must be one, such as BTC or dex:GOLD"},
		"/stat-by-coin?interval=0s":                    {"interval"},
		"/history?interval=59s":                        {"interval", "1m", "60d"},
		"/history?interval=61s":                        {"interval must be whole minutes, and above 1d whole hours"},
		"/history?interval=1441m":                      {"interval must be whole minutes, and above 1d whole hours"},
		"/history?limit=101":                           {"limit", "1", "100"},
		"/history?coin=PURR/USDC":                      {"coin PURR/USDC is no perpetual"},
		"/top-positions?coin=BTC":                      {"interval", "missing"},
		"/top-positions?interval=1d":                   {"coin", "missing"},
		"/top-positions?coin=BTC&interval=30s":         {"interval", "1m", "60d"},
		"/top-positions?coin=BTC&interval=1d&limit=0":  {"limit", "1", "100"},
		"/top-positions?coin=%23441&interval=1d":       {"coin #441 is no perpetual"},
		"/estimated-heatmap":                           {"interval", "missing"},
		"/estimated-heatmap?interval=2m":               {"interval", "1m", "5m", "15m", "30m", "1h"},
		"/estimated-heatmap?interval=1m&leverage=20":   {"leverage", "10", "25", "50", "100"},
		"/estimated-heatmap?interval=1m&limit=1001":    {"limit", "1000"},
		"/estimated-heatmap?interval=1m&startTime=now": {"startTime", "milliseconds"},
		"/estimated-heatmap?interval=1m&coin=@1":       {"coin @1 is no perpetual"},
		"/estimated-heatmap?interval=1m&startTime=1790000000000&endTime=1780000000000": {"endTime", "startTime"},
	} {
		w.Get(t, w.SubKey, root+target).Refused(t, http.StatusBadRequest, want...)
	}
}
