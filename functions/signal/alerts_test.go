package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/alerts"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const (
	base = "/v2/signal/"
	pair = "btcusdt:binance"
)

type world struct {
	*apitest.World
	log    *store.Log
	alerts *alerts.Store
	views  *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Signal, func(open *apitest.World) {
		w.log, w.alerts = open.Log(), alerts.Open(open.Documents)
		views := open.Views(t)
		w.views = views
		newKeeper(w.log, views, w.alerts, open.Now).register(open.Family)
		storetest.Publish(t, views, pairs.Published, pairs.View{Pairs: []pairs.Pair{
			{Pair: market.Pair{Key: pair, Platform: "binance", Base: "BTC", Quote: "USDT"}, Followed: true}, {Pair: market.Pair{Key: "ethusdt:binance", Platform: "binance", Base: "ETH", Quote: "USDT"}, Followed: true}, {Pair: market.Pair{Key: "nowusdt:binance"}},
		}})
		storetest.Publish(t, views, pairtickers.Published, pairtickers.View{Tickers: []pairtickers.Ticker{{Pair: pair, Last: must.Get(market.ParseDecimal("61000.5"))(t)}}})
	})
	return w
}

func (w *world) add(t *testing.T, subType, symbol string) apitest.Answer {
	t.Helper()
	return w.Get(t, w.SubKey, base+"addSignalAlert?subType="+url.QueryEscape(subType)+"&symbol="+symbol+"&remark=mine")
}

// done holds an answer to the result true.
func done(t *testing.T, a apitest.Answer) {
	t.Helper()
	if got := apitest.Data[catalog.AlertResult](t, a).Result; got != "true" {
		t.Errorf("the result is %s", got)
	}
}

func (w *world) list(t *testing.T) catalog.SetAlertList {
	t.Helper()
	return apitest.Data[catalog.SetAlertList](t, w.Get(t, w.SubKey, base+"getSignalAlertSetList"))
}

func TestAnAlertIsSetUpListedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, "ma:1440:single_ma", pair).Golden(t, "add")
	done(t, w.add(t, "ma:1440:single_ma:7", "BTCUSDT:binance")) // the same
	w.Get(t, w.SubKey, base+"getSignalAlertSetList").Golden(t, "list")
	done(t, w.add(t, "td:5:td_nine", "ethusdt:binance"))
	list := w.list(t)
	if len(list.List) != 2 || list.Count != "2" {
		t.Fatalf("%+v", list)
	}
	for _, one := range list.List {
		if known := one.TpKey == pair; known != (one.SetPrice != nil) {
			t.Errorf("the price of %s was %v", one.TpKey, one.SetPrice)
		}
	}
	owners := must.Get(w.alerts.Owners(t.Context()))(t)
	before := owners[w.SubKey.AccessKey]
	if before.Distributor != w.Primary.AccessKey || len(owners) != 1 {
		t.Errorf("alerts belong to %+v", owners)
	}
	target := base + "delSignalAlert?id=" + list.List[0].ID
	done(t, w.Get(t, w.SubKey, target))
	if got := w.list(t); len(got.List) != 1 || got.List[0] == list.List[0] {
		t.Errorf("left are %+v", got)
	}
	if result := apitest.Data[catalog.AlertResult](t, w.Get(t, w.SubKey, target)).Result; result != "false" {
		t.Errorf("removed once more: %s", result)
	}
	if after := must.Get(w.alerts.Owners(t.Context()))(t)[w.SubKey.AccessKey]; after.Revision == before.Revision {
		t.Error("nobody is told that an alert is gone")
	}
}

func TestAlertsOfAnotherKeyAreNeitherListedNorRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	done(t, w.add(t, "ma:1440:single_ma", pair))
	mine := w.list(t)
	other := w.Issue(t, w.Primary, keys.NewSubKey{Name: "another"})
	if got := apitest.Data[catalog.SetAlertList](t, w.Get(t, other, base+"getSignalAlertSetList")); len(got.List) != 0 || got.Count != "0" {
		t.Errorf("another key is shown %+v", got)
	}
	target := base + "delSignalAlert?id=" + mine.List[0].ID
	if result := apitest.Data[catalog.AlertResult](t, w.Get(t, other, target)).Result; result != "false" {
		t.Errorf("another key removes it: %s", result)
	}
	if got := w.list(t); len(got.List) != 1 || got.List[0].ID != mine.List[0].ID {
		t.Errorf("left are %+v", got)
	}
}

func TestTheHundredAndFirstAlertIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range alerts.Most {
		a := alerts.Alert{ID: int64(n + 1), Pair: pair, Type: "td:5:td_nine", Time: apitest.Start.UnixMilli()}
		must.Do(t, w.alerts.Add(t.Context(), w.Primary.AccessKey, w.SubKey.AccessKey, &a))
	}
	w.add(t, "ma:5:single_ma", pair).Refused(t, http.StatusBadRequest, strconv.Itoa(alerts.Most))
	w.Get(t, w.SubKey, base+"delSignalAlert?id=5").Golden(t, "remove")
	done(t, w.add(t, "ma:5:single_ma", pair))
	done(t, w.add(t, "ma:5:single_ma", pair)) // it is there
	w.add(t, "ma:5:single_ma:8", pair).Refused(t, http.StatusBadRequest, strconv.Itoa(alerts.Most))
}

func TestWhatWentOffIsListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var fired []alerts.Fired
	for n := range 120 {
		at := apitest.Start.Add(-time.Duration(n) * time.Minute)
		side := market.Buy
		if n%2 == 1 {
			side = market.Sell
		}
		fired = append(fired, alerts.Fired{Key: w.SubKey.AccessKey, ID: 9, Pair: pair, Type: "td:1:td_nine", Side: side, Px: fmt.Sprint(100 + n), Time: at.UnixMilli()})
	}
	old := fired[0]
	old.Time = apitest.Start.AddDate(0, 0, -31).UnixMilli()
	other := fired[0]
	other.Key = "another"
	must.Do(t, w.log.Put(t.Context(), alerts.Name, alerts.AppendRows(nil, []alerts.Fired{fired[0], old, other})))
	w.Get(t, w.SubKey, base+"signalAlert").Golden(t, "fired")
	must.Do(t, w.log.Put(t.Context(), alerts.Name, alerts.AppendRows(nil, fired)))
	got := apitest.Data[catalog.FiredAlertList](t, w.Get(t, w.SubKey, base+"signalAlert")).List
	if len(got) != 100 {
		t.Fatalf("%d are listed, want the newest 100", len(got))
	}
	for n, want := range map[int]catalog.FiredAlert{
		0:  {TpKey: pair, SubType: "td:1:td_nine", Side: "buy", EwsPrice: "100", EwsTime: strconv.FormatInt(apitest.Start.Unix(), 10)},
		99: {TpKey: pair, SubType: "td:1:td_nine", Side: "sell", EwsPrice: "199", EwsTime: strconv.FormatInt(apitest.Start.Unix()-99*60, 10)},
	} {
		if got[n] != want {
			t.Errorf("%d is %+v, want %+v", n, got[n], want)
		}
	}
}

func TestWhatAlertsMayWaitFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, base+"signalAlertConf?lan=en").Golden(t, "choices")
	for _, choice := range apitest.Data[catalog.AlertChoiceList](t, w.Get(t, w.SubKey, base+"signalAlertConf")).Data {
		for _, trigger := range choice.Config {
			subType := choice.IndicatorKey + ":60:" + trigger.TriggerKey
			for _, p := range trigger.ParamConfig {
				if p.Default == nil {
					subType += ":61000"
				}
			}
			if _, err := market.ParseAlertType(subType); err != nil {
				t.Errorf("what is offered is refused: %v", err)
			}
		}
	}
}

func TestBadAlertsAreRefusedNamingThePart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, parts := range map[string][]string{
		"addSignalAlert?symbol=" + pair:                                                              {"missing subType"},
		"addSignalAlert?subType=ma:60:single_ma":                                                     {"missing symbol"},
		"addSignalAlert?subType=sma:60:single_ma&symbol=" + pair:                                     {"subType", "sma", "price, ma, ema"},
		"addSignalAlert?subType=ma:61:single_ma&symbol=" + pair:                                      {"subType", "61", "1440"},
		"addSignalAlert?subType=ma:60:td_nine&symbol=" + pair:                                        {"subType", "td_nine", "single_ma"},
		"addSignalAlert?subType=ma:60:single_ma:0&symbol=" + pair:                                    {"subType", "from 1 to 200"},
		"addSignalAlert?subType=ma:60:single_ma&symbol=nothing:binance":                              {"symbol", "nothing:binance"},
		"addSignalAlert?subType=ma:60:single_ma&symbol=nowusdt:binance":                              {"symbol", "nowusdt:binance", "followed"},
		"addSignalAlert?subType=ma:60:single_ma&symbol=btcswapusdc:hyperliquid":                      {"symbol", "btcswapusdc:hyperliquid", "centralised exchange"},
		"addSignalAlert?subType=td:5:td_nine&symbol=" + pair + "&remark=" + fmt.Sprintf("%0300d", 1): {"remark", "256"},
		"delSignalAlert":         {"missing id"},
		"delSignalAlert?id=one":  {"id"},
		"signalAlertConf?lan=fr": {"lan", "cn, en"},
	} {
		w.Get(t, w.SubKey, base+query).Refused(t, http.StatusBadRequest, parts...)
	}
}
