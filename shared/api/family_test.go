package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api"
	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/testing/must"
)

const (
	tickers = "/upgrade/v2/hl/tickers"
	ticker  = "/upgrade/v2/hl/tickers/coin/"
	klines  = "/upgrade/v2/hl/klines-with-taker-vol/BTC/1m"
	planned = "/upgrade/v2/hl/batch-pnls"
)

// market opens a world whose market family answers with what it was asked.
func market(t testing.TB) *apitest.World {
	w := apitest.New(t, string(catalog.PerpMarket))
	handleMarket(w)
	return w
}

func handleMarket(w *apitest.World) {
	api.Handle(w.Family, catalog.Tickers, func(context.Context, catalog.None) ([]catalog.Ticker, error) { return nil, nil })
	api.Handle(w.Family, catalog.TickerCoin, func(_ context.Context, in catalog.TickerCoinIn) (catalog.Ticker, error) {
		switch in.Coin {
		case "BAD":
			return catalog.Ticker{}, api.BadParameter("invalid coin: must be a coin that has traded")
		case "AWAITED":
			return catalog.Ticker{}, api.NotReady(5*time.Second, "prices of %s have not arrived yet", in.Coin)
		case "SECOND":
			return catalog.Ticker{}, api.LookupsExhausted(time.Minute, "a distributor may ask for at most %d coins", 1)
		case "FAULT":
			return catalog.Ticker{}, errors.New("the store said: secret detail")
		case "PANIC":
			panic("a bug")
		}
		return catalog.Ticker{Coin: string(in.Coin), Price: "<1.0>"}, nil
	})
	api.Handle(w.Family, catalog.TakerKlines, func(_ context.Context, in catalog.TakerKlinesIn) ([]catalog.TakerKline, error) {
		return []catalog.TakerKline{{OpenTime: in.Limit, Open: in.Interval}}, nil
	})
}

// info opens a world whose info family echoes its bound request.
func info(t testing.TB) *apitest.World {
	w := apitest.New(t, string(catalog.PerpInfo))
	api.Handle(w.Family, catalog.Info, func(_ context.Context, in catalog.InfoIn) (json.RawMessage, error) {
		return json.Marshal(in)
	})
	return w
}

// used returns the requests that the world's sub-key is charged with.
func used(t testing.TB, w *apitest.World) int64 {
	t.Helper()
	n := must.Get(w.Counters.Keys(t.Context(), []string{w.SubKey.AccessKey}, w.Now()))(t)
	total, err := w.Counters.Distributor(t.Context(), w.Primary.AccessKey, w.Now())
	if err != nil || total != n[w.SubKey.AccessKey] {
		t.Fatalf("the distributor counts %d, the sub-key %d (%v)", total, n[w.SubKey.AccessKey], err)
	}
	return total
}

func TestAnswersCarryEnvelopeAndHeaders(t *testing.T) {
	t.Parallel()
	w := market(t)
	a := w.Get(t, w.SubKey, ticker+"PURR%2FUSDC")
	if want := `{"code":"0","msg":"success","data":{"coin":"PURR/USDC","price":"<1.0>"}}`; a.Status != 200 || string(a.Body) != want {
		t.Errorf("%d %s, want %s", a.Status, a.Body, want)
	}
	for name, want := range map[string]string{"X-Request-Id": "test-request", "Content-Type": "application/json", "Quota-Limit": "1000000", "Quota-Remaining": "999999"} {
		if a.Header[name] != want {
			t.Errorf("%s = %q, want %q", name, a.Header[name], want)
		}
	}
	if a := w.Get(t, w.SubKey, tickers); string(a.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("an empty list: %s", a.Body)
	}
}

func TestBadParametersAre400NamedAndFree(t *testing.T) {
	t.Parallel()
	w := market(t)
	for _, tt := range []struct{ target, message string }{
		{ticker + "B%20TC", "invalid coin: must be a coin name"},
		{ticker + strings.Repeat("A", 33), "invalid coin"},
		{ticker + "%FF%FE", "invalid coin"},
		{"/upgrade/v2/hl/klines-with-taker-vol/BTC/7m", "invalid interval: must be one of 1s, 3s"},
		{klines + "?limit=0", "invalid limit: must be a whole number from 1 to 2000"},
		{klines + "?limit=2001", "from 1 to 2000"},
		{klines + "?limit=ten", "invalid limit"},
		{klines + "?limit=+5", "invalid limit"},
		{klines + "?limit=%2B5", "invalid limit"},
		{klines + "?limit=1e2", "invalid limit"},
		{klines + "?limit=99999999999999999999", "invalid limit"},
		{klines + "?limit=5&limit=6", "limit is given more than once with different values"},
		{klines + "?startTime=yesterday", "invalid startTime: must be a time in milliseconds"},
		{klines + "?startTime=-1", "invalid startTime"},
		{klines + "?startTime=2000&endTime=1000", "the end of the time range lies before its start: endTime, now where it is absent, must not be before startTime"},
		{ticker + "BAD", "must be a coin that has traded"},
	} {
		a := w.Get(t, w.SubKey, tt.target)
		if a.Status != http.StatusBadRequest || !strings.Contains(apitest.Message(t, a), tt.message) {
			t.Errorf("%s: %d %s, want 400 with %q", tt.target, a.Status, a.Body, tt.message)
		}
	}
	if n := used(t, w); n != 0 {
		t.Errorf("bad requests were charged %d times", n)
	}
}

func TestFaultsAre500FreeAndSayNothing(t *testing.T) {
	t.Parallel()
	w := market(t)
	for _, coin := range []string{"FAULT", "PANIC"} {
		a := w.Get(t, w.SubKey, ticker+coin)
		if a.Status != http.StatusInternalServerError || apitest.Message(t, a) != "internal error" {
			t.Errorf("%s: %d %s", coin, a.Status, a.Body)
		}
		for _, never := range []string{"secret", "goroutine", "bug", ".go"} {
			if strings.Contains(string(a.Body), never) {
				t.Errorf("%s: the answer reveals %q: %s", coin, never, a.Body)
			}
		}
	}
	if n := used(t, w); n != 0 {
		t.Errorf("faults were charged %d times", n)
	}
	if !strings.Contains(w.Logs.String(), "secret detail") {
		t.Error("the log does not hold the cause")
	}
	if strings.Contains(w.Logs.String(), w.SubKey.Secret) || strings.Contains(w.Logs.String(), "Signature") {
		t.Error("the log holds a secret or a signature")
	}
}

// TestWhatIsNotReadyOrTooMuchSaysWhenToAskAgainAndIsFree: it keeps its place in the minute's rate.
func TestWhatIsNotReadyOrTooMuchSaysWhenToAskAgainAndIsFree(t *testing.T) {
	t.Parallel()
	w := market(t)
	key := w.Issue(t, w.Primary, keys.NewSubKey{Name: "limited", RateLimit: 2})
	for _, tt := range []struct {
		coin                string
		status              int
		retryAfter, message string
	}{
		{"AWAITED", http.StatusServiceUnavailable, "5", "prices of AWAITED have not arrived yet"},
		{"SECOND", http.StatusTooManyRequests, "60", "a distributor may ask for at most 1 coins"},
	} {
		a := w.Get(t, key, ticker+tt.coin)
		if a.Status != tt.status || a.Header["Retry-After"] != tt.retryAfter || apitest.Message(t, a) != tt.message {
			t.Errorf("%d after %q: %s, want %d after %s", a.Status, a.Header["Retry-After"], a.Body, tt.status, tt.retryAfter)
		}
	}
	if n, err := w.Counters.Distributor(t.Context(), w.Primary.AccessKey, w.Now()); err != nil || n != 0 {
		t.Errorf("charged %d times: %v", n, err)
	}
	if a := w.Get(t, key, tickers); a.Status != http.StatusTooManyRequests || !strings.Contains(apitest.Message(t, a), "rate limit exceeded") {
		t.Errorf("the third request of a minute that has two: %d %s", a.Status, a.Body)
	}
}

func TestErrorsHaveTheOneBodyOfAllEnvelopes(t *testing.T) {
	t.Parallel()
	w := market(t)
	a := w.Get(t, w.SubKey, klines+"?limit=0")
	want := `{"success":false,"code":"400","errorCode":400,"status":400,"error":%[1]q,"msg":%[1]q,"message":%[1]q,"request_id":"test-request"}`
	if got := string(a.Body); got != fmt.Sprintf(want, "invalid limit: must be a whole number from 1 to 2000") {
		t.Errorf("body = %s", got)
	}
}

func TestAPlannedEndpointIs501AndFree(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, string(catalog.PerpTraders))
	if a := w.Call(t, w.SubKey, http.MethodPost, planned, nil); a.Status != http.StatusNotImplemented {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if n := used(t, w); n != 0 {
		t.Errorf("charged %d times", n)
	}
}

func TestARequestThatNoAuthorizerSawIs401(t *testing.T) {
	t.Parallel()
	w := market(t)
	for name, context := range map[string]map[string]any{
		"none":      nil,
		"empty":     {},
		"half":      {"key": "k", "distributor": "d"},
		"key alone": {"key": w.SubKey.AccessKey},
		"body mark": {"signature": "body"},
	} {
		event := apitest.Event(t, http.MethodGet, tickers, nil)
		event.RequestContext.Authorizer = context
		if a := w.Invoke(t, event); a.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	event := apitest.Event(t, http.MethodGet, tickers, nil)
	event.Resource = "/upgrade/v2/hl/other"
	w.Invoke(t, event).Refused(t, http.StatusNotFound, "no such endpoint")
}

func TestPermissionsAreCheckedInOrder(t *testing.T) {
	t.Parallel()
	w := market(t)
	ctx := t.Context()
	put := func(level string, actions ...string) {
		t.Helper()
		must.Do(t, w.Keys.PutLevel(ctx, w.Primary.AccessKey, level, keys.Allow(actions...)))
	}
	put("none")
	put("fills", "HL_FILLS")
	put("reserved", "HL_INFO_META")
	issue := func(level string) apitest.Key {
		quota := int64(10)
		return w.Issue(t, w.Primary, keys.NewSubKey{Name: level, Level: level, MonthlyQuota: &quota})
	}
	quota := int64(10)
	expiring := w.Issue(t, w.Primary, keys.NewSubKey{Name: "expiring", MonthlyQuota: &quota, ExpiresIn: 60})
	disabled := issue("all")
	must.Do(t, w.Keys.SetActive(ctx, w.Primary.AccessKey, []string{disabled.AccessKey}, false))
	if a := w.Get(t, expiring, tickers); a.Status != 200 {
		t.Fatalf("before expiry: %d %s", a.Status, a.Body)
	}
	w.Move(time.Minute)
	for _, tt := range []struct {
		name   string
		key    apitest.Key
		reason string
	}{
		{"primary key", w.Primary, "a distributor's primary key may call management endpoints only"},
		{"level without permissions", issue("none"), "has no permissions"},
		{"level with reserved names alone", issue("reserved"), "has no permissions"},
		{"action not listed", issue("fills"), "does not list the action HL_TICKERS"},
		{"level that does not exist", issue("ghost"), "is not configured"},
		{"disabled", disabled, "disabled"},
		{"expired", expiring, "expired"},
	} {
		if a := w.Get(t, tt.key, tickers); a.Status != http.StatusForbidden || !strings.Contains(apitest.Message(t, a), tt.reason) {
			t.Errorf("%s: %d %s, want 403 with %q", tt.name, a.Status, a.Body, tt.reason)
		}
	}
	must.Do(t, w.Keys.SetDisabled(ctx, w.Primary.AccessKey, true))
	if a := w.Get(t, w.SubKey, tickers); a.Status != http.StatusForbidden {
		t.Errorf("disabled distributor: %d %s", a.Status, a.Body)
	}
}

func TestSignaturesAreRefusedWith401(t *testing.T) {
	t.Parallel()
	w := market(t)
	good := func() (p signature.Params) { return w.Sign(w.SubKey) }
	for name, spoil := range map[string]func(*signature.Params){
		"no key":        func(p *signature.Params) { p.AccessKeyID = "" },
		"no nonce":      func(p *signature.Params) { p.Nonce = "" },
		"no timestamp":  func(p *signature.Params) { p.Timestamp = "" },
		"no signature":  func(p *signature.Params) { p.Signature = "" },
		"unknown key":   func(p *signature.Params) { p.AccessKeyID = strings.Repeat("0", 32) },
		"changed nonce": func(p *signature.Params) { p.Nonce += "0" },
		"stale":         func(p *signature.Params) { p.Timestamp = "1" },
	} {
		p := good()
		spoil(&p)
		if a := w.Send(t, p, http.MethodGet, tickers, nil); a.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	p := good()
	if a := w.Send(t, p, http.MethodGet, tickers, nil); a.Status != 200 {
		t.Fatalf("first use: %d %s", a.Status, a.Body)
	}
	if a := w.Send(t, p, http.MethodGet, tickers, nil); a.Status != 200 || a.Header["Quota-Remaining"] != "999998" {
		t.Errorf("the same again, charged: %d %v %s", a.Status, a.Header, a.Body)
	}
	for _, other := range []string{tickers + "?limit=1", ticker + "BTC"} {
		if a := w.Send(t, p, http.MethodGet, other, nil); a.Status != http.StatusUnauthorized || apitest.Message(t, a) != "nonce already used" {
			t.Errorf("the nonce of another request: %d %s", a.Status, a.Body)
		}
	}
}

func TestRateAndQuotaAre429WithRetryAfter(t *testing.T) {
	t.Parallel()
	w := market(t)
	quota := int64(4)
	key := w.Issue(t, w.Primary, keys.NewSubKey{Name: "limited", MonthlyQuota: &quota, RateLimit: 2})
	limits := func(a apitest.Answer) string {
		return fmt.Sprint(a.Status, " rate ", a.Header["RateLimit-Remaining"], "/", a.Header["RateLimit-Limit"], " ", a.Header["RateLimit-Reset"],
			" quota ", a.Header["Quota-Remaining"], "/", a.Header["Quota-Limit"], " after ", a.Header["Retry-After"])
	}
	for _, want := range []string{"200 rate 1/2 66 quota 3/4 after ", "200 rate 0/2 66 quota 2/4 after "} {
		if got := limits(w.Get(t, key, tickers)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	w.Move(20 * time.Second)
	a := w.Get(t, key, tickers)
	if got, want := limits(a), "429 rate 0/2 46 quota /4 after 46"; got != want || !strings.Contains(apitest.Message(t, a), "rate limit exceeded: at most 2 requests per minute") {
		t.Errorf("over the rate: %s, want %s: %s", got, want, a.Body)
	}
	w.Move(46 * time.Second)
	for range 2 {
		if a := w.Get(t, key, tickers); a.Status != 200 {
			t.Fatalf("when it is said to be: %d %s", a.Status, a.Body)
		}
	}
	w.Move(66 * time.Second)
	a = w.Get(t, key, tickers)
	if got, want := limits(a), "429 rate 2/2 66 quota 0/4 after "+a.Header["Quota-Reset"]; got != want || !strings.Contains(apitest.Message(t, a), "monthly quota exceeded: at most 4") {
		t.Errorf("over the quota: %s, want %s: %s", got, want, a.Body)
	}
}

func TestAllSubKeysOfADistributorShareItsRate(t *testing.T) {
	t.Parallel()
	w := market(t)
	d := w.Register(t, keys.Preset{Name: "Limited", Level: "all", MaxSubKeys: 5, RateLimit: 60})
	must.Do(t, w.Keys.PutLevel(t.Context(), d.AccessKey, "all", keys.Allow(catalog.Actions()...)))
	one, two := w.Issue(t, d, keys.NewSubKey{Name: "one"}), w.Issue(t, d, keys.NewSubKey{Name: "two", RateLimit: 100})
	for i := range 66 {
		if a := w.Get(t, []apitest.Key{one, two}[i%2], tickers); a.Status != 200 {
			t.Fatalf("request %d: %d %s", i+1, a.Status, a.Body)
		}
	}
	w.Move(20 * time.Second)
	a := w.Get(t, two, tickers)
	if a.Status != 429 || a.Header["Retry-After"] != "46" || a.Header["RateLimit-Limit"] != "100" ||
		!strings.Contains(apitest.Message(t, a), "distributor rate limit exceeded: at most 60 requests per minute") {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	if a := w.Get(t, w.SubKey, tickers); a.Status != 200 {
		t.Errorf("another distributor's: %d %s", a.Status, a.Body)
	}
	w.Move(46 * time.Second)
	if a := w.Get(t, one, tickers); a.Status != 200 {
		t.Errorf("when it is said to be: %d %s", a.Status, a.Body)
	}
}

func TestTheTimeSpanLimitIsTheTighterOfLevelAndKey(t *testing.T) {
	t.Parallel()
	w := market(t)
	for _, tt := range []struct {
		level, key int64
		span       int64 // seconds
		status     int
	}{
		{0, 0, 1 << 30, 200},
		{3600, 0, 3600, 200}, {3600, 0, 3601, 400},
		{0, 3600, 3600, 200}, {0, 3600, 3601, 400},
		{3600, 60, 60, 200}, {3600, 60, 61, 400},
		{60, 3600, 60, 200}, {60, 3600, 61, 400},
	} {
		level := keys.Allow(catalog.Actions()...)
		level.MaxTimeRange = tt.level
		must.Do(t, w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "all", level))
		quota := int64(10)
		key := w.Issue(t, w.Primary, keys.NewSubKey{Name: "span", MonthlyQuota: &quota, MaxTimeRange: tt.key})
		start := w.Now().Add(-time.Duration(tt.span) * time.Second).UnixMilli()
		for _, query := range []string{fmt.Sprintf("?startTime=%d", start), fmt.Sprintf("?startTime=%d&endTime=%d", start, w.Now().UnixMilli())} {
			a := w.Get(t, key, klines+query)
			if a.Status != tt.status || a.Status == 400 && apitest.Message(t, a) != "time range exceeded" {
				t.Errorf("level %d, key %d, span %d: %d %s, want %d", tt.level, tt.key, tt.span, a.Status, a.Body, tt.status)
			}
		}
		if a := w.Get(t, key, klines); a.Status != 200 {
			t.Errorf("without a start: %d %s", a.Status, a.Body)
		}
	}
}

func TestBodiesAreReadLeniently(t *testing.T) {
	t.Parallel()
	w := info(t)
	const path = "/upgrade/v2/hl/info"
	a := w.Call(t, w.SubKey, http.MethodPost, path, `{"type":"userFillsByTime","user":"0x010461C14E146AC35FE42271BDC1134EE31C703A","startTime":"1763712000000","endTime":1763712001000,"unknown":{"a":[1]},"aggregateByTime":"true","dex":null}`)
	in := apitest.Data[catalog.InfoIn](t, a)
	if *in.User != "0x010461c14e146ac35fe42271bdc1134ee31c703a" || *in.StartTime != 1763712000000 || *in.EndTime != 1763712001000 || !in.AggregateByTime {
		t.Errorf("bound %s", a.Body)
	}
	for _, tt := range []struct {
		name, body string
		status     int
		message    string
	}{
		{"empty", ``, 400, "missing type"},
		{"array", `[]`, 400, "one JSON object"},
		{"null", `null`, 400, "one JSON object"},
		{"text", `type=meta`, 400, "one JSON object"},
		{"cut off", `{"type":"meta"`, 400, "one JSON object"},
		{"two objects", `{"type":"meta"}{"type":"meta"}`, 400, "nothing after it"},
		{"not UTF-8", "{\"type\":\"\xff\"}", 400, "not valid UTF-8"},
		{"object for text", `{"type":{}}`, 400, "invalid type"},
		{"control character", `{"type":"a\u0000"}`, 400, "invalid type"},
		{"backward character", `{"type":"a\u202e"}`, 400, "invalid type"},
		{"bad address", `{"type":"userFills","user":"0x1"}`, 400, "invalid user: must be an address"},
		{"fraction", `{"type":"fundingHistory","startTime":1.5}`, 400, "invalid startTime"},
		{"fraction of zero", `{"type":"fundingHistory","startTime":1500000000000.0}`, 200, ""},
		{"nested fraction of zero", `{"type":"candleSnapshot","req":{"startTime":1500000000000.00}}`, 200, ""},
		{"nested fraction", `{"type":"candleSnapshot","req":{"startTime":1500000000000.01}}`, 400, "invalid req.startTime"},
		{"nested fault", `{"type":"candleSnapshot","req":{"coin":5}}`, 400, "invalid req"},
		{"nested value", `{"type":"candleSnapshot","req":{"coin":"BTC","startTime":"x"}}`, 400, "invalid req.startTime: must be a time in milliseconds"},
		{"nested kind", `{"type":"candleSnapshot","req":[]}`, 400, "invalid req: must be an object"},
		{"end before start", `{"type":"fundingHistory","startTime":2,"endTime":1}`, 400, "endTime, now where it is absent, must not be before startTime"},
		{"nested end before start", `{"type":"candleSnapshot","startTime":1,"req":{"startTime":2,"endTime":1}}`, 400, "req.endTime, now where it is absent, must not be before req.startTime"},
		{"deep", `{"type":"x","deep":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, 400, "one JSON object"},
		{"too large", `{"type":"` + strings.Repeat("a", 1<<20) + `"}`, 413, "at most 1 MiB"},
	} {
		a := w.Call(t, w.SubKey, http.MethodPost, path, tt.body)
		if a.Status != tt.status || !strings.Contains(apitest.Message(t, a), tt.message) {
			t.Errorf("%s: %d %.200s, want %d with %q", tt.name, a.Status, a.Body, tt.status, tt.message)
		}
	}
}

func TestTheSignatureOfAPostMayBeInItsBody(t *testing.T) {
	t.Parallel()
	w := info(t)
	const path = "/upgrade/v2/hl/info"
	signed := func(key apitest.Key, change func(map[string]any)) map[string]any {
		p := w.Sign(key)
		body := map[string]any{"type": "meta", "AccessKeyId": p.AccessKeyID, "SignatureNonce": p.Nonce, "Timestamp": p.Timestamp, "Signature": p.Signature}
		if change != nil {
			change(body)
		}
		return body
	}
	call := func(body any) apitest.Answer {
		return w.Call(t, apitest.Key{}, http.MethodPost, path, body)
	}
	body := signed(w.SubKey, nil)
	if a := call(body); a.Status != 200 {
		t.Fatalf("signed in the body: %d %s", a.Status, a.Body)
	}
	if a := call(body); a.Status != 401 || apitest.Message(t, a) != "nonce already used" {
		t.Errorf("replayed: %d %s", a.Status, a.Body)
	}
	if a := call(signed(w.SubKey, func(b map[string]any) {
		b["Timestamp"] = json.Number(b["Timestamp"].(string))
		b["SignatureNonce"] = json.Number(b["SignatureNonce"].(string))
	})); a.Status != 200 {
		t.Errorf("numbers: %d %s", a.Status, a.Body)
	}
	for name, tt := range map[string]struct {
		body   any
		status int
	}{
		"no body":           {nil, 401},
		"not JSON":          {"hello", 401},
		"no signature":      {map[string]any{"type": "meta"}, 401},
		"wrong signature":   {signed(w.SubKey, func(b map[string]any) { b["Signature"] = "x" }), 401},
		"missing timestamp": {signed(w.SubKey, func(b map[string]any) { delete(b, "Timestamp") }), 401},
		"primary key":       {signed(w.Primary, nil), 403},
	} {
		if a := call(tt.body); a.Status != tt.status {
			t.Errorf("%s: %d %s, want %d", name, a.Status, a.Body, tt.status)
		}
	}
}

func TestAMissingHandlerIsFoundBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, string(catalog.PerpMarket))
	if err := w.Family.Complete(); err == nil || !strings.Contains(err.Error(), "/tickers has no handler") {
		t.Errorf("Complete = %v", err)
	}
	if err := market(t).Family.Complete(); err != nil && strings.Contains(err.Error(), "/tickers has no handler") {
		t.Errorf("Complete = %v after it was handled", err)
	}
}
