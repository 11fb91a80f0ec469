package okx

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/okx"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/testclock"
)

const bookFrame = `{"arg":{"channel":"books","instId":"BTC-USDT"},"action":"update","data":[{"asks":[["61234.6","0","0","0"],["61236","1.5","0","4"]],"bids":[["61234.5","0.015","0","1"]],"ts":"1790000000120","checksum":-914047754,"seqId":123457,"prevSeqId":123450}]}`

func TestBooksAreThoseOfTheExchange(t *testing.T) {
	t.Parallel()
	for i, keys := range [][]string{{"btcusdt:okex", "dogeusdt:okex"}, {"btcswapusdt:okcoinfutures", "solswapusdt:okcoinfutures"}, {"btcswapusd:okcoinfutures"}} {
		x, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 5)})
		t.Run(all[i].Name, func(t *testing.T) {
			t.Parallel()
			pairs := map[*trading.Market]market.Pair{}
			for _, key := range keys {
				pair := sourcetest.Find(t, all[i], key)
				pairs[x.Market(pair.Symbol)] = pair
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
	update := source.BookUpdate{
		Symbol: "BTC-USDT", Time: 1790000000120, First: 123451, Last: 123457, Prev: 123450,
		Bids: []market.PairLevel{level("61234.5", "0.015")}, Asks: []market.PairLevel{level("61234.6", "0"), level("61236", "1.5")},
	}
	whole := update
	whole.Snapshot, whole.First, whole.Prev = true, 0, 0
	for _, c := range []struct {
		name, line string
		want       source.BookUpdate
	}{
		{"changes", bookFrame, update},
		{"a book", strings.NewReplacer(`"update"`, `"snapshot"`, `:123450`, `:-1`).Replace(bookFrame), whole},
		{"nothing has changed for a minute", `{"arg":{"channel":"books","instId":"BTC-USDT"},"action":"update","data":[{"asks":[],"bids":[],"ts":"1790000000120","checksum":0,"seqId":123457,"prevSeqId":123457}]}`,
			source.BookUpdate{Symbol: "BTC-USDT", Time: 1790000000120, First: 123458, Last: 123457, Prev: 123457}},
		{"an acknowledgement", `{"event":"subscribe","arg":{"channel":"books","instId":"BTC-USDT"},"connId":"a1"}`, source.BookUpdate{}},
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
	} {
		line := strings.Replace(bookFrame, change[0], change[1], 1)
		if line == bookFrame {
			t.Fatalf("%s changes nothing", name)
		}
		if f, err := parsed(line); err == nil {
			t.Errorf("%s: %+v", name, f.Book)
		}
	}
}
