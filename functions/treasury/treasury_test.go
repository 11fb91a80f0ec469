package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/companies"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const base = "/upgrade/v2/coin-treasuries"

type world struct {
	*apitest.World
	views *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Treasury, func(open *apitest.World) {
		w.views = open.Views(t)
		newReader(open.Series(), w.views, open.Now).register(open.Family)
	})
	return w
}

// day is the day so many days ago.
func (w *world) day(ago int) string { return w.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }

// fill publishes what four entities of our own making hold, and prices.
func (w *world) fill(t *testing.T) {
	t.Helper()
	now := w.Now().UnixMilli()
	var v treasuries.View
	add := func(name, key, kind string, lines ...string) {
		for _, line := range lines {
			words := strings.Fields(line) // coin type days-ago amount cost
			e := map[string]string{"name": name, "key": key, "entity_type": kind, "coin": words[0], "type": words[1], "amount": words[3]}
			var ago int
			must.Get(fmt.Sscan(words[2], &ago))(t)
			e["date"] = w.day(ago)
			if len(words) > 4 {
				e["cost_usd"] = words[4]
			}
			if len(words) > 5 {
				e["stock_price"] = words[5]
			}
			place := drop.Place{Time: now - int64(ago)*3_600_000, File: "mine.ndjson", Line: int64(len(v.Entries) + 1)}
			v.Entries = append(v.Entries, must.Get(treasuries.Parse(must.Get(json.Marshal(e))(t), place))(t))
		}
	}
	add("Acme Holdings", "i:acme:nasdaq", "public-companies", "BTC buy 400 1000 40000000 12.5", "BTC buy 60 500 45000000", "BTC sell 20 300 31000000", "ETH holding 90 2500")
	add("Republic of Atlantis", "", "governments", "BTC holding 300 7000", "BTC holding 10 7250.5")
	add("Mine & Co", "i:mine:hkex", "miners", "BTC buy 100 12.25 1000000")
	v.Filed = []treasuries.Filed{{Key: "i:filer:nyse", Name: "FILER LTD", Coin: "ETH", Date: w.day(45), Amount: "1200", On: w.day(15)}}
	storetest.Publish(t, w.views, treasuries.Published, v)
	storetest.Publish(t, w.views, coins.Published, coins.View{Coins: []coins.Coin{
		{Key: "bitcoin", Listing: &coins.Listing{Symbol: "BTC", Rank: 1}}, {Key: "ethereum", Listing: &coins.Listing{Symbol: "ETH", Rank: 2, Supply: "120700000"}},
	}})
	storetest.Publish(t, w.views, cointickers.Published, cointickers.View{Time: now, Tickers: []cointickers.Ticker{
		{Key: "bitcoin", Time: now, PriceUSD: "90000.5", SupplyUSD: "1790000000000"}, {Key: "ethereum", Time: now, PriceUSD: "3000", SupplyUSD: "362100000000"},
	}})
	quote := func(key, unit, close string) indices.Index {
		return indices.Index{Key: key, Days: indices.Days{{Date: w.day(3), Open: close, High: close, Low: close, Close: close, Unit: unit}}}
	}
	storetest.Publish(t, w.views, indices.Published, indices.View{Indices: []indices.Index{quote("i:acme:nasdaq", "USD", "25.5"), quote("i:mine:hkex", "HKD", "3")}})
	storetest.Publish(t, w.views, companies.Published, companies.View{Companies: []companies.Company{
		{Key: "i:acme:nasdaq", Filing: &companies.Filing{Shares: market.Fact{Value: "8000000"}, Cash: market.Fact{Value: "5000000"}, Debt: market.Fact{Value: "60000000.5"}}},
		{Key: "i:mine:hkex", Entry: &companies.Entry{Key: "i:mine:hkex", Shares: "700000"}},
	}})
}

func (w *world) post(t *testing.T, path string, body map[string]any) apitest.Answer {
	t.Helper()
	return w.Call(t, w.SubKey, http.MethodPost, base+path, body)
}

func TestWhatEntitiesHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.post(t, "/entities", map[string]any{"coin": "BTC"}).Golden(t, "entities")
	names := func(body map[string]any) string {
		page, list := apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", body)), []string{}
		for _, e := range page.List {
			list = append(list, e.Coin+" "+strings.Fields(e.Name)[0])
		}
		return fmt.Sprint(strings.Join(list, ", "), " of ", page.Total)
	}
	for _, tt := range []struct {
		body map[string]any
		want string
	}{
		{map[string]any{}, "BTC Republic, BTC Acme, ETH Acme, ETH FILER, BTC Mine of 5"},
		{map[string]any{"coin": "eth"}, "ETH Acme, ETH FILER of 2"},
		{map[string]any{"coin": "BTC", "sort_order": "asc"}, "BTC Mine, BTC Acme, BTC Republic of 3"},
		{map[string]any{"coin": "BTC", "page": "2", "page_size": 2}, "BTC Mine of 3"},
		{map[string]any{"coin": "BTC", "page": 9007199254740993}, " of 3"},
		{map[string]any{"entity_type": "Governments"}, "BTC Republic of 1"},
		{map[string]any{"name": "mine"}, "BTC Mine of 1"},
		{map[string]any{"ticker": "acme"}, "BTC Acme, ETH Acme of 2"},
		{map[string]any{"start_date": w.day(20), "end_date": w.day(10)}, "BTC Republic, BTC Acme of 2"},
		{map[string]any{"start_date": w.day(9)}, " of 0"},
		{map[string]any{"coin": "XYZ"}, " of 0"},
		{map[string]any{"coin": "BTC", "unknown": 1, "name": nil}, "BTC Republic, BTC Acme, BTC Mine of 3"},
	} {
		if got := names(tt.body); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.body, got, tt.want)
		}
	}
	w.post(t, "/entities", map[string]any{"page_size": 101}).Refused(t, http.StatusBadRequest, "page_size", "100")
	w.post(t, "/entities", map[string]any{"page": 0}).Refused(t, http.StatusBadRequest, "page", "1")
	w.post(t, "/entities", map[string]any{"sort_order": "up"}).Refused(t, http.StatusBadRequest, "sort_order", "asc")
	w.post(t, "/entities", map[string]any{"start_date": "yesterday"}).Refused(t, http.StatusBadRequest, "start_date", "ISO 8601")
	w.post(t, "/entities", map[string]any{"coin": "a b"}).Refused(t, http.StatusBadRequest, "coin")
	w.post(t, "/entities", map[string]any{"name": strings.Repeat("x", 101)}).Refused(t, http.StatusBadRequest, "name", "100")
}

// Market values against arithmetic of another kind, from the figures that are published.
func TestMarketValuesAreThoseOfThePrices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	list := apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", map[string]any{"coin": "BTC", "ticker": "ACME"})).List
	if len(list) != 1 {
		t.Fatalf("%d entities", len(list))
	}
	rat := func(text string) *big.Rat { r, _ := new(big.Rat).SetString(text); return r }
	held := rat("1200") // 1000 + 500 - 300
	value := new(big.Rat).Mul(held, rat("90000.5"))
	marketCap := new(big.Rat).Mul(rat("8000000"), rat("25.5"))
	cost := new(big.Rat).Quo(new(big.Rat).Mul(rat("85000000"), rat("1200")), rat("1500"))
	e := &list[0]
	for name, f := range map[string]struct {
		got  *json.Number
		want *big.Rat
	}{
		"hold_amount": {&e.HoldAmount, held}, "in_usd": {e.InUSD, value}, "market_cap": {e.MarketCap, marketCap},
		"enterprise_value": {e.EnterpriseValue, new(big.Rat).Add(marketCap, rat("55000000.5"))}, "share": {e.Share, new(big.Rat).Quo(held, rat("21000000"))},
		"btc_share": {e.BTCShare, new(big.Rat).Quo(held, rat("8000000"))}, "cost_basis": {e.CostBasis, cost}, "ngu": {e.NGU, new(big.Rat).Quo(value, cost)},
		"mnav": {e.MNAV, new(big.Rat).Quo(marketCap, value)}, "mcap": {e.MCap, new(big.Rat).Quo(value, marketCap)},
		"days30": {&e.Days30, rat("-300")}, "last": {e.Last, rat("-300")},
	} {
		if f.got == nil {
			t.Errorf("%s is not known", name)
			continue
		}
		off := new(big.Rat).Sub(rat(f.got.String()), f.want)
		if off.Abs(off).Cmp(rat("0.000000006")) > 0 {
			t.Errorf("%s is %s, want %s", name, *f.got, f.want.FloatString(9))
		}
	}
	// A day later the price of bitcoin is too old, and eleven days later that of the share.
	w.Move(25 * time.Hour)
	if e := apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", map[string]any{"coin": "BTC", "ticker": "ACME"})).List[0]; e.InUSD != nil || e.MNAV != nil || e.MarketCap == nil {
		t.Errorf("by an old price %+v", e)
	}
	w.Move(11 * 24 * time.Hour)
	if e := apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", map[string]any{"coin": "BTC", "ticker": "ACME"})).List[0]; e.MarketCap != nil || e.EnterpriseValue != nil {
		t.Errorf("by an old price of the share %+v", e)
	}
}

func TestWhatEntitiesBoughtAndSold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.post(t, "/history", map[string]any{"coin": "BTC"}).Golden(t, "history")
	changes := func(body map[string]any) string {
		page, list := apitest.Data[catalog.TreasuryChangePage](t, w.post(t, "/history", body)), []string{}
		for _, c := range page.List {
			list = append(list, c.Change.String())
		}
		return fmt.Sprint(strings.Join(list, " "), " of ", page.Total)
	}
	for _, tt := range []struct {
		body map[string]any
		want string
	}{
		{map[string]any{}, "250.5 -300 1200 500 2500 12.25 7000 1000 of 8"},
		{map[string]any{"coin": "btc", "name": "acme"}, "-300 500 1000 of 3"},
		{map[string]any{"coin": "BTC", "name": "acme", "sort_order": "asc"}, "1000 500 -300 of 3"},
		{map[string]any{"type": "Sell"}, "-300 of 1"},
		{map[string]any{"type": "buy", "coin": "BTC", "page_size": "2", "page": 2}, "12.25 7000 of 5"},
		{map[string]any{"coin": "BTC", "sort_by": "balance"}, "250.5 7000 500 -300 1000 12.25 of 6"},
		{map[string]any{"coin": "BTC", "sort_by": "price", "sort_order": "asc"}, "1000 12.25 500 -300 7000 250.5 of 6"},
		{map[string]any{"coin": "BTC", "sort_by": "total_cost_usd"}, "500 -300 1000 12.25 250.5 7000 of 6"},
		{map[string]any{"coin": "BTC", "start_date": w.day(100), "end_date": w.day(60)}, "500 12.25 of 2"},
		{map[string]any{"name": "nobody"}, " of 0"},
	} {
		if got := changes(tt.body); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.body, got, tt.want)
		}
	}
	w.post(t, "/history", map[string]any{"type": "Hold"}).Refused(t, http.StatusBadRequest, "type", "Buy")
	w.post(t, "/history", map[string]any{"sort_by": "name"}).Refused(t, http.StatusBadRequest, "sort_by", "date")
}

// The price of a share is what was said with the change, else that of the day, or of the last one
// before it on which somebody traded.
func TestWhatASharePurchasedCoinsWithCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	months := map[store.SeriesAt]indices.Days{}
	for ago, price := range map[int]string{400: "99", 60: "26.5", 22: "31.25"} {
		at, _ := indices.At("i:acme:nasdaq", w.day(ago))
		months[at], _ = months[at].Add(indices.Day{Date: w.day(ago), Close: price, Unit: "USD"})
	}
	for at, days := range months {
		storetest.PutSeries(t, w.Series(), indices.Row(at, days))
	}
	var got []string
	for _, c := range apitest.Data[catalog.TreasuryChangePage](t, w.post(t, "/history", map[string]any{"coin": "BTC"})).List {
		price := "none"
		if c.StockPrice != nil {
			price = c.StockPrice.String()
		}
		got = append(got, price)
	}
	if fmt.Sprint(got) != "[none 31.25 26.5 none none 12.5]" { // of Atlantis, thrice of Acme, with one of a share without days and one of Atlantis between
		t.Errorf("%v", got)
	}
}

// The price of a coin is that of coin/ticker: of its pair where that is followed.
func TestCoinsAreValuedByTheirFollowedPair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	pair := market.Pair{Key: "btcusdt:binance", Platform: "binance", Base: "BTC", Quote: "USDT"}
	storetest.Publish(t, w.views, pairs.Published, pairs.View{Pairs: []pairs.Pair{{Pair: pair, Followed: true}}})
	storetest.Publish(t, w.views, pairtickers.Published, pairtickers.View{Tickers: []pairtickers.Ticker{
		{Pair: pair.Key, Time: w.Now().UnixMilli(), Last: market.DecimalFromInt(91_000), Open: market.DecimalFromInt(90_000)},
	}})
	e := apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", map[string]any{"coin": "BTC", "ticker": "ACME"})).List[0]
	sum := apitest.Data[catalog.TreasuryTotals](t, w.Get(t, w.SubKey, base+"/summary"))
	if e.InUSD == nil || *e.InUSD != "109200000" || *e.MNAV != "1.86813187" || *sum.TotalValueUSD != "770110250" {
		t.Errorf("%+v, %+v", e, sum)
	}
}

// A share that is not in US dollars has a market value by the reference rate of now.
func TestSharesOfOtherCurrenciesHaveAMarketValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	var known rates.View
	dec := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	known.Add(market.DayRates{Date: w.day(4), USD: dec("1.1"), CNY: dec("7.7"), Others: map[string]market.Decimal{"hkd": dec("8.8")}})
	storetest.Publish(t, w.views, rates.Published, known)
	e := apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", map[string]any{"ticker": "MINE"})).List[0]
	if e.MarketCap == nil || *e.MarketCap != "262500" || e.MNAV == nil || e.EnterpriseValue != nil { // 700,000 of 3 HKD, of 8 for a US dollar
		t.Errorf("%+v", e)
	}
}

// The purchases and sales of an entity add up to what it holds, by what the endpoints answer.
func TestTheHistoryOfAnEntityAddsUpToWhatItHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	sums := map[string]*big.Rat{}
	for _, c := range apitest.Data[catalog.TreasuryChangePage](t, w.post(t, "/history", map[string]any{"page_size": 100, "sort_order": "asc"})).List {
		sum := sums[c.Coin+c.Name]
		if sum == nil {
			sum = new(big.Rat)
			sums[c.Coin+c.Name] = sum
		}
		change, _ := new(big.Rat).SetString(c.Change.String())
		if balance, _ := new(big.Rat).SetString(c.Balance.String()); sum.Add(sum, change).Cmp(balance) != 0 {
			t.Errorf("%s %s: changes add up to %s, the balance is %s", c.Coin, c.Name, sum.RatString(), c.Balance)
		}
	}
	for _, e := range apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", map[string]any{"page_size": 100})).List {
		if held, _ := new(big.Rat).SetString(e.HoldAmount.String()); sums[e.Coin+e.Name] == nil || sums[e.Coin+e.Name].Cmp(held) != 0 {
			t.Errorf("%s %s holds %s", e.Coin, e.Name, e.HoldAmount)
		}
	}
}

func TestHoldingsOverTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.post(t, "/history/accumulated", map[string]any{"coin": "BTC", "interval": "month", "start_date": w.day(120)}).Golden(t, "accumulated")
	points := func(body map[string]any) []catalog.TreasuryPoint {
		return apitest.Data[[]catalog.TreasuryPoint](t, w.post(t, "/history/accumulated", body))
	}
	for first, second := range map[string]string{"day": "daily", "week": "weekly", "month": "monthly"} {
		a, b := points(map[string]any{"interval": first}), points(map[string]any{"interval": second})
		if !slices.EqualFunc(a, b, func(a, b catalog.TreasuryPoint) bool { return a.Timestamp == b.Timestamp && a.Balance == b.Balance }) || len(a) == 0 {
			t.Errorf("%s and %s differ: %d and %d points", first, second, len(a), len(b))
		}
	}
	all := points(map[string]any{"name": "acme holdings"})
	if len(all) != 401 || all[0].Date != w.day(400) || all[400].Date != w.day(0) || all[400].Balance != "1200" || all[399].Change != "0" || all[380].Change != "-300" {
		t.Errorf("%d points from %+v to %+v", len(all), all[0], all[len(all)-1])
	}
	sum := new(big.Rat)
	for _, p := range all {
		change, _ := new(big.Rat).SetString(p.Change.String())
		if balance, _ := new(big.Rat).SetString(p.Balance.String()); sum.Add(sum, change).Cmp(balance) != 0 || p.TotalCostUSD == nil {
			t.Fatalf("%+v: changes add up to %s", p, sum.RatString())
		}
	}
	for _, tt := range []struct {
		body map[string]any
		want string // number of points, the last balance
	}{
		{map[string]any{"ticker": "acme", "coin": "ETH"}, "91 2500"},
		{map[string]any{"entity": "i:mine:hkex"}, "101 12.25"},
		{map[string]any{"entity_type": "governments", "end_date": w.day(11)}, "290 7000"},
		{map[string]any{"start_date": w.day(500), "end_date": w.day(499)}, "2 0"},
		{map[string]any{"end_date": "9999-12-31"}, "401 8462.75"},
		{map[string]any{"name": "nobody"}, "0"},
	} {
		list := points(tt.body)
		got := fmt.Sprint(len(list))
		if len(list) > 0 {
			got += " " + list[len(list)-1].Balance.String()
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.body, got, tt.want)
		}
	}
	w.post(t, "/history/accumulated", map[string]any{"interval": "hour"}).Refused(t, http.StatusBadRequest, "interval", "day")
}

func TestTheLatestAndTheSum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.Get(t, w.SubKey, base+"/latest/entities?coin=BTC&limit=2").Golden(t, "latest-entities")
	w.Get(t, w.SubKey, base+"/latest/history?coin=BTC&limit=2").Golden(t, "latest-history")
	w.Get(t, w.SubKey, base+"/summary?coin=BTC").Golden(t, "summary")
	if sum := apitest.Data[catalog.TreasuryTotals](t, w.Get(t, w.SubKey, base+"/summary?coin=XYZ")); sum.TotalEntities != 0 || sum.TotalAmount != "0" || sum.TotalValueUSD != nil || sum.LastUpdateTime != nil {
		t.Errorf("of a coin that nobody holds: %+v", sum)
	}
	w.Get(t, w.SubKey, base+"/latest/history?limit=101").Refused(t, http.StatusBadRequest, "limit", "100")
}

// Without prices and filings holdings are what they are, and nothing is worth 0.
func TestWithoutPricesNothingHasAValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Publish(t, w.views, treasuries.Published, treasuries.View{Filed: []treasuries.Filed{{Key: "i:filer:nyse", Name: "FILER LTD", Coin: "ETH", Date: w.day(45), Amount: "1200", On: w.day(15)}}})
	e := apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", map[string]any{})).List[0]
	if e.HoldAmount != "1200" || e.InUSD != nil || e.Share != nil || e.MarketCap != nil || e.EnterpriseValue != nil || e.BTCShare != nil || e.CostBasis != nil || e.NGU != nil || e.MNAV != nil || e.MCap != nil {
		t.Errorf("%+v", e)
	}
}

func TestWhereNothingIsKnownTheReasonIsGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Deliver(t)
	w.Get(t, w.SubKey, base+"/summary").Refused(t, http.StatusServiceUnavailable, "holdings of coins are not configured in this deployment")
}
