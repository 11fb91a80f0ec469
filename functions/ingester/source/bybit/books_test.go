package bybit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/bybit"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/testclock"
)

const (
	bookFrame   = `{"topic":"orderbook.200.BTCUSDT","type":"snapshot","ts":1790000000130,"data":{"s":"BTCUSDT","b":[["61234.50","0.015"],["61233.00","2"]],"a":[["61234.60","3"]],"u":18521288,"seq":7961638724},"cts":1790000000128}`
	changeFrame = `{"topic":"orderbook.200.BTCUSDT","ts":1790000000230,"type":"delta","data":{"s":"BTCUSDT","b":[],"a":[["61234.60","0"],["61236.00","1.5"]],"u":18521289,"seq":7961638725},"cts":1790000000228}`
)

func TestBooksAreThoseOfTheExchange(t *testing.T) {
	t.Parallel()
	for i, keys := range [][]string{{"btcusdt:bybit", "dogeusdt:bybit"}, {"btcswapusdt:bybit", "solswapusdt:bybit"}, {"btcswapusd:bybit"}} {
		x, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 5)})
		t.Run(all[i].Name, func(t *testing.T) {
			t.Parallel()
			pairs := map[*trading.Market]market.Pair{}
			for _, key := range keys {
				pair := sourcetest.Find(t, all[i], key)
				pairs[x.Market(all[i].category, pair.Symbol)] = pair
			}
			sourcetest.AreBooks(t, all[i], x, pairs)
		})
	}
}

func TestMoreLevelsThanAreKnownAreAnError(t *testing.T) {
	t.Parallel()
	_, all := openAll(t, simulated.Config{})
	if err := all[0].FollowBooks(t.Context(), nil, source.Books{Levels: bookLevels + 1}, new(source.Stats), nil); err == nil || t.Context().Err() != nil {
		t.Error(err)
	}
}

func TestFramesOfBooks(t *testing.T) {
	t.Parallel()
	level := func(px, sz string) market.PairLevel {
		return market.PairLevel{Px: sourcetest.Decimal(t, px), Sz: sourcetest.Decimal(t, sz)}
	}
	whole := source.BookUpdate{
		Symbol: "BTCUSDT", Time: 1790000000130, Snapshot: true, Last: 18521288,
		Bids: []market.PairLevel{level("61234.5", "0.015"), level("61233", "2")}, Asks: []market.PairLevel{level("61234.6", "3")},
	}
	change := source.BookUpdate{
		Symbol: "BTCUSDT", Time: 1790000000230, First: 18521289, Last: 18521289, Prev: 18521288,
		Asks: []market.PairLevel{level("61234.6", "0"), level("61236", "1.5")},
	}
	again := change
	again.Snapshot, again.First, again.Last, again.Prev = true, 0, 1, 0
	for _, c := range []struct {
		name, line string
		want       source.BookUpdate
	}{
		{"a book", bookFrame, whole},
		{"changes, whose type comes behind their time", changeFrame, change},
		{"a book with which numbers begin again", strings.Replace(changeFrame, `"u":18521289`, `"u":1`, 1), again},
	} {
		got, err := parsed(c.line)
		if diff := cmp.Diff(c.want, got.Book, equal); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
}

func TestAMalformedBookIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"no number":                  {`"u":18521289,`, ``},
		"a number of zero":           {`"u":18521289`, `"u":0`},
		"a negative number":          {`"u":18521289`, `"u":-1`},
		"a number with a fraction":   {`"u":18521289`, `"u":1.5`},
		"a field twice":              {`"b":[]`, `"b":[],"b":[]`},
		"no bids":                    {`"b":[],`, ``},
		"no asks":                    {`"a":[["61234.60","0"],["61236.00","1.5"]],`, ``},
		"a level of no size":         {`["61236.00","1.5"]`, `["61236.00"]`},
		"a price of zero":            {`"61236.00"`, `"0"`},
		"a price as number":          {`"61236.00"`, `61236`},
		"a negative size":            {`"1.5"`, `"-1.5"`},
		"no symbol":                  {`"s":"BTCUSDT"`, `"s":""`},
		"no time":                    {`"ts":1790000000230,`, ``},
		"a time in seconds":          {`"ts":1790000000230`, `"ts":1790000000`},
		"neither all nor changes":    {`"type":"delta",`, ``},
		"another type":               {`"delta"`, `"update"`},
		"nothing of it":              {changeFrame[strings.Index(changeFrame, `,"data"`):], `}`},
		"a list":                     {`"data":{`, `"data":[{`},
		"something behind":           {`"cts":1790000000228}`, `"cts":1790000000228}x`},
		"an end in the middle of it": {`,"cts":1790000000228}`, ``},
	} {
		line := strings.Replace(changeFrame, change[0], change[1], 1)
		if line == changeFrame {
			t.Fatalf("%s changes nothing", name)
		}
		if f, err := parsed(line); err == nil {
			t.Errorf("%s: %+v", name, f.Book)
		}
	}
}
