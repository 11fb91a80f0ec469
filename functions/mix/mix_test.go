package main

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/contracts"
	"quotary/shared/data/delivered"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

type world struct {
	*apitest.World
	series *store.Series
	views  *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Mix, func(open *apitest.World) {
		w.series, w.views = open.Series(), open.Views(t)
		newReader(w.series, w.views, open.Now).register(open.Family)
	})
	return w
}

func dec(t *testing.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

func TestTheRatioOfAccountsIsThatOfBitcoinOverAllExchanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, "/v2/mix/ls-ratio?symbol=ethusdt").Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	var v contracts.View
	for n, pair := range []market.Pair{
		{Key: "btcswapusdt:binance", Base: "BTC", Swap: true}, {Key: "btcswapusdt:bybit", Base: "BTC", Swap: true}, {Key: "ethswapusdt:bybit", Base: "ETH", Swap: true},
	} {
		v.Contracts = append(v.Contracts, contracts.Contract{Pair: pair})
		for i, share := range [][3]string{{"0.6", "0.5", "0.4"}, {"0.55", "0.5", "0.5"}, {"0.9", "0.9", "0.9"}}[n] {
			at := apitest.Start.Add(-[]time.Duration{0, 24 * time.Hour, 7 * 24 * time.Hour}[i]).Add(-10 * time.Minute).UnixMilli()
			bar := market.Bar{Time: market.Minute1.StartMs(at)}
			bar.Add(at, dec(t, share))
			must.Do(t, pairseries.Ratios.Put(t.Context(), w.series, pair.Key, pairseries.Tiers[0], bar))
		}
	}
	storetest.Publish(t, w.views, contracts.Published, v)
	w.Move(time.Minute)
	w.Get(t, w.SubKey, "/v2/mix/ls-ratio").Golden(t, "ls-ratio")
}

func TestARatioThatIsNotKnownIsNull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Publish(t, w.views, contracts.Published, contracts.View{Contracts: []contracts.Contract{{Pair: market.Pair{Key: "btcswapusdt:binance", Base: "BTC", Swap: true}}}})
	w.Get(t, w.SubKey, "/v2/mix/ls-ratio").Golden(t, "ls-ratio-unknown")
}

// A ratio of some of the perpetuals alone would not be comparable with that of all.
func TestARatioOfThePastIsKnownOnlyWhereEachPerpetualOfNowHasAShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const day = 24 * time.Hour
	var v contracts.View
	for _, c := range []struct {
		key  string
		agos []time.Duration
	}{
		{"btcswapusdt:binance", []time.Duration{0, day, 7 * day}}, {"btcswapusdt:bybit", []time.Duration{0, day}}, // began to tell less than a week ago
		{"btcswapusd:okcoinfutures", nil}, {"btcswapusd:bybit", []time.Duration{day, 7 * day}}, // tell nothing now
	} {
		v.Contracts = append(v.Contracts, contracts.Contract{Pair: market.Pair{Key: c.key, Base: "BTC", Swap: true}})
		for _, ago := range c.agos {
			at := apitest.Start.Add(-ago).UnixMilli()
			bar := market.Bar{Time: market.Minute1.StartMs(at)}
			bar.Add(at, dec(t, "0.6"))
			if c.key == "btcswapusd:bybit" {
				bar.Close = dec(t, "0.1")
			}
			must.Do(t, pairseries.Ratios.Put(t.Context(), w.series, c.key, pairseries.Tiers[0], bar))
		}
	}
	storetest.Publish(t, w.views, contracts.Published, v)
	got := apitest.Data[catalog.LongShortRatioNow](t, w.Get(t, w.SubKey, "/v2/mix/ls-ratio")).Detail
	if got.Last == nil || *got.Last != "1.5" || got.LastDay == nil || *got.LastDay != "1.5" || got.LastWeek != nil {
		t.Errorf("%+v", got)
	}
}

func TestLiquidationsAreSummedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	minute := func(ago int, long, short string) pairliquidations.Minute {
		m := pairliquidations.Minute{Time: apitest.Start.Add(-time.Duration(ago) * time.Minute).UnixMilli(), Long: dec(t, long), Short: dec(t, short), Count: 2, Largest: dec(t, long)}
		if m.Short.Cmp(m.Long) > 0 {
			m.Largest = m.Short
		}
		return m
	}
	v := pairliquidations.View{Pairs: []pairliquidations.Pair{
		{Key: "btcswapusdt:binance", Coin: "btc", Platform: "binance", Minutes: []pairliquidations.Minute{minute(1440, "1000", "1000"), minute(1439, "10", "20"), minute(60, "1", "2"), minute(59, "5", "7.5"), minute(0, "1.25", "0")}},
		{Key: "ethswapusdt:binance", Coin: "eth", Platform: "binance", Minutes: []pairliquidations.Minute{minute(3, "30", "4")}},
		{Key: "btcswapusdt:bybit", Coin: "btc", Platform: "bybit", Minutes: []pairliquidations.Minute{minute(3, "25", "26")}},
	}}
	storetest.Publish(t, w.views, pairliquidations.Published, v)
	perp := pairliquidations.View{Pairs: []pairliquidations.Pair{{Key: "btcswapusdc:hyperliquid", Coin: "btc", Platform: "hyperliquid", Minutes: []pairliquidations.Minute{minute(4, "2", "0.5")}}}}
	storetest.Publish(t, w.views, pairliquidations.OfPerps, perp)
	storetest.Publish(t, w.views, rates.Published, rates.View{Days: []rates.Day{{Date: "2026-01-01", USD: "1", CNY: "7"}}})
	storetest.Publish(t, w.views, coins.Published, coins.View{Coins: []coins.Coin{{Key: "bitcoin", Listing: &coins.Listing{Symbol: "BTC", Rank: 1}}}})
	w.Get(t, w.SubKey, "/v2/mix/liq?currency=usd").Golden(t, "liq")
	sums := func(query string) catalog.LiquidationDetail {
		t.Helper()
		return apitest.Data[catalog.LiquidationSummary](t, w.Get(t, w.SubKey, "/v2/mix/liq?"+query)).Detail
	}
	for _, key := range []string{"bitcoin", "btc", "BTC", "Bitcoin"} {
		want := catalog.LiquidationDetail{
			Liq1h: "67.25", LiqLong1h: "33.25", LiqShort1h: "34", Liq24h: "100.25", LiqLong24h: "44.25", LiqShort24h: "56",
			MaxLiq: "26", MaxMarket: "bybit", DayMarket: "bybit", DayPair: "btcswapusdt:bybit",
		}
		if got := sums("currency=usd&type=1&coinKey=" + key); got != want {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
	}
	for _, key := range []string{"bybit", "Bybit"} {
		if got := sums("currency=usd&type=2&marketKey=" + key); got.Liq24h != "51" || got.DayMarket != "bybit" {
			t.Errorf("of %s: %+v", key, got)
		}
	}
	if got := sums("currency=usd&type=2&marketKey=hyperliquid"); got.Liq24h != "2.5" || got.LiqLong24h != "2" || got.DayPair != "btcswapusdc:hyperliquid" {
		t.Errorf("of the perpetual exchange: %+v", got)
	}
	for query, want := range map[string]string{"&coinKey=btc&marketKey=binance": "46.75", "&coinKey=btc&marketKey=binance&type=1": "100.25", "&coinKey=btc&marketKey=binance&type=2": "80.75", "&coinKey=doge&marketKey=binance": "0"} {
		if got := sums("currency=usd" + query); got.Liq24h != want {
			t.Errorf("%s: %+v, want %s", query, got, want)
		}
	}
	for query, kind := range map[string]string{"&coinKey=nobody": "&type=1", "&marketKey=bybit": "&type=2"} {
		if got, want := sums("currency=usd"+query), sums("currency=usd"+kind+query); got != want {
			t.Errorf("%s without its type: %+v, want %+v", query, got, want)
		}
	}
	if got := sums("type=2&marketKey=bybit"); got.Liq24h != strconv.Itoa(51*7)+"" {
		t.Errorf("in yuan: %+v", got)
	}
	if got := sums("currency=usd&type=1&coinKey=nobody"); got.Liq24h != "0" || got.MaxMarket != "" {
		t.Errorf("of a coin without liquidations: %+v", got)
	}
	w.Get(t, w.SubKey, "/v2/mix/liq?type=1").Refused(t, http.StatusBadRequest, "coinKey")
	w.Get(t, w.SubKey, "/v2/mix/liq?type=2").Refused(t, http.StatusBadRequest, "marketKey")
	w.Get(t, w.SubKey, "/v2/mix/liq?type=3").Refused(t, http.StatusBadRequest, "type")
}

func TestLiquidationsOfADaySaySinceWhenTheyAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ago := func(d time.Duration) delivered.State {
		return delivered.State{Since: apitest.Start.Add(-d).UnixMilli()}
	}
	apitest.Deliver(t, w.views, catalog.ExchangeLiquidations, catalog.VenueFills)
	storetest.Publish(t, w.views, delivered.Published(catalog.ExchangeDomain.Name), delivered.View{
		"pairliquidations": ago(30 * time.Hour), "pairliquidations/binance": ago(30 * time.Hour), "pairliquidations/bybit": ago(time.Hour),
		"pairliquidations/okcoinfutures": {Sources: []string{"okx"}}, "pairtrades/binance": ago(time.Minute),
	})
	hour := apitest.Start.Add(-time.Hour).Format(time.RFC3339)
	for query, want := range map[string]string{
		"": hour, "?type=1&coinKey=btc": hour, "?type=2&marketKey=Bybit": hour, "?type=2&marketKey=binance": "", "?type=2&marketKey=okcoinfutures": "", "?marketKey=nobody": "",
	} {
		if a := w.Get(t, w.SubKey, "/v2/mix/liq"+query); a.Status != http.StatusOK || a.Header["X-Data-Since"] != want {
			t.Errorf("%s: %d since %q, want %q", query, a.Status, a.Header["X-Data-Since"], want)
		}
	}
}

// Exchanges trade a coin of a very low price by the thousand, each under a name of its own.
func TestLiquidationsOfACoinAreThoseUnderAllOfItsNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	minutes := []pairliquidations.Minute{{Time: apitest.Start.UnixMilli(), Long: dec(t, "1"), Count: 1, Largest: dec(t, "1")}}
	storetest.Publish(t, w.views, pairliquidations.Published, pairliquidations.View{Pairs: []pairliquidations.Pair{
		{Key: "1000pepeswapusdt:binance", Coin: "pepe", Platform: "binance", Minutes: minutes}, {Key: "kasswapusdt:binance", Coin: "kas", Platform: "binance", Minutes: minutes},
	}})
	storetest.Publish(t, w.views, pairliquidations.OfPerps, pairliquidations.View{Pairs: []pairliquidations.Pair{
		{Key: "kpepeswapusdc:hyperliquid", Coin: "kpepe", Platform: "hyperliquid", Minutes: minutes}, {Key: "kasswapusdc:hyperliquid", Coin: "kas", Platform: "hyperliquid", Minutes: minutes},
	}})
	storetest.Publish(t, w.views, tickers.Published, tickers.View{Tickers: []tickers.Ticker{{Coin: "kPEPE", Price: "0.01"}, {Coin: "KAS", Price: "0.1"}}})
	for key, want := range map[string]string{"pepe": "2", "PEPE": "2", "1000PEPE": "2", "kpepe": "2", "kPEPE": "2", "kpepeswapusdc:hyperliquid": "2", "kas": "2", "as": "0"} {
		if got := apitest.Data[catalog.LiquidationSummary](t, w.Get(t, w.SubKey, "/v2/mix/liq?type=1&currency=usd&coinKey="+key)).Detail.Liq24h; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestAKeyIsToldItsPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, "/v2/api-key-info").Golden(t, "api-key-info")
	ends := w.Issue(t, w.Primary, keys.NewSubKey{Name: "ends", ExpiresIn: 3600})
	got := apitest.Data[catalog.KeyPlan](t, w.Get(t, ends, "/v2/api-key-info"))
	if got.EndTime == nil || *got.EndTime != w.Now().Unix()+3600 || got.VIPType == "" {
		t.Errorf("%+v", got)
	}
	w.Get(t, w.Primary, "/v2/api-key-info").Refused(t, http.StatusForbidden)
}
