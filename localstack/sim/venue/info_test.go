package venue

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

// post sends one /info body to a handler.
func post(t testing.TB, h http.Handler, body string) (int, string, http.Header) {
	t.Helper()
	r := httptest.NewRequest("POST", "/info", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	data := must.Get(io.ReadAll(w.Result().Body))(t)
	return w.Code, string(data), w.Result().Header
}

// ask decodes a good answer.
func ask[T any](t testing.TB, v *Venue, format string, args ...any) T {
	t.Helper()
	body := fmt.Sprintf(format, args...)
	status, text, _ := post(t, v.Handler(), body)
	var out T
	if err := json.Unmarshal([]byte(text), &out); status != 200 || err != nil {
		t.Fatalf("%s: %d %v: %.200s", body, status, err, text)
	}
	return out
}

func TestBadRequestsAreAnsweredAsTheVenueDoes(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Traders: 60}, time.Second)
	const shape, syntax = "Failed to deserialize the JSON body into the target type\n", "Failed to parse the request body as JSON\n"
	cases := []struct {
		body   string
		status int
		text   string
	}{
		{``, 400, syntax},
		{`{"type":`, 400, syntax},
		{"\xff\xfe", 400, syntax},
		{`[]`, 422, shape},
		{`null`, 422, shape},
		{`{}`, 422, shape},
		{`{"type":"nothing"}`, 422, shape},
		{`{"type":5}`, 422, shape},
		{`{"type":"l2Book"}`, 500, "null"},
		{`{"type":"l2Book","coin":"NOPE"}`, 500, "null"},
		{`{"type":"l2Book","coin":["BTC"]}`, 422, shape},
		{`{"type":"l2Book","coin":"BTC","nSigFigs":1}`, 422, shape},
		{`{"type":"l2Book","coin":"BTC","nSigFigs":6}`, 422, shape},
		{`{"type":"l2Book","coin":"BTC","nSigFigs":4,"mantissa":2}`, 422, shape},
		{`{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":3}`, 422, shape},
		{`{"type":"l2Book","coin":"BTC","mantissa":2}`, 422, shape},
		{`{"type":"meta","dex":"nope"}`, 500, "null"},
		{`{"type":"candleSnapshot"}`, 422, shape},
		{`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"7m","startTime":0}}`, 422, shape},
		{`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m"}}`, 422, shape},
		{`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1M","startTime":-9223372036854775808}}`, 422, shape},
		{`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1m","startTime":"0"}}`, 422, shape},
		{`{"type":"fundingHistory","coin":"BTC"}`, 422, shape},
		{`{"type":"fundingHistory","coin":"@107","startTime":1.5}`, 422, shape},
		{`{"type":"userFills"}`, 422, shape},
		{`{"type":"userFills","user":"0x12"}`, 422, shape},
		{`{"type":"userFills","user":"0xzz00000000000000000000000000000000000000"}`, 422, shape},
		{`{"type":"userFillsByTime","user":"0x0000000000000000000000000000000000000001"}`, 422, shape},
		{`{"type":"orderStatus","user":"0x0000000000000000000000000000000000000001"}`, 422, shape},
		{`{"type":"orderStatus","user":"0x0000000000000000000000000000000000000001","oid":-1}`, 422, shape},
		{`{"type":"orderStatus","user":"0x0000000000000000000000000000000000000001","oid":"0x12"}`, 422, shape},
		{`{"type":"activeAssetData","user":"0x0000000000000000000000000000000000000001","coin":"@107"}`, 422, shape},
	}
	for _, tc := range cases {
		status, text, header := post(t, v.Handler(), tc.body)
		if status != tc.status || text != tc.text {
			t.Errorf("%s: %d %q, want %d %q", tc.body, status, text, tc.status, tc.text)
		}
		if header.Get("X-Simulated") != "true" {
			t.Errorf("%s: the answer does not say that it is simulated", tc.body)
		}
	}
	for path, want := range map[string]int{"/": 404, "/info": 405, "/truth/accounts": 400, "/truth/accounts?address=x": 400} {
		w := httptest.NewRecorder()
		v.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want || w.Header().Get("X-Simulated") != "true" {
			t.Errorf("GET %s: %d, want %d", path, w.Code, want)
		}
	}
	r := httptest.NewRequest("POST", "/info", strings.NewReader(`{"type":"meta"}`))
	w := httptest.NewRecorder()
	v.Handler().ServeHTTP(w, r)
	if w.Code != 415 {
		t.Errorf("without a content type: %d, want 415", w.Code)
	}
	if status, _, _ := post(t, v.Handler(), `{"type":"`+strings.Repeat("a", maxInfoBody)+`"}`); status != 413 {
		t.Errorf("oversized body: %d, want 413", status)
	}
}

type stateAnswer struct {
	MarginSummary  struct{ AccountValue, TotalNtlPos, TotalRawUsd, TotalMarginUsed string }
	AssetPositions []struct {
		Position struct {
			Coin, Szi, PositionValue, UnrealizedPnl, MarginUsed string
			LiquidationPx                                       *string
			Leverage                                            struct{ Type string }
		}
	}
}

func TestClearinghouseStateAgreesWithTheTruth(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{HistoryDays: 3, FillsPerSecond: 60}, time.Minute)
	open := 0
	for _, addr := range v.Truth().Addresses {
		truth := v.TruthOf(addr)
		bySzi := map[string]TruthPosition{}
		for _, p := range truth.Positions {
			if p.Opened != 0 {
				bySzi[p.Coin] = p
			}
		}
		total := new(big.Rat)
		for _, d := range v.eng.dexes {
			dex := d.name
			s := ask[stateAnswer](t, v, `{"type":"clearinghouseState","user":%q,"dex":%q}`, "0x"+strings.ToUpper(addr[2:]), dex)
			total.Add(total, rat(t, s.MarginSummary.AccountValue))
			raw, ntl := rat(t, s.MarginSummary.TotalRawUsd), new(big.Rat)
			for _, p := range s.AssetPositions {
				open++
				want, ok := bySzi[p.Position.Coin]
				if !ok || p.Position.Szi != want.Szi || p.Position.UnrealizedPnl != dec(want.Unrealized, 6) {
					t.Errorf("%s: position %+v, truth %+v", addr, p.Position, want)
				}
				delete(bySzi, p.Position.Coin)
				value := rat(t, p.Position.PositionValue)
				ntl.Add(ntl, value)
				if rat(t, p.Position.Szi).Sign() < 0 {
					value.Neg(value)
				}
				raw.Add(raw, value)
			}
			if raw.Cmp(rat(t, s.MarginSummary.AccountValue)) != 0 || ntl.Cmp(rat(t, s.MarginSummary.TotalNtlPos)) != 0 {
				t.Errorf("%s: raw USD and positions make %s, %+v", addr, raw.FloatString(6), s.MarginSummary)
			}
		}
		if len(bySzi) > 0 {
			t.Errorf("%s: positions %v are not in clearinghouseState", addr, bySzi)
		}
		if total.Cmp(big.NewRat(truth.Equity, usd)) != 0 {
			t.Errorf("%s: account values sum to %s, equity is %d", addr, total.FloatString(6), truth.Equity)
		}
	}
	if open < 50 {
		t.Errorf("only %d open positions", open)
	}
}

func TestAtItsLiquidationPriceAnAccountJustMeetsItsMaintenanceMargin(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{HistoryDays: 3, FillsPerSecond: 60}, time.Minute)
	e := v.eng
	checked := 0
	for u := range e.Acc {
		for c := range e.perps {
			p := &e.Acc[u].Pos[c]
			if p.Szi == 0 {
				continue
			}
			px, ok := e.liquidationPx(u, c)
			if !ok {
				continue
			}
			mark := e.Mk[c].Mark
			before := tierOf(e.mk[c].Tiers, e.notional(u, c)).MaxLev
			e.Mk[c].Mark = px / pow10[liqExtra]
			sameTier := tierOf(e.mk[c].Tiers, e.notional(u, c)).MaxLev == before
			gap := abs(e.equityOf(u, c, !p.Iso) - e.maintOf(u, c, !p.Iso))
			e.Mk[c].Mark = mark
			if !sameTier {
				continue
			}
			checked++
			if allowed := 2*abs(p.Szi) + 10; gap > allowed { // one price unit of rounding
				t.Errorf("trader %d %s: equity is %d off at %s", u, e.mk[c].Name, gap, dec(px, e.mk[c].PxDec+liqExtra))
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d positions had a liquidation price", checked)
	}
}

func TestCandlesOfEveryIntervalAddUpToTheTrades(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{HistoryDays: 3, FillsPerSecond: 60}, 2*time.Minute)
	for _, coin := range []string{"BTC", "kPEPE", "sim:GOLD", "@107"} {
		c := v.eng.byName[coin]
		for interval := range intervals {
			var n int64
			base := new(big.Rat)
			last := int64(-1)
			rows := ask[[]map[string]any](t, v, `{"type":"candleSnapshot","req":{"coin":%q,"interval":%q,"startTime":0,"endTime":%d}}`,
				coin, interval, v.Now().UnixMilli())
			for _, r := range rows {
				open, end := int64(r["t"].(float64)), int64(r["T"].(float64))
				if o, cl := bucketOf(interval, open); o != open || cl != end || last >= 0 && open != last+1 || r["s"] != coin || r["i"] != interval {
					t.Fatalf("%s %s: candle %v", coin, interval, r)
				}
				last = end
				n += int64(r["n"].(float64))
				base.Add(base, rat(t, r["v"].(string)))
				lo, hi := rat(t, r["l"].(string)), rat(t, r["h"].(string))
				for _, k := range []string{"o", "c"} {
					if px := rat(t, r[k].(string)); px.Cmp(lo) < 0 || px.Cmp(hi) > 0 {
						t.Errorf("%s %s: %s is outside low and high: %v", coin, interval, k, r)
					}
				}
			}
			want := dec(v.eng.Mk[c].Base, v.eng.mk[c].SzDec)
			if n != v.eng.Mk[c].Trades || base.Cmp(rat(t, want)) != 0 {
				t.Errorf("%s %s: %d trades of %s, want %d of %s", coin, interval, n, base.FloatString(6), v.eng.Mk[c].Trades, want)
			}
		}
	}
}

func TestBucketsOpenOnMondayAndOnTheFirst(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).UnixMilli()
	for interval, want := range map[string]string{"1m": "2026-03-04T05:06:00Z 2026-03-04T05:06:59.999Z",
		"1w": "2026-03-02T00:00:00Z 2026-03-08T23:59:59.999Z", "1M": "2026-03-01T00:00:00Z 2026-03-31T23:59:59.999Z",
		"8h": "2026-03-04T00:00:00Z 2026-03-04T07:59:59.999Z"} {
		open, end := bucketOf(interval, at)
		got := time.UnixMilli(open).UTC().Format(time.RFC3339Nano) + " " + time.UnixMilli(end).UTC().Format(time.RFC3339Nano)
		if got != want {
			t.Errorf("%s: %s, want %s", interval, got, want)
		}
	}
}

func TestGroupedLevelsKeepTheSizeOfTheBook(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{}, 20*time.Second)
	type book struct {
		Levels [2][]struct {
			Px, Sz string
			N      int
		}
	}
	for _, group := range []string{``, `,"nSigFigs":5`, `,"nSigFigs":5,"mantissa":5`, `,"nSigFigs":4`, `,"nSigFigs":2`} {
		b := ask[book](t, v, `{"type":"l2Book","coin":"ETH"%s}`, group)
		for side, levels := range b.Levels {
			if len(levels) == 0 || len(levels) > 20 {
				t.Fatalf("%d levels with %s", len(levels), group)
			}
			for i, l := range levels {
				if l.N < 1 || rat(t, l.Sz).Sign() <= 0 {
					t.Errorf("level %+v", l)
				}
				if i > 0 && rat(t, l.Px).Cmp(rat(t, levels[i-1].Px))*(1-2*side) >= 0 {
					t.Errorf("side %d: %s after %s", side, l.Px, levels[i-1].Px)
				}
			}
		}
		if rat(t, b.Levels[0][0].Px).Cmp(rat(t, b.Levels[1][0].Px)) >= 0 && group != `,"nSigFigs":2` {
			t.Errorf("%s: bid %s, ask %s", group, b.Levels[0][0].Px, b.Levels[1][0].Px)
		}
	}
	full := ask[book](t, v, `{"type":"l2Book","coin":"ETH","nSigFigs":2}`)
	sum := new(big.Rat)
	for _, l := range full.Levels[0] {
		sum.Add(sum, rat(t, l.Sz))
	}
	var want int64
	v.eng.books[1].depth(true, func(_, sz int64, _ int) bool { want += sz; return true })
	if got := dec(want, v.eng.mk[1].SzDec); sum.Cmp(rat(t, got)) != 0 {
		t.Errorf("two figures hold %s, the book holds %s", sum.FloatString(4), got)
	}
}

func TestUserFillsAreTheNewestOfTheNodeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{NodeDir: dir, HistoryDays: 2, FillsPerSecond: 60}, time.Minute)
	byUser := map[string][]string{}
	for _, l := range lines(t, dir, streamFills) {
		for _, ev := range l.Events {
			var pair [2]json.RawMessage
			var user string
			var fill map[string]any
			if json.Unmarshal(ev, &pair) != nil || json.Unmarshal(pair[0], &user) != nil || json.Unmarshal(pair[1], &fill) != nil {
				t.Fatalf("bad event %s", ev)
			}
			delete(fill, "builder")
			text, _ := json.Marshal(fill)
			byUser[user] = append(byUser[user], string(text))
		}
	}
	for user, want := range byUser {
		got := ask[[]map[string]any](t, v, `{"type":"userFills","user":%q}`, user)
		later := ask[[]map[string]any](t, v, `{"type":"userFillsByTime","user":%q,"startTime":0}`, user)
		if len(got) != min(len(want), depthFills) || len(later) != len(got) {
			t.Fatalf("%s: %d and %d fills, want %d", user, len(got), len(later), len(want))
		}
		for i := range got {
			a, _ := json.Marshal(got[i])
			b, _ := json.Marshal(later[len(later)-1-i])
			if string(a) != want[len(want)-1-i] || string(a) != string(b) {
				t.Fatalf("%s: fill %d is %s, the file has %s", user, i, a, want[len(want)-1-i])
			}
		}
		joined := ask[[]map[string]any](t, v, `{"type":"userFills","user":%q,"aggregateByTime":true}`, user)
		if len(joined) > len(got) {
			t.Errorf("%s: %d fills joined from %d", user, len(joined), len(got))
		}
	}
}

func TestOrdersAreFoundByIdAndByClientId(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{HistoryDays: 1, FillsPerSecond: 60}, time.Minute)
	maker := v.eng.prof[1].Addr
	type order struct {
		Oid   int64
		Cloid string
	}
	type answer struct {
		Status string
		Order  struct {
			Order  order
			Status string
		}
	}
	open := ask[[]order](t, v, `{"type":"openOrders","user":%q}`, maker)
	if len(open) == 0 {
		t.Fatal("the maker has no open orders")
	}
	for _, by := range []string{fmt.Sprint(open[0].Oid), `"` + open[0].Cloid + `"`} {
		got := ask[answer](t, v, `{"type":"orderStatus","user":%q,"oid":%s}`, maker, by)
		if got.Status != "order" || got.Order.Status != "open" || got.Order.Order != open[0] {
			t.Errorf("%s: %+v", by, got)
		}
	}
	history := ask[[]struct{ Order order }](t, v, `{"type":"historicalOrders","user":%q}`, maker)
	got := ask[answer](t, v, `{"type":"orderStatus","user":%q,"oid":%d}`, maker, history[0].Order.Oid)
	if got.Status != "order" {
		t.Errorf("ended order: %+v", got)
	}
	if got := ask[answer](t, v, `{"type":"orderStatus","user":%q,"oid":1}`, maker); got.Status != "unknownOid" {
		t.Errorf("unknown order: %+v", got)
	}
}

func TestAStrangerIsAnEmptyAccount(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Traders: 60}, time.Second)
	const stranger = "0x00000000000000000000000000000000000000aa"
	for kind, want := range map[string]string{
		"userFills": "[]", "openOrders": "[]", "historicalOrders": "[]", "userTwapSliceFills": "[]", "userRole": `{"role":"missing"}`,
		"spotClearinghouseState": `{"balances":[]}`,
	} {
		if _, got, _ := post(t, v.Handler(), fmt.Sprintf(`{"type":%q,"user":%q}`, kind, stranger)); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	s := ask[stateAnswer](t, v, `{"type":"clearinghouseState","user":%q}`, stranger)
	if s.MarginSummary.AccountValue != "0.0" || len(s.AssetPositions) != 0 {
		t.Errorf("state of a stranger: %+v", s)
	}
}

func TestVaultsAreAccountsOfTheVenueThatOthersLead(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Traders: 60, HistoryDays: 2}, time.Minute)
	type summary struct {
		Name, VaultAddress, Leader string
		IsClosed                   bool
	}
	open, holds := 0, 0
	for _, s := range ask[[]summary](t, v, `{"type":"vaultSummaries"}`) {
		if v.eng.userIndex(s.Leader) < 0 || s.Leader == s.VaultAddress || s.Name == "" {
			t.Errorf("%+v is led by nobody, or has no name", s)
		}
		if details := ask[summary](t, v, `{"type":"vaultDetails","vaultAddress":%q}`, s.VaultAddress); details != s {
			t.Errorf("its details are %+v, want %+v", details, s)
		}
		if s.IsClosed {
			continue
		}
		open++
		if role := ask[struct{ Role string }](t, v, `{"type":"userRole","user":%q}`, s.VaultAddress).Role; role != "vault" {
			t.Errorf("%s is a %s", s.VaultAddress, role)
		}
		led := ask[[]struct{ Address, Name string }](t, v, `{"type":"leadingVaults","user":%q}`, s.Leader)
		if !slices.Contains(led, struct{ Address, Name string }{s.VaultAddress, s.Name}) {
			t.Errorf("%s leads %v", s.Leader, led)
		}
		if state := ask[stateAnswer](t, v, `{"type":"clearinghouseState","user":%q}`, s.VaultAddress); len(state.AssetPositions) > 0 {
			holds++
		}
	}
	if open < 3 || holds == 0 {
		t.Errorf("%d vaults are open, of which %d hold positions", open, holds)
	}
	if got := ask[any](t, v, `{"type":"vaultDetails","vaultAddress":"0x00000000000000000000000000000000000000aa"}`); got != nil {
		t.Errorf("what is no vault is %v", got)
	}
}

func TestTruthIsServed(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{HistoryDays: 1}, time.Second)
	get := func(path string, out any) {
		w := httptest.NewRecorder()
		v.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if err := json.Unmarshal(w.Body.Bytes(), out); w.Code != 200 || err != nil {
			t.Fatalf("GET %s: %d %v", path, w.Code, err)
		}
	}
	var books TruthBooks
	get("/truth/coins", &books)
	if len(books.Coins) != len(v.eng.mk) || books.Deposited == 0 || len(books.Addresses) == 0 {
		t.Fatalf("%+v", books)
	}
	var one Truth
	get("/truth/accounts?address="+books.Addresses[1], &one)
	if !one.Joined || one.Equity == 0 {
		t.Errorf("%+v", one)
	}
	var health struct{ Simulated bool }
	get("/healthz", &health)
	if !health.Simulated {
		t.Error("health does not say that the venue is simulated")
	}
}

func FuzzInfo(f *testing.F) {
	v := must.Get(Open(Config{Traders: 60, HistoryDays: 1, Clock: still(noon)}))(f)
	defer v.Close()
	user := busiest(v)
	f.Add(`{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":2}`)
	f.Add(`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1M","startTime":1,"endTime":253402300799999}}`)
	f.Add(`{"type":"orderStatus","user":"` + user + `","oid":"0x00000000000000000000000000000001"}`)
	for kind := range infoTypes {
		f.Add(`{"type":"` + kind + `","user":"` + user + `","coin":"ETH","startTime":0,"endTime":9223372036854775807,"oid":1000001,"dex":""}`)
	}
	h := v.Handler()
	f.Fuzz(func(t *testing.T, body string) {
		status, text, _ := post(t, h, body)
		switch status {
		case 200:
			if !json.Valid([]byte(text)) {
				t.Errorf("%q: not JSON: %.200s", body, text)
			}
		case 400, 413, 422:
			if strings.HasPrefix(text, "{") {
				t.Errorf("%q: %d %s", body, status, text)
			}
		case 500:
			if text != "null" {
				t.Errorf("%q: %d %s", body, status, text)
			}
		default:
			t.Errorf("%q: %d", body, status)
		}
	})
}
