package binance

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

const (
	spotFrame = `{"stream":"btcusdt@aggTrade","data":{"e":"aggTrade","E":1790000000123,"s":"BTCUSDT","a":52,"p":"61234.56000000","q":"0.01500000","f":100,"l":102,"T":1790000000120,"m":true,"M":true}}`
	swapFrame = `{"stream":"ethusdt@aggTrade","data":{"e":"aggTrade","E":1790000000123,"a":7,"s":"ETHUSDT","p":"2412.05","q":"3.2","nq":"3.2","f":9,"l":9,"T":1790000000119,"m":false}}`
)

func TestFramesThatTheVenueSends(t *testing.T) {
	t.Parallel()
	dec := func(text string) market.Decimal {
		return must.Get(market.ParseDecimal(text))(t)
	}
	for _, c := range []struct {
		name, line string
		want       frame
	}{
		{"a spot trade of a seller", spotFrame, frame{symbol: "BTCUSDT", trade: market.PairTrade{ID: 52, Prev: 51, Count: 3, Side: market.Sell, Time: 1790000000120, Px: dec("61234.56"), Sz: dec("0.015")}}},
		{"a trade of a perpetual, of a buyer", swapFrame, frame{symbol: "ETHUSDT", trade: market.PairTrade{ID: 7, Prev: 6, Count: 1, Side: market.Buy, Time: 1790000000119, Px: dec("2412.05"), Sz: dec("3.2")}}},
		{"an acknowledgement", `{"result":null,"id":3}`, frame{answer: 3}},
		{"a refusal", `{"error":{"code":2,"msg":"Invalid request"},"id":4}`, frame{answer: 4, refused: `{"code":2,"msg":"Invalid request"}`}},
		{"a refusal of nothing that was asked", `{"error":{"code":3,"msg":"Invalid JSON"},"id":null}`, frame{refused: `{"code":3,"msg":"Invalid JSON"}`}},
		{"another stream", `{"stream":"btcusdt@kline_1m","data":{"e":"kline","E":1790000000123,"s":"BTCUSDT","k":{"t":1790000000000,"p":1}}}`, frame{}},
		{"a stream whose fields have other types", `{"stream":"btcusdt@depth","data":{"e":"depthUpdate","a":[["1","2"]],"l":"x"}}`, frame{}},
		{"an array of events", `{"stream":"!miniTicker@arr","data":[{"e":"24hrMiniTicker"}]}`, frame{}},
		{"the announcement of a restart", `{"stream":"x","data":{"e":"serverShutdown","E":1790000000123}}`, frame{shutdown: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(parseFrame(c.line))(t)
			if !got.trade.Px.Equal(c.want.trade.Px) || !got.trade.Sz.Equal(c.want.trade.Sz) {
				t.Errorf("price %s, size %s", got.trade.Px, got.trade.Sz)
			}
			got.trade.Px, got.trade.Sz, c.want.trade.Px, c.want.trade.Sz = market.Decimal{}, market.Decimal{}, market.Decimal{}, market.Decimal{}
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAMalformedTradeIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
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
	} {
		line := strings.Replace(spotFrame, change[0], change[1], 1)
		if got, err := parseFrame(line); err == nil || got != (frame{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := parseFrame(strings.Replace(spotFrame, `"a":52,`, ``, 1)); !errors.Is(err, errTrade) {
		t.Errorf("%v", err)
	}
}

func FuzzParseFrame(f *testing.F) {
	for _, line := range []string{spotFrame, swapFrame, spotDepth, swapDepth, `{"result":null,"id":3}`, `{"error":{"code":2},"id":null}`, `{"data":[]}`, ``} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := parseFrame(line)
		if err != nil {
			if got != (frame{}) {
				t.Fatalf("%v, and %+v", err, got)
			}
			return
		}
		if tr := &got.trade; got.symbol != "" && (tr.ID < 0 || tr.Count < 1 || !tr.Px.IsPos() || !tr.Sz.IsPos() || tr.Time < 1_400_000_000_000) {
			t.Fatalf("%+v", tr)
		}
		var to source.Frame
		if err := parse(line, &to); err != nil || to.Book.Symbol == "" {
			return
		}
		for _, l := range slices.Concat(to.Book.Bids, to.Book.Asks) {
			if !l.Px.IsPos() || l.Sz.IsNeg() || to.Book.Last < to.Book.First || to.Book.Time < 1_400_000_000_000 {
				t.Fatalf("%+v", to.Book)
			}
		}
	})
}

func BenchmarkParseFrame(b *testing.B) {
	line := []byte(spotFrame)
	b.ReportAllocs()
	for b.Loop() {
		if f, err := parseFrame(string(line)); err != nil || f.symbol == "" {
			b.Fatal(err)
		}
	}
}

const (
	markFrame  = `{"stream":"btcusdt@markPrice","data":{"e":"markPriceUpdate","E":1790000001000,"s":"BTCUSDT","p":"61234.50","ap":"61234.5","i":"61200.1","P":"61210.0","r":"-0.00012345","T":1790006400000}}`
	forceFrame = `{"stream":"btcusdt@forceOrder","data":{"e":"forceOrder","E":1790000001005,"o":{"s":"BTCUSDT","ps":"BTCUSDT","st":1,"S":"SELL","o":"LIMIT","f":"IOC","q":"0.014","p":"9910","ap":"9905.5","X":"FILLED","l":"0.014","z":"0.012","T":1790000001000}}}`
)

func TestFramesOfPerpetuals(t *testing.T) {
	t.Parallel()
	read := func(line string) (e market.PairEvents, err error) {
		var f source.Frame
		err = parse(line, &f)
		return f.Events, err
	}
	e, err := read(markFrame)
	if err != nil || len(e.Fundings) != 1 || e.Fundings[0].Rate.String() != "-0.00012345" || e.Fundings[0].Time != 1790000001000 || e.Fundings[0].Due != 1790006400000 {
		t.Errorf("a mark price gives %+v, %v", e.Fundings, err)
	}
	if e, err = read(strings.Replace(markFrame, `"-0.00012345"`, `""`, 1)); err != nil || len(e.Fundings) != 0 {
		t.Errorf("a contract without funding gives %+v, %v", e.Fundings, err)
	}
	for _, test := range []struct {
		side, average, px string
		long              bool
	}{{"SELL", "9905.5", "9905.5", true}, {"BUY", "9905.5", "9905.5", false}, {"SELL", "0", "9910", true}} {
		line := strings.Replace(strings.Replace(forceFrame, "SELL", test.side, 1), "9905.5", test.average, 1)
		e, err := read(line)
		if err != nil || len(e.Liquidations) != 1 || e.Liquidations[0].Long != test.long || e.Liquidations[0].Px.String() != test.px || e.Liquidations[0].Sz.String() != "0.012" {
			t.Errorf("%s at %s gives %+v, %v", test.side, test.average, e.Liquidations, err)
		}
	}
	for name, line := range map[string]string{
		"no rate":            strings.Replace(markFrame, `"r":"-0.00012345",`, "", 1),
		"a rate as a number": strings.Replace(markFrame, `"-0.00012345"`, "-0.1", 1),
		"a rate of letters":  strings.Replace(markFrame, "-0.00012345", "x", 1),
		"seconds":            strings.Replace(markFrame, "1790000001000", "1790000001", 1),
		"no side":            strings.Replace(forceFrame, `"S":"SELL",`, "", 1),
		"another side":       strings.Replace(forceFrame, "SELL", "HOLD", 1),
		"nothing filled":     strings.Replace(forceFrame, `"z":"0.012"`, `"z":"0"`, 1),
		"no time":            strings.Replace(forceFrame, `,"T":1790000001000`, "", 1),
		"an order as a list": strings.Replace(strings.Replace(forceFrame, `"o":{`, `"o":[{`, 1), `}}}`, `}]}}`, 1),
	} {
		if e, err := read(line); err == nil {
			t.Errorf("%s gives %+v", name, e)
		}
	}
}

func BenchmarkParseFrames(b *testing.B) {
	for name, line := range map[string]string{"trade": swapFrame, "mark price": markFrame, "forced order": forceFrame, "depth": swapDepth} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var f source.Frame
			for b.Loop() {
				f.Reset()
				must.Do(b, parse(line, &f))
			}
		})
	}
}

const (
	spotDepth = `{"stream":"btcusdt@depth","data":{"e":"depthUpdate","E":1790000000123,"s":"BTCUSDT","U":157,"u":160,"b":[["61234.50000000","0.30000000"],["61230.01000000","0.00000000"]],"a":[["61234.51000000","1.50000000"]]}}`
	swapDepth = `{"stream":"btcusdt@depth@500ms","data":{"e":"depthUpdate","E":1790000000123,"T":1790000000120,"s":"BTCUSDT","U":157,"u":160,"pu":149,"b":[["61234.5","0.300"],["61230.0","0.000"]],"a":[]}}`
)

func TestChangesOfBooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		prev, time int64
		levels     string
	}{
		{"spot, whose numbers go on", spotDepth, 156, 1790000000123, "[{61234.5 0.3} {61230.01 0}] [{61234.51 1.5}]"},
		{"a perpetual, which names the one before", swapDepth, 149, 1790000000120, "[{61234.5 0.3} {61230 0}] []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var f source.Frame
			must.Do(t, parse(c.line, &f))
			if b := &f.Book; b.Symbol != "BTCUSDT" || b.Snapshot || b.First != 157 || b.Last != 160 || b.Prev != c.prev || b.Time != c.time || fmt.Sprint(b.Bids, b.Asks) != c.levels {
				t.Errorf("%+v", b)
			}
		})
	}
}

func TestMalformedChangesOfABookAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
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
	} {
		line := strings.Replace(swapDepth, change[0], change[1], 1)
		var f source.Frame
		if err := parse(line, &f); err == nil {
			t.Errorf("%s: %+v", name, f.Book)
		}
	}
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
