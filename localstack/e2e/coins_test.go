package e2e

import (
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quotary/localstack/sim/coinsite"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// coinTicker is a row of coin/ticker.
type coinTicker struct {
	Key           string `json:"coin_key"`
	PriceCNY      string `json:"price_cny"`
	PriceUSD      string `json:"price_usd"`
	Degree24hCNY  string `json:"degree_24h_cny"`
	Degree24hUSD  string `json:"degree_24h_usd"`
	Degree7dayCNY string `json:"degree_7day_cny"`
	Degree7dayUSD string `json:"degree_7day_usd"`
	SupplyCNY     string `json:"supply_cny"`
	SupplyUSD     string `json:"supply_usd"`
	Trade24hCNY   string `json:"trade_24h_cny"`
	Trade24hUSD   string `json:"trade_24h_usd"`
	NetIn24hCNY   string `json:"fundNetIn_24h_cny"`
	NetIn24hUSD   string `json:"fundNetIn_24h_usd"`
	Vol24h        string `json:"vol_24h"`
}

// yuanPerDollar is the fraction of the rates of the last day that are in force at a
// time: from 15:00 UTC on.
func yuanPerDollar(at time.Time) *big.Rat {
	day := coinsite.Last(at.Add(-30 * time.Minute)) // which are out half an hour before
	r := world.Coins.On(day)
	usd, _ := new(big.Rat).SetString(r.USD)
	cny, _ := new(big.Rat).SetString(r.CNY)
	return cny.Quo(cny, usd)
}

// told is a row of the source as the API is to answer it, of exact fractions.
func told(r coinsite.Row) coinTicker {
	places := func(s string) int {
		_, after, _ := strings.Cut(s, ".")
		return max(2, len(after))
	}
	number := func(s string) *big.Rat { n, _ := new(big.Rat).SetString(s); return n }
	plain := func(s string) string { // of a decimal with a point
		if s = strings.TrimRight(strings.TrimRight(s, "0"), "."); s == "-0" {
			return "0"
		}
		return s
	}
	now := yuanPerDollar(r.LastUpdated)
	yuan := func(s string) string { return plain(new(big.Rat).Mul(number(s), now).FloatString(places(s))) }
	degree := func(s string, ago time.Duration) string {
		n := new(big.Rat).Add(number(s), big.NewRat(100, 1))
		n.Mul(n, now).Quo(n, yuanPerDollar(r.LastUpdated.Add(-ago)))
		return plain(n.Sub(n, big.NewRat(100, 1)).FloatString(places(s)))
	}
	price, value, traded, day, week := r.Price.String(), r.MarketCap.String(), r.Volume.String(), r.Degree24h.String(), r.Degree7d.String()
	return coinTicker{
		Key: r.ID, PriceUSD: price, PriceCNY: yuan(price), SupplyUSD: value, SupplyCNY: yuan(value), Trade24hUSD: traded, Trade24hCNY: yuan(traded),
		Degree24hUSD: day, Degree24hCNY: degree(day, 24*time.Hour), Degree7dayUSD: week, Degree7dayCNY: degree(week, 7*24*time.Hour),
		Vol24h: plain(new(big.Rat).Quo(number(traded), number(price)).FloatString(8)),
	}
}

// TestAKeyIsCheckedByThePriceOfBitcoin is what clients do before they store a key:
// the answer is there as soon as the stack is, and holds the source's figures exactly, but for the
// price of what trades on a followed exchange: that is its pair's.
func TestAKeyIsCheckedByThePriceOfBitcoin(t *testing.T) {
	t.Parallel()
	if world.Coins == nil {
		t.Skip("no simulated source of prices")
	}
	key := world.State.Demo.SubKey
	if first := data[[]coinTicker](t, call(t, 200, key, "GET", "/v2/coin/ticker?coin_list=bitcoin", nil)); len(first) != 1 || first[0].PriceUSD == "" {
		t.Fatalf("bitcoin is answered as %+v", first)
	}
	const asked = "simulated-coin-255,bitcoin,nobody,ethereum,dropped-coin"
	testenv.Until(t, "the answer is what the source shows, in both currencies", func() bool {
		got := data[[]coinTicker](t, call(t, 200, key, "GET", "/v2/coin/ticker?coin_list="+asked, nil))
		if len(got) != 3 {
			return false
		}
		for i, coin := range []struct{ id, pair string }{{"simulated-coin-255", ""}, {"bitcoin", "btcusdt:binance"}, {"ethereum", "ethusdt:binance"}} {
			matches := false
			for _, row := range world.Coins.Served(coin.id) {
				want := told(row)
				if coin.pair != "" {
					want.PriceUSD, want.PriceCNY = got[i].PriceUSD, got[i].PriceCNY
					want.Degree24hUSD, want.Degree24hCNY = got[i].Degree24hUSD, got[i].Degree24hCNY
				}
				matches = matches || want == got[i]
			}
			if coin.pair != "" {
				pair := data[[]struct {
					Last string `json:"last_raw"`
				}](t, call(t, 200, key, "GET", "/v2/trading-pair/ticker?key_list="+coin.pair, nil))
				matches = matches && len(pair) == 1 && pair[0].Last == got[i].PriceUSD
			}
			if !matches {
				return false
			}
		}
		return true
	})
}

// TestCoinsAreListedWithTheNamesOfDrops walks through all pages, and drops a file
// with a new coin, a new name and a bad line.
func TestCoinsAreListedWithTheNamesOfDrops(t *testing.T) {
	t.Parallel()
	if world.Coins == nil {
		t.Skip("no simulated source of prices")
	}
	type name struct {
		Key  string `json:"coin_key"`
		Show string `json:"show"`
		CN   string `json:"cn_name"`
		EN   string `json:"en_name"`
	}
	list := func() map[string]name {
		all := map[string]name{}
		for page := 1; ; page++ {
			rows := data[[]name](t, call(t, 200, world.State.Demo.SubKey, "GET", fmt.Sprintf("/v2/coin?page=%d", page), nil))
			if len(rows) > 100 {
				t.Fatalf("%d coins on a page", len(rows))
			}
			for _, row := range rows {
				all[row.Key] = row
			}
			if len(rows) < 100 {
				return all
			}
		}
	}
	testenv.Until(t, "all coins are listed, with Chinese names", func() bool {
		all := list()
		return len(all) >= coinsite.Coins+1 && all["bitcoin"] == name{"bitcoin", "BTC", "比特币", "Bitcoin"} && all["dropped-coin"].Show == "DROP" &&
			all["simulated-coin-20"] == name{"simulated-coin-20", "SIM20", "", "Simulated Coin 20"}
	})
	file := filepath.Join(t.TempDir(), "more.ndjson")
	must.Do(t, os.WriteFile(file, []byte("{\"coin_key\":\"walked-in\",\"cn_name\":\"新币\"}\nnonsense\n{\"coin_key\":\"sui\",\"cn_name\":\"水币\"}"), 0o600))
	load := func() (string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "ingester"), "load", "coins", file)
		cmd.Env = append(os.Environ(), world.State.Environment()...)
		out, err := cmd.Output()
		return string(out), err
	}
	if out, err := load(); err == nil || out != "line 2: the line must be one JSON object\nlines 3, taken 2, refused 1\n" {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := load(); err != nil || !strings.Contains(out, "taken before as ") {
		t.Fatalf("the same file again: %v: %s", err, out)
	}
	testenv.Until(t, "the names of the drop are listed", func() bool {
		all := list()
		return all["walked-in"].CN == "新币" && all["sui"] == name{"sui", "SUI", "水币", "Sui (simulated)"}
	})
}
