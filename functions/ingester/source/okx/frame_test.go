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
	bookFrame    = `{"arg":{"channel":"books","instId":"BTC-USDT"},"action":"update","data":[{"asks":[["61234.6","0","0","0"],["61236","1.5","0","4"]],"bids":[["61234.5","0.015","0","1"]],"ts":"1790000000120","checksum":-914047754,"seqId":123457,"prevSeqId":123450}]}`
)

var frames = sourcetest.Frames(func() source.Parser { return parse })

func TestFramesThatTheVenueSends(t *testing.T) {
	t.Parallel()
	sold := market.PairTrade{Pair: "BTC-USDT", ID: 52, Prev: 49, Count: 3, Side: market.Sell, Time: 1790000000120, Px: sourcetest.Decimal(t, "61234.5"), Sz: sourcetest.Decimal(t, "0.015")}
	bought := market.PairTrade{Pair: "ETH-USDT-SWAP", ID: 7, Prev: 6, Count: 1, Side: market.Buy, Time: 1790000000119, Px: sourcetest.Decimal(t, "2412.05"), Sz: sourcetest.Decimal(t, "32")}
	refused := `{"event":"error","code":"60018","msg":"Wrong URL or channel:trades,instId:BTC-USDD doesn't exist.","connId":"a1"}`
	frames.Is(t, "a trade of three fills, of a seller", spotFrame, source.Frame{Events: market.PairEvents{Trades: []market.PairTrade{sold}}})
	frames.Is(t, "a trade without a count", swapFrame, source.Frame{Events: market.PairEvents{Trades: []market.PairTrade{bought}}})
	frames.Is(t, "a funding rate", fundingFrame, source.Frame{Events: market.PairEvents{Fundings: []market.PairFunding{
		{Pair: "BTC-USDT-SWAP", Time: 1789990000000, Rate: sourcetest.Decimal(t, "-0.0000125"), Due: 1790000000000, Period: 28_800_000},
	}}})
	frames.Is(t, "a long position that was closed", forceFrame, source.Frame{Events: market.PairEvents{Liquidations: []market.PairLiquidation{
		{Pair: "BTC-USDT-SWAP", Time: 1790000000771, Long: true, Px: sourcetest.Decimal(t, "82655.7"), Sz: sourcetest.Decimal(t, "8.55")},
	}}})
	frames.Is(t, "an acknowledgement", `{"event":"subscribe","arg":{"channel":"trades","instId":"BTC-USDT"},"connId":"a1"}`, source.Frame{Answered: true, Topic: arg{Channel: tradesChannel, InstID: "BTC-USDT"}})
	frames.Is(t, "a refusal of a topic", refused, source.Frame{Answered: true, Refused: refused, NoTopic: true})
	frames.Is(t, "a refusal of a message", `{"event":"error","code":"60012","msg":"Invalid request"}`, source.Frame{Answered: true, Refused: `{"event":"error","code":"60012","msg":"Invalid request"}`})
	frames.Is(t, "the announcement of a restart", `{"event":"notice","code":"64008","msg":"The connection will soon be closed for a service upgrade."}`, source.Frame{Restart: true})
	frames.Is(t, "the answer to a ping", `pong`, source.Frame{})
	frames.Is(t, "how many connections there are", `{"event":"channel-conn-count","channel":"trades","connCount":"2"}`, source.Frame{})
	frames.Is(t, "another channel", `{"arg":{"channel":"books5","instId":"BTC-USDT"},"data":[{"asks":[["1","2","0","1"]],"ts":"1"}]}`, source.Frame{})
	level := func(px, sz string) market.PairLevel {
		return market.PairLevel{Px: sourcetest.Decimal(t, px), Sz: sourcetest.Decimal(t, sz)}
	}
	update := source.BookUpdate{
		Symbol: "BTC-USDT", Time: 1790000000120, First: 123451, Last: 123457, Prev: 123450,
		Bids: []market.PairLevel{level("61234.5", "0.015")}, Asks: []market.PairLevel{level("61234.6", "0"), level("61236", "1.5")},
		Checksum: -914047754, Summed: true,
	}
	whole := update
	whole.Snapshot, whole.First, whole.Prev = true, 0, 0
	frames.Is(t, "changes of a book", bookFrame, source.Frame{Book: update})
	frames.Is(t, "a whole book", strings.NewReplacer(`"update"`, `"snapshot"`, `:123450`, `:-1`).Replace(bookFrame), source.Frame{Book: whole})
	frames.Is(t, "nothing of a book has changed for a minute", `{"arg":{"channel":"books","instId":"BTC-USDT"},"action":"update","data":[{"asks":[],"bids":[],"ts":"1790000000120","checksum":0,"seqId":123457,"prevSeqId":123457}]}`,
		source.Frame{Book: source.BookUpdate{Symbol: "BTC-USDT", Time: 1790000000120, First: 123458, Last: 123457, Prev: 123457}})
	frames.Is(t, "an acknowledgement of books", `{"event":"subscribe","arg":{"channel":"books","instId":"BTC-USDT"},"connId":"a1"}`, source.Frame{Answered: true, Topic: arg{Channel: booksChannel, InstID: "BTC-USDT"}})
	frames.Is(t, "positions that are netted", `{"arg":{"channel":"liquidation-orders","instType":"SWAP"},"data":[{"instId":"A","details":[{"posSide":"net","side":"sell","bkPx":"1.5","sz":"2","ts":"1790000000000"},{"posSide":"net","side":"buy","bkPx":"1.5","sz":"2","ts":"1790000000001"}]}]}`,
		source.Frame{Events: market.PairEvents{Liquidations: []market.PairLiquidation{
			{Pair: "A", Time: 1790000000000, Long: true, Px: sourcetest.Decimal(t, "1.5"), Sz: sourcetest.Decimal(t, "2")},
			{Pair: "A", Time: 1790000000001, Px: sourcetest.Decimal(t, "1.5"), Sz: sourcetest.Decimal(t, "2")},
		}}})
}

func TestFramesThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	frames.Refuses(t, spotFrame, map[string][2]string{
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
		"an end too early":       {`}]}`, `}]`},
		"something behind":       {`}]}`, `}]}x`},
	})
	frames.Refuses(t, fundingFrame, map[string][2]string{
		"a rate that is none":             {`"fundingRate":"-0.0000125"`, `"fundingRate":"x"`},
		"a next rate that is due at once": {`"nextFundingTime":"1790028800000"`, `"nextFundingTime":"1790000000000"`},
		"no time":                         {`,"ts":"1789990000000"`, ``},
	})
	frames.Refuses(t, forceFrame, map[string][2]string{
		"a position that is none": {`"posSide":"long"`, `"posSide":"both"`},
		"a price of zero":         {`"82655.7"`, `"0"`},
		"no instrument":           {`"instId":"BTC-USDT-SWAP",`, ``},
	})
	frames.Refuses(t, bookFrame, map[string][2]string{
		"no number":                  {`"seqId":123457,`, ``},
		"a number of zero":           {`"seqId":123457`, `"seqId":0`},
		"a number as text":           {`"seqId":123457`, `"seqId":"123457"`},
		"a number with a fraction":   {`"seqId":123457`, `"seqId":1.5`},
		"nothing before it":          {`,"prevSeqId":123450`, ``},
		"a field twice":              {`"prevSeqId":123450`, `"prevSeqId":123450,"seqId":123457`},
		"no asks":                    {`"asks":[["61234.6","0","0","0"],["61236","1.5","0","4"]],`, ``},
		"a level of no size":         {`["61234.5","0.015","0","1"]`, `["61234.5"]`},
		"a price of zero":            {`"61234.5"`, `"0"`},
		"a price as number":          {`"61234.5"`, `61234.5`},
		"a negative size":            {`"0.015"`, `"-0.015"`},
		"a time in seconds":          {`"ts":"1790000000120"`, `"ts":"1790000000"`},
		"a time as number":           {`"ts":"1790000000120"`, `"ts":1790000000120`},
		"neither all nor changes":    {`"action":"update",`, ``},
		"another action":             {`"update"`, `"delete"`},
		"no instrument":              {`,"instId":"BTC-USDT"`, ``},
		"an instrument as number":    {`"BTC-USDT"`, `7`},
		"two at once":                {`"data":[{`, `"data":[{"asks":[],"bids":[],"ts":"1790000000120","seqId":123457,"prevSeqId":123450},{`},
		"none":                       {bookFrame[strings.Index(bookFrame, `[{`):], `[]}`},
		"an object":                  {`"data":[`, `"data":{"x":[`},
		"something behind":           {`}]}`, `}]}x`},
		"an end in the middle of it": {`"checksum":-914047754,"seqId":123457,"prevSeqId":123450}]}`, ``},
	})
}

func TestATradeThatCannotBeReadCostsItselfAlone(t *testing.T) {
	t.Parallel()
	good := spotFrame[strings.Index(spotFrame, `[`)+1 : strings.LastIndex(spotFrame, `]`)]
	want, f := new(source.Frame), new(source.Frame)
	must.Do(t, errors.Join(parse(spotFrame, want), parse(strings.Replace(spotFrame, good, strings.Replace(good, `"side":"sell"`, `"side":"none"`, 1)+`,7,`+good, 1), f)))
	if diff := cmp.Diff(want.Events, f.Events); diff != "" || f.Bad != 2 {
		t.Errorf("%d rows were left out, want 2 (-alone +beside them):\n%s", f.Bad, diff)
	}
}

func FuzzParse(f *testing.F) {
	frames.Fuzz(f, spotFrame, func(got *source.Frame) bool {
		for _, one := range got.Events.Trades {
			if one.Prev < 0 || one.ID-one.Prev != one.Count {
				return false
			}
		}
		b := &got.Book
		return b.Symbol == "" || b.Last > 0 && (b.Snapshot && b.Prev == 0 || !b.Snapshot && b.First == b.Prev+1)
	}, swapFrame, fundingFrame, forceFrame, bookFrame, `pong`, `{"event":"error","code":"60012"}`, `{"event":"notice"}`)
}

func BenchmarkParse(b *testing.B) {
	frames.Benchmark(b, spotFrame, map[string][]string{"trade": {spotFrame}, "funding": {fundingFrame}, "liquidation": {forceFrame}, "book": {bookFrame}})
}
