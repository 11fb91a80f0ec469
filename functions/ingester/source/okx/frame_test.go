package okx

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

const (
	spotFrame    = `{"arg":{"channel":"trades","instId":"BTC-USDT"},"data":[{"instId":"BTC-USDT","tradeId":"52","px":"61234.5","sz":"0.015","side":"sell","ts":"1790000000120","count":"3","seqId":9}]}`
	fundingFrame = `{"arg":{"channel":"funding-rate","instId":"BTC-USDT-SWAP"},"data":[{"formulaType":"withRate","fundingRate":"-0.0000125","fundingTime":"1790000000000","impactValue":"20000","instId":"BTC-USDT-SWAP","instType":"SWAP","interestRate":"0.0001","maxFundingRate":"0.00375","method":"current_period","minFundingRate":"-0.00375","nextFundingRate":"","nextFundingTime":"1790028800000","premium":"-0.0002","settFundingRate":"0.00005","settState":"settled","ts":"1789990000000"}]}`
	forceFrame   = `{"arg":{"channel":"liquidation-orders","instType":"SWAP"},"data":[{"details":[{"bkLoss":"0","bkPx":"82655.7","ccy":"","posSide":"long","side":"sell","sz":"8.55","ts":"1790000000771"}],"instFamily":"BTC-USDT","instId":"BTC-USDT-SWAP","instType":"SWAP","uly":"BTC-USDT"}]}`
	swapFrame    = `{"arg":{"channel":"trades","instId":"ETH-USDT-SWAP"},"data":[{"instId":"ETH-USDT-SWAP","tradeId":"7","px":"2412.05","sz":"32","side":"buy","ts":"1790000000119"}]}`
)

var equal = cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })

func TestFramesThatTheVenueSends(t *testing.T) {
	t.Parallel()
	sold := market.PairTrade{Pair: "BTC-USDT", ID: 52, Prev: 49, Count: 3, Side: market.Sell, Time: 1790000000120, Px: sourcetest.Decimal(t, "61234.5"), Sz: sourcetest.Decimal(t, "0.015")}
	bought := market.PairTrade{Pair: "ETH-USDT-SWAP", ID: 7, Prev: 6, Count: 1, Side: market.Buy, Time: 1790000000119, Px: sourcetest.Decimal(t, "2412.05"), Sz: sourcetest.Decimal(t, "32")}
	refused := `{"event":"error","code":"60018","msg":"Wrong URL or channel:trades,instId:BTC-USDD doesn't exist.","connId":"a1"}`
	for _, c := range []struct {
		name, line string
		want       source.Frame
	}{
		{"a trade of three fills, of a seller", spotFrame, source.Frame{Events: market.PairEvents{Trades: []market.PairTrade{sold}}}},
		{"a trade without a count", swapFrame, source.Frame{Events: market.PairEvents{Trades: []market.PairTrade{bought}}}},
		{"a funding rate", fundingFrame, source.Frame{Events: market.PairEvents{Fundings: []market.PairFunding{
			{Pair: "BTC-USDT-SWAP", Time: 1789990000000, Rate: sourcetest.Decimal(t, "-0.0000125"), Due: 1790000000000, Period: 28_800_000},
		}}}},
		{"a long position that was closed", forceFrame, source.Frame{Events: market.PairEvents{Liquidations: []market.PairLiquidation{
			{Pair: "BTC-USDT-SWAP", Time: 1790000000771, Long: true, Px: sourcetest.Decimal(t, "82655.7"), Sz: sourcetest.Decimal(t, "8.55")},
		}}}},
		{"an acknowledgement", `{"event":"subscribe","arg":{"channel":"trades","instId":"BTC-USDT"},"connId":"a1"}`, source.Frame{Answered: true, Topic: arg{Channel: tradesChannel, InstID: "BTC-USDT"}}},
		{"a refusal of a topic", refused, source.Frame{Answered: true, Refused: refused, NoTopic: true}},
		{"a refusal of a message", `{"event":"error","code":"60012","msg":"Invalid request"}`, source.Frame{Answered: true, Refused: `{"event":"error","code":"60012","msg":"Invalid request"}`}},
		{"the announcement of a restart", `{"event":"notice","code":"64008","msg":"The connection will soon be closed for a service upgrade."}`, source.Frame{Restart: true}},
		{"the answer to a ping", `pong`, source.Frame{}},
		{"how many connections there are", `{"event":"channel-conn-count","channel":"trades","connCount":"2"}`, source.Frame{}},
		{"another channel", `{"arg":{"channel":"books5","instId":"BTC-USDT"},"data":[{"asks":[["1","2","0","1"]],"ts":"1"}]}`, source.Frame{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got source.Frame
			must.Do(t, parse(c.line, &got))
			if diff := cmp.Diff(c.want, got, equal); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMalformedTradeIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"no id":                  {`"tradeId":"52",`, ``},
		"an id as number":        {`"tradeId":"52"`, `"tradeId":52`},
		"fewer than it counts":   {`"tradeId":"52"`, `"tradeId":"2"`},
		"a count of none":        {`"count":"3"`, `"count":"0"`},
		"a price that is none":   {`"px":"61234.5"`, `"px":"abc"`},
		"a price of zero":        {`"px":"61234.5"`, `"px":"0.0"`},
		"a negative size":        {`"sz":"0.015"`, `"sz":"-1"`},
		"an exponent":            {`"sz":"0.015"`, `"sz":"1e3"`},
		"a time in microseconds": {`"ts":"1790000000120"`, `"ts":"1790000000120000"`},
		"a time in seconds":      {`"ts":"1790000000120"`, `"ts":"1790000000"`},
		"a side that is none":    {`"side":"sell"`, `"side":"SELL"`},
		"a field twice":          {`"side":"sell"`, `"side":"sell","side":"sell"`},
		"no instrument":          {`"data":[{"instId":"BTC-USDT",`, `"data":[{`},
		"no object":              {`"data":[{`, `"data":[1,{`},
		"an end too early":       {`}]}`, `}]`},
		"something behind":       {`}]}`, `}]}x`},
	} {
		line := strings.Replace(spotFrame, change[0], change[1], 1)
		if line == spotFrame {
			t.Fatalf("%s changes nothing", name)
		}
		if f := new(source.Frame); parse(line, f) == nil && f.Bad == 0 {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestATradeThatCannotBeReadCostsItselfAlone(t *testing.T) {
	t.Parallel()
	good := spotFrame[strings.Index(spotFrame, `[`)+1 : strings.LastIndex(spotFrame, `]`)]
	want, f := new(source.Frame), new(source.Frame)
	must.Do(t, errors.Join(parse(spotFrame, want), parse(strings.Replace(spotFrame, good, strings.Replace(good, `"side":"sell"`, `"side":"none"`, 1)+`,7,`+good, 1), f)))
	if diff := cmp.Diff(want.Events, f.Events, equal); diff != "" || f.Bad != 2 {
		t.Errorf("%d rows were left out, want 2 (-alone +beside them):\n%s", f.Bad, diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{spotFrame, swapFrame, fundingFrame, forceFrame, bookFrame, `pong`, `{"event":"error","code":"60012"}`, `{"event":"notice"}`, `{"data":[]}`, ``} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var got source.Frame
		if parse(line, &got) != nil {
			return
		}
		for _, tr := range got.Events.Trades {
			if tr.Pair == "" || tr.Prev < 0 || tr.ID-tr.Prev != tr.Count || tr.Count < 1 || !tr.Px.IsPos() || !tr.Sz.IsPos() || tr.Time < 1_400_000_000_000 {
				t.Fatalf("%+v", tr)
			}
		}
		if b := &got.Book; b.Symbol != "" && (b.Last < 1 || b.Time < 1_400_000_000_000 || b.Snapshot && b.Prev != 0 || !b.Snapshot && b.First != b.Prev+1) {
			t.Fatalf("%+v", b)
		}
	})
}

func parsed(line string) (f source.Frame, err error) {
	err = parse(line, &f)
	return f, err
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{"trade": spotFrame, "funding": fundingFrame, "liquidation": forceFrame, "book": bookFrame} {
		b.Run(name, func(b *testing.B) {
			line := []byte(text)
			var f source.Frame
			b.ReportAllocs()
			for b.Loop() {
				f.Reset()
				if err := parse(string(line), &f); err != nil || f.Events.Len() == 0 && f.Book.Symbol == "" {
					b.Fatal(err)
				}
			}
		})
	}
}
