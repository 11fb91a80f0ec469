package bybit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/testing/must"
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
)

// parsed reads frames of one connection; what is returned is said by the last.
func parsed(lines ...string) (f source.Frame, err error) {
	parse := newParser()
	for _, line := range lines {
		f.Reset()
		if err := parse(line, &f); err != nil {
			return f, err
		}
	}
	return f, nil
}

var equal = cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })

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
	for _, c := range []struct {
		name, line string
		want       source.Frame
	}{
		{"two trades", tradesFrame, source.Frame{Events: market.PairEvents{Trades: trades}}},
		{"a block trade, whose time is text", blockFrame, source.Frame{}},
		{"a ticker with a funding rate", tickerFrame, source.Frame{Events: market.PairEvents{Fundings: []market.PairFunding{expected}}}},
		{"a change of an unknown ticker", rateFrame, source.Frame{}},
		{"positions that were closed, a long one and a short one", forceFrame, source.Frame{Events: market.PairEvents{Liquidations: liquidations}}},
		{"a ticker of spot", `{"topic":"tickers.BTCUSDT","ts":1,"type":"snapshot","cs":2,"data":{"symbol":"BTCUSDT","lastPrice":"21109.77","usdIndexPrice":""}}`, source.Frame{}},
		{"a ticker of a dated contract", `{"topic":"tickers.BTCUSDU26","type":"snapshot","data":{"symbol":"BTCUSDU26","nextFundingTime":"","fundingRate":""},"cs":1,"ts":2}`, source.Frame{}},
		{"an acknowledgement", `{"success":true,"ret_msg":"","conn_id":"a1","req_id":"3","op":"subscribe"}`, source.Frame{Answered: true, ID: 3}},
		{"an acknowledgement of what was accepted before", `{"success":false,"ret_msg":"error:already subscribed,topic:publicTrade.BTCUSDT","conn_id":"a1","req_id":"3","op":"subscribe"}`, source.Frame{Answered: true, ID: 3}},
		{"a refusal", refused, source.Frame{Answered: true, ID: 2, Refused: refused}},
		{"the answer to a ping", `{"success":true,"ret_msg":"pong","conn_id":"a1","req_id":"","op":"ping"}`, source.Frame{}},
		{"the answer to a ping of contracts", `{"req_id":"","op":"pong","args":["1790000000000"],"conn_id":"a1"}`, source.Frame{}},
		{"another topic", `{"topic":"kline.1.BTCUSDT","type":"snapshot","ts":1,"data":[{"interval":"1","open":"61234.5"}]}`, source.Frame{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(parsed(c.line))(t)
			if diff := cmp.Diff(c.want, got, equal); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
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
		f, err := parsed(c.lines...)
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

func TestAMalformedEventIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, old, new string }{
		"no time":                   {tradesFrame, `"T":1790000000120,`, ``},
		"a price as number":         {tradesFrame, `"p":"61234.50"`, `"p":61234.5`},
		"a price that is none":      {tradesFrame, `"p":"61234.50"`, `"p":"abc"`},
		"a size of zero":            {tradesFrame, `"v":"0.015"`, `"v":"0"`},
		"a time in microseconds":    {tradesFrame, `"T":1790000000120`, `"T":1790000000120000`},
		"a side that is none":       {tradesFrame, `"S":"Sell"`, `"S":"sell"`},
		"a field twice":             {tradesFrame, `"S":"Sell"`, `"S":"Sell","S":"Sell"`},
		"no symbol":                 {tradesFrame, `"s":"BTCUSDT","S":"Sell"`, `"S":"Sell"`},
		"no array":                  {tradesFrame, `"data":[`, `"data":{"x":[`},
		"something behind":          {tradesFrame, `}]}`, `}]}x`},
		"a ticker of nothing":       {tickerFrame, `"symbol":"BTCUSDT",`, ``},
		"a ticker that is a list":   {tickerFrame, `"data":{`, `"data":[{`},
		"a rate as number":          {tickerFrame, `"fundingRate":"-0.000212"`, `"fundingRate":-0.000212`},
		"a rate that is none":       {tickerFrame, `"fundingRate":"-0.000212"`, `"fundingRate":"x"`},
		"a rate due at no time":     {tickerFrame, `"1790006400000"`, `"08:00"`},
		"a period that is none":     {tickerFrame, `"fundingIntervalHour":"4"`, `"fundingIntervalHour":"0"`},
		"a period of days":          {tickerFrame, `"fundingIntervalHour":"4"`, `"fundingIntervalHour":"48"`},
		"a ticker of no time":       {tickerFrame, `,"ts":1790000000130`, ``},
		"a ticker in seconds":       {tickerFrame, `"ts":1790000000130`, `"ts":1790000000`},
		"a ticker's time as object": {tickerFrame, `"ts":1790000000130`, `"ts":{}`},
		"a liquidation of nothing":  {forceFrame, `"s":"BTCUSDT","S":"Buy"`, `"S":"Buy"`},
		"a liquidation's side":      {forceFrame, `"S":"Buy"`, `"S":"long"`},
		"a liquidation of no size":  {forceFrame, `"v":"0.006"`, `"v":"0"`},
		"a liquidation's price":     {forceFrame, `"p":"62396.90"`, `"p":"-1"`},
		"a liquidation's time":      {forceFrame, `"T":1790000000992`, `"T":1790000000`},
		"a liquidation short of it": {forceFrame, `,"p":"62396.90"`, ``},
		"a liquidation as object":   {forceFrame, `"data":[`, `"data":{"x":[`},
	} {
		line := strings.Replace(c.line, c.old, c.new, 1)
		if line == c.line {
			t.Fatalf("%s changes nothing", name)
		}
		if f, err := parsed(line); err == nil && f.Bad != 1 { // of two rows
			t.Errorf("%s: %+v", name, f.Events)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{tradesFrame, blockFrame, tickerFrame, quoteFrame, rateFrame, forceFrame, bookFrame, changeFrame, `{"success":true,"req_id":"3","op":"subscribe"}`, `{"op":"subscribe","req_id":"x"}`, ``} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := parsed(tickerFrame, line)
		if err != nil {
			return
		}
		for _, tr := range got.Events.Trades {
			if tr.Pair == "" || tr.Count != 1 || !tr.Px.IsPos() || !tr.Sz.IsPos() || tr.Time < 1_400_000_000_000 {
				t.Fatalf("%+v", tr)
			}
		}
		for _, r := range got.Events.Fundings {
			if r.Pair == "" || r.Due <= 0 || r.Period < hourMs || r.Period > 24*hourMs || r.Paid || r.Time < 1_400_000_000_000 {
				t.Fatalf("%+v", r)
			}
		}
		for _, l := range got.Events.Liquidations {
			if l.Pair == "" || !l.Px.IsPos() || !l.Sz.IsPos() || l.Time < 1_400_000_000_000 {
				t.Fatalf("%+v", l)
			}
		}
		if b := &got.Book; b.Symbol != "" && (b.Last < 1 || b.Time < 1_400_000_000_000 || !b.Snapshot && (b.First != b.Last || b.Prev != b.Last-1 || b.Prev < 1)) {
			t.Fatalf("%+v", b)
		}
	})
}

// A connection parses the same frames again and again: a ticker that has not changed gives
// out nothing, and one that has, a rate.
func BenchmarkParse(b *testing.B) {
	trade := strings.Replace(blockFrame, `"BT":true`, `"L":"PlusTick","i":"5a1c9c8e-0000-5d31-9112-000000000001","BT":false`, 1)
	again := strings.Replace(tickerFrame, `"fundingRate":"-0.000212"`, `"fundingRate":"-0.000213"`, 1)
	for name, c := range map[string]struct {
		lines  []string
		events int
	}{
		"trade": {[]string{trade}, 1}, "liquidations": {[]string{forceFrame}, 2},
		"ticker": {[]string{tickerFrame, again}, 1}, "change of a quote": {[]string{quoteFrame}, 0}, "change of a book": {[]string{changeFrame}, 0},
	} {
		b.Run(name, func(b *testing.B) {
			var lines [][]byte
			for _, line := range c.lines {
				lines = append(lines, []byte(line))
			}
			parse, n := newParser(), 0
			var f source.Frame
			must.Do(b, parse(tickerFrame, &f))
			if name == "ticker" { // which begins with it
				n++
			}
			b.ReportAllocs()
			for b.Loop() {
				f.Reset()
				if err := parse(string(lines[n%len(lines)]), &f); err != nil || f.Events.Len() != c.events {
					b.Fatal(err, f.Events.Len())
				}
				n++
			}
		})
	}
}
