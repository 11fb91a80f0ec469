package bybit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/localstack/sim/simtest"
	"quotary/localstack/sim/trading"
	"quotary/shared/testing/must"
)

var now = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

func open(t *testing.T, c Config) (*Exchange, string) {
	t.Helper()
	x := New(c)
	server := httptest.NewServer(x.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(x.Disconnect)
	return x, server.URL
}

func atNow(t *testing.T) (*Exchange, string) {
	t.Helper()
	return open(t, Config{Clock: func() time.Time { return now }})
}

// page is an answer with a list.
type page struct {
	RetCode int
	RetMsg  string
	Result  struct {
		List           []json.RawMessage
		NextPageCursor string
	}
	Time int64
}

func get(t *testing.T, url string) (status int, p page) {
	t.Helper()
	response, body := simtest.Get(t, url)
	if response.StatusCode == http.StatusOK {
		must.Do(t, json.Unmarshal(body, &p))
	}
	return response.StatusCode, p
}

func TestKlinesComeNewestFirst(t *testing.T) {
	t.Parallel()
	x, url := atNow(t)
	newest := now.Truncate(time.Minute).UnixMilli()
	for _, c := range []struct {
		query       string
		rows        int
		first, last int64
	}{
		{"", 200, newest, newest - 199*minute},
		{"&limit=1000", 1000, newest, newest - 999*minute},
		{fmt.Sprintf("&start=%d&end=%d", newest-5*minute, newest-2*minute), 4, newest - 2*minute, newest - 5*minute},
		{fmt.Sprintf("&start=%d&end=%d", newest-5*minute+1, newest-2*minute-1), 2, newest - 3*minute, newest - 4*minute},
		{fmt.Sprintf("&start=%d&limit=3", newest-50*minute), 3, newest, newest - 2*minute},
		{fmt.Sprintf("&end=%d", x.since-1), 0, 0, 0},
	} {
		for _, path := range []string{"kline", "mark-price-kline"} {
			_, p := get(t, url+"/v5/market/"+path+"?category=linear&symbol=BTCUSDT&interval=1"+c.query)
			if p.RetCode != 0 || len(p.Result.List) != c.rows {
				t.Errorf("%s %s: code %d, %d rows, want %d", path, c.query, p.RetCode, len(p.Result.List), c.rows)
				continue
			}
			if c.rows == 0 {
				continue
			}
			var first, last []string
			if json.Unmarshal(p.Result.List[0], &first) != nil || json.Unmarshal(p.Result.List[c.rows-1], &last) != nil || first[0] != text(c.first) || last[0] != text(c.last) {
				t.Errorf("%s %s: from %v to %v", path, c.query, first, last)
			}
		}
	}
	_, p := get(t, url+"/v5/market/kline?category=inverse&symbol=BTCUSD&interval=60&limit=1")
	m := x.Market(Inverse, "BTCUSD")
	k := m.Kline(now.Truncate(time.Hour).UnixMilli(), now.UnixMilli(), now)
	if want := fmt.Sprintf(`%q,%q]`, text(k.Size), trading.Coins(k.Coins)); !strings.HasSuffix(string(p.Result.List[0]), want) {
		t.Errorf("an inverse K-line is %s, which should end with dollars and coins: %s", p.Result.List[0], want)
	}
}

func TestContractsComeInPagesThatNameTheNext(t *testing.T) {
	t.Parallel()
	_, url := atNow(t)
	cursor, symbols := "", []string{}
	for range 3 {
		_, p := get(t, url+"/v5/market/instruments-info?category=linear&limit=1000&cursor="+strings.ReplaceAll(cursor, "%", "%25"))
		for _, row := range p.Result.List {
			var i instrument
			must.Do(t, json.Unmarshal(row, &i))
			symbols = append(symbols, i.Symbol)
		}
		if cursor = p.Result.NextPageCursor; cursor == "" {
			break
		}
	}
	if got := strings.Join(symbols, " "); got != "NEWUSDT ETHUSDT BTCUSDT SOLUSDT" || cursor != "" {
		t.Errorf("%s, and the next page is %q", got, cursor)
	}
	if _, p := get(t, url+"/v5/market/instruments-info?category=spot"); len(p.Result.List) != 5 || p.Result.NextPageCursor != "" {
		t.Errorf("spot has %d instruments and a page %q", len(p.Result.List), p.Result.NextPageCursor)
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	x, url := atNow(t)
	for _, path := range []string{
		"kline?category=option&symbol=BTCUSDT&interval=1", "kline?category=linear&symbol=NOSUCH&interval=1", "kline?category=linear&symbol=BTCUSDT&interval=2",
		"mark-price-kline?category=spot&symbol=BTCUSDT&interval=5", "instruments-info?category=futures", "instruments-info?category=linear&cursor=x", "tickers?category=spot&symbol=NOSUCH", "tickers",
		"funding/history?category=linear&symbol=BTCUSDT&startTime=1", "funding/history?category=spot&symbol=BTCUSDT", "open-interest?category=linear&symbol=BTCUSDT&intervalTime=5m",
		"account-ratio?category=linear&symbol=BTCUSDT&period=1m",
	} {
		if status, p := get(t, url+"/v5/market/"+path); status != http.StatusOK || p.RetCode != badParameter || p.Time != now.UnixMilli() {
			t.Errorf("%s: %d, %d %s at %d", path, status, p.RetCode, p.RetMsg, p.Time)
		}
	}
	x.Refuse(1)
	if status, p := get(t, url+"/v5/market/tickers?category=spot"); status != http.StatusOK || p.RetCode != tooMany {
		t.Errorf("refused: %d, %d", status, p.RetCode)
	}
	x.mu.Lock()
	x.window, x.asked = time.Now().Unix()/5, mostAsked
	x.mu.Unlock()
	if status := x.allow(); status != http.StatusForbidden && x.asked > 1 { // another five seconds may have begun
		t.Errorf("too many requests: %d", status)
	}
}

func TestOpenInterestIsToldOfBothSides(t *testing.T) {
	t.Parallel()
	x, url := atNow(t)
	for _, m := range []*trading.Market{x.Market(Linear, "BTCUSDT"), x.Market(Inverse, "BTCUSD")} {
		query := "?category=" + categoryOf(m) + "&symbol=" + m.Symbol
		at := now.UnixMilli() / (5 * minute) * (5 * minute)
		_, p := get(t, url+"/v5/market/open-interest"+query+"&intervalTime=5min&limit=1")
		want := fmt.Sprintf(`[{"openInterest":%q,"singleOpenInterest":%q,"timestamp":"%d"}]`, size(m, 2*m.Interest(at)), size(m, m.Interest(at)), at)
		if got, _ := json.Marshal(p.Result.List); string(got) != want {
			t.Errorf("%s: %s, want %s", m.Symbol, got, want)
		}
		_, p = get(t, url+"/v5/market/tickers"+query)
		var got struct{ OpenInterest, SingleOpenInterest, FundingIntervalHour string }
		if err := json.Unmarshal(p.Result.List[0], &got); err != nil || got.SingleOpenInterest != size(m, m.Interest(now.UnixMilli())) || got.OpenInterest != size(m, 2*m.Interest(now.UnixMilli())) {
			t.Errorf("%s: %+v, %v", m.Symbol, got, err)
		}
	}
}

// conversation connects to a category, sends messages and reads frames until it has all that
// are wanted, by parts of their text.
func conversation(t *testing.T, url, category string, messages []string, wanted ...string) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 30*time.Second)
	defer done()
	conn, _, err := websocket.Dial(ctx, url+"/v5/public/"+category, nil) //nolint:bodyclose // there is none to close, says Dial
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	for _, m := range messages {
		must.Do(t, conn.Write(ctx, websocket.MessageText, []byte(m)))
	}
	for len(wanted) > 0 {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("%s: %v, and none of %q came", category, err, wanted)
		}
		left := wanted[:0]
		for _, w := range wanted {
			if !strings.Contains(string(frame), w) {
				left = append(left, w)
			}
		}
		wanted = left
	}
}

func TestTopicsAndMessages(t *testing.T) {
	t.Parallel()
	began := time.Now()
	_, url := open(t, Config{Clock: func() time.Time { return began.Add(30 * time.Since(began)) }})
	args := strings.Repeat(`"publicTrade.BTCUSDT",`, mostArgs) + `"publicTrade.ETHUSDT"`
	for _, c := range []struct {
		category string
		messages []string
		wanted   []string
	}{
		{Linear, []string{`{"req_id":"7","op":"subscribe","args":["publicTrade.BTCUSDT","tickers.BTCUSDT","allLiquidation.BTCUSDT","orderbook.200.BTCUSDT"]}`, `{"op":"ping"}`}, []string{
			`{"success":true,"ret_msg":"","conn_id":"simulated","req_id":"7","op":"subscribe"}`, `{"success":true,"ret_msg":"pong","conn_id":"simulated","req_id":"","op":"ping"}`,
			`{"topic":"publicTrade.BTCUSDT","type":"snapshot","ts":`, `{"topic":"tickers.BTCUSDT","type":"snapshot","data":{"fundingIntervalHour":"8","fundingRate":"`,
			`{"topic":"orderbook.200.BTCUSDT","type":"snapshot","ts":`, `{"topic":"orderbook.200.BTCUSDT","type":"delta","ts":`,
			`{"topic":"tickers.BTCUSDT","type":"delta","data":{`, `{"topic":"allLiquidation.BTCUSDT","type":"snapshot","ts":`,
		}},
		{Inverse, []string{`{"req_id":"8","op":"subscribe","args":["publicTrade.BTCUSD"]}`}, []string{`"s":"BTCUSD","S":"Sell","v":"`}},
		{Spot, []string{`{"req_id":"1","op":"subscribe","args":["publicTrade.BTCUSDT"]}`, `{"req_id":"2","op":"subscribe","args":[` + args + `]}`, `{"req_id":"3","op":"unsubscribe","args":["publicTrade.BTCUSDT"]}`, `x`}, []string{
			`{"success":true,"ret_msg":"subscribe","conn_id":"simulated","req_id":"1","op":"subscribe"}`,
			`{"success":false,"ret_msg":"error:args size is invalid","conn_id":"simulated","req_id":"2","op":"subscribe"}`, `"req_id":"3","op":"unsubscribe"`, `error:invalid json`,
		}},
		{Spot, []string{`{"req_id":"1","op":"subscribe","args":["allLiquidation.BTCUSDT"]}`, `{"req_id":"2","op":"subscribe","args":["publicTrade.NOSUCH"]}`, `{"req_id":"3","op":"subscribe","args":["orderbook.25.BTCUSDT"]}`, `{"op":"auth"}`}, []string{
			`{"success":false,"ret_msg":"error:handler not found,topic:allLiquidation.BTCUSDT","conn_id":"simulated","req_id":"1","op":"subscribe"}`, `topic:publicTrade.NOSUCH`, `topic:orderbook.25.BTCUSDT`, `error:unknown op`,
		}},
	} {
		t.Run(c.category, func(t *testing.T) {
			t.Parallel()
			conversation(t, url, c.category, c.messages, c.wanted...)
		})
	}
}
