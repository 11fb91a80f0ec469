package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/companies"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/data/treasuries"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// published is a row of a table of companies that hold bitcoins, as somebody publishes it: its
// figures are fractions, nil where the table has none.
type published struct {
	name, ticker                                      string
	held, value, marketCap, perShare, cost, ngu, mnav *big.Rat // dollars in millions
	share                                             *big.Rat // percent
}

func table(t *testing.T, text string) (rows []published) {
	t.Helper()
	all := must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	for _, line := range all[1:] {
		of := func(name string) *big.Rat {
			for i, head := range all[0] {
				if r, ok := new(big.Rat).SetString(line[i]); ok && head == name {
					return r
				}
			}
			return nil
		}
		rows = append(rows, published{
			line[1], line[2], of("btc"), of("value_usd_m"), of("market_cap_usd_m"), of("btc_per_share"), of("cost_basis_usd_m"), of("ngu_x"), of("mnav"), of("share_of_21m_pct"),
		})
	}
	return rows
}

var million = big.NewRat(1_000_000, 1)

// fillTable publishes what a table says of holdings, costs, numbers of shares and market values;
// ratios are left for the product to find.
func (w *world) fillTable(t *testing.T, rows []published) {
	t.Helper()
	var (
		v           treasuries.View
		filed       companies.View
		shares      indices.View
		held, value = new(big.Rat), new(big.Rat)
	)
	times := func(r *big.Rat, by *big.Rat) string { return new(big.Rat).Mul(r, by).FloatString(8) }
	for i, r := range rows {
		held, value = held.Add(held, r.held), value.Add(value, r.value)
		key := "i:" + strings.ToLower(r.ticker) + ":recorded"
		line := map[string]string{"coin": "BTC", "name": r.name, "key": key, "entity_type": "public-companies", "date": w.day(30), "type": "holding", "amount": r.held.FloatString(8)}
		if r.cost != nil {
			line["cost_usd"] = times(r.cost, million)
		}
		v.Entries = append(v.Entries, must.Get(treasuries.Parse(must.Get(json.Marshal(line))(t), drop.Place{Time: w.Now().UnixMilli(), File: "recorded.ndjson", Line: int64(i) + 1}))(t))
		number := big.NewRat(1, 1)
		if r.perShare != nil && r.perShare.Sign() > 0 {
			number.Quo(r.held, r.perShare)
		}
		filed.Companies = append(filed.Companies, companies.Company{Key: key, Entry: &companies.Entry{Key: key, Shares: number.FloatString(8)}})
		if r.marketCap != nil {
			price := times(r.marketCap, new(big.Rat).Quo(million, number))
			shares.Indices = append(shares.Indices, indices.Index{Key: key, Days: indices.Days{{Date: w.day(1), Open: price, High: price, Low: price, Close: price, Unit: "USD"}}})
		}
	}
	storetest.Publish(t, w.views, treasuries.Published, v)
	storetest.Publish(t, w.views, companies.Published, filed)
	storetest.Publish(t, w.views, indices.Published, shares)
	storetest.Publish(t, w.views, coins.Published, coins.View{Coins: []coins.Coin{{Key: "bitcoin", Listing: &coins.Listing{Symbol: "BTC", Rank: 1}}}})
	storetest.Publish(t, w.views, cointickers.Published, cointickers.View{Tickers: []cointickers.Ticker{
		{Key: "bitcoin", Time: w.Now().UnixMilli(), PriceUSD: times(value, new(big.Rat).Quo(million, held))},
	}})
}

// compare asks for all holders of bitcoins and compares the ratios with those that were published,
// as far as figures that were rounded to millions and to a few places allow. It returns how many
// were compared.
func (w *world) compare(t *testing.T, rows []published) map[string]int {
	t.Helper()
	found := map[string]catalog.TreasuryEntity{}
	for page := 1; len(found) < len(rows); page++ {
		answer := apitest.Data[catalog.TreasuryEntityPage](t, w.post(t, "/entities", map[string]any{"coin": "BTC", "page_size": 100, "page": page}))
		if len(answer.List) == 0 || answer.Total != int64(len(rows)) {
			t.Fatalf("page %d of %d rows, of %d", page, answer.Total, len(rows))
		}
		for _, e := range answer.List {
			found[e.Name] = e
		}
	}
	compared := map[string]int{}
	for _, r := range rows {
		e := found[r.name]
		// What was rounded by half a million of a value, or by half of the last place of a ratio, and a
		// hundredth for prices of other moments.
		check := func(what string, got *json.Number, want, rounded *big.Rat, place int64) {
			if want == nil || want.Sign() == 0 || rounded == nil || rounded.Cmp(big.NewRat(5, 1)) < 0 {
				return
			}
			compared[what]++
			if got == nil {
				t.Errorf("%s: %s is not known, want %s", r.name, what, want.FloatString(4))
				return
			}
			off := new(big.Rat).Sub(must.Get(fraction(got.String()))(t), want)
			allowed := new(big.Rat).Add(big.NewRat(1, 100), new(big.Rat).Quo(big.NewRat(1, 1), rounded)) // both values are rounded
			if allowed.Mul(allowed, want).Add(allowed, big.NewRat(1, place)); off.Abs(off).Cmp(allowed) > 0 {
				t.Errorf("%s: %s is %s, want %s", r.name, what, got, want.FloatString(4))
			}
		}
		smaller := r.value
		if r.marketCap != nil && r.marketCap.Cmp(smaller) < 0 {
			smaller = r.marketCap
		}
		exact := big.NewRat(1_000_000_000, 1)
		check("mnav", e.MNAV, r.mnav, smaller, 1000)
		check("ngu", e.NGU, r.ngu, r.cost, 100)
		check("btc_share", e.BTCShare, r.perShare, exact, 100_000_000)
		if r.share != nil {
			check("share", e.Share, new(big.Rat).Quo(r.share, big.NewRat(100, 1)), exact, 10_000)
		}
	}
	return compared
}

func fraction(text string) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%q is no number", text)
	}
	return r, nil
}

func TestRatiosOfAPublishedTable(t *testing.T) {
	t.Parallel()
	rows := table(t, `rank,name,ticker,country,btc,value_usd_m,market_cap_usd_m,enterprise_value_usd_m,btc_per_share,cost_basis_usd_m,ngu_x,mnav,btc_to_market_cap_pct,share_of_21m_pct
1,Acme Holdings,ACME,US,21000,2100,4200,,0.00042,1050,2.00,2.000,50.00,0.10
2,Mine & Co,MINE.X,CA,500.5,50,25,,,,,0.500,200.0,0.00
3,Nothing Inc,NONE,US,0,0,77,,,,,,,0.00
`)
	w := newWorld(t)
	w.fillTable(t, rows)
	if got := fmt.Sprint(w.compare(t, rows)); got != "map[btc_share:1 mnav:2 ngu:1 share:1]" {
		t.Error(got)
	}
}

func TestRatiosOfTheRecordedTable(t *testing.T) {
	t.Parallel()
	rows := table(t, testenv.RecordingText(t, "treasury/btc_entities_2025-07.csv"))
	w := newWorld(t)
	w.fillTable(t, rows)
	compared := w.compare(t, rows)
	if len(rows) != 142 || compared["mnav"] < 40 || compared["ngu"] < 20 {
		t.Errorf("%d rows, compared %v", len(rows), compared)
	}
	t.Logf("%d rows, compared %v", len(rows), compared)
}
