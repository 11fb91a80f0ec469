package okx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// Frames of a session of 2022, of single lines and of examples: of those of trades there are as
// many as recorded. Two of 2021 say no rate or no next one, which are left out, and order books
// have no numbers or do not say what they are: these are refused.
func TestRecordedFrames(t *testing.T) {
	t.Parallel()
	frames.Recordings(t, "okx", map[string]sourcetest.Recorded{
		"session_okx_2022-05-13.jsonl.gz": {Frames: 410, Refused: 290, Answers: 18, Trades: 74},
		"okx_wsAllTrades.jsonl":           {Frames: 2, Trades: 2},
		"venue_ws_frames.jsonl":           {Frames: 36, Rows: 2, Answers: 2, Trades: 4, Fundings: 1, Shorts: 1},
		"fixtures/ws.jsonl":               {Frames: 30, Refused: 1, Answers: 15, Trades: 1, Fundings: 1},
	})
}

// Updates of order books of 2022, numbered by us, make the books of which the exchange said
// the checksums.
func TestRecordedBooks(t *testing.T) {
	t.Parallel()
	lines := testenv.Recording(t, "exchanges/session_okx_2022-05-13.jsonl.gz")
	type said struct {
		frame    string
		checksum int32
	}
	var session []said
	var pairs []market.Pair
	number := map[string]int{} // of the last update, by instrument
	for lines.Scan() {
		var l struct{ Frame json.RawMessage }
		var f struct {
			Arg    arg
			Action string
			Data   []struct{ Checksum int32 }
		}
		if json.Unmarshal(lines.Bytes(), &l) != nil || json.Unmarshal(l.Frame, &f) != nil || f.Action == "" {
			continue
		}
		symbol := f.Arg.InstID
		if number[symbol]++; number[symbol] == 1 {
			pairs = append(pairs, market.Pair{Key: symbol, Symbol: symbol})
		}
		numbered := fmt.Sprintf(`"seqId":%d,"prevSeqId":%d,"checksum"`, number[symbol], number[symbol]-1)
		session = append(session, said{strings.Replace(string(l.Frame), `"checksum"`, numbered, 1), f.Data[0].Checksum})
	}
	if len(session) != 290 || len(pairs) != 3 {
		t.Fatalf("%d frames of %d instruments", len(session), len(pairs))
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	books := make(chan market.PairBook)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		defer stop() // before the connection is lost
		for range pairs {
			_ = conn.Write(ctx, websocket.MessageText, []byte(`{"event":"subscribe"}`)) // the next fails too
		}
		for i, one := range session {
			if err := conn.Write(ctx, websocket.MessageText, []byte(one.frame)); err != nil {
				t.Error(err)
				return
			}
			select {
			case book := <-books:
				if got := checksumOf(book); got != one.checksum {
					t.Errorf("after frame %d the checksum of %s is %d, want %d", i, book.Pair, got, one.checksum)
				}
			case <-ctx.Done():
				t.Errorf("no book comes after frame %d", i)
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	m := Open(server.URL, slog.New(slog.DiscardHandler))[0]
	err := m.FollowBooks(ctx, pairs, source.Books{Levels: 25, Every: time.Millisecond}, m.Stats, func(ctx context.Context, e *market.PairEvents) error {
		for _, book := range e.Books {
			if book.Lost { // before it is known
				continue
			}
			select {
			case books <- book:
			case <-ctx.Done():
			}
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || m.Stats.Gaps.Load()+m.Stats.Malformed.Load()+m.Stats.Reconnects.Load() != 0 {
		t.Errorf("%v, %+v", err, m.Stats)
	}
}

// checksumOf is what the exchange makes of the best 25 levels.
func checksumOf(b market.PairBook) int32 {
	var texts []string
	for i := range max(len(b.Bids), len(b.Asks)) {
		for _, side := range [][]market.PairLevel{b.Bids, b.Asks} {
			if i < len(side) {
				texts = append(texts, side[i].Px.String(), side[i].Sz.String())
			}
		}
	}
	return int32(crc32.ChecksumIEEE([]byte(strings.Join(texts, ":")))) //nolint:gosec // the bits are read as signed
}

// Every instrument of 2022 that is live, and no other, is a pair.
func TestRecordedInstruments(t *testing.T) {
	t.Parallel()
	markets := Open("", slog.New(slog.DiscardHandler))
	lines := testenv.Recording(t, "exchanges/okx_instruments_2022-05.jsonl.gz")
	got := map[string]int{}
	sizes := map[string]market.Decimal{}
	for lines.Scan() {
		var l struct {
			URL      string
			Response answer[instrument]
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &l))
		for _, m := range markets {
			if !strings.HasSuffix(l.URL, m.instType) {
				continue
			}
			for i := range l.Response.Data {
				in := &l.Response.Data[i]
				if m.instType == swap && m.Inverse != (in.CtType == "inverse") {
					continue // another market's
				}
				pair, ok := m.pair(in)
				switch {
				case ok:
					got[m.Name]++
					sizes[pair.Key] = pair.Contract
				case in.State != "live":
					got[m.Name+" not live"]++
				default:
					t.Errorf("%+v is no pair", in)
				}
			}
		}
	}
	if want := map[string]int{"okx spot": 513, "okx swap": 126, "okx inverse": 40}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for key, want := range map[string]string{"btcswapusdt:okcoinfutures": "0.01", "ethswapusdt:okcoinfutures": "0.1", "dogeswapusdt:okcoinfutures": "1000"} {
		if !sizes[key].Equal(sourcetest.Decimal(t, want)) {
			t.Errorf("a contract of %s is %s, want %s", key, sizes[key], want)
		}
	}
}

// The rows of the documentation's examples are read.
func TestRecordedKlines(t *testing.T) {
	t.Parallel()
	lines := testenv.Recording(t, "exchanges/fixtures/okx.jsonl")
	n := 0
	for lines.Scan() {
		var l struct {
			Path     string
			Response json.RawMessage
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &l))
		if l.Path != "/api/v5/market/candles" && l.Path != "/api/v5/market/history-candles" {
			continue
		}
		var a answer[[]string]
		must.Do(t, json.Unmarshal(l.Response, &a))
		for _, fields := range a.Data {
			if _, err := klineRow(fields, new(market.Pair)); err != nil {
				t.Errorf("%v: %v", fields, err)
			}
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
}
