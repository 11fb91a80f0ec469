package binance

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// received is a line of a session.
type received struct {
	Dir   string
	Frame json.RawMessage
}

func (l *received) read(t *testing.T, line []byte) {
	t.Helper()
	*l = received{}
	must.Do(t, json.Unmarshal(line, l))
}

// Frames of sessions and single ones: of trades, mark prices, forced orders and changes of
// books there are as many as recorded. Two are older than the fields that are read of them,
// and a third, of a book, has a time that is in no unit.
func TestRecordedFrames(t *testing.T) {
	t.Parallel()
	frames.Recordings(t, "binance", map[string]sourcetest.Recorded{
		"session_binance_spot_2021-10-12.jsonl.gz":  {Frames: 265, Trades: 2, Books: 177},
		"session_binance_usdm_2021-07-22.jsonl.gz":  {Frames: 1535, Trades: 91, Books: 764},
		"session_binance_coinm_2021-07-22.jsonl.gz": {Frames: 4371, Trades: 51, Books: 2047},
		"venue_ws_frames.jsonl":                     {Frames: 30, Refused: 2, Answers: 1, Fundings: 3, Longs: 1, Shorts: 1, Books: 8},
		"liquidation_ws_frames.jsonl":               {Frames: 2, Longs: 1},
		"liquidation_ws_frames_2026.jsonl":          {Frames: 1, Longs: 1},
		"binance_wsHandleData.jsonl":                {Frames: 8, Refused: 1},
	})
}

// data are the fields of the event of a frame; encoding/json does not tell E from e in a
// struct that has one of them.
func data(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var frame map[string]any
	must.Do(t, json.Unmarshal(line, &frame))
	fields, _ := frame["data"].(map[string]any)
	return fields
}

// number is a whole one below 2^53.
func number(t *testing.T, v any) int64 {
	t.Helper()
	f, ok := v.(float64)
	if !ok {
		t.Fatalf("%v is no number", v)
	}
	return int64(f)
}

// tradeUpTo is a trade with the id of the last one that is shown as it.
type tradeUpTo struct {
	market.PairTrade
	last int64
}

// The minute that began in a session of perpetuals is, at every state of it that the
// exchange sent, what its trades until then add up to.
func TestTheTradesOfASessionAddUpToTheExchangesMinute(t *testing.T) {
	t.Parallel()
	const minute, dayBefore = 1626992760000, 1626912000000
	trades := map[string][]tradeUpTo{} // by symbol
	var states []map[string]any
	lines := testenv.Recording(t, "exchanges/session_binance_usdm_2021-07-22.jsonl.gz")
	for lines.Scan() {
		var l received
		if l.read(t, lines.Bytes()); l.Dir != "in" {
			continue
		}
		f := must.Get(frames.Read(string(l.Frame)))(t)
		for _, trade := range f.Events.Trades {
			trades[trade.Pair] = append(trades[trade.Pair], tradeUpTo{trade, number(t, data(t, l.Frame)["l"])})
		}
		if k, ok := data(t, l.Frame)["k"].(map[string]any); ok && number(t, k["t"]) == minute {
			states = append(states, k)
		}
	}
	compared := 0
	for _, k := range states {
		var p market.PairCandles
		p.Confirm(&market.CandleRun{Interval: market.Minute1, From: dayBefore, To: minute})
		upTo, last := number(t, k["L"]), int64(0)
		of := trades[fmt.Sprint(k["s"])]
		for i := range of {
			if of[i].last <= upTo {
				p.Add(&of[i].PairTrade)
				last = of[i].last
			}
		}
		changed := p.Changed()[0]
		if last != upTo || len(changed) != 1 {
			continue // its trades are not, or not all, in the session
		}
		c := &changed[0]
		got := fmt.Sprint(c.Trades, c.Open, c.High, c.Low, c.Close, c.Size, c.Amount, c.SizeBuyer, c.AmountBuyer)
		want := fmt.Sprint(number(t, k["n"]))
		for _, name := range []string{"o", "h", "l", "c", "v", "q", "V", "Q"} {
			want += " " + sourcetest.Decimal(t, fmt.Sprint(k[name])).String()
		}
		if got != want {
			t.Errorf("%v up to trade %d\n has %s\nwant %s", k["s"], upTo, got, want)
		}
		compared++
	}
	if compared != 15 {
		t.Errorf("%d of %d states were compared", compared, len(states))
	}
}

// Orders that closed positions by force, as frames: each is a liquidation of the position
// on the other side, of as much as was filled, at what was paid.
func TestRecordedForcedOrders(t *testing.T) {
	t.Parallel()
	lines := testenv.Recording(t, "exchanges/binance_forceorder.csv")
	lines.Scan() // the names
	n := 0
	for lines.Scan() {
		row := must.Get(csv.NewReader(strings.NewReader(lines.Text())).Read())(t)
		ms, symbol, side, price, average, filled := row[0], row[1], row[2], row[6], row[7], row[10]
		paid := average
		if average == "" {
			average, paid = "0", price
		}
		line := fmt.Sprintf(`{"stream":"!forceOrder@arr","data":{"e":"forceOrder","E":%s,"o":{"s":%q,"S":%q,"o":%q,"f":%q,"q":%q,"p":%q,"ap":%q,"X":%q,"l":%q,"z":%q,"T":%s}}}`,
			ms, symbol, side, row[3], row[4], row[5], price, average, row[8], row[9], filled, ms)
		var f source.Frame
		if err := parse(line, &f); err != nil || len(f.Events.Liquidations) != 1 {
			t.Fatalf("%s: %v", line, err)
		}
		l := &f.Events.Liquidations[0]
		if got, want := fmt.Sprint(l.Time, l.Pair, l.Long, l.Px, l.Sz), fmt.Sprint(ms, symbol, side == "SELL", sourcetest.Decimal(t, paid), sourcetest.Decimal(t, filled)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		n++
	}
	if n != 5879 {
		t.Errorf("%d orders", n)
	}
}

// Changes of books follow one another in each recording, and snapshots that were asked for
// meanwhile are read.
func TestRecordedBooks(t *testing.T) {
	t.Parallel()
	session := func(t *testing.T, line []byte) string {
		var l received
		if l.read(t, line); l.Dir != "in" && l.Dir != "http" {
			return ""
		}
		return string(l.Frame)
	}
	timed := func(_ *testing.T, line []byte) string {
		_, frame, _ := strings.Cut(string(line), " ") // behind the time at which it came
		return frame
	}
	for name, c := range map[string]struct {
		frame         func(*testing.T, []byte) string
		swap          bool
		wholes, books int
	}{
		"session_binance_spot_2021-10-12.jsonl.gz":          {session, false, 4, 177},
		"session_binance_usdm_2021-07-22.jsonl.gz":          {session, true, 4, 764},
		"session_binance_coinm_2021-07-22.jsonl.gz":         {session, true, 10, 2047},
		"hftbacktest_binance_spot_btcusdt_20240808.gz":      {timed, false, 1, 3451},
		"hftbacktest_binance_usdm_btcusdt_20240808.gz":      {timed, true, 1, 6551},
		"hftbacktest_binance_coinm_btcusd_perp_20240808.gz": {timed, true, 1, 26847},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f source.Frame
			wholes, books := 0, 0
			last := map[string]int64{} // numbers, by symbol
			lines := testenv.Recording(t, "exchanges/"+name)
			for lines.Scan() {
				frame := c.frame(t, lines.Bytes())
				if strings.HasPrefix(frame, `{"lastUpdateId"`) {
					var b bookSnapshot
					if err := json.Unmarshal([]byte(frame), &b); err != nil || b.check(c.swap) != nil || len(b.Bids) == 0 || len(b.Asks) == 0 {
						t.Fatalf("%v: %.200s", err, frame)
					}
					wholes++
				}
				if f.Reset(); frame == "" {
					continue
				}
				if err := parse(frame, &f); err != nil {
					t.Fatalf("%v: %.200s", err, frame)
				}
				b := &f.Book
				if b.Symbol == "" {
					continue
				}
				if before, ok := last[b.Symbol]; ok && b.Prev != before {
					t.Errorf("%s: number %d follows %d, want %d", b.Symbol, b.First, b.Prev, before)
				}
				last[b.Symbol] = b.Last
				books++
			}
			if lines.Err() != nil {
				t.Fatal(lines.Err())
			}
			if wholes != c.wholes || books != c.books {
				t.Errorf("%d snapshots and %d changes, want %d and %d", wholes, books, c.wholes, c.books)
			}
		})
	}
}
