package main

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/companies"
	"quotary/shared/data/indices"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// quoted is what a vendor says of a share, with what follows from it.
type quoted struct {
	Quote struct {
		Close         json.Number `json:"c"`
		Change        json.Number `json:"d"`
		Percent       json.Number `json:"dp"`
		High          json.Number `json:"h"`
		Low           json.Number `json:"l"`
		Open          json.Number `json:"o"`
		PreviousClose json.Number `json:"pc"`
	} `json:"quote_AAPL"`
	Profile struct {
		Name, Country, Ticker string
		MarketValue           json.Number `json:"marketCapitalization"` // millions
		Shares                json.Number `json:"shareOutstanding"`     // millions
	} `json:"profile_AAPL"`
}

// sameAsQuoted loads a quote as two days of a share and a company, and compares what follows.
func sameAsQuoted(t *testing.T, text string) {
	t.Helper()
	var q quoted
	must.Do(t, json.Unmarshal([]byte(text), &q))
	w := newWorld(t)
	rat := func(n json.Number) *big.Rat {
		r, ok := new(big.Rat).SetString(n.String())
		if !ok {
			t.Fatalf("%q is no number", n)
		}
		return r
	}
	million := big.NewRat(1_000_000, 1)
	key, before, now := "i:"+strings.ToLower(q.Profile.Ticker)+":nasdaq", q.Quote.PreviousClose.String(), &q.Quote
	storetest.Publish(t, w.views, indices.Published, indices.View{Indices: []indices.Index{{Key: key, Days: indices.Days{
		{Date: w.day(2), Open: before, High: before, Low: before, Close: before, Unit: "USD"},
		{Date: w.day(1), Open: now.Open.String(), High: now.High.String(), Low: now.Low.String(), Close: now.Close.String(), Unit: "USD"},
	}}}})
	storetest.Publish(t, w.views, companies.Published, companies.View{Companies: []companies.Company{{Key: key, Entry: &companies.Entry{
		Key: key, Name: q.Profile.Name, Country: q.Profile.Country, Shares: new(big.Rat).Mul(rat(q.Profile.Shares), million).FloatString(0),
	}}}})
	list := apitest.Data[[]catalog.StockQuote](t, w.Get(t, w.SubKey, base+"/quotes?tickers="+q.Profile.Ticker))
	gainers := apitest.Data[[]catalog.StockGainer](t, w.Get(t, w.SubKey, base+"/top-gainer"))
	if len(list) != 1 || len(gainers) != 1 || list[0].CompanyName != q.Profile.Name || gainers[0].Change == nil || gainers[0].ChangeRate == nil || list[0].MarketCap == nil {
		t.Fatalf("%+v, %+v", list, gainers)
	}
	start, err := time.Parse(time.DateOnly, w.day(1))
	must.Do(t, err)
	got := &list[0]
	if got.LastPrice != now.Close || got.Open != now.Open || got.High != now.High || got.Low != now.Low || got.StartTS != start.UnixMilli() {
		t.Errorf("%+v", got)
	}
	for what, c := range map[string]struct{ got, want, off *big.Rat }{
		"change":       {rat(*gainers[0].Change), rat(now.Change), new(big.Rat)},
		"change_rate":  {rat(*gainers[0].ChangeRate), rat(now.Percent), big.NewRat(1, 10_000)},
		"market value": {rat(*got.MarketCap), new(big.Rat).Mul(rat(q.Profile.MarketValue), million), new(big.Rat).Quo(rat(*got.MarketCap), big.NewRat(10_000, 1))}, // of another moment
	} {
		if off := new(big.Rat).Sub(c.got, c.want); off.Abs(off).Cmp(c.off) > 0 {
			t.Errorf("%s is %s, the vendor says %s", what, c.got.FloatString(4), c.want.FloatString(4))
		}
	}
}

func TestWhatFollowsFromAQuoteIsWhatAVendorSays(t *testing.T) {
	t.Parallel()
	sameAsQuoted(t, `{"quote_AAPL":{"c":25.5,"d":0.5,"dp":2,"h":26,"l":24.75,"o":25.1,"pc":25,"t":1795392000},
		"profile_AAPL":{"country":"US","name":"Acme Holdings","ticker":"ACME","marketCapitalization":204,"shareOutstanding":8}}`)
}

func TestWhatFollowsFromTheRecordedQuote(t *testing.T) {
	t.Parallel()
	sameAsQuoted(t, testenv.RecordingText(t, "stocks/finnhub_samples.json"))
}
