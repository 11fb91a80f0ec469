package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/books"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/funding"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
)

// someContexts has the figures of two dexs and of the spot markets.
func (w *world) someContexts(t *testing.T) {
	t.Helper()
	storetest.Publish(t, w.views, contexts.Published, contexts.View{
		Time: 1,
		Perps: map[string]json.RawMessage{
			"": json.RawMessage(`[{"universe":[{"szDecimals":5,"name":"BTC","maxLeverage":40}],"marginTables":[],"collateralToken":0},
				[{"funding":"0.0000125","openInterest":"688.11","prevDayPx":"85157.0","dayNtlVlm":"1169046.29","premium":"0.00031774","oraclePx":"84000.0","markPx":"84026.5","midPx":null,"impactPxs":null,"dayBaseVlm":"14.9"}]]`),
			"xyz": json.RawMessage(`[{"universe":[{"name":"xyz:GOLD"}]},[{"markPx":"4001.5"}]]`),
		},
		Spot: json.RawMessage(`[{"universe":[{"tokens":[1,0],"name":"PURR/USDC","index":0}],"tokens":[]},[{"prevDayPx":"0.1","dayNtlVlm":"1.0","markPx":"0.15","midPx":"0.15","circulatingSupply":"7.0","coin":"PURR/USDC"}]]`),
	})
}

func TestFiguresAreAsTheVenueWroteThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someContexts(t)
	w.golden(t, "metaAndAssetCtxs", `{"type":"metaAndAssetCtxs"}`)
	w.golden(t, "metaAndAssetCtxs-dex", `{"type":"metaAndAssetCtxs","dex":"xyz"}`)
	w.golden(t, "spotMetaAndAssetCtxs", `{"type":"spotMetaAndAssetCtxs"}`)
}

func TestPerpDexsAreNamesWithTheMainOneFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someMeta(t)
	w.golden(t, "perpDexs", `{"type":"perpDexs"}`)
}

// someBooks has a book of BTC of now and one of GOLD that is a second too old.
func (w *world) someBooks(t *testing.T) {
	t.Helper()
	now := apitest.Start
	view := books.NewView(
		market.Book{Coin: "BTC", Time: now.Add(-staleAfter).UnixMilli(),
			Bids: []market.Level{{Px: "105056.0", Sz: "1.5", N: 1}, {Px: "105051.0", Sz: "0.25", N: 2}},
			Asks: []market.Level{{Px: "105057.0", Sz: "0.00001", N: 1}, {Px: "105069.0", Sz: "2.0", N: 5}}},
		market.Book{Coin: "xyz:GOLD", Time: now.Add(-staleAfter - time.Second).UnixMilli(), Asks: []market.Level{{Px: "4001.5", Sz: "1.0", N: 1}}},
	)
	storetest.Publish(t, w.views, books.Published, view)
}

func TestTheLastBookComesBackEvenIfItIsStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.someBooks(t)
	w.golden(t, "l2Book", `{"type":"l2Book","coin":"BTC"}`)
	w.golden(t, "l2Book-stale", `{"type":"l2Book","coin":"xyz:GOLD","nSigFigs":null,"mantissa":null}`)
	w.golden(t, "l2Book-grouped", `{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":5}`)
	for body, want := range map[string]string{
		`"nSigFigs":5`:                `[[{"px":"105050.0","sz":"1.75","n":3}],[{"px":"105060.0","sz":"0.00001","n":1},{"px":"105070.0","sz":"2.0","n":5}]]`,
		`"nSigFigs":"2"`:              `[[{"px":"100000.0","sz":"1.75","n":3}],[{"px":"110000.0","sz":"2.00001","n":6}]]`,
		`"nSigFigs":5,"mantissa":"2"`: `[[{"px":"105040.0","sz":"1.75","n":3}],[{"px":"105060.0","sz":"0.00001","n":1},{"px":"105080.0","sz":"2.0","n":5}]]`,
	} {
		if answer := w.ask(t, `{"type":"l2Book","coin":"BTC",`+body+`}`); !strings.Contains(string(answer.Body), `"levels":`+want+`}`) {
			t.Errorf("%s answers %d: %s", body, answer.Status, answer.Body)
		}
	}
}

// pay stores the funding of hours, counted back from the last full one: paid 17
// ms after it, the last one provisional.
func (w *world) pay(t *testing.T, coin string, hours int) {
	t.Helper()
	var list []funding.Hour
	for i := range hours {
		at := apitest.Start.Add(-time.Duration(i) * time.Hour).UnixMilli()
		hour := funding.Hour{Funding: market.Funding{Coin: coin, Rate: fmt.Sprintf("0.0000%d", 100+i), Premium: "-0.0003", Time: at + 17}}
		if i == 0 {
			hour = funding.Hour{Funding: market.Funding{Coin: coin, Rate: "0.0000125", Premium: "0.0", Time: at}, Provisional: true}
		}
		list = append(list, hour)
	}
	datatest.PutFunding(t, w.series, list...)
}

func TestFundingHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(t, "BTC", 600)
	now := apitest.Start.UnixMilli()
	const hour = 3_600_000
	w.golden(t, "fundingHistory", fmt.Sprintf(`{"type":"fundingHistory","coin":"BTC","startTime":%d}`, now-2*hour))
	for fields, want := range map[string][]int64{ // ms before now
		fmt.Sprintf(`"startTime":%d`, now-hour):                             {hour - 17, 0},
		fmt.Sprintf(`"startTime":%d`, now-hour+17):                          {hour - 17, 0},
		fmt.Sprintf(`"startTime":%d`, now-hour+18):                          {0},
		fmt.Sprintf(`"startTime":"%d","endTime":%d`, now-2*hour, now-hour):  {2*hour - 17},
		fmt.Sprintf(`"startTime":%d,"endTime":%d`, now-2*hour, now-hour+17): {2*hour - 17, hour - 17},
		fmt.Sprintf(`"startTime":%d`, now+1):                                {},
	} {
		got := []int64{}
		if strings.Contains(fields, fmt.Sprint(now+1)) {
			fields += fmt.Sprintf(`,"endTime":%d`, now+2)
		}
		for _, f := range apitest.Data[[]catalog.FundingRate](t, w.ask(t, `{"type":"fundingHistory","coin":"BTC",`+fields+`}`)) {
			got = append(got, now-f.Time)
		}
		check.Equalf(t, want, got, "%s", fields)
	}
	list := apitest.Data[[]catalog.FundingRate](t, w.ask(t, `{"type":"fundingHistory","coin":"BTC","startTime":0}`))
	if len(list) != maxFunding || list[0].Time != now-599*hour+17 {
		t.Errorf("%d hours from %d", len(list), list[0].Time)
	}
	if answer := w.ask(t, `{"type":"fundingHistory","coin":"NONE","startTime":0}`); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("of a coin without any: %s", answer.Body)
	}
}
