package main

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/companies"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const base = "/upgrade/v2/crypto_stock"

type world struct {
	*apitest.World
	views *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Stock, func(open *apitest.World) {
		w.views = open.Views(t)
		newReader(open.Series(), w.views, open.Now).register(open.Family)
	})
	return w
}

// day is the day so many days ago.
func (w *world) day(ago int) string { return w.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }

// fill publishes the days of shares of our own making, and what two companies have filed.
func (w *world) fill(t *testing.T) {
	t.Helper()
	var v indices.View
	put := func(key, unit, volume string, days ...[5]string) { // open, high, low, close and how many days ago
		var all indices.Days
		for _, d := range days {
			ago := map[string]int{"1": 1, "2": 2, "3": 3, "20": 20, "200": 200, "364": 364, "366": 366}[d[4]]
			all, _ = all.Add(indices.Day{Date: w.day(ago), Open: d[0], High: d[1], Low: d[2], Close: d[3], Volume: volume, Unit: unit, Place: drop.Place{Time: w.Now().UnixMilli() - 60_000}})
		}
		for _, d := range all {
			at, _ := indices.At(key, d.Date)
			days, err := indices.Read(t.Context(), w.Series(), key, at.Time, at.Time.AddDate(0, 1, 0))
			must.Do(t, err)
			days, _ = days.Add(d)
			must.Do(t, w.Series().Put(t.Context(), []store.SeriesRow{indices.Row(at, days)}))
		}
		v.Indices = append(v.Indices, indices.Index{Key: key, Days: all[max(0, len(all)-indices.Kept):]})
	}
	put("i:acme:nasdaq", "USD", "1200300", [5]string{"9", "900", "8", "9", "366"}, [5]string{"20", "99.5", "19", "21", "364"}, [5]string{"20", "30", "6.25", "21", "200"}, [5]string{"24", "25", "23", "24", "2"}, [5]string{"24.5", "27.75", "24", "26.1", "1"})
	put("i:0999:hkex", "HKD", "", [5]string{"3", "3", "3", "3.2", "3"}, [5]string{"3", "3.1", "2.9", "3", "1"})
	put("i:coin:nasdaq", "USD", "77", [5]string{"300", "310", "290", "305.5", "1"})
	put("i:stale:nyse", "USD", "5", [5]string{"1", "1", "1", "1", "20"})
	put("i:index:cboe", "", "", [5]string{"18", "19", "17", "18", "1"})
	put("i:yen:tse", "JPY", "5", [5]string{"500", "500", "500", "500", "2"}, [5]string{"510", "510", "510", "510", "1"})
	storetest.Publish(t, w.views, indices.Published, v)
	storetest.Publish(t, w.views, companies.Published, companies.View{Companies: []companies.Company{
		{Key: "i:acme:nasdaq", Filing: &companies.Filing{Name: "ACME HOLDINGS INC", Shares: market.Fact{Value: "8000000"}, Diluted: market.Fact{Value: "9500000.5"}},
			Entry: &companies.Entry{Key: "i:acme:nasdaq", Name: "Acme Holdings", Country: "US", Description: "Makes everything that a coyote needs."}},
		{Key: "i:unpriced:nyse", Filing: &companies.Filing{Name: "UNPRICED INC", Shares: market.Fact{Value: "5"}}},
	}})
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.Get(t, w.SubKey, base+"/quotes?tickers=i:acme:nasdaq,i:0999:hkex").Golden(t, "quotes")
	for query, want := range map[string]string{
		"":                               "i:coin:nasdaq", // of the two, one is known
		"?tickers=ACME":                  "i:acme:nasdaq",
		"?tickers=I:Acme:Nasdaq,coin":    "i:acme:nasdaq i:coin:nasdaq",
		"?tickers=acme,i:acme:nasdaq":    "i:acme:nasdaq",
		"?tickers[]=acme&tickers[]=0999": "i:acme:nasdaq i:0999:hkex",
		"?tickers=nobody":                "",
		"?tickers=i:stale:nyse":          "", // its price is older than two weeks
		"?tickers=i:index:cboe":          "", // an index
		"?tickers=i:unpriced:nyse":       "",
		"?tickers=ACME&unknown=1":        "i:acme:nasdaq",
	} {
		got := []string{}
		for _, q := range apitest.Data[[]catalog.StockQuote](t, w.Get(t, w.SubKey, base+"/quotes"+query)) {
			got = append(got, q.Ticker)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	w.Get(t, w.SubKey, base+"/quotes?tickers=a%20b").Refused(t, http.StatusBadRequest, "tickers")
}

func TestCompanies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.Get(t, w.SubKey, base+"/company/i:acme:nasdaq").Golden(t, "company")
	for symbol, want := range map[string]string{"ACME": "Acme Holdings 26.1", "i:0999:hkex": "0999 3", "unpriced": "UNPRICED INC"} {
		c := apitest.Data[*catalog.StockProfile](t, w.Get(t, w.SubKey, base+"/company/"+symbol))
		if c == nil || !strings.HasPrefix(want, c.CompanyName) {
			t.Errorf("%s is %+v", symbol, c)
		}
	}
	if c := apitest.Data[*catalog.StockProfile](t, w.Get(t, w.SubKey, base+"/company/i:unpriced:nyse")); c.MarketCap != nil || c.FDV != nil || c.AnnualHigh != nil || c.AnnualLow != nil {
		t.Errorf("without a price there is %+v", c)
	}
	if c := apitest.Data[*catalog.StockProfile](t, w.Get(t, w.SubKey, base+"/company/nobody")); c != nil {
		t.Errorf("nobody is %+v", c)
	}
}

func TestGainers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.Get(t, w.SubKey, base+"/top-gainer").Golden(t, "top-gainer")
	post := func(body map[string]any) apitest.Answer {
		return w.Call(t, w.SubKey, http.MethodPost, base+"/top-gainer", body)
	}
	answer := post(map[string]any{"us_stock": true, "hk_stock": false, "limit": 1})
	answer.Golden(t, "top-gainer-post")
	if texts := post(map[string]any{"us_stock": true, "hk_stock": "false", "limit": "1"}); !bytes.Equal(texts.Body, answer.Body) {
		t.Errorf("parameters as texts are answered %s, want %s", texts.Body, answer.Body)
	}
	for query, want := range map[string]string{
		"?limit=30":                     "ACME 0999 COIN",
		"?us_stock=true&hk_stock=true":  "ACME 0999 COIN",
		"?us_stock=true&hk_stock=false": "ACME COIN",
		"?hk_stock=true":                "0999",
		"?limit=2":                      "ACME 0999",
	} {
		got := []string{}
		for _, g := range apitest.Data[[]catalog.StockGainer](t, w.Get(t, w.SubKey, base+"/top-gainer"+query)) {
			got = append(got, g.Symbol)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	w.Get(t, w.SubKey, base+"/top-gainer?limit=0").Refused(t, http.StatusBadRequest, "limit", "1")
	w.Get(t, w.SubKey, base+"/top-gainer?us_stock=maybe").Refused(t, http.StatusBadRequest, "us_stock")
}

// Market values and changes against arithmetic of another kind.
func TestFiguresAreThoseOfThePrices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	rat := func(text string) *big.Rat { r, _ := new(big.Rat).SetString(text); return r }
	product := func(a, b string) *big.Rat { return new(big.Rat).Mul(rat(a), rat(b)) }
	q := apitest.Data[[]catalog.StockQuote](t, w.Get(t, w.SubKey, base+"/quotes?tickers=acme"))[0]
	c := apitest.Data[*catalog.StockProfile](t, w.Get(t, w.SubKey, base+"/company/acme"))
	g := apitest.Data[[]catalog.StockGainer](t, w.Get(t, w.SubKey, base+"/top-gainer"))[0]
	for name, f := range map[string]struct {
		got  *json.Number
		want *big.Rat
	}{
		"market_cap of quotes": {q.MarketCap, product("8000000", "26.1")}, "market_cap": {c.MarketCap, product("8000000", "26.1")}, "fdv": {c.FDV, product("9500000.5", "26.1")},
		"annual_high": {c.AnnualHigh, rat("99.5")}, "annual_low": {c.AnnualLow, rat("6.25")}, "change": {g.Change, rat("2.1")}, "change_rate": {g.ChangeRate, product("2.1", "100/24")},
	} {
		if f.got == nil || rat(f.got.String()).Cmp(f.want) != 0 {
			t.Errorf("%s is %v, want %s", name, f.got, f.want.RatString())
		}
	}
}

func TestWhereNothingIsKnownTheReasonIsGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Deliver(t)
	w.Get(t, w.SubKey, base+"/quotes").Refused(t, http.StatusServiceUnavailable, "prices of shares are not configured in this deployment")
}
