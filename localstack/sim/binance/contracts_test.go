package binance

import (
	"fmt"
	"net/http"
	"testing"

	"quotary/localstack/sim/trading"
)

func TestWhatIsSaidOfAPerpetualIsItsTruth(t *testing.T) {
	t.Parallel()
	x, url := open(t)
	m := x.Market("BTCUSDT", true)
	ms := now.UnixMilli()
	day := m.Day(ms)
	for path, want := range map[string]map[string]any{
		"/fapi/v1/premiumIndex?symbol=BTCUSDT": {"markPrice": m.Price(m.Mark(ms)), "lastFundingRate": trading.Rate(m.Funding(ms)), "nextFundingTime": float64(m.Due(ms))},
		"/fapi/v1/openInterest?symbol=BTCUSDT": {"openInterest": m.Lots(m.Interest(ms)), "time": float64(ms)},
		"/fapi/v1/ticker/24hr?symbol=BTCUSDT":  {"lastPrice": m.Price(day.Last), "highPrice": m.Price(day.High), "quoteVolume": m.Amount(day.Quote)},
	} {
		var got map[string]any
		get(t, url+path, http.StatusOK, &got)
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %v, %v wanted", path, name, got[name], value)
			}
		}
	}
	var all []any
	if get(t, url+"/fapi/v1/premiumIndex", http.StatusOK, &all); len(all) != 4 {
		t.Errorf("of all there are %d", len(all))
	}
	if get(t, url+"/api/v3/ticker/24hr", http.StatusOK, &all); len(all) != 4 {
		t.Errorf("of all spot pairs there are %d", len(all))
	}
	if get(t, url+"/fapi/v1/fundingInfo", http.StatusOK, &all); len(all) != 1 {
		t.Errorf("%d perpetuals have other periods", len(all))
	}
}

func TestThePastIsPagedFromItsStartOrFromNow(t *testing.T) {
	t.Parallel()
	x, url := open(t)
	m := x.Market("SOLUSDT", true) // four hours
	ms := now.UnixMilli()
	last := ms / (4 * hour) * (4 * hour)
	tests := []struct {
		query string
		first int64
		rows  int
	}{
		{"", last - 59*4*hour, 60}, // ten days and the hours since
		{"&limit=3", last - 2*4*hour, 3},
		{fmt.Sprintf("&limit=3&startTime=%d", last-10*4*hour), last - 10*4*hour, 3},
		{fmt.Sprintf("&startTime=%d&endTime=%d", last-2*4*hour, last-4*hour), last - 2*4*hour, 2},
		{fmt.Sprintf("&startTime=%d", ms+1), 0, 0},
	}
	for _, test := range tests {
		var rows []struct {
			FundingTime int64
			FundingRate string
		}
		if get(t, url+"/fapi/v1/fundingRate?symbol=SOLUSDT"+test.query, http.StatusOK, &rows); len(rows) == 0 {
			if test.rows != 0 {
				t.Errorf("%q: no rows, %d wanted", test.query, test.rows)
			}
			continue
		}
		if test.query == "" { // trading began with a day
			test.rows, test.first = len(rows), rows[0].FundingTime
		}
		if len(rows) != test.rows || rows[0].FundingTime != test.first || rows[0].FundingRate != trading.Rate(m.Paid(test.first)) {
			t.Errorf("%q: %d rows from %+v, %d from %d wanted", test.query, len(rows), rows[0], test.rows, test.first)
		}
	}
	var rows []map[string]any
	get(t, url+"/futures/data/openInterestHist?symbol=SOLUSDT&period=5m&limit=2", http.StatusOK, &rows)
	newest := ms / (5 * minute) * (5 * minute)
	if len(rows) != 2 || rows[1]["timestamp"] != float64(newest) || rows[1]["sumOpenInterest"] != m.Lots(m.Interest(newest)) {
		t.Errorf("open interest of the past is %v", rows)
	}
	get(t, url+"/futures/data/globalLongShortAccountRatio?symbol=SOLUSDT&period=5m&limit=1", http.StatusOK, &rows)
	if len(rows) != 1 || rows[0]["longAccount"] != trading.Decimal(m.Longs(newest), 4) {
		t.Errorf("ratios of the past are %v", rows)
	}
	var refused fault
	for _, path := range []string{
		"/fapi/v1/fundingRate?symbol=NOBODY", "/fapi/v1/openInterest?symbol=NOBODY", "/fapi/v1/fundingRate?symbol=SOLUSDT&limit=1001",
		"/futures/data/openInterestHist?symbol=SOLUSDT&period=7m", "/fapi/v1/premiumIndex?symbol=NOBODY",
	} {
		if get(t, url+path, http.StatusBadRequest, &refused); refused.Code >= 0 {
			t.Errorf("%s: %+v", path, refused)
		}
	}
}

func TestStreamsOfPerpetualsHaveMarksAndForcedOrders(t *testing.T) {
	t.Parallel()
	x, _ := open(t)
	m := x.Market("BTCUSDT", true)
	ms := now.UnixMilli()
	if got := x.contractEvents("btcusdt@markPrice", usdm, ms-9000, ms); len(got) != 3 {
		t.Errorf("%d mark prices in nine seconds", len(got))
	}
	if got := x.contractEvents("btcusdt@markPrice@1s", usdm, ms-9000, ms); len(got) != 9 {
		t.Errorf("%d mark prices in nine seconds, one a second", len(got))
	}
	orders, all := x.contractEvents("btcusdt@forceOrder", usdm, ms-10*minute, ms), x.contractEvents(forceAll, usdm, ms-10*minute, ms)
	truth := m.Liquidations(ms-10*minute, ms)
	if len(orders) != len(truth) || len(orders) == 0 || len(all) <= len(orders) {
		t.Fatalf("%d forced orders, %d of all, %d wanted", len(orders), len(all), len(truth))
	}
	o := orders[0].(forced).Order
	if want := map[bool]string{true: "SELL", false: "BUY"}[truth[0].Long]; o["S"] != want || o["z"] != m.Lots(truth[0].Size) {
		t.Errorf("the first is %v of %+v", o, truth[0])
	}
	x.Halt(m, true)
	if got := x.contractEvents("btcusdt@markPrice", usdm, ms-9000, ms); len(got) != 0 {
		t.Errorf("a market that is halted has %d mark prices", len(got))
	}
}
