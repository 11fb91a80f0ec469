package coinprices_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/service/coinprices"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// traded is the ticker of a pair with USDT.
type traded struct {
	base, platform, last, open string
	ago                        time.Duration
	unfollowed                 bool
}

// now is what coins cost, of two coins of the same short name, of which first is listed first, and a
// hidden one; the source of prices says 100 US dollars of first, and of the others what it is told.
func now(t *testing.T, said map[string]string, all ...traded) *coinprices.Snapshot {
	t.Helper()
	views := storetest.Open(t).Views
	at := time.Now()
	dec := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	storetest.Publish(t, views, coins.Published, coins.View{Coins: []coins.Coin{
		{Key: "hidden", Listing: &coins.Listing{Symbol: "ABC", Rank: 1}, Entry: &coins.Entry{CoinKey: "hidden", Hidden: true}},
		{Key: "first", Listing: &coins.Listing{Symbol: "ABC", Name: "Abc", Rank: 2}},
		{Key: "second", Listing: &coins.Listing{Symbol: "abc", Name: "Another Abc", Rank: 3}},
		{Key: "none", Listing: &coins.Listing{Symbol: "NONE", Name: "none", Rank: 4}},
	}})
	var known rates.View
	known.Add(market.DayRates{Date: at.AddDate(0, 0, -9).Format(time.DateOnly), USD: dec("1.1"), CNY: dec("7.81")})
	storetest.Publish(t, views, rates.Published, known)
	var source cointickers.View
	for key, price := range said {
		source.Tickers = append(source.Tickers, cointickers.New(&market.CoinMarket{Key: key, Time: at.Add(-time.Minute).UnixMilli(), Price: price, Degree24h: "-9", Degree7d: "12.5", Turnover24h: "5000"}, known))
	}
	storetest.Publish(t, views, cointickers.Published, source)
	var listed pairs.View
	var latest pairtickers.View
	for _, p := range all {
		key := market.PairKey(p.base, "usdt", p.platform, false)
		listed.Pairs = append(listed.Pairs, pairs.Pair{Pair: market.Pair{Key: key, Platform: p.platform, Base: p.base, Quote: "USDT"}, Followed: !p.unfollowed})
		latest.Tickers = append(latest.Tickers, pairtickers.Ticker{Pair: key, Time: at.Add(-p.ago).UnixMilli(), Last: dec(p.last), Open: dec(p.open)})
	}
	storetest.Publish(t, views, pairs.Published, listed)
	storetest.Publish(t, views, pairtickers.Published, latest)
	storetest.Publish(t, views, tickers.Published, tickers.View{Tickers: []tickers.Ticker{{Coin: "ABC", Time: at.UnixMilli()}}})
	return must.Get(coinprices.Open(views, time.Now).Now(t.Context()))(t)
}

func keysOf(list []market.Pair) string {
	var keys []string
	for i := range list {
		keys = append(keys, list[i].Key)
	}
	return strings.Join(keys, " ")
}

func TestACoinIsPricedByItsFirstFollowedPairElseByTheSource(t *testing.T) {
	t.Parallel()
	source := map[string]string{"first": "100", "second": "0.5"}
	for name, c := range map[string]struct {
		said map[string]string
		all  []traded
		by   string // pair of first; empty is the source
		last string // price of first in US dollars
	}{
		"no pair":                {said: source, last: "100"},
		"the order of exchanges": {said: source, all: []traded{{base: "ABC", platform: "bybit", last: "103", open: "100"}, {base: "ABC", platform: "okex", last: "102", open: "90"}}, by: "abcusdt:okex", last: "102"},
		"not followed":           {said: source, all: []traded{{base: "ABC", platform: "binance", last: "101", open: "100", unfollowed: true}}, last: "100"},
		"silent for long":        {said: source, all: []traded{{base: "ABC", platform: "binance", last: "101", open: "100", ago: 11 * time.Minute}, {base: "ABC", platform: "bybit", last: "99", open: "90"}}, by: "abcusdt:bybit", last: "99"},
		"no source":              {all: []traded{{base: "ABC", platform: "binance", last: "0.00012", open: "0.00011"}}, by: "abcusdt:binance", last: "0.00012"},
		"less than twice":        {said: source, all: []traded{{base: "ABC", platform: "binance", last: "200", open: "100"}}, by: "abcusdt:binance", last: "200"},
		"another coin, dearer":   {said: source, all: []traded{{base: "ABC", platform: "binance", last: "200.01", open: "100"}}, last: "100"},
		"another coin, cheaper":  {said: source, all: []traded{{base: "ABC", platform: "binance", last: "49.99", open: "100"}}, last: "100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := now(t, c.said, c.all...)
			first, _ := s.Coin("first")
			second, _ := s.Coin("second")
			got, ok := s.Ticker("first")
			if by := s.PricedBy(first); !ok || by != c.by || got.PriceUSD != c.last {
				t.Fatalf("priced by %q: %+v", by, got)
			}
			if c.by != "" {
				independent(t, c.all, c.by, got.PriceUSD, got.Degree24hUSD, got.PriceCNY)
			} else if got.Degree24hUSD != "-9" {
				t.Errorf("%+v", got)
			}
			if c.said != nil && (got.Degree7dUSD != "12.5" || got.Trade24hUSD != "5000") {
				t.Errorf("what the source says is not kept: %+v", got)
			}
			other := strings.HasPrefix(name, "another")
			if all := keysOf(s.Pairs(first)); (all == "") != other || !other && !strings.Contains(all, "abcswapusdc:hyperliquid") {
				t.Errorf("its pairs are %s", all)
			}
			if s.PricedBy(second) != "" || len(s.Pairs(second)) != 0 {
				t.Errorf("the second coin of a short name has the pairs %s", keysOf(s.Pairs(second)))
			}
			if _, ok := s.Ticker("none"); ok {
				t.Error("what is not known has a price")
			}
		})
	}
}

// independent checks figures of a pair against fractions.
func independent(t *testing.T, all []traded, pair, price, degree, yuan string) {
	t.Helper()
	rat := func(text string) *big.Rat { r, _ := new(big.Rat).SetString(text); return r }
	for _, p := range all {
		if market.PairKey(p.base, "usdt", p.platform, false) != pair {
			continue
		}
		change := new(big.Rat).Quo(rat(p.last), rat(p.open))
		change.Sub(change, big.NewRat(1, 1)).Mul(change, big.NewRat(100, 1))
		money := new(big.Rat).Mul(rat(p.last), big.NewRat(71, 10)) // 7.81 yuan are 1.1 dollars
		if rat(price).Cmp(rat(p.last)) != 0 || far(rat(degree), change) || far(rat(yuan), money) {
			t.Errorf("%s US dollars, %s %%, %s yuan; want %s, %s, %s", price, degree, yuan, p.last, change.FloatString(6), money.FloatString(6))
		}
		return
	}
	t.Errorf("there is no pair %s", pair)
}

// far reports whether figures differ by more than rounding to two places does.
func far(a, b *big.Rat) bool {
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(big.NewRat(5, 1000)) > 0
}

func TestNamesAreFoundExactOnesFirst(t *testing.T) {
	t.Parallel()
	s := now(t, nil)
	for text, want := range map[string]string{"ABC": "first second", "another abc": "second", "bc": "first second", " Sec ": "second", "hidden": "", "nothing": "", "none": "none"} {
		var keys []string
		for _, c := range s.Named(text) {
			keys = append(keys, c.Key)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
}
