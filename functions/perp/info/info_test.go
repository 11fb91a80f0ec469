package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/relaybudget"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/service/venuerelay"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const path = "/upgrade/v2/hl/info"

type world struct {
	*apitest.World
	log    *store.Log
	series *store.Series
	views  *store.Views
	wanted *followrequests.Store

	accounts *accountlookup.Accounts
}

// newWorld is one without a venue to ask.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, "", 1200)
}

// newWorldWith is one whose venue at an address may be asked for so much weight a minute.
func newWorldWith(t *testing.T, venue string, weight int) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.PerpInfo, func(open *apitest.World) {
		w.log, w.series, w.views = open.Log(), open.Series(), open.Views(t)
		w.wanted = followrequests.Accounts.Open(open.Documents)
		i := newInfo(w.log, w.series, w.wanted, w.views, venuerelay.New(venue, relaybudget.Open(open.Documents, weight, open.Now), open.Now), open.Now)
		w.accounts = i.accounts
		i.register(open.Family)
	})
	return w
}

func (w *world) ask(t *testing.T, body string) apitest.Answer {
	t.Helper()
	return w.Call(t, w.SubKey, http.MethodPost, path, body)
}

func (w *world) golden(t *testing.T, name, body string) {
	t.Helper()
	w.ask(t, body).Golden(t, name)
}

// someMids has the prices of two dexs.
func (w *world) someMids(t *testing.T) {
	t.Helper()
	storetest.Publish(t, w.views, mids.Published, mids.View{Time: 1, Mids: map[string]map[string]string{
		"": {"@107": "33.2455", "BTC": "30135.5"}, "xyz": {"xyz:GOLD": "4001.55"}}})
}

// someMeta describes two dexs and the spot markets.
func (w *world) someMeta(t *testing.T) {
	t.Helper()
	storetest.Publish(t, w.views, meta.Published, meta.View{
		Time: 1,
		Perps: map[string]json.RawMessage{
			"":    json.RawMessage(`{"universe":[{"szDecimals":5,"name":"BTC","maxLeverage":40,"marginTableId":56}],"marginTables":[],"collateralToken":0}`),
			"xyz": json.RawMessage(`{"universe":[{"szDecimals":4,"name":"xyz:GOLD","maxLeverage":20,"marginTableId":20,"onlyIsolated":true}]}`),
		},
		Spot: json.RawMessage(`{"universe":[{"tokens":[1,0],"name":"PURR/USDC","index":0,"isCanonical":true}],"tokens":[{"name":"USDC","index":0}]}`),
	})
}

func TestAllMidsOfADex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someMids(t)
	w.golden(t, "allMids", `{"type":"allMids"}`)
	for body, want := range map[string]map[string]string{
		`{"type":"allMids","dex":""}`:    {"@107": "33.2455", "BTC": "30135.5"},
		`{"type":"allMids","dex":null}`:  {"@107": "33.2455", "BTC": "30135.5"},
		`{"type":"allMids","dex":"xyz"}`: {"xyz:GOLD": "4001.55"},
	} {
		if got := apitest.Data[map[string]string](t, w.ask(t, body)); !maps.Equal(got, want) {
			t.Errorf("%s answers %v, want %v", body, got, want)
		}
	}
}

func TestMetaIsAsTheVenueWroteIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someMeta(t)
	w.golden(t, "meta", `{"type":"meta"}`)
	w.golden(t, "meta-dex", `{"type":"meta","dex":"xyz"}`)
	w.golden(t, "spotMeta", `{"type":"spotMeta"}`)
}

func TestRecentTradesSayWhoTradedWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := apitest.Start.Add(-time.Minute).UnixMilli()
	trade := market.Trade{Side: market.Buy, Px: dec(t, "30135"), Sz: dec(t, "0.25"), Time: at, Tid: 7, Hash: "0x" + strings.Repeat("ab", 32), Users: [2]string{alice, "0xb0b0000000000000000000000000000000000002"}}
	unknown := market.Trade{Side: market.Sell, Px: dec(t, "30130"), Sz: dec(t, "1.5"), Time: at + 1, Tid: 8}
	datatest.PutKlines(t, w.series, "BTC", trade, unknown)
	w.golden(t, "recentTrades", `{"type":"recentTrades","coin":"BTC"}`)
}

// candles stores four trades in each of some minutes after an hour.
func (w *world) candles(t *testing.T, coin string, hour time.Time, minutes ...int) {
	t.Helper()
	var trades []market.Trade
	for _, i := range minutes {
		open := hour.Add(time.Duration(i) * time.Minute).UnixMilli()
		for n, px := range []string{"30135", "30140.5", "30130", fmt.Sprint(30135 + i)} {
			trades = append(trades, market.Trade{Side: market.Buy, Px: dec(t, px), Sz: dec(t, "0.25"), Time: open + int64(n), Tid: int64(n + 1)})
		}
	}
	datatest.PutKlines(t, w.series, coin, trades...)
}

func dec(t *testing.T, s string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(s))(t)
}

func TestCandleSnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hour := apitest.Start.Add(-time.Hour)
	w.candles(t, "BTC", hour, 0, 1, 2, 3, 4, 5, 7)
	ms := hour.UnixMilli()
	w.golden(t, "candleSnapshot", fmt.Sprintf(`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"3m","startTime":%d,"endTime":%d}}`, ms, ms+300_000))
	for req, want := range map[string][]int64{ // minutes of the hour
		fmt.Sprintf(`"interval":"1m","startTime":%d,"endTime":%d`, ms+90_000, ms+250_000):       {1, 2, 3, 4}, // both ends fall within a candle
		fmt.Sprintf(`"interval":"1m","startTime":"%d","endTime":"%d"`, ms+60_000, ms+60_000):    {1},
		fmt.Sprintf(`"interval":"1m","startTime":%d,"endTime":%d`, ms+300_000, ms+430_000):      {5, 6, 7},
		fmt.Sprintf(`"interval":"1m","endTime":%d`, ms+60_000):                                  {0, 1},
		fmt.Sprintf(`"interval":"1m","startTime":%d,"endTime":%d`, ms+360_000, ms+360_000):      {6}, // without a trade
		fmt.Sprintf(`"interval":"1m","startTime":%d,"endTime":%d`, ms-600_000, ms-1):            {},  // before the first
		fmt.Sprintf(`"interval":"1m","startTime":%d,"endTime":%d`, ms-600_000, ms+1):            {0},
		fmt.Sprintf(`"interval":"1m","startTime":%d`, ms+58*60_000):                             {58, 59, 60}, // up to now
		fmt.Sprintf(`"interval":"15m","startTime":%d,"endTime":%d`, ms+4_500_000, ms+5_400_000): {},           // of what has not begun
	} {
		got := []int64{}
		for _, c := range apitest.Data[[]catalog.Candle](t, w.ask(t, `{"type":"candleSnapshot","req":{"coin":"BTC",`+req+`}}`)) {
			got = append(got, (c.T-ms)/60_000)
		}
		check.Equalf(t, want, got, "%s", req)
	}
}

// The first is the newest before the span, and a quiet coin has candles all the same.
func TestACandleWithoutATradeIsFlat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hour := apitest.Start.Add(-time.Hour)
	w.candles(t, "QUIET", hour, 2, 5)
	ask := func(interval string, from, to int) (list []catalog.Candle) {
		return apitest.Data[[]catalog.Candle](t, w.ask(t, fmt.Sprintf(`{"type":"candleSnapshot","req":{"coin":"QUIET","interval":%q,"startTime":%d,"endTime":%d}}`,
			interval, hour.Add(time.Duration(from)*time.Minute).UnixMilli(), hour.Add(time.Duration(to)*time.Minute).UnixMilli())))
	}
	list := ask("1m", 3, 7)
	for n, px := range []string{"30137.0", "30137.0", "", "30140.0", "30140.0"} {
		c := list[n]
		open := hour.Add(time.Duration(3+n) * time.Minute).UnixMilli()
		flat := catalog.Candle{T: open, End: open + 59_999, S: "QUIET", I: "1m", Open: px, Close: px, High: px, Low: px, V: "0"}
		if px == "" && c.N != 4 || px != "" && c != flat {
			t.Errorf("minute %d is %+v", 3+n, c)
		}
	}
	if list := ask("3m", 0, 60); len(list) != 21 || list[0].N != 4 || list[1].N != 4 || list[2].N != 0 {
		t.Errorf("%d candles of three minutes: %+v", len(list), list)
	}
}

func TestCandleSnapshotHoldsTheNewest5000(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.candles(t, "BTC", apitest.Start.Truncate(time.Minute).Add(-6000*time.Minute), 0, 100, 5999)
	list := apitest.Data[[]catalog.Candle](t, w.ask(t, `{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m","startTime":0}}`))
	if want := apitest.Start.Truncate(time.Minute).Add(-4999 * time.Minute).UnixMilli(); len(list) != 5000 || list[0].T != want || list[0].Close != "30235.0" {
		t.Errorf("%d candles from %+v, want one of %d", len(list), list[0], want)
	}
}

func TestEveryCandleIntervalIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, interval := range candleIntervals {
		answer := w.ask(t, fmt.Sprintf(`{"type":"candleSnapshot","req":{"coin":"BTC","interval":%q,"startTime":1}}`, interval))
		if string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
			t.Errorf("%s answers %d: %s", interval, answer.Status, answer.Body)
		}
	}
}

func TestASignatureInTheBodyIsAsGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someMids(t)
	p := w.Sign(w.SubKey)
	body := map[string]any{"type": "allMids", "AccessKeyId": p.AccessKeyID, "SignatureNonce": p.Nonce,
		"Timestamp": p.Timestamp, "Signature": p.Signature, "unknown": []int{1}}
	if answer := w.Send(t, signature.Params{}, http.MethodPost, path, body); answer.Status != http.StatusOK {
		t.Errorf("status %d: %s", answer.Status, answer.Body)
	}
	body["Signature"] = "wrong"
	if answer := w.Send(t, signature.Params{}, http.MethodPost, path, body); answer.Status != http.StatusUnauthorized {
		t.Errorf("with a wrong signature: status %d: %s", answer.Status, answer.Body)
	}
}

func TestTheTimeSpanOfAKeyBoundsInfo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quota := int64(100)
	key := w.Issue(t, w.Primary, keys.NewSubKey{Name: "short", MonthlyQuota: &quota, MaxTimeRange: 3600})
	w.someMeta(t)
	now := apitest.Start.UnixMilli()
	const alice = `"user":"0xa11ce00000000000000000000000000000000001"`
	for body, status := range map[string]int{
		fmt.Sprintf(`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m","startTime":%d}}`, now-3_600_000): 200,
		fmt.Sprintf(`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m","startTime":%d}}`, now-3_601_000): 400,
		fmt.Sprintf(`{"type":"userFillsByTime",%s,"startTime":%d}`, alice, now-3_600_000):                           200,
		fmt.Sprintf(`{"type":"userFillsByTime",%s,"startTime":%d}`, alice, now-3_601_000):                           400,
		fmt.Sprintf(`{"type":"userFillsByTime",%s,"startTime":%d,"endTime":%d}`, alice, 0, 3_601_000):               400,
		fmt.Sprintf(`{"type":"userFills",%s}`, alice):                                                               200,
		// Members that the type does not use neither lift the limit nor meet it.
		fmt.Sprintf(`{"type":"userFillsByTime",%s,"startTime":%d,"req":{}}`, alice, now-3_601_000):                                      400,
		fmt.Sprintf(`{"type":"userFillsByTime",%s,"startTime":%d,"req":{"startTime":%d}}`, alice, now-3_601_000, now-1000):              400,
		fmt.Sprintf(`{"type":"fundingHistory","coin":"BTC","startTime":%d,"req":{}}`, now-3_601_000):                                    400,
		fmt.Sprintf(`{"type":"userFills",%s,"startTime":0}`, alice):                                                                     200,
		fmt.Sprintf(`{"type":"candleSnapshot","startTime":0,"req":{"coin":"BTC","interval":"1m","startTime":%d}}`, now-3_600_000):       200,
		fmt.Sprintf(`{"type":"candleSnapshot","startTime":%d,"req":{"coin":"BTC","interval":"1m","startTime":%d}}`, now, now-3_601_000): 400,
		`{"type":"perpDexs","startTime":0}`: 200,
	} {
		if answer := w.Call(t, key, http.MethodPost, path, body); answer.Status != status {
			t.Errorf("%s answers %d, want %d: %s", body, answer.Status, status, answer.Body)
		}
	}
}
