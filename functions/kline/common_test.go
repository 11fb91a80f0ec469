package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/pairklines"
	"quotary/shared/market"
	"quotary/shared/store"
)

const path = "/v2/commonKline/dataRecords"

// newWorld has an hour of minutes of a pair, the last of them the one that is open at
// apitest.Start, 10:00 UTC; every tenth is without a trade.
func newWorld(t *testing.T) *apitest.World {
	t.Helper()
	var series *store.Series
	w := apitest.Open(t, catalog.Kline, func(open *apitest.World) {
		series = open.Series()
		(&reader{series: series}).register(open.Family)
	})
	var minutes []market.Candle
	for i := range 61 {
		if i%10 == 9 {
			continue
		}
		c := market.Candle{OpenTime: apitest.Start.Add(time.Duration(i-60) * time.Minute).UnixMilli()}
		for n, px := range []string{"61000.5", "61010.25", "60990.000001"} {
			c.Add(&market.Trade{Side: market.Buy, Time: c.OpenTime, Tid: int64(n), Px: dec(t, px).Add(dec(t, strconv.Itoa(i))), Sz: dec(t, "0.12345678")})
		}
		minutes = append(minutes, c)
	}
	for _, tier := range market.PairTiers {
		if err := pairklines.Put(t.Context(), series, "btcusdt:binance", tier, market.Compose(append([]market.Candle(nil), minutes...), tier.StartMs)...); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func dec(t *testing.T, text string) market.Decimal {
	t.Helper()
	d, err := market.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestKlinesOfAPair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, path+"?symbol=btcusdt:binance&period=900&size=3").Golden(t, "common-15m")
	rows := func(query string) []catalog.KlineRow {
		t.Helper()
		return apitest.Data[catalog.CommonKlineList](t, w.Get(t, w.SubKey, path+"?"+query)).KlineData
	}
	if got := rows("dbkey=BTCUSDT:binance&period=60&size=500"); len(got) != 55 {
		t.Errorf("%d minutes, want the 55 with trades", len(got))
	}
	if got := rows("key=btcusdt:binance"); len(got) != 2 {
		t.Errorf("%d hours by default, want the one that has ended and the open one", len(got))
	}
	if got := rows("dbKey=btcusdt:binance&period=60&size=2&since=" + "1795254060"); len(got) != 2 || got[1][0] != "1795254060" {
		t.Errorf("up to a time: %v", got)
	}
	if got := rows("symbol=btcusdt:binance&period=60&since=1700000000"); len(got) != 0 {
		t.Errorf("before everything that is stored: %v", got)
	}
}

func TestAKeyThatNobodyKnowsHasNoKlines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{"nothing:nowhere", "i:ixic:nasdaq", "btcusdt"} {
		a := w.Get(t, w.SubKey, path+"?symbol="+key+"&period=60")
		if want := `"data":{"kline_data":[]}`; a.Status != http.StatusOK || !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: status %d: %s", key, a.Status, a.Body)
		}
	}
}

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
