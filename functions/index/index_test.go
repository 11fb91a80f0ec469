package main

import (
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const (
	listPath  = "/v2/index/getIndex"
	pricePath = "/v2/index/indexPrice"
	infoPath  = "/v2/index/indexInfo"
)

type world struct {
	*apitest.World
	views *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Index, func(open *apitest.World) {
		w.views = open.Views(t)
		newReader(w.views, open.Now).register(open.Family)
	})
	return w
}

// day is a day before the one of apitest.Start, a Saturday, as key, unit, open, high, low, close and
// volume.
type day struct {
	key, unit string
	back      int
	figures   string
}

// fill publishes indexes, a share and exchange rates of our own making.
func (w *world) fill(t *testing.T) {
	t.Helper()
	var v indices.View
	add := func(d day) {
		f := strings.Fields(d.figures)
		q := must.Get(market.DayQuote{Key: d.key, Unit: d.unit, Date: date(d.back), Open: f[0], High: f[1], Low: f[2], Close: f[3]}.Checked())(t)
		n := len(v.Indices) - 1
		if n < 0 || v.Indices[n].Key != d.key {
			v.Indices, n = append(v.Indices, indices.Index{Key: d.key}), n+1
		}
		v.Indices[n].Add(indices.EntryOf(q, drop.Place{Time: 1}).Day)
	}
	for _, d := range []day{
		{indices.FearGreed, "", 1, "20 20 20 20"}, {indices.FearGreed, "", 0, "23 23 23 23"},
		{indices.VIX, "", 2, "17 18.5 16.5 18"}, {indices.VIX, "", 1, "16.82 18.7 15.82 15.99"},
		{indices.Bitcoin, "USD", 1, "64000 65000 63000 64250.5"}, {indices.Bitcoin, "USD", 0, "64250.5 66000 64000 65535.51"},
		{"i:mine:house", "", 0, "5 5 5 5"},
		{"i:old:house", "", 16, "4 4 4 4"}, {"i:old:house", "", 15, "5 5 5 5"},
		{"i:zero:house", "", 1, "0 0 0 0"}, {"i:zero:house", "", 0, "5 5 5 5"},
		{"i:mstr:nasdaq", "USD", 2, "300 310 290 305"}, {"i:mstr:nasdaq", "USD", 1, "306 320 300 315"},
		{"i:0434:hkex", "HKD", 1, "2.5 2.6 2.4 2.55"},
	} {
		add(d)
	}
	storetest.Publish(t, w.views, indices.Published, v)
	var known rates.View
	for _, r := range [][3]string{{date(2), "1.08", "7.776"}, {date(1), "1.1", "7.733"}} {
		known.Add(market.DayRates{Date: r[0], USD: must.Get(market.ParseDecimal(r[1]))(t), CNY: must.Get(market.ParseDecimal(r[2]))(t)})
	}
	storetest.Publish(t, w.views, rates.Published, known)
}

func date(back int) string { return apitest.Start.AddDate(0, 0, -back).Format(time.DateOnly) }

func TestIndexes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.Get(t, w.SubKey, listPath).Golden(t, "indexes")
	w.Get(t, w.SubKey, pricePath+"?key=i:vix:cboe&currency=cny").Golden(t, "price")
	w.Get(t, w.SubKey, infoPath+"?key=i:fgi:alternative&lan=en").Golden(t, "info")
}

func TestNoShareIsAmongTheIndexes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	var keys []string
	page := apitest.Data[catalog.IndexPage](t, w.Get(t, w.SubKey, listPath))
	for _, row := range page.List {
		keys = append(keys, row.Key)
	}
	want := []string{indices.FearGreed, indices.VIX, indices.Bitcoin, "i:mine:house", "i:old:house", "i:zero:house"}
	if fmt.Sprint(keys) != fmt.Sprint(want) || page.Count != fmt.Sprint(len(want)) {
		t.Errorf("%s: %v, want %v", page.Count, keys, want)
	}
}

// plain is a decimal without needless zeros.
func plain(text string) string { return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") }

// ratio is a x b / c.
func ratio(t *testing.T, a, b, c string) *big.Rat {
	t.Helper()
	value := func(text string) *big.Rat {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		return r
	}
	x := new(big.Rat).Mul(value(a), value(b))
	return x.Quo(x, value(c))
}

func TestFiguresAreThoseOfTheLastDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	percent := func(last, before string) string {
		p := ratio(t, last, "100", before)
		return plain(p.Sub(p, big.NewRat(100, 1)).FloatString(4))
	}
	yuan := func(amount string) string {
		return plain(ratio(t, amount, "7.733", "1.1").FloatString(2))
	}
	for query, want := range map[string]string{
		"key=i:fgi:alternative":              "23 23 23 23 23 15 3",
		"key=i:FGI:Alternative&currency=usd": "23 23 23 23 23 15 3",
		"key=i:vix:cboe":                     "15.99 16.82 18.7 15.82 15.99 " + percent("15.99", "18") + " -2.01",
		"symbol=i:blx:bnc":                   "65535.51 64250.5 66000 64000 65535.51 " + percent("65535.51", "64250.5") + " 1285.01",
		"key=i:blx:bnc&currency=USD":         "65535.51 64250.5 66000 64000 65535.51 " + percent("65535.51", "64250.5") + " 1285.01",
		"key=i:blx:bnc&currency=cny":         yuan("65535.51") + " " + yuan("64250.5") + " " + yuan("66000") + " " + yuan("64000") + " " + yuan("65535.51") + " " + percent("65535.51", "64250.5") + " " + yuan("1285.01"),
		"key=i:mstr:nasdaq":                  "315 306 320 300 315 " + percent("315", "305") + " 10",
		"key=i:0434:hkex":                    "2.55 2.5 2.6 2.4 2.55 null null",
		"key=i:0434:hkex&currency=usd":       "- null null null null null null", // no rate of that currency is known
		"key=i:mine:house":                   "5 5 5 5 5 null null",
		"key=i:old:house":                    "- null null null null null null", // nothing of it for two weeks
		"key=i:zero:house":                   "5 5 5 5 5 null 5",
		"key=t:usdcny:sina":                  "7.03 7.03 7.03 7.03 7.03 " + percent("7.03", "7.2") + " -0.17",
		"key=t:usdcny&currency=usd":          "7.03 7.03 7.03 7.03 7.03 " + percent("7.03", "7.2") + " -0.17",
		"key=t:eurusd:ecb":                   "1.1 1.1 1.1 1.1 1.1 " + percent("1.1", "1.08") + " 0.02",
	} {
		f := apitest.Data[*catalog.IndexFigures](t, w.Get(t, w.SubKey, pricePath+"?"+query))
		if f == nil {
			t.Errorf("%s: null", query)
			continue
		}
		got := f.Price
		for _, text := range []*string{f.Open, f.High, f.Low, f.Close, f.Degree24H, f.Change24H} {
			if text == nil {
				got += " null"
			} else {
				got += " " + *text
			}
		}
		if got != want || f.Up != nil || f.Down != nil {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestOfAKeyThatNobodyKnowsThereIsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	for _, key := range []string{"i:nothing:house", "nothing", "t:usdcnh:sina", "t:usdusd", "t:", "t:usdcnyx:sina"} {
		for _, path := range []string{pricePath, infoPath} {
			a := w.Get(t, w.SubKey, path+"?key="+key)
			if a.Status != http.StatusOK || !strings.Contains(string(a.Body), `"success":true`) || !strings.Contains(string(a.Body), `"data":null`) {
				t.Errorf("%s of %s: %d %s", path, key, a.Status, a.Body)
			}
		}
	}
}

func TestWhatIndexesAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	for query, want := range map[string]string{
		"key=i:sz399001:szse":              "SZSE 深证成指 500",
		"key=i:sz399001:szse&lan=en":       "SZSE Shenzhen Component 500",
		"key=i:mine:house":                 "MINE MINE -",
		"key=t:usdcny:sina":                "USDCNY USDCNY -",
		"dbkey=i:fgi:alternative&lan=cn":   "FGI 恐惧与贪婪指数 -",
		"key=i:fgi:alternative&unknown=no": "FGI 恐惧与贪婪指数 -",
	} {
		text := apitest.Data[*catalog.IndexText](t, w.Get(t, w.SubKey, infoPath+"?"+query))
		if text == nil {
			t.Errorf("%s: null", query)
			continue
		}
		amount := "-"
		if text.Amount != nil {
			amount = *text.Amount
		}
		if got := text.Show + " " + text.Name + " " + amount; got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.Get(t, w.SubKey, pricePath).Refused(t, http.StatusBadRequest, "missing key")
	w.Get(t, w.SubKey, pricePath+"?key=a%20b").Refused(t, http.StatusBadRequest, "key")
	w.Get(t, w.SubKey, pricePath+"?key=i:vix:cboe&currency=gold").Refused(t, http.StatusBadRequest, "currency", "cny, usd, eur, hkd, jpy")
	w.Get(t, w.SubKey, infoPath+"?key=i:vix:cboe&lan=tc").Refused(t, http.StatusBadRequest, "lan", "cn")
}

// What no source has spoken of is not answered with nothing.
func TestWithoutASource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Deliver(t)
	for _, path := range []string{listPath, pricePath + "?key=i:vix:cboe", infoPath + "?key=i:vix:cboe"} {
		w.Get(t, w.SubKey, path).Refused(t, http.StatusServiceUnavailable, "indexes are not configured in this deployment")
	}
	w.Get(t, w.SubKey, pricePath+"?key=t:usdcny:sina").Refused(t, http.StatusServiceUnavailable, "exchange rates are not configured in this deployment")
}
