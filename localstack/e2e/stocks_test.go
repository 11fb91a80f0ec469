package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/localstack/sim"
	"quotary/localstack/sim/coinsite"
	"quotary/localstack/sim/indexsite"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// treasuries is where treasuries are.
const treasuries = "/upgrade/v2/coin-treasuries"

// indexSite shows what the simulated source of shares, filings and holdings shows, as of when the stack
// began: the drop of what entities hold is of then.
func indexSite(t *testing.T) *indexsite.Site {
	t.Helper()
	if world.Coins == nil {
		t.Skip("no simulated source of shares")
	}
	return indexsite.New(sim.Config{Now: func() time.Time { return began }})
}

// near reports whether a figure is that of a fraction, but for its last places.
func near(t *testing.T, got *json.Number, want *big.Rat) bool {
	t.Helper()
	if got == nil {
		return false
	}
	off := new(big.Rat).Sub(exactly(t, got.String()), want)
	return off.Abs(off).Cmp(big.NewRat(1, 10_000)) < 0
}

// TestSharesCostWhatTheirSourceSays asks for shares in all ways that there are, and compares them
// with the last two days of their source and with what companies have filed.
func TestSharesCostWhatTheirSourceSays(t *testing.T) {
	t.Parallel()
	site := indexSite(t)
	key := world.State.Demo.SubKey
	const base = "/upgrade/v2/crypto_stock"
	symbols := map[string]string{"i:mstr:nasdaq": "mstr.us", "i:coin:nasdaq": "coin.us", "i:gbtc:nasdaq": "gbtc.us", "i:ethe:nasdaq": "ethe.us", "i:0434:hkex": "0434.hk"}
	filed := map[string]indexsite.Filing{"i:mstr:nasdaq": site.Filed(1), "i:coin:nasdaq": site.Filed(2)}
	last := func(key string) (day, before indexsite.Day) {
		days := indexsite.New(sim.Config{}).Days(symbols[key]) // now: a day may begin while the tests run
		return days[len(days)-1], days[len(days)-2]
	}
	type quote struct {
		Ticker    string
		Name      string       `json:"company_name"`
		Price     json.Number  `json:"last_price"`
		Open      json.Number  `json:"open"`
		High      json.Number  `json:"high"`
		Low       json.Number  `json:"low"`
		MarketCap *json.Number `json:"market_cap"`
		Start     int64        `json:"start_ts"`
	}
	testenv.Until(t, "shares cost what they did on the last day of their source", func() bool {
		quotes := data[[]quote](t, call(t, 200, key, "GET", base+"/quotes?tickers=i:0434:hkex,nobody,MSTR,i:coin:nasdaq,i:mstr:nasdaq", nil))
		if len(quotes) != 3 || quotes[0].Ticker != "i:0434:hkex" || quotes[1].Ticker != "i:mstr:nasdaq" || quotes[2].Ticker != "i:coin:nasdaq" {
			t.Fatalf("quotes of three shares: %+v", quotes)
		}
		for _, q := range quotes {
			day, _ := last(q.Ticker)
			if q.Price.String() != day.Close || q.Open.String() != day.Open || q.High.String() != day.High || q.Low.String() != day.Low || time.UnixMilli(q.Start).UTC().Format(time.DateOnly) != day.Date {
				return false
			}
			company, known := filed[q.Ticker]
			if !known && q.MarketCap == nil {
				continue
			}
			if q.Name != company.Name || !near(t, q.MarketCap, new(big.Rat).Mul(exactly(t, company.Shares), exactly(t, day.Close))) {
				return false
			}
		}
		return true
	})
	profile := data[struct {
		Name   string       `json:"company_name"`
		Ticker string       `json:"ticker"`
		Market string       `json:"market"`
		FDV    *json.Number `json:"fdv"`
		High   *json.Number `json:"annual_high"`
	}](t, call(t, 200, key, "GET", base+"/company/i:mstr:nasdaq", nil))
	highest := new(big.Rat)
	for _, d := range site.Days("mstr.us") {
		if d.Date > began.AddDate(0, 0, -364).Format(time.DateOnly) && exactly(t, d.High).Cmp(highest) > 0 {
			highest = exactly(t, d.High)
		}
	}
	if profile.Name != filed["i:mstr:nasdaq"].Name || profile.Ticker != "MSTR" || profile.Market != "nasdaq" || profile.FDV == nil || !near(t, profile.High, highest) {
		t.Errorf("%+v, the highest of a year is %s", profile, highest.FloatString(2))
	}
	type gainer struct {
		Key      string
		Change   json.Number
		Rate     json.Number `json:"change_rate"`
		Market   string
		Currency string
	}
	testenv.Until(t, "shares are ranked by their change", func() bool {
		all := data[[]gainer](t, call(t, 200, key, "GET", base+"/top-gainer?limit=30", nil))
		posted := data[[]gainer](t, call(t, 200, key, "POST", base+"/top-gainer", map[string]any{"us_stock": "false", "limit": "30"}))
		if len(all) != len(symbols) || !slices.Equal(all, posted) {
			t.Fatalf("%+v, posted %+v", all, posted)
		}
		for i, g := range all {
			day, before := last(g.Key)
			change := new(big.Rat).Sub(exactly(t, day.Close), exactly(t, before.Close))
			rate := new(big.Rat).Quo(new(big.Rat).Mul(change, big.NewRat(100, 1)), exactly(t, before.Close))
			if hk := g.Key == "i:0434:hkex"; (g.Market == "HK") != hk || (g.Currency == "HKD") != hk {
				t.Errorf("%+v", g)
			}
			if !near(t, &g.Change, change) || !near(t, &g.Rate, rate) || i > 0 && exactly(t, g.Rate.String()).Cmp(exactly(t, all[i-1].Rate.String())) > 0 {
				return false
			}
		}
		return true
	})
}

// TestHoldingsFollowFromTheirHistory adds up the drop of the simulated holders by its lines, and
// compares what they hold, what that is worth, and what is listed apart of trusts.
func TestHoldingsFollowFromTheirHistory(t *testing.T) {
	t.Parallel()
	site := indexSite(t)
	key := world.State.Demo.SubKey
	held, changes, reported := map[string]*big.Rat{}, map[string]int{}, map[string]string{} // by coin and name
	for line := range bytes.Lines(site.Treasuries()) {
		var l map[string]string
		must.Do(t, json.Unmarshal(line, &l))
		who, amount := l["coin"]+" "+l["name"], exactly(t, l["amount"])
		if held[who] == nil {
			held[who] = new(big.Rat)
		}
		before := new(big.Rat).Set(held[who])
		switch l["type"] {
		case "buy":
			held[who].Add(before, amount)
		case "sell":
			held[who].Sub(before, amount)
		default:
			held[who], reported[who] = amount, l["date"]
		}
		if held[who].Cmp(before) != 0 {
			changes[who]++
		}
	}
	who := "BTC " + site.Filed(2).Name // which filed what it holds
	held[who], changes[who] = exactly(t, site.Held(2)), 2
	type entity struct {
		Coin, Name string
		Type       string       `json:"entity_type"`
		Held       json.Number  `json:"hold_amount"`
		Value      *json.Number `json:"in_usd"`
		MarketCap  *json.Number `json:"market_cap"`
		MNAV       *json.Number `json:"mnav"`
	}
	type page[T any] struct {
		List  []T
		Total int
	}
	list := func() []entity {
		return data[page[entity]](t, call(t, 200, key, "POST", treasuries+"/entities", map[string]any{"page_size": "100"})).List
	}
	testenv.Until(t, "all of the drop and of the filings is held, and has a value", func() bool {
		all := list()
		return len(all) >= len(held) && !slices.ContainsFunc(all, func(e entity) bool { return e.Value == nil })
	})
	for _, e := range list() {
		who := e.Coin + " " + e.Name
		if held[who] == nil {
			continue // of another test
		}
		if exactly(t, e.Held.String()).Cmp(held[who]) != 0 {
			t.Errorf("%s holds %s, by its history %s", who, e.Held, held[who].FloatString(1))
		}
		if e.MarketCap != nil && !near(t, e.MNAV, new(big.Rat).Quo(exactly(t, e.MarketCap.String()), exactly(t, e.Value.String()))) {
			t.Errorf("%+v", e)
		}
		type change struct {
			Name       string
			Date       int64
			Change     json.Number
			Price      *json.Number
			StockPrice *json.Number `json:"stock_price"`
		}
		got := data[page[change]](t, call(t, 200, key, "POST", treasuries+"/history", map[string]any{"coin": e.Coin, "name": e.Name, "page_size": 100}))
		sum := new(big.Rat)
		for _, c := range got.List {
			sum.Add(sum, exactly(t, c.Change.String()))
			if recent := time.UnixMilli(c.Date).After(began.AddDate(-1, 0, 0)); e.Name == "Simulated Treasury Company" && recent && (c.StockPrice == nil || c.Price == nil) {
				t.Errorf("the price of a share or a coin is not known on a day of trade: %+v", c)
			}
		}
		if got.Total != changes[who] || sum.Cmp(held[who]) != 0 {
			t.Errorf("%s: %d changes, want %d; they add up to %s of %s", who, got.Total, changes[who], sum.FloatString(1), held[who].FloatString(1))
		}
	}
	trusts := data[struct {
		Detail map[string]struct {
			Total     json.Number
			DayChange string `json:"day_change"`
		}
	}](t, call(t, 200, key, "GET", "/v2/mix/gray-scale?coins=bitcoin,eth", nil)).Detail
	if len(trusts) != 2 || exactly(t, trusts["bitcoin"].Total.String()).Cmp(held["BTC Simulated Bitcoin Trust"]) != 0 || trusts["eth"].DayChange == "" {
		t.Errorf("trusts hold %+v", trusts)
	}
}

// TestCoinsOfATabCostWhatTheirTickerSays asks for each tab of themes, in both currencies.
func TestCoinsOfATabCostWhatTheirTickerSays(t *testing.T) {
	t.Parallel()
	if world.Coins == nil {
		t.Skip("no simulated source of prices")
	}
	key := world.State.Demo.SubKey
	type coin struct {
		Key    string `json:"key"`
		Price  string `json:"price"`
		Volume string `json:"vol24H"`
		Traded string `json:"trade24H"`
		Degree string `json:"degree24H"`
	}
	tab := func(name, currency string) []coin {
		return data[struct{ List []coin }](t, call(t, 200, key, "GET", fmt.Sprintf("/v2/market/hotTabCoins?key=%s&currency=%s", name, currency), nil)).List
	}
	for _, name := range []string{"gamefi", "anonymous", "market", "web", "newcoin", "stable", "defi"} {
		for _, currency := range []string{"usd", "cny"} {
			testenv.Until(t, "the coins of "+name+" cost what their tickers say in "+currency, func() bool {
				listed := tab(name, currency)
				var keys []string
				for _, c := range listed {
					keys = append(keys, c.Key)
				}
				if len(keys) == 0 {
					return false
				}
				tickers := data[[]coinTicker](t, call(t, 200, key, "GET", "/v2/coin/ticker?coin_list="+strings.Join(keys, ","), nil))
				var want []coin
				for _, c := range tickers {
					if currency == "usd" {
						want = append(want, coin{c.Key, c.PriceUSD, c.Vol24h, c.Trade24hUSD, c.Degree24hUSD})
					} else {
						want = append(want, coin{c.Key, c.PriceCNY, c.Vol24h, c.Trade24hCNY, c.Degree24hCNY})
					}
				}
				return slices.Equal(listed, want)
			})
		}
	}
	if defi := tab("defi", "usd"); !slices.ContainsFunc(defi, func(c coin) bool { return slices.Contains(coinsite.Categories["decentralized-finance-defi"], c.Key) }) {
		t.Errorf("decentralised finance is %+v", defi)
	}
	if none := tab("nobody", "usd"); len(none) > 0 {
		t.Errorf("a tab that there is not: %+v", none)
	}
}
