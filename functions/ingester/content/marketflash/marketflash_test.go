package marketflash

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/data/contracts"
	"quotary/shared/data/flashes"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func dec(t *testing.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

var noon = time.Date(2026, 11, 23, 13, 0, 0, 0, time.UTC)

// snapshot is one at a time with bitcoin at a price, which it has had a day ago but for a
// change, and a small coin likewise, behind ten large ones.
func snapshot(t *testing.T, now time.Time, btc, btcOpen, small, smallOpen string) Snapshot {
	s := Snapshot{Now: now}
	add := func(base, last, open string, amount int64) {
		key := strings.ToLower(base) + "usdt:binance"
		s.Pairs.Pairs = append(s.Pairs.Pairs, pairs.Pair{Pair: market.Pair{Key: key, Platform: "binance", Base: base, Quote: "USDT"}})
		s.Tickers.Tickers = append(s.Tickers.Tickers, pairtickers.Ticker{Pair: key, Last: dec(t, last), Open: dec(t, open), Size: dec(t, "10"), Amount: market.DecimalFromInt(amount)})
	}
	add("BTC", btc, btcOpen, 1_000_000)
	for n := range 9 {
		add(fmt.Sprint("C", n), "3.5", "3.5", 1000-int64(n))
	}
	add("SMALL", small, smallOpen, 1)
	for _, p := range []market.Pair{{Key: "oldusdt:okex", Platform: "okex", Base: "OLD", Quote: "USDT"}, {Key: "oldswapusdt:bybit", Platform: "bybit", Base: "OLD", Quote: "USDT", Swap: true}} {
		s.Pairs.Pairs = append(s.Pairs.Pairs, pairs.Pair{Pair: p})
	}
	inOrder(&s)
	return s
}

// inOrder brings views into the order in which they are read.
func inOrder(s *Snapshot) {
	p, err := pairs.Published.Decode(pairs.Published.Encode(s.Pairs))
	if err != nil {
		panic(err)
	}
	tickers, err := pairtickers.Published.Decode(pairtickers.Published.Encode(s.Tickers))
	if err != nil {
		panic(err)
	}
	s.Pairs, s.Tickers = p, tickers
}

// english are the titles of flashes in English with their types; each must be there in
// Chinese too, and be one that a drop might hold.
func english(t *testing.T, list []flashes.Flash) (titles []string) {
	t.Helper()
	count := map[string]int{}
	for _, f := range list {
		count[f.Language]++
		if f.Language == "en" {
			titles = append(titles, fmt.Sprint(f.FlashType, " ", f.Title))
		}
		line := must.Get(json.Marshal(f.Entry))(t)
		if _, err := flashes.Parse(line); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	if count["en"] != count["cn"] {
		t.Errorf("%v", count)
	}
	return titles
}

func TestRules(t *testing.T) {
	t.Parallel()
	quiet := func(t *testing.T) Snapshot { return snapshot(t, noon, "61000", "60900", "0.011", "0.011") }
	later := noon.Add(time.Minute)
	for name, c := range map[string]struct {
		change func(t *testing.T, s *Snapshot)
		want   []string
	}{
		"nothing happens": {func(*testing.T, *Snapshot) {}, nil},
		"a large coin moves by a step": {
			func(t *testing.T, s *Snapshot) { *s = snapshot(t, later, "61500", "65000", "0.011", "0.011") },
			[]string{"23 BTC is down 5.38% in 24 hours, at 61500 USDT"},
		},
		"a small coin moves by two": {
			func(t *testing.T, s *Snapshot) { *s = snapshot(t, later, "61000", "60900", "0.0121", "0.01") },
			[]string{"1 SMALL is up 21% in 24 hours, at 0.0121 USDT"},
		},
		"a level is crossed upwards": {
			func(t *testing.T, s *Snapshot) { *s = snapshot(t, later, "62040", "61900", "0.011", "0.011") },
			[]string{"18 BTC is above 62000 USDT, at 62040"},
		},
		"a level is touched": {
			func(t *testing.T, s *Snapshot) { *s = snapshot(t, later, "62010", "61900", "0.011", "0.011") }, nil,
		},
		"a level is crossed downwards": {
			func(t *testing.T, s *Snapshot) { *s = snapshot(t, later, "60900", "61900", "0.011", "0.011") },
			[]string{"18 BTC is below 61000 USDT, at 60900"},
		},
		"a price is above all highs": {
			func(t *testing.T, s *Snapshot) { s.Days = days(t, 8, "60000", "59000", "10") },
			[]string{"4 BTC is at a new high of 8 days: 61000 USDT"},
		},
		"a price is below all lows": {
			func(t *testing.T, s *Snapshot) { s.Days = days(t, 30, "90000", "61500", "10") },
			[]string{"4 BTC is at a new low of 30 days: 61000 USDT"},
		},
		"there are too few days": {func(t *testing.T, s *Snapshot) { s.Days = days(t, 6, "60000", "59000", "1") }, nil},
		"much is traded": {
			func(t *testing.T, s *Snapshot) { s.Days = days(t, 8, "90000", "59000", "4") },
			[]string{"8 BTC was traded 2.5 times as much as usual in 24 hours, for 1000000 USDT"},
		},
		"a perpetual moves whose coin no exchange trades": {
			func(t *testing.T, s *Snapshot) {
				s.Perps = perps(t, s.Now, "BTC 70000 60000", "kSMALL 20 10", "C1 20 10", "ONLY 20 10", "NEW 20 0")
			},
			[]string{"1 ONLY perpetual (Hyperliquid) is up 100% in 24 hours, at 20 USD"},
		},
		"no pair of an exchange is known yet": {
			func(t *testing.T, s *Snapshot) { s.Perps, s.AwaitSpot = perps(t, s.Now, "ONLY 20 10"), true }, nil,
		},
		"a coin has a pair whose price is not known": {
			func(t *testing.T, s *Snapshot) { s.Perps = perps(t, s.Now, "OLD 20 10") }, nil,
		},
		"the price of a coin comes from another exchange, behind a level": {
			func(t *testing.T, s *Snapshot) {
				s.Pairs.Pairs[0].Platform, s.Pairs.Pairs[0].Key = "okex", "btcusdt:okex"
				s.Tickers.Tickers[slices.IndexFunc(s.Tickers.Tickers, func(t pairtickers.Ticker) bool { return t.Pair == "btcusdt:binance" })] = pairtickers.Ticker{
					Pair: "btcusdt:okex", Last: dec(t, "62500"), Open: dec(t, "62000"), Size: dec(t, "10"), Amount: market.DecimalFromInt(1_000_000),
				}
				inOrder(s)
			}, []string{"21 BTC/USDT (spot) trades on okex"},
		},
		"figures of perpetuals are old": {
			func(t *testing.T, s *Snapshot) { s.Perps = perps(t, s.Now.Add(-time.Hour), "ONLY 20 10") }, nil,
		},
		"a pair begins to trade": {
			func(_ *testing.T, s *Snapshot) {
				for _, p := range []market.Pair{
					{Key: "newusdt:okex", Platform: "okex", Base: "NEW", Quote: "USDT"}, {Key: "newswapusdt:bybit", Platform: "bybit", Base: "NEW", Quote: "USDT", Swap: true},
					{Key: "newbtc:okex", Platform: "okex", Base: "NEW", Quote: "BTC"},
				} {
					s.Pairs.Pairs = append(s.Pairs.Pairs, pairs.Pair{Pair: p})
				}
				inOrder(s)
			},
			[]string{"21 NEW/USDT (perpetual) trades on bybit", "21 NEW/USDT (spot) trades on okex"},
		},
		"a market is seen for the first time": {
			func(_ *testing.T, s *Snapshot) {
				s.Pairs.Pairs = append(s.Pairs.Pairs, pairs.Pair{Pair: market.Pair{Key: "newusdt:bybit", Platform: "bybit", Base: "NEW", Quote: "USDT"}})
				inOrder(s)
			}, nil,
		},
		"positions of one coin are closed by force in an hour": {
			func(_ *testing.T, s *Snapshot) {
				minute := func(ago int, dollars int64) pairliquidations.Minute {
					return pairliquidations.Minute{Time: noon.Add(time.Duration(5-ago) * time.Minute).UnixMilli(), Long: market.DecimalFromInt(dollars), Largest: market.DecimalFromInt(dollars), Count: 1}
				}
				s.Now = noon.Add(6 * time.Minute)
				s.Liquidations.Pairs = []pairliquidations.Pair{
					{Key: "btcswapusdt:binance", Coin: "btc", Platform: "binance", Minutes: []pairliquidations.Minute{minute(5, 2_500_000), minute(4, 3_400_000), minute(3, 12_000_000)}},
					{Key: "btcswapusdt:bybit", Coin: "btc", Platform: "bybit", Minutes: []pairliquidations.Minute{minute(2, 9_000_000)}},
				}
			},
			[]string{"25 A position of 12000000 US dollars in BTC (binance) was liquidated"},
		},
		"a large position is closed by force": {
			func(_ *testing.T, s *Snapshot) {
				s.Liquidations.Pairs = []pairliquidations.Pair{{Key: "btcswapusdt:binance", Coin: "btc", Platform: "binance", Minutes: []pairliquidations.Minute{
					{Time: noon.Add(-2 * time.Hour).UnixMilli(), Long: market.DecimalFromInt(5_000_000), Largest: market.DecimalFromInt(5_000_000), Count: 1},
					{Time: noon.Add(-2 * time.Minute).UnixMilli(), Long: market.DecimalFromInt(999_999), Largest: market.DecimalFromInt(999_999), Count: 1},
					{Time: noon.Add(-time.Minute).UnixMilli(), Long: market.DecimalFromInt(2_000_000), Largest: market.DecimalFromInt(1_500_000), Count: 2},
				}}}
			},
			[]string{"25 A position of 1500000 US dollars in BTC (binance) was liquidated"},
		},
		"a position is closed by force on Hyperliquid, as its last hour says": {
			func(_ *testing.T, s *Snapshot) {
				minute := func(ago time.Duration, dollars int64) pairliquidations.Minute {
					return pairliquidations.Minute{Time: s.Now.Add(-ago).UnixMilli(), Short: market.DecimalFromInt(dollars), Largest: market.DecimalFromInt(dollars), Count: 1}
				}
				s.PerpLiquidations.Pairs = []pairliquidations.Pair{
					{Key: "btcswapusdc:hyperliquid", Coin: "btc", Platform: "hyperliquid", Minutes: []pairliquidations.Minute{minute(4*time.Hour, 9_000_000), minute(100*time.Minute, 1_500_000)}},
					{Key: "ethswapusdc:hyperliquid", Coin: "eth", Platform: "hyperliquid", Minutes: []pairliquidations.Minute{minute(time.Minute, 1_000_000)}},
				}
			},
			[]string{"25 A position of 1500000 US dollars in BTC (hyperliquid) was liquidated at 11:21 UTC", "25 A position of 1000000 US dollars in ETH (hyperliquid) was liquidated"},
		},
		"whales move": {
			func(t *testing.T, s *Snapshot) {
				event := func(coin string, ago time.Duration, action market.PositionAction, size, value string) whales.Event {
					return whales.Event{Time: s.Now.Add(-ago).UnixMilli(), User: "0x00000000000000000000000000000000000000aa", Coin: coin, Action: action, Size: dec(t, size), Value: dec(t, value)}
				}
				s.Whales.Events = []whales.Event{
					event("BTC", 4*time.Hour, market.PositionOpened, "900", "54000000"),
					event("BTC", 2*time.Hour, market.PositionOpened, "100", "6000000.4"),
					event("BTC", time.Minute, market.PositionClosed, "-90", "5400000"),
					event("BTC", 30*time.Second, market.PositionClosed, "-91", "5460000"),
					event("ETH", time.Minute, market.PositionOpened, "1", "4999999"),
					event("HYPE", time.Minute, market.PositionAdded, "1", "90000000"),
					event("SOL", time.Minute, market.PositionFlipped, "-1", "5000000"),
				}
			},
			[]string{
				"22 A whale (0x00000000000000000000000000000000000000aa) opened a long of 6000000 US dollars in BTC on Hyperliquid at 11:01 UTC",
				"22 A whale (0x00000000000000000000000000000000000000aa) closed a short of 5460000 US dollars in BTC on Hyperliquid",
				"22 A whale (0x00000000000000000000000000000000000000aa) turned its position round to a short of 5000000 US dollars in SOL on Hyperliquid",
			},
		},
		"funding is dear": {
			func(t *testing.T, s *Snapshot) {
				contract := func(key, base, rate string, hours, open int64, ago time.Duration) contracts.Contract {
					return contracts.Contract{Pair: market.Pair{Key: key, Platform: "binance", Base: base}, Rate: dec(t, rate), RateTime: s.Now.Add(-ago).UnixMilli(), Period: hours * 3_600_000, Value: market.DecimalFromInt(open)}
				}
				s.Began = s.Now
				s.Pairs.Pairs = append(s.Pairs.Pairs, pairs.Pair{Pair: market.Pair{Key: "xswapusdt:binance", Platform: "binance", Base: "X", Quote: "USDT", Swap: true}, Followed: true})
				inOrder(s)
				s.Contracts.Contracts = []contracts.Contract{
					contract("btcswapusdt:binance", "BTC", "0.001", 8, 10_000_000, 0), contract("1000pepeswapusdt:binance", "1000PEPE", "-0.0021", 8, 20_000_000, 0),
					contract("oldswapusdt:binance", "OLD", "0.1", 8, 20_000_000, 11*time.Minute), contract("smallswapusdt:binance", "SMALL", "0.1", 8, 9_999_999, 0),
				}
				s.Perps = perps(t, s.Now, "BTC 60000 60000", "kPEPE 0.01 0.01", "C1 20 20", "C2 3 3")
				for i, funding := range []string{"0.000124", "-0.0004", "0.000113", ""} {
					s.Perps.Coins[i].Funding, s.Perps.Coins[i].Interest = funding, market.DecimalFromInt(10_000_000_000)
				}
			},
			[]string{
				"27 Funding of BTC (binance) is 110% a year: longs pay shorts 0.1% for 8 hours",
				"27 Funding of PEPE (hyperliquid) is 350% a year: shorts pay longs 0.04% for an hour",
			},
		},
		"four hours have passed": {
			func(t *testing.T, s *Snapshot) {
				*s = snapshot(t, noon.Add(4*time.Hour), "61000", "60900", "0.011", "0.011")
				s.Liquidations.Pairs = []pairliquidations.Pair{{Key: "btcswapusdt:binance", Minutes: []pairliquidations.Minute{
					{Time: noon.Add(-30 * time.Hour).UnixMilli(), Long: market.DecimalFromInt(7), Largest: market.DecimalFromInt(7), Count: 1},
					{Time: noon.Add(-time.Hour).UnixMilli(), Long: market.DecimalFromInt(20), Short: market.DecimalFromInt(3), Largest: market.DecimalFromInt(15), Count: 3},
				}}}
			},
			[]string{"15 In 24 hours 23 US dollars were liquidated: longs 20, shorts 3; the largest position 15"},
		},
		"four hours have passed, and liquidations are known for half an hour": {
			func(t *testing.T, s *Snapshot) {
				*s = snapshot(t, noon.Add(4*time.Hour), "61000", "60900", "0.011", "0.011")
				s.Liquidations.Pairs = []pairliquidations.Pair{{Key: "btcswapusdt:binance", Minutes: []pairliquidations.Minute{
					{Time: s.Now.Add(-30 * time.Minute).UnixMilli(), Long: market.DecimalFromInt(20), Largest: market.DecimalFromInt(20), Count: 1},
				}}}
			},
			[]string{"15 Since 16:30 UTC 20 US dollars were liquidated: longs 20, shorts 0; the largest position 20"},
		},
		"a day begins, and the open interest of a perpetual is not known yet": {
			func(t *testing.T, s *Snapshot) {
				*s = snapshot(t, noon.Add(24*time.Hour), "61000", "60900", "0.011", "0.011")
				s.Began = s.Now.Add(-time.Minute)
				for i := range s.Pairs.Pairs {
					s.Pairs.Pairs[i].Followed = s.Pairs.Pairs[i].Swap
				}
				s.Contracts.Contracts = []contracts.Contract{{Pair: market.Pair{Key: "c", Platform: "binance"}, Value: market.DecimalFromInt(4)}}
			}, nil,
		},
		"a day begins": {
			func(t *testing.T, s *Snapshot) {
				*s = snapshot(t, noon.Add(24*time.Hour), "61000", "60900", "0.011", "0.011")
				s.Contracts.Contracts = []contracts.Contract{
					{Pair: market.Pair{Key: "a", Platform: "okcoinfutures"}, Value: market.DecimalFromInt(5)}, {Pair: market.Pair{Key: "b", Platform: "binance"}, Value: market.DecimalFromInt(4)},
					{Pair: market.Pair{Key: "c", Platform: "binance"}, Value: market.DecimalFromInt(4)},
				}
			},
			[]string{"26 Open interest of the followed perpetuals, US dollars: binance 8, okcoinfutures 5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m Memory
			if got := english(t, m.Flashes(quiet(t))); len(got) > 0 {
				t.Fatalf("at first: %q", got)
			}
			s := quiet(t)
			s.Now = later
			c.change(t, &s)
			m = restarted(t, m)
			first := m.Flashes(s)
			if got := english(t, first); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%q\nwant\n%q", got, c.want)
			}
			s.Now = s.Now.Add(10 * time.Second)
			m = restarted(t, m)
			if got := english(t, m.Flashes(s)); len(got) > 0 {
				t.Errorf("said again: %q", got)
			}
		})
	}
}

// perps are figures of perpetuals, each "<coin> <price> <price a day ago>".
func perps(t *testing.T, at time.Time, list ...string) market.Contexts {
	t.Helper()
	c := market.Contexts{Time: at.UnixMilli()}
	for _, one := range list {
		parts := strings.Fields(one)
		c.Coins = append(c.Coins, market.Context{Coin: parts[0], Mark: dec(t, parts[1]), Day: market.ContextDay{Open: dec(t, parts[2])}})
	}
	return c
}

// restarted is a memory as its source has it after a restart.
func restarted(t *testing.T, m Memory) (back Memory) {
	t.Helper()
	text, err := json.Marshal(&m)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// days are daily K-lines of bitcoin.
func days(t *testing.T, n int, high, low, size string) map[string][]market.Candle {
	list := make([]market.Candle, n)
	for i := range list {
		list[i] = market.Candle{OpenTime: noon.Truncate(24*time.Hour).AddDate(0, 0, i-n).UnixMilli(), High: dec(t, high), Low: dec(t, low), Size: dec(t, size)}
	}
	return map[string][]market.Candle{"btcusdt:binance": list}
}

// What a crash makes write again has the numbers that it had.
func TestNumbersFollowFromTheOccasion(t *testing.T) {
	t.Parallel()
	s := snapshot(t, noon, "61500", "65000", "0.011", "0.011")
	var a, b Memory
	first := a.Flashes(s)
	s.Now = s.Now.Add(time.Minute)
	again := b.Flashes(s)
	if len(first) != 2 || len(again) != 2 || first[0].ID != again[0].ID || first[1].ID != again[1].ID || first[0].ID == first[1].ID || first[0].Place.Compare(again[0].Place) >= 0 {
		t.Errorf("%+v\n%+v", first, again)
	}
}

// TestManyMovesLeaveRoomForAListing: of coins that move by a further step at each look a thousand
// are said, and then one a minute.
func TestManyMovesLeaveRoomForAListing(t *testing.T) {
	t.Parallel()
	var m Memory
	said := map[int64]int{} // by type, both languages
	for look := range 7 {
		s := snapshot(t, noon.Add(time.Duration(look)*10*time.Second), "61500", "61500", "0.011", "0.011")
		s.Perps.Time = s.Now.UnixMilli()
		for n := range 600 {
			c := market.Context{Coin: fmt.Sprint("P", n), Mark: market.DecimalFromInt(int64(150 + 50*look))}
			c.Day.Open = market.DecimalFromInt(100)
			s.Perps.Coins = append(s.Perps.Coins, c)
		}
		if look == 6 {
			s.Pairs.Pairs = append(s.Pairs.Pairs, pairs.Pair{Pair: market.Pair{Key: "newusdt:binance", Platform: "binance", Base: "NEW", Quote: "USDT"}})
			inOrder(&s)
		}
		for _, f := range m.Flashes(s) {
			said[f.FlashType]++
		}
	}
	// The first of the thousand is that four hours have begun of which liquidations are summed up.
	if said[smallMove] != 2*(999+1) || said[listing] != 2 {
		t.Errorf("said are, by type, %v", said)
	}
}

func TestWhatWasSaidIsForgottenInTime(t *testing.T) {
	t.Parallel()
	var m Memory
	for day := range 10 {
		m.Flashes(snapshot(t, noon.AddDate(0, 0, day), "61500", "65000", "0.011", "0.011"))
	}
	if len(m.Said) > 6 {
		t.Errorf("%d things are remembered: %v", len(m.Said), m.Said)
	}
}

// Each part of a memory may be missing in what was stored of it.
func TestAnyMemoryIsGoneOnFrom(t *testing.T) {
	t.Parallel()
	for _, stored := range []string{`{}`, `{"said":{"x":{"step":1,"at":1795000000}}}`, `{"levels":{"BTC 1000":"61000"}}`, `{"pairs":[1,2]}`} {
		var m Memory
		must.Do(t, json.Unmarshal([]byte(stored), &m))
		m.Flashes(snapshot(t, noon, "61000", "60900", "0.011", "0.011"))
	}
}

func TestStepsOfPrices(t *testing.T) {
	t.Parallel()
	for px, want := range map[string]string{"61234.5": "1000", "10000": "1000", "9999.99": "100", "1": "0.1", "0.5": "0.01", "0.0123": "0.001", "0.00001": "0.000001"} {
		if got := stepOf(dec(t, px)); !got.Equal(dec(t, want)) {
			t.Errorf("%s: %s, want %s", px, got, want)
		}
	}
}

// Whatever an exchange says of prices and sizes, the least among them too, no rule ends the process.
func TestTheLeastFiguresAreTaken(t *testing.T) {
	t.Parallel()
	const least = "0.0000000000000000001"
	t.Run("price", func(t *testing.T) {
		var m Memory
		for n := range 3 {
			m.Flashes(snapshot(t, noon.Add(time.Duration(n)*time.Minute), least, least, least, least))
		}
	})
	t.Run("sizes of days", func(t *testing.T) {
		s := snapshot(t, noon, "61000", "60900", "0.011", "0.011")
		s.Days = days(t, 8, "60000", "59000", "0")
		for _, list := range s.Days {
			list[3].Size = dec(t, least)
		}
		new(Memory).Flashes(s)
	})
}
