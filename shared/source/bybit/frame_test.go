package bybit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
	"quotary/shared/source"
)

const (
	tradesFrame = `{"topic":"publicTrade.BTCUSDT","type":"snapshot","ts":1790000000124,"data":[` +
		`{"T":1790000000120,"s":"BTCUSDT","S":"Sell","v":"0.015","p":"61234.50","L":"MinusTick","i":"5a1c9c8e-0000-5d31-9112-000000000001","BT":false,"RPI":false,"seq":77},` +
		`{"T":1790000000121,"s":"BTCUSDT","S":"Buy","v":"3","p":"61234.60","L":"PlusTick","i":"5a1c9c8e-0000-5d31-9112-000000000002","BT":false}]}`
	blockFrame = `{"topic":"publicTrade.BTCUSDT","type":"snapshot","ts":1,"data":[{"T":"1790000000120","s":"BTCUSDT","S":"Buy","v":"100","p":"60000","BT":true}]}`
)

func decimal(t testing.TB, text string) market.Decimal {
	t.Helper()
	d, err := market.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFramesThatTheVenueSends(t *testing.T) {
	t.Parallel()
	equal := cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })
	trades := []market.PairTrade{
		{Pair: "BTCUSDT", Count: 1, Side: market.Sell, Time: 1790000000120, Px: decimal(t, "61234.5"), Sz: decimal(t, "0.015")},
		{Pair: "BTCUSDT", Count: 1, Side: market.Buy, Time: 1790000000121, Px: decimal(t, "61234.6"), Sz: decimal(t, "3")},
	}
	refused := `{"success":false,"ret_msg":"error:handler not found,topic:publicTrade.BTCUSDD","conn_id":"a1","req_id":"2","op":"subscribe"}`
	for _, c := range []struct {
		name, line string
		want       source.Frame
	}{
		{"two trades", tradesFrame, source.Frame{Events: market.PairEvents{Trades: trades}}},
		{"a block trade, whose time is text", blockFrame, source.Frame{}},
		{"an acknowledgement", `{"success":true,"ret_msg":"","conn_id":"a1","req_id":"3","op":"subscribe"}`, source.Frame{Answered: true, ID: 3}},
		{"a refusal", refused, source.Frame{Answered: true, ID: 2, Refused: refused}},
		{"the answer to a ping", `{"success":true,"ret_msg":"pong","conn_id":"a1","req_id":"","op":"ping"}`, source.Frame{}},
		{"the answer to a ping of contracts", `{"req_id":"","op":"pong","args":["1790000000000"],"conn_id":"a1"}`, source.Frame{}},
		{"another topic", `{"topic":"orderbook.50.BTCUSDT","type":"delta","ts":1,"data":{"s":"BTCUSDT","b":[["1","0"]],"a":[],"u":2,"seq":3}}`, source.Frame{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got source.Frame
			if err := parse(c.line, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, equal); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMalformedTradeIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
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
	} {
		line := strings.Replace(tradesFrame, change[0], change[1], 1)
		if line == tradesFrame {
			t.Fatalf("%s changes nothing", name)
		}
		if err := parse(line, new(source.Frame)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{tradesFrame, blockFrame, `{"success":true,"req_id":"3","op":"subscribe"}`, `{"op":"subscribe","req_id":"x"}`, ``} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var got source.Frame
		if parse(line, &got) != nil {
			return
		}
		for _, tr := range got.Events.Trades {
			if tr.Pair == "" || tr.Count != 1 || !tr.Px.IsPos() || !tr.Sz.IsPos() || tr.Time < 1_400_000_000_000 {
				t.Fatalf("%+v", tr)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	line := []byte(strings.Replace(blockFrame, `"BT":true`, `"L":"PlusTick","i":"5a1c9c8e-0000-5d31-9112-000000000001","BT":false`, 1))
	var f source.Frame
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		if err := parse(string(line), &f); err != nil || len(f.Events.Trades) != 1 {
			b.Fatal(err)
		}
	}
}
