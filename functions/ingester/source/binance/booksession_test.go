package binance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// bookSession is what a venue sent of one book: frames of its changes, the snapshot that was
// asked for meanwhile, and the best prices by the numbers of changes, oldest first.
type bookSession struct {
	frames   []string
	snapshot string
	best     []bestPrices
}

type bestPrices struct {
	number             int64
	bid, had, ask, has string // prices with what rests there
}

// read adds a line of the session.
func (s *bookSession) read(t *testing.T, line string) {
	t.Helper()
	switch {
	case strings.Contains(line, `"depthUpdate"`):
		s.frames = append(s.frames, line)
	case strings.HasPrefix(line, `{"lastUpdateId"`):
		s.snapshot = line
	case strings.Contains(line, `"bookTicker"`):
		f := data(t, []byte(line))
		s.best = append(s.best, bestPrices{number(t, f["u"]), fmt.Sprint(f["b"]), fmt.Sprint(f["B"]), fmt.Sprint(f["a"]), fmt.Sprint(f["A"])})
	}
}

// openEnded leaves the worst levels out of a snapshot of as many as are asked for. It is then
// taken for the whole book, and followed where the price leaves what it has: the one recorded
// snapshot cannot be asked for again.
func (s *bookSession) openEnded(t *testing.T) {
	t.Helper()
	var whole map[string]any
	must.Do(t, json.Unmarshal([]byte(s.snapshot), &whole))
	var numbers struct{ LastUpdateID, E, T json.Number }
	must.Do(t, json.Unmarshal([]byte(s.snapshot), &numbers))
	side := func(name string) string {
		levels, _ := whole[name].([]any)
		return string(must.Get(json.Marshal(levels[:min(len(levels), bookLimit-1)]))(t))
	}
	s.snapshot = fmt.Sprintf(`{"lastUpdateId":%s,"E":%s,"T":%s,"bids":%s,"asks":%s}`, numbers.LastUpdateID, numbers.E, numbers.T, side("bids"), side("asks"))
}

// at are the best prices behind a change; false before the first that are known.
func (s *bookSession) at(last int64) (bestPrices, bool) {
	i, found := slices.BinarySearchFunc(s.best, last, func(b bestPrices, last int64) int { return cmp.Compare(b.number, last) })
	if !found {
		i--
	}
	if i < 0 {
		return bestPrices{}, false
	}
	return s.best[i], true
}

// replay follows the book of a session, change by change, and holds it to the best prices. It
// returns how many books it has compared.
func (s *bookSession) replay(t *testing.T) (compared int) {
	t.Helper()
	slices.SortStableFunc(s.best, func(a, b bestPrices) int { return cmp.Compare(a.number, b.number) })
	var whole bookSnapshot
	must.Do(t, json.Unmarshal([]byte(s.snapshot), &whole))
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	books := make(chan market.PairBook)
	await := func(last int64) bool {
		select {
		case b := <-books:
			want, known := s.at(last)
			if !known {
				return true
			}
			if len(b.Bids) == 0 || len(b.Asks) == 0 {
				t.Errorf("number %d: a side is empty", last)
				return false
			}
			got := fmt.Sprint(b.Bids[0].Px, b.Bids[0].Sz, b.Asks[0].Px, b.Asks[0].Sz)
			if w := fmt.Sprint(decimals(t, want.bid, want.had, want.ask, want.has)...); got != w {
				t.Errorf("number %d: the best prices are %s, want %s", last, got, w)
			}
			compared++
			return true
		case <-ctx.Done():
			t.Errorf("no book comes with number %d", last)
			return false
		}
	}
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			fmt.Fprint(w, s.snapshot)
			asked <- struct{}{}
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		defer stop()                                                                 // before the connection is lost
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"result":null,"id":1}`)) // the next fails too
		last := int64(0)
		for _, frame := range s.frames {
			if err := conn.Write(ctx, websocket.MessageText, []byte(frame)); err != nil {
				t.Error(err)
				return
			}
			if last == 0 { // it is asked for with the first change
				last = whole.Last
				if !await(last) {
					return
				}
			}
			if n := number(t, data(t, []byte(frame))["u"]); n > last {
				if last = n; !await(last) {
					return
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	markets := Open(server.URL, slog.New(slog.DiscardHandler))
	m := markets[slices.IndexFunc(markets, func(m *Market) bool { return m.rules.swap && !m.Inverse })]
	var stats source.Stats
	err := m.FollowBooks(ctx, []market.Pair{{Key: "btcswapusdt:binance", Symbol: "BTCUSDT", Swap: true}}, source.Books{Levels: 1, Every: 50 * time.Microsecond}, &stats,
		func(ctx context.Context, e *market.PairEvents) error {
			for _, b := range e.Books {
				if b.Lost { // before it is known
					continue
				}
				select {
				case books <- b:
				case <-ctx.Done():
				}
			}
			return nil
		})
	if !errors.Is(err, context.Canceled) || stats.Gaps.Load()+stats.Malformed.Load()+stats.Reconnects.Load() != 0 || len(asked) != 1 {
		t.Errorf("%v: %d gaps, %d malformed, %d reconnects, asked for %d times", err, stats.Gaps.Load(), stats.Malformed.Load(), stats.Reconnects.Load(), len(asked))
	}
	return compared
}

func decimals(t *testing.T, texts ...string) (list []any) {
	t.Helper()
	for _, text := range texts {
		list = append(list, must.Get(market.ParseDecimal(text))(t))
	}
	return list
}

// Behind each change of the recorded book its best prices are those that the exchange pushed
// itself, and it never crosses.
func TestTheBookOfARecordedSessionAgreesWithItsBestPrices(t *testing.T) {
	t.Parallel()
	lines := testenv.Recording(t, "exchanges/hftbacktest_binance_usdm_btcusdt_20240808.gz")
	var s bookSession
	for lines.Scan() {
		_, line, _ := strings.Cut(lines.Text(), " ") // behind the time at which it came
		s.read(t, line)
	}
	s.openEnded(t)
	if compared := s.replay(t); len(s.frames) != 6551 || compared < 6500 {
		t.Errorf("%d books of %d changes were compared", compared, len(s.frames))
	}
}

// The same of a session that is made up: changes from before the snapshot and around it, levels
// that come, change and go, and best prices between changes.
func TestTheBookOfASessionAgreesWithItsBestPrices(t *testing.T) {
	t.Parallel()
	frame := func(first, last, prev int64, bids, asks string) string {
		return fmt.Sprintf(`{"stream":"btcusdt@depth","data":{"e":"depthUpdate","E":1790000000123,"T":1790000000120,"s":"BTCUSDT","U":%d,"u":%d,"pu":%d,"b":[%s],"a":[%s]}}`, first, last, prev, bids, asks)
	}
	ticker := func(number int64, bid, had, ask, has string) string {
		return fmt.Sprintf(`{"stream":"btcusdt@bookTicker","data":{"e":"bookTicker","u":%d,"s":"BTCUSDT","b":%q,"B":%q,"a":%q,"A":%q}}`, number, bid, had, ask, has)
	}
	var s bookSession
	for _, line := range []string{
		frame(90, 95, 80, `["100.0","7"]`, ``),
		ticker(98, "100.0", "1", "100.5", "2"),
		`{"lastUpdateId":100,"E":1790000000100,"T":1790000000100,"bids":[["100.0","1"],["99.5","4"]],"asks":[["100.5","2"],["101.0","3"]]}`,
		frame(97, 104, 95, `["99.5","5"]`, `["100.5","2.5"]`),
		ticker(103, "100.0", "1", "100.5", "2.5"),
		frame(110, 112, 104, `["100.0","0"]`, `["100.1","1"]`),
		ticker(111, "99.5", "5", "100.5", "2.5"),
		ticker(112, "99.5", "5", "100.1", "1"),
		frame(113, 120, 112, `["99.9","2"],["99.5","0"]`, `["100.1","0"],["100.5","0"]`),
		ticker(119, "99.9", "2", "101.0", "3"),
	} {
		s.read(t, line)
	}
	if compared := s.replay(t); compared != 4 {
		t.Errorf("%d books were compared", compared)
	}
}
