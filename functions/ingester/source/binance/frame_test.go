package binance

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
)

const (
	spotFrame = `{"stream":"btcusdt@aggTrade","data":{"e":"aggTrade","E":1790000000123,"s":"BTCUSDT","a":52,"p":"61234.56000000","q":"0.01500000","f":100,"l":102,"T":1790000000120,"m":true,"M":true}}`
	swapFrame = `{"stream":"ethusdt@aggTrade","data":{"e":"aggTrade","E":1790000000123,"a":7,"s":"ETHUSDT","p":"2412.05","q":"3.2","nq":"3.2","f":9,"l":9,"T":1790000000119,"m":false}}`

	markFrame  = `{"stream":"btcusdt@markPrice","data":{"e":"markPriceUpdate","E":1790000001000,"s":"BTCUSDT","p":"61234.50","ap":"61234.5","i":"61200.1","P":"61210.0","r":"-0.00012345","T":1790006400000}}`
	forceFrame = `{"stream":"btcusdt@forceOrder","data":{"e":"forceOrder","E":1790000001005,"o":{"s":"BTCUSDT","ps":"BTCUSDT","st":1,"S":"SELL","o":"LIMIT","f":"IOC","q":"0.014","p":"9910","ap":"9905.5","X":"FILLED","l":"0.014","z":"0.012","T":1790000001000}}}`

	spotDepth = `{"stream":"btcusdt@depth","data":{"e":"depthUpdate","E":1790000000123,"s":"BTCUSDT","U":157,"u":160,"b":[["61234.50000000","0.30000000"],["61230.01000000","0.00000000"]],"a":[["61234.51000000","1.50000000"]]}}`
	swapDepth = `{"stream":"btcusdt@depth@500ms","data":{"e":"depthUpdate","E":1790000000123,"T":1790000000120,"s":"BTCUSDT","U":157,"u":160,"pu":149,"b":[["61234.5","0.300"],["61230.0","0.000"]],"a":[]}}`
)

var frames = sourcetest.Frames(func() source.Parser { return parse })

func TestFramesThatTheVenueSends(t *testing.T) {
	t.Parallel()
	dec := func(text string) market.Decimal { return sourcetest.Decimal(t, text) }
	sold := market.PairTrade{Pair: "BTCUSDT", ID: 52, Prev: 51, Count: 3, Side: market.Sell, Time: 1790000000120, Px: dec("61234.56"), Sz: dec("0.015")}
	bought := market.PairTrade{Pair: "ETHUSDT", ID: 7, Prev: 6, Count: 1, Side: market.Buy, Time: 1790000000119, Px: dec("2412.05"), Sz: dec("3.2")}
	rate := market.PairFunding{Pair: "BTCUSDT", Time: 1790000001000, Due: 1790006400000, Rate: dec("-0.00012345")}
	closed := func(long bool, px string) source.Frame {
		return source.Frame{Events: market.PairEvents{Liquidations: []market.PairLiquidation{{Pair: "BTCUSDT", Time: 1790000001000, Long: long, Px: dec(px), Sz: dec("0.012")}}}}
	}
	level := func(px, sz string) market.PairLevel { return market.PairLevel{Px: dec(px), Sz: dec(sz)} }
	frames.Is(t, "a spot trade of a seller", spotFrame, source.Frame{Events: market.PairEvents{Trades: []market.PairTrade{sold}}})
	frames.Is(t, "a trade of a perpetual, of a buyer", swapFrame, source.Frame{Events: market.PairEvents{Trades: []market.PairTrade{bought}}})
	frames.Is(t, "an acknowledgement", `{"result":null,"id":3}`, source.Frame{Answered: true, ID: 3})
	frames.Is(t, "a refusal", `{"error":{"code":2,"msg":"Invalid request"},"id":4}`, source.Frame{Answered: true, ID: 4, Refused: `{"code":2,"msg":"Invalid request"}`})
	frames.Is(t, "a refusal of nothing that was asked", `{"error":{"code":3,"msg":"Invalid JSON"},"id":null}`, source.Frame{Answered: true, Refused: `{"code":3,"msg":"Invalid JSON"}`})
	frames.Is(t, "another stream", `{"stream":"btcusdt@kline_1m","data":{"e":"kline","E":1790000000123,"s":"BTCUSDT","k":{"t":1790000000000,"p":1}}}`, source.Frame{})
	frames.Is(t, "a stream whose fields have other types", `{"stream":"btcusdt@ticker","data":{"e":"24hrTicker","a":[["1","2"]],"l":"x"}}`, source.Frame{})
	frames.Is(t, "an array of events", `{"stream":"!miniTicker@arr","data":[{"e":"24hrMiniTicker"}]}`, source.Frame{})
	frames.Is(t, "the announcement of a restart", `{"stream":"x","data":{"e":"serverShutdown","E":1790000000123}}`, source.Frame{Restart: true})
	frames.Is(t, "a mark price", markFrame, source.Frame{Events: market.PairEvents{Fundings: []market.PairFunding{rate}}})
	frames.Is(t, "that of a contract without funding", strings.Replace(markFrame, `"-0.00012345"`, `""`, 1), source.Frame{})
	frames.Is(t, "a long position that was closed", forceFrame, closed(true, "9905.5"))
	frames.Is(t, "a short one", strings.Replace(forceFrame, "SELL", "BUY", 1), closed(false, "9905.5"))
	frames.Is(t, "one at no average price", strings.Replace(forceFrame, "9905.5", "0", 1), closed(true, "9910"))
	frames.Is(t, "changes of a book of spot, whose numbers go on", spotDepth, source.Frame{Book: source.BookUpdate{Symbol: "BTCUSDT", Time: 1790000000123, First: 157, Last: 160, Prev: 156,
		Bids: []market.PairLevel{level("61234.5", "0.3"), level("61230.01", "0")}, Asks: []market.PairLevel{level("61234.51", "1.5")}}})
	frames.Is(t, "those of a perpetual, which name the one before", swapDepth, source.Frame{Book: source.BookUpdate{Symbol: "BTCUSDT", Time: 1790000000120, First: 157, Last: 160, Prev: 149,
		Bids: []market.PairLevel{level("61234.5", "0.3"), level("61230", "0")}}})
}

func TestFramesThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	frames.Refuses(t, spotFrame, map[string][2]string{
		"no id":                  {`"a":52,`, ``},
		"an id as text":          {`"a":52`, `"a":"52"`},
		"a price that is none":   {`"p":"61234.56000000"`, `"p":"abc"`},
		"a price as number":      {`"p":"61234.56000000"`, `"p":61234.56`},
		"a price of zero":        {`"p":"61234.56000000"`, `"p":"0.0"`},
		"a negative size":        {`"q":"0.01500000"`, `"q":"-1"`},
		"an exponent":            {`"q":"0.01500000"`, `"q":"1e3"`},
		"fills the wrong way":    {`"f":100,"l":102`, `"f":103,"l":102`},
		"a time in microseconds": {`"T":1790000000120`, `"T":1790000000120000`},
		"a time in seconds":      {`"T":1790000000120`, `"T":1790000000`},
		"a side that is none":    {`"m":true`, `"m":1`},
		"a field twice":          {`"m":true`, `"m":true,"m":true`},
		"no symbol":              {`"s":"BTCUSDT"`, `"s":""`},
		"an end too early":       {`"M":true}}`, `"M":true}`},
		"something behind":       {`"M":true}}`, `"M":true}}x`},
	})
	if _, err := frames.Read(strings.Replace(spotFrame, `"a":52,`, ``, 1)); !errors.Is(err, errTrade) {
		t.Errorf("%v", err)
	}
	frames.Refuses(t, markFrame, map[string][2]string{
		"no rate":            {`"r":"-0.00012345",`, ``},
		"a rate as a number": {`"-0.00012345"`, `-0.1`},
		"a rate of letters":  {`-0.00012345`, `x`},
		"seconds":            {`1790000001000`, `1790000001`},
	})
	frames.Refuses(t, forceFrame, map[string][2]string{
		"no side":            {`"S":"SELL",`, ``},
		"another side":       {`SELL`, `HOLD`},
		"nothing filled":     {`"z":"0.012"`, `"z":"0"`},
		"no time":            {`,"T":1790000001000`, ``},
		"an order as a list": {forceFrame[strings.Index(forceFrame, `{"s"`):], `[` + strings.Replace(forceFrame[strings.Index(forceFrame, `{"s"`):], `}}}`, `}]}}`, 1)},
	})
	frames.Refuses(t, swapDepth, map[string][2]string{
		"no symbol":              {`"s":"BTCUSDT",`, ``},
		"an empty symbol":        {`"BTCUSDT"`, `""`},
		"no first number":        {`"U":157,`, ``},
		"no last number":         {`"u":160,`, ``},
		"no number before":       {`"pu":149,`, ``},
		"no time of the change":  {`"T":1790000000120,`, ``},
		"no time of the event":   {`"E":1790000000123,`, ``},
		"a time in seconds":      {`"T":1790000000120`, `"T":1790000000`},
		"numbers the wrong way":  {`"u":160`, `"u":156`},
		"a number as text":       {`"u":160`, `"u":"160"`},
		"a negative number":      {`"pu":149`, `"pu":-1`},
		"no asks":                {`,"a":[]`, ``},
		"asks that are null":     {`"a":[]`, `"a":null`},
		"a level without a size": {`["61234.5","0.300"]`, `["61234.5"]`},
		"a level of numbers":     {`["61234.5","0.300"]`, `[61234.5,0.3]`},
		"a price of zero":        {`"61234.5"`, `"0.0"`},
		"a negative size":        {`"0.300"`, `"-0.300"`},
		"a size that is none":    {`"0.300"`, `"x"`},
		"a field twice":          {`"a":[]`, `"a":[],"a":[]`},
		"an end too early":       {`"a":[]}}`, `"a":[]}`},
	})
}

func FuzzParse(f *testing.F) {
	frames.Fuzz(f, spotFrame, func(got *source.Frame) bool {
		for _, one := range got.Events.Trades {
			if one.ID < 0 || one.Prev != one.ID-1 {
				return false
			}
		}
		return got.Book.First <= got.Book.Last
	}, swapFrame, markFrame, forceFrame, spotDepth, swapDepth, `{"result":null,"id":3}`, `{"error":{"code":2},"id":null}`)
}

func BenchmarkParse(b *testing.B) {
	frames.Benchmark(b, spotFrame, map[string][]string{"spot trade": {spotFrame}, "trade": {swapFrame}, "mark price": {markFrame}, "forced order": {forceFrame}, "depth": {swapDepth}})
}

func TestAWholeBookThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		swap   bool
		want   bool
	}{
		"spot":                   {`{"lastUpdateId":7,"bids":[["1.5","2"]],"asks":[]}`, false, true},
		"a perpetual":            {`{"lastUpdateId":7,"E":1790000000123,"T":1790000000120,"bids":[],"asks":[["1.5","2"]]}`, true, true},
		"a perpetual of no time": {`{"lastUpdateId":7,"bids":[],"asks":[]}`, true, false},
		"no number":              {`{"bids":[],"asks":[]}`, false, false},
		"no bids":                {`{"lastUpdateId":7,"asks":[]}`, false, false},
		"bids that are null":     {`{"lastUpdateId":7,"bids":null,"asks":[]}`, false, false},
		"a level of numbers":     {`{"lastUpdateId":7,"bids":[[1.5,2]],"asks":[]}`, false, false},
		"nothing":                {`{}`, false, false},
	} {
		var b bookSnapshot
		err := json.Unmarshal([]byte(c.answer), &b)
		if err == nil {
			err = b.check(c.swap)
		}
		if (err == nil) != c.want {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
}

// The server counts changes by how many levels were asked for.
func TestAWholeBookSaysHowManyLevelsWereAskedFor(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"lastUpdateId":%s,"T":1790000000120,"bids":[],"asks":[]}`, r.URL.Query().Get("limit"))
	}))
	t.Cleanup(server.Close)
	for _, m := range Open(server.URL, slog.New(slog.DiscardHandler)) {
		if u, err := m.book(t.Context(), market.Pair{Symbol: "BTCUSDT"}); err != nil || u.Best == 0 || u.Last != int64(u.Best) {
			t.Errorf("%s: %+v, %v", m.Name, u, err)
		}
	}
}
