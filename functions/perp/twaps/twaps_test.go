package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
)

const (
	root  = "/upgrade/v2/hl"
	alice = "0xa11ce00000000000000000000000000000000001"
	bob   = "0xb0b0000000000000000000000000000000000002"
)

type world struct {
	*apitest.World
	log   *store.Log
	views *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.PerpTwaps, func(open *apitest.World) {
		w.log, w.views = open.Log(), open.Views(t)
		newTwaps(w.log, w.views, open.Now).register(open.Family)
	})
	return w
}

// began is TWAP id of an account in a coin, which was activated so long ago and runs for an hour.
func began(id int64, address, coin string, side market.Side, sz string, ago time.Duration) market.TwapStatus {
	at := apitest.Start.Add(-ago).UnixMilli()
	return market.TwapStatus{Address: address, TwapID: &id, Time: at, Status: market.TwapActivated, Seq: id, Twap: market.Twap{
		Coin: coin, Side: side, Sz: sz, ExecutedSz: "0.0", ExecutedNtl: "0.0", Minutes: 60, Timestamp: at}}
}

// running are some TWAPs: of two markets of one asset, of a dex that is paid in another token,
// of a coin without a price, and one whose time is over.
func running() []market.TwapStatus {
	half := began(1, alice, "HYPE", market.Buy, "100.0", 30*time.Minute)
	half.ExecutedSz, half.ExecutedNtl, half.Randomize = "40.0", "800.0", true // 60 x 20 = 1200 in 30 minutes
	return []market.TwapStatus{
		half,
		began(2, bob, "HYPE", market.Sell, "9.0", 0),                         // 180 in 60
		began(3, bob, "@107", market.Sell, "10.0", 50*time.Minute),           // 205 in 10
		began(4, alice, "flx:OIL", market.Buy, "7.0", 0),                     // 70 USDH are 35 in 60
		began(5, alice, "NEW", market.Buy, "7.0", 0),                         // no price
		began(6, alice, "HYPE", market.Buy, "1000.0", 2*time.Hour),           // is over
		began(7, bob, "HYPE", market.Buy, "0.1", 59*time.Minute+time.Second), // 2 in the last minute
	}
}

func (w *world) run(t *testing.T, list ...market.TwapStatus) {
	t.Helper()
	storetest.Publish(t, w.views, twaps.PublishedRunning, twaps.Running{Time: apitest.Start.UnixMilli(), Twaps: list})
}

// figures are what the venue says of the markets: of HYPE 14,400 USDC a day, of its spot market
// half of that, of OIL 2,880 USDH, and of QUIET nothing.
func (w *world) figures(t *testing.T) {
	t.Helper()
	perps := func(coin, mark, day string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`[{"universe":[{"name":%q},{"name":"QUIET"}]},[{"markPx":%q,"dayNtlVlm":%q},{"markPx":"5.0","dayNtlVlm":"0.0"}]]`, coin, mark, day))
	}
	storetest.Publish(t, w.views, contexts.Published, contexts.View{Time: 1,
		Perps: map[string]json.RawMessage{"": perps("HYPE", "20.0", "14400.0"), "flx": json.RawMessage(strings.ReplaceAll(string(perps("flx:OIL", "10.0", "2880.0")), "QUIET", "flx:QUIET"))},
		Spot:  json.RawMessage(`[{"universe":[]},[{"coin":"@107","markPx":"20.5","dayNtlVlm":"7200.0"},{"coin":"@230","markPx":"0.5","dayNtlVlm":null}]]`),
	})
	storetest.Publish(t, w.views, meta.Published, meta.View{Time: 1,
		Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[{"name":"HYPE"}]}`), "flx": json.RawMessage(`{"universe":[{"name":"flx:OIL"}],"collateralToken":360}`)},
		Spot:  json.RawMessage(`{"universe":[{"name":"@107","tokens":[150,0]},{"name":"@230","tokens":[360,0]}],"tokens":[{"name":"USDC","index":0},{"name":"HYPE","index":150},{"name":"USDH","index":360}]}`),
	})
}

func (w *world) golden(t *testing.T, name, target string) {
	t.Helper()
	w.Get(t, w.SubKey, root+target).Golden(t, name)
}

func TestTheStatusesOfAnAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := running()[0]
	activated := first
	activated.ExecutedSz, activated.ExecutedNtl = "0.0", "0.0"
	old := began(11, alice, "@107", market.Sell, "3.5", 5*time.Hour)
	ended := old
	ended.Time, ended.Status, ended.ExecutedSz, ended.ExecutedNtl, ended.Seq = old.Time+600_000, market.TwapTerminated, "1.5", "30.75", 12
	refused := began(0, alice, "HYPE", market.Buy, "1.0", time.Minute)
	refused.TwapID, refused.Status, refused.Error = nil, market.TwapError, "Insufficient margin to place order."
	storetest.PutLog(t, w.log, twaps.StatusesName, twaps.AppendRows, activated, old, ended, refused, began(12, bob, "HYPE", market.Buy, "1.0", 0))
	w.run(t, first)
	w.golden(t, "states", "/twap-states/"+alice+"/latest")
	for query, want := range map[string]string{
		"":                   "error activated terminated activated",
		"?limit=1":           "error",
		"?coin=@107":         "terminated activated",
		"?coin=@107&limit=1": "terminated",
		"?coin=BTC":          "",
		"?coin=hype":         "", // upper and lower case differ
	} {
		var got []string
		for _, s := range apitest.Data[[]catalog.TwapOrderState](t, w.Get(t, w.SubKey, root+"/twap-states/0x"+strings.ToUpper(alice[2:])+"/latest"+query)) {
			got = append(got, s.Status)
		}
		check.Equalf(t, want, strings.Join(got, " "), "%s", query)
	}
	if answer := w.Get(t, w.SubKey, root+"/twap-states/0x"+strings.Repeat("9", 40)+"/latest"); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("an account without any: %s", answer.Body)
	}
}

// Before anything is known to run, a row is as it is stored.
func TestAStatusThatDoesNotRunIsAsItCame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.PutLog(t, w.log, twaps.StatusesName, twaps.AppendRows, began(1, alice, "HYPE", market.Buy, "100.0", 30*time.Minute))
	got := apitest.Data[[]catalog.TwapOrderState](t, w.Get(t, w.SubKey, root+"/twap-states/"+alice+"/latest"))
	if len(got) != 1 || got[0].State.ExecutedSz != "0.0" || *got[0].TwapID != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTheWallOfAMarket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(t, running()...)
	w.figures(t)
	w.golden(t, "execution-wall", "/twaps/execution-wall?coin=HYPE&topContributors=2")
	wall := func(query string) string {
		t.Helper()
		v := apitest.Data[catalog.TwapWall](t, w.Get(t, w.SubKey, root+"/twaps/execution-wall"+query))
		var ids []string
		for _, c := range v.TopContributors {
			ids = append(ids, fmt.Sprint(c.TwapID))
		}
		ratio := "null"
		if v.ImpactRatio != nil {
			ratio = v.ImpactRatio.String()
		}
		for _, sum := range [][4]*string{{v.ExpectedVal, v.BuyExpectedVal, v.SellExpectedVal, v.NetExpectedVal}, {v.RateValPerMin, v.BuyRateVal, v.SellRateVal, v.NetRateVal}} {
			if (sum[0] == nil) != (sum[3] == nil) {
				t.Errorf("%s: a part is known and another is not", query)
			}
		}
		return fmt.Sprint(v.HorizonMinutes, " ", deref(v.MarketValPerMin), " ", deref(v.BuyExpectedVal), "-", deref(v.SellExpectedVal), "=", deref(v.NetExpectedVal), " ",
			deref(v.BuyRateVal), "-", deref(v.SellRateVal), "=", deref(v.NetRateVal), " ", ratio, " ", v.TwapCount, " ", strings.Join(ids, " "))
	}
	for query, want := range map[string]string{
		"?coin=HYPE":                               "60 10.0 1202.0-180.0=1022.0 42.0-3.0=39.0 4.5 3 1 2 7",
		"?coin=HYPE&horizon=10m":                   "10 10.0 402.0-30.0=372.0 42.0-3.0=39.0 4.5 3 1 2 7",
		"?coin=HYPE&horizon=24h&topContributors=1": "1440 10.0 1202.0-180.0=1022.0 42.0-3.0=39.0 4.5 3 1",
		"?coin=HYPE&topContributors=0":             "60 10.0 1202.0-180.0=1022.0 42.0-3.0=39.0 4.5 3 ",
		"?coin=@107":                               "60 5.0 0.0-205.0=-205.0 0.0-20.5=-20.5 4.1 1 3",
		"?coin=flx:OIL&horizon=30m":                "30 1.0 17.5-0.0=17.5 0.583333-0.0=0.583333 0.583333 1 4",
		"?coin=NEW":                                "60 null null-null=null null-null=null null 1 5",
		"?coin=QUIET":                              "60 null 0.0-0.0=0.0 0.0-0.0=0.0 null 0 ",
		"?coin=NONE":                               "60 null 0.0-0.0=0.0 0.0-0.0=0.0 null 0 ",
		"":                                         "60 16.0 1237.0-385.0=852.0 42.583333-23.5=19.083333 4.130208 6 1 3 2 4 7 5",
		"?horizon=4h&topContributors=100":          "240 16.0 1237.0-385.0=852.0 42.583333-23.5=19.083333 4.130208 6 1 3 2 4 7 5",
	} {
		check.Equalf(t, want, wall(query), "%s", query)
	}
}

func deref(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

func TestTheTwapsOfTheMostImpact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(t, running()...)
	w.figures(t)
	w.golden(t, "top-impact", "/twaps/top-impact?limit=3")
	for query, want := range map[string]string{
		"":                      "3:4.1 1:4 4:0.583333 2:0.3 7:0.2 5:null",
		"?limit=1":              "3:4.1",
		"?coin=HYPE":            "1:4 2:0.3 7:0.2",
		"?coin=@107&horizon=4h": "3:4.1",
		"?coin=NEW":             "5:null",
		"?coin=DOGE":            "",
	} {
		var got []string
		for _, c := range apitest.Data[[]catalog.TwapImpact](t, w.Get(t, w.SubKey, root+"/twaps/top-impact"+query)) {
			ratio := "null"
			if c.ImpactRatio != nil {
				ratio = c.ImpactRatio.String()
			}
			got = append(got, fmt.Sprint(c.TwapID, ":", ratio))
		}
		check.Equalf(t, want, strings.Join(got, " "), "%s", query)
	}
}

// What runs is known, and nothing of the markets yet.
func TestWithoutPricesAmountsAreNull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(t, running()[:2]...)
	wall := apitest.Data[catalog.TwapWall](t, w.Get(t, w.SubKey, root+"/twaps/execution-wall"))
	if wall.TwapCount != 2 || wall.ExpectedVal != nil || wall.ImpactRatio != nil || wall.MarketValPerMin != nil || len(wall.TopContributors) != 2 || wall.TopContributors[0].RemainMinutes != 30 {
		t.Errorf("%+v", wall)
	}
	w.run(t)
	w.Move(time.Minute)
	if answer := w.Get(t, w.SubKey, root+"/twaps/top-impact"); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("where none runs: %s", answer.Body)
	}
}

// Its time goes on while the view stands still.
func TestATwapWhoseTimeIsOverIsListedNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := running()[:2]
	for minutes, want := range map[int]int{29: 2, 30: 1, 61: 0} {
		w := newWorld(t)
		w.Move(time.Duration(minutes) * time.Minute)
		w.run(t, list...)
		if n := len(apitest.Data[[]catalog.TwapImpact](t, w.Get(t, w.SubKey, root+"/twaps/top-impact"))); n != want {
			t.Errorf("after %d minutes there are %d, want %d", minutes, n, want)
		}
	}
	w.Get(t, w.SubKey, root+"/twaps/top-impact").Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
}
