package bybit

import (
	"fmt"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
)

const (
	tradesFrame = `{"topic":"publicTrade.BTCUSDT","type":"snapshot","ts":1790000000124,"data":[` +
		`{"T":1790000000120,"s":"BTCUSDT","S":"Sell","v":"0.015","p":"61234.50","L":"MinusTick","i":"5a1c9c8e-0000-5d31-9112-000000000001","BT":false,"RPI":false,"seq":77},` +
		`{"T":1790000000121,"s":"BTCUSDT","S":"Buy","v":"3","p":"61234.60","L":"PlusTick","i":"5a1c9c8e-0000-5d31-9112-000000000002","BT":false}]}`
	blockFrame = `{"topic":"publicTrade.BTCUSDT","type":"snapshot","ts":1,"data":[{"T":"1790000000120","s":"BTCUSDT","S":"Buy","v":"100","p":"60000","BT":true}]}`

	tickerFrame = `{"topic":"tickers.BTCUSDT","type":"snapshot","data":{"symbol":"BTCUSDT","tickDirection":"PlusTick","price24hPcnt":"0.017103","lastPrice":"61216.00","prevPrice24h":"60926.50","highPrice24h":"61281.50","lowPrice24h":"60915.00","prevPrice1h":"61238.00","markPrice":"61217.33","indexPrice":"61227.36","openInterest":"68744.761","openInterestValue":"4208366235.91","turnover24h":"1570383121.943499","volume24h":"91705.276","fundingIntervalHour":"4","fundingCap":"0.005","nextFundingTime":"1790006400000","fundingRate":"-0.000212","bid1Price":"61215.50","bid1Size":"84.489","ask1Price":"61216.00","ask1Size":"83.020","singleOpenInterest":"34372.3805"},"cs":24987956059,"ts":1790000000130}`
	quoteFrame  = `{"topic":"tickers.BTCUSDT","type":"delta","data":{"symbol":"BTCUSDT","markPrice":"61217.06","openInterestValue":"4208347675.23","bid1Price":"61215.90","bid1Size":"3.543"},"cs":24987956060,"ts":1790000000230}`
	rateFrame   = `{"topic":"tickers.BTCUSDT","type":"delta","data":{"symbol":"BTCUSDT","fundingRate":"0.0001","bid1Size":"3.5"},"cs":24987956061,"ts":1790000000330}`
	forceFrame  = `{"topic":"allLiquidation.BTCUSDT","type":"snapshot","ts":1790000001482,"data":[{"T":1790000000992,"s":"BTCUSDT","S":"Buy","v":"0.006","p":"62396.90"},{"T":1790000001058,"s":"BTCUSDT","S":"Sell","v":"0.038","p":"62394.30"}]}`

	bookFrame   = `{"topic":"orderbook.200.BTCUSDT","type":"snapshot","ts":1790000000130,"data":{"s":"BTCUSDT","b":[["61234.50","0.015"],["61233.00","2"]],"a":[["61234.60","3"]],"u":18521288,"seq":7961638724},"cts":1790000000128}`
	changeFrame = `{"topic":"orderbook.200.BTCUSDT","ts":1790000000230,"type":"delta","data":{"s":"BTCUSDT","b":[],"a":[["61234.60","0"],["61236.00","1.5"]],"u":18521289,"seq":7961638725},"cts":1790000000228}`
)

var frames = sourcetest.Frames(newParser)

func TestFramesThatTheVenueSends(t *testing.T) {
	t.Parallel()
	trades := []market.PairTrade{
		{Pair: "BTCUSDT", Count: 1, Side: market.Sell, Time: 1790000000120, Px: sourcetest.Decimal(t, "61234.5"), Sz: sourcetest.Decimal(t, "0.015")},
		{Pair: "BTCUSDT", Count: 1, Side: market.Buy, Time: 1790000000121, Px: sourcetest.Decimal(t, "61234.6"), Sz: sourcetest.Decimal(t, "3")},
	}
	expected := market.PairFunding{Pair: "BTCUSDT", Time: 1790000000130, Rate: sourcetest.Decimal(t, "-0.000212"), Due: 1790006400000, Period: 4 * hourMs}
	liquidations := []market.PairLiquidation{
		{Pair: "BTCUSDT", Time: 1790000000992, Long: true, Px: sourcetest.Decimal(t, "62396.9"), Sz: sourcetest.Decimal(t, "0.006")},
		{Pair: "BTCUSDT", Time: 1790000001058, Px: sourcetest.Decimal(t, "62394.3"), Sz: sourcetest.Decimal(t, "0.038")},
	}
	refused := `{"success":false,"ret_msg":"error:handler not found,topic:publicTrade.BTCUSDD","conn_id":"a1","req_id":"2","op":"subscribe"}`
	frames.Is(t, "two trades", tradesFrame, source.Frame{Events: market.PairEvents{Trades: trades}})
	frames.Is(t, "a block trade, whose time is text", blockFrame, source.Frame{})
	frames.Is(t, "a ticker with a funding rate", tickerFrame, source.Frame{Events: market.PairEvents{Fundings: []market.PairFunding{expected}}})
	frames.Is(t, "a change of an unknown ticker", rateFrame, source.Frame{})
	frames.Is(t, "positions that were closed, a long one and a short one", forceFrame, source.Frame{Events: market.PairEvents{Liquidations: liquidations}})
	frames.Is(t, "a ticker of spot", `{"topic":"tickers.BTCUSDT","ts":1,"type":"snapshot","cs":2,"data":{"symbol":"BTCUSDT","lastPrice":"21109.77","usdIndexPrice":""}}`, source.Frame{})
	frames.Is(t, "a ticker of a dated contract", `{"topic":"tickers.BTCUSDU26","type":"snapshot","data":{"symbol":"BTCUSDU26","nextFundingTime":"","fundingRate":""},"cs":1,"ts":2}`, source.Frame{})
	frames.Is(t, "an acknowledgement", `{"success":true,"ret_msg":"","conn_id":"a1","req_id":"3","op":"subscribe"}`, source.Frame{Answered: true, ID: 3})
	frames.Is(t, "an acknowledgement of what was accepted before", `{"success":false,"ret_msg":"error:already subscribed,topic:publicTrade.BTCUSDT","conn_id":"a1","req_id":"3","op":"subscribe"}`, source.Frame{Answered: true, ID: 3})
	frames.Is(t, "a refusal", refused, source.Frame{Answered: true, ID: 2, Refused: refused})
	frames.Is(t, "the answer to a ping", `{"success":true,"ret_msg":"pong","conn_id":"a1","req_id":"","op":"ping"}`, source.Frame{})
	frames.Is(t, "the answer to a ping of contracts", `{"req_id":"","op":"pong","args":["1790000000000"],"conn_id":"a1"}`, source.Frame{})
	frames.Is(t, "another topic", `{"topic":"kline.1.BTCUSDT","type":"snapshot","ts":1,"data":[{"interval":"1","open":"61234.5"}]}`, source.Frame{})
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
	frames.Is(t, "a book", bookFrame, source.Frame{Book: whole})
	frames.Is(t, "changes of one, whose type comes behind their time", changeFrame, source.Frame{Book: change})
	frames.Is(t, "a book with which numbers begin again", strings.Replace(changeFrame, `"u":18521289`, `"u":1`, 1), source.Frame{Book: again})
}

func TestFramesThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	frames.Refuses(t, tradesFrame, map[string][2]string{
		"no time":                {`"T":1790000000120,`, ``},
		"a price as number":      {`"p":"61234.50"`, `"p":61234.5`},
		"a price that is none":   {`"p":"61234.50"`, `"p":"abc"`},
		"a size of zero":         {`"v":"0.015"`, `"v":"0"`},
		"a time in microseconds": {`"T":1790000000120`, `"T":1790000000120000`},
		"a side that is none":    {`"S":"Sell"`, `"S":"sell"`},
		"a field twice":          {`"S":"Sell"`, `"S":"Sell","S":"Sell"`},
		"no symbol":              {`"s":"BTCUSDT","S":"Sell"`, `"S":"Sell"`},
		"no array":               {`"data":[`, `"data":{"x":[`},
		"something behind":       {`}]}`, `}]}x`},
	})
	frames.Refuses(t, tickerFrame, map[string][2]string{
		"a ticker of nothing":       {`"symbol":"BTCUSDT",`, ``},
		"a ticker that is a list":   {`"data":{`, `"data":[{`},
		"a rate as number":          {`"fundingRate":"-0.000212"`, `"fundingRate":-0.000212`},
		"a rate that is none":       {`"fundingRate":"-0.000212"`, `"fundingRate":"x"`},
		"a rate due at no time":     {`"1790006400000"`, `"08:00"`},
		"a period that is none":     {`"fundingIntervalHour":"4"`, `"fundingIntervalHour":"0"`},
		"a period of days":          {`"fundingIntervalHour":"4"`, `"fundingIntervalHour":"48"`},
		"a ticker of no time":       {`,"ts":1790000000130`, ``},
		"a ticker in seconds":       {`"ts":1790000000130`, `"ts":1790000000`},
		"a ticker's time as object": {`"ts":1790000000130`, `"ts":{}`},
	})
	frames.Refuses(t, forceFrame, map[string][2]string{
		"a liquidation of nothing":  {`"s":"BTCUSDT","S":"Buy"`, `"S":"Buy"`},
		"a liquidation's side":      {`"S":"Buy"`, `"S":"long"`},
		"a liquidation of no size":  {`"v":"0.006"`, `"v":"0"`},
		"a liquidation's price":     {`"p":"62396.90"`, `"p":"-1"`},
		"a liquidation's time":      {`"T":1790000000992`, `"T":1790000000`},
		"a liquidation short of it": {`,"p":"62396.90"`, ``},
		"a liquidation as object":   {`"data":[`, `"data":{"x":[`},
	})
	frames.Refuses(t, changeFrame, map[string][2]string{
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
	})
}

// A rate is given out when it has changed, and once in a while where it has not.
func TestTheFundingRateOfATickerIsKept(t *testing.T) {
	t.Parallel()
	later := func(line string, ms string) string {
		return line[:strings.LastIndex(line, `"ts":`)] + `"ts":` + ms + `}`
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string // rate, due and hours
	}{
		{"nothing of it changes", []string{tickerFrame, quoteFrame}, ""},
		{"nothing of it changes for five seconds", []string{tickerFrame, later(quoteFrame, "1790000005130")}, "-0.000212 1790006400000 4"},
		{"it changes", []string{tickerFrame, rateFrame}, "0.0001 1790006400000 4"},
		{"it is said again", []string{tickerFrame, rateFrame, later(rateFrame, "1790000000430")}, ""},
		{"when it is paid changes", []string{tickerFrame, strings.Replace(rateFrame, `"fundingRate":"0.0001"`, `"nextFundingTime":"1790020800000"`, 1)}, "-0.000212 1790020800000 4"},
		{"its period changes", []string{tickerFrame, strings.Replace(rateFrame, `"fundingRate":"0.0001"`, `"fundingIntervalHour":"1"`, 1)}, "-0.000212 1790006400000 1"},
		{"a snapshot says no period", []string{tickerFrame, strings.Replace(tickerFrame, `"fundingIntervalHour":"4",`, ``, 1)}, "-0.000212 1790006400000 8"},
		{"a snapshot takes it back", []string{tickerFrame, strings.Replace(tickerFrame, `"nextFundingTime":"1790006400000"`, `"nextFundingTime":""`, 1), rateFrame}, ""},
		{"another ticker is a snapshot", []string{tickerFrame, strings.ReplaceAll(tickerFrame, "BTCUSDT", "ETHUSDT"), quoteFrame}, ""},
	} {
		f, err := frames.Read(c.lines...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := ""
		for _, r := range f.Events.Fundings {
			got += fmt.Sprintf("%s %d %d", r.Rate, r.Due, r.Period/hourMs)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	frames.Fuzz(f, tickerFrame, func(got *source.Frame) bool {
		for _, one := range got.Events.Trades {
			if one.Count != 1 {
				return false
			}
		}
		for _, one := range got.Events.Fundings {
			if one.Due == 0 || one.Period < hourMs || one.Period > 24*hourMs {
				return false
			}
		}
		b := &got.Book
		return b.Symbol == "" || b.Last > 0 && (b.Snapshot || b.First == b.Last && b.Prev == b.Last-1 && b.Prev > 0)
	}, tradesFrame, blockFrame, quoteFrame, rateFrame, forceFrame, bookFrame, changeFrame, `{"success":true,"req_id":"3","op":"subscribe"}`, `{"op":"subscribe","req_id":"x"}`)
}

// A ticker that has not changed gives out nothing, and one that has, a rate.
func BenchmarkParse(b *testing.B) {
	trade := strings.Replace(blockFrame, `"BT":true`, `"L":"PlusTick","i":"5a1c9c8e-0000-5d31-9112-000000000001","BT":false`, 1)
	again := strings.Replace(tickerFrame, `"fundingRate":"-0.000212"`, `"fundingRate":"-0.000213"`, 1)
	frames.Benchmark(b, tickerFrame, map[string][]string{
		"trade": {trade}, "liquidations": {forceFrame}, "ticker": {again, tickerFrame}, "change of a quote": {quoteFrame}, "change of a book": {changeFrame},
	})
}
