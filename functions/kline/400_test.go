package main

import (
	"net/http"
	"testing"
)

func TestParametersOfKlines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, parts := range map[string][]string{
		"period=60":                            {"missing symbol"},
		"symbol=btcusdt:binance&period=1day":   {"period", "60, 180, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 259200, 604800, 2592000"},
		"symbol=btcusdt:binance&period=61":     {"period", "2592000"},
		"symbol=btcusdt:binance&size=501":      {"size", "500"},
		"symbol=btcusdt:binance&size=0":        {"size", "1"},
		"symbol=btcusdt:binance&open_time=3":   {"open_time", "0, 8"},
		"symbol=btcusdt:binance&since=tuesday": {"since", "seconds"},
	} {
		w.Get(t, w.SubKey, path+"?"+query).Refused(t, http.StatusBadRequest, parts...)
	}
}
