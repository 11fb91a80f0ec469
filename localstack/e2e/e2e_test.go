// Package e2e walks through the running product as its customers do: over HTTP,
// against the real programs, engine and ingester, and with nothing of the
// product's own code.
package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/catalog"
)

// world is the stack that all tests of the package share.
var world *stack.Stack

var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}()

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() {
		fmt.Println("end-to-end tests are skipped by -short")
		return 0
	}
	if out, err := exec.Command("make", "-C", root, "tools", "build").CombinedOutput(); err != nil {
		fmt.Printf("build the programs: %v\n%s", err, out)
		return 1
	}
	data, err := os.MkdirTemp("", "quotary-e2e-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(data)
	ctx, done := context.WithTimeout(context.Background(), 2*time.Minute)
	defer done()
	world, err = stack.Start(ctx, stack.Config{
		Data: data, Programs: filepath.Join(root, "bin"), Tools: filepath.Join(root, "localstack"),
		DynamoDB: os.Getenv("QUOTARY_DYNAMODB_ENDPOINT"), Progress: os.Stdout, History: 1,
	})
	if err != nil {
		fmt.Println("start the stack:", err)
		logs(data)
		return 1
	}
	code := m.Run()
	stopping, done := context.WithTimeout(context.Background(), 20*time.Second)
	defer done()
	if err := world.Stop(stopping); err != nil {
		fmt.Println("stop the stack:", err)
		code = 1
	}
	if code != 0 {
		logs(data)
	}
	return code
}

// logs shows the ends of the stack's logs, for a failed run.
func logs(data string) {
	names, _ := filepath.Glob(filepath.Join(data, "logs", "*.log"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Printf("--- %s (last of %d lines)\n%s\n", filepath.Base(name), len(lines), strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
}

func api() client.Client { return client.Client{BaseURL: world.State.BaseURL} }

// call sends a signed request and requires a status.
func call(t *testing.T, want int, key client.Key, method, path string, body any) client.Answer {
	t.Helper()
	target, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := api().Do(t.Context(), key, method, target, values, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if answer.Status != want {
		t.Fatalf("%s %s: status %d, want %d: %.400s", method, path, answer.Status, want, answer.Body)
	}
	if answer.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s %s: no X-Request-Id", method, path)
	}
	return answer
}

func data[T any](t *testing.T, a client.Answer) (out T) {
	t.Helper()
	if err := a.Data(&out); err != nil {
		t.Fatalf("%v: %.300s", err, a.Body)
	}
	return out
}

func message(t *testing.T, a client.Answer) string {
	t.Helper()
	var body struct {
		Success   *bool
		Code      string
		ErrorCode int
		Status    int
		Error     string
		Msg       string
		Message   string
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatalf("%v: %.300s", err, a.Body)
	}
	if body.Success == nil || *body.Success || body.Code != fmt.Sprint(a.Status) || body.ErrorCode != a.Status || body.Status != a.Status ||
		body.Error == "" || body.Msg != body.Error || body.Message != body.Error || body.RequestID == "" {
		t.Errorf("not the common error body: %s", a.Body)
	}
	return body.Error
}

func invite(t *testing.T, fields map[string]any) string {
	t.Helper()
	event := map[string]any{
		"action": "create_invite", "name": "Walker", "level": "basic", "max_sub_keys": 5,
		"max_total_quota": 1000, "ws_conn_limit": 0, "ws_sub_limit": 0,
	}
	for name, value := range fields {
		event[name] = value
	}
	var out struct {
		Token string `json:"token"`
	}
	if err := client.Invoke(t.Context(), world.State.LambdaURL, catalog.FunctionAdmin, event, &out); err != nil {
		t.Fatal(err)
	}
	if out.Token == "" {
		t.Fatal("create_invite returned no token")
	}
	return out.Token
}

const (
	d  = "/upgrade/v2/distributor"
	hl = "/upgrade/v2/hl"
)

// register returns a distributor whose level "basic" lists every action.
func register(t *testing.T, fields map[string]any) client.Key {
	t.Helper()
	primary := data[client.Key](t, call(t, 200, client.Key{}, "POST", d+"/register", map[string]any{"invite_token": invite(t, fields)}))
	call(t, 200, primary, "PUT", d+"/levels/basic", level(0, catalog.Actions()...))
	return primary
}

func level(span int, actions ...string) map[string]any {
	return map[string]any{
		"request_limits": map[string]any{"max_time_range": span, "max_request": 0, "request_rate_limit": 0},
		"permissions":    []any{map[string]any{"resource_type": "perpdex", "actions": actions}},
	}
}

func issue(t *testing.T, primary client.Key, fields map[string]any) client.Key {
	t.Helper()
	body := map[string]any{"name": "sub", "monthly_quota": 100}
	for name, value := range fields {
		body[name] = value
	}
	return data[client.Key](t, call(t, 200, primary, "POST", d+"/sub-keys", body))
}

func TestTheWholeLifeOfAKey(t *testing.T) {
	t.Parallel()
	token := invite(t, nil)
	primary := data[client.Key](t, call(t, 200, client.Key{}, "POST", d+"/register", map[string]any{"invite_token": token}))
	message(t, call(t, 400, client.Key{}, "POST", d+"/register", map[string]any{"invite_token": token}))

	// A level must be configured before a sub-key of it can do anything.
	sub := issue(t, primary, nil)
	tickers := hl + "/tickers"
	message(t, call(t, 403, sub, "GET", tickers, nil))
	message(t, call(t, 400, primary, "PUT", d+"/levels/basic", map[string]any{"permissions": []any{map[string]any{"resource_type": "spot", "actions": []string{}}}}))
	call(t, 200, primary, "PUT", d+"/levels/basic", level(0, "HL_TICKERS", "HL_FILLS"))
	if got := data[[]string](t, call(t, 200, primary, "GET", d+"/levels", nil)); len(got) != 1 || got[0] != "basic" {
		t.Errorf("levels = %v", got)
	}
	call(t, 200, sub, "GET", tickers, nil)
	if text := message(t, call(t, 403, sub, "POST", hl+"/info", map[string]any{"type": "meta"})); !strings.Contains(text, "HL_INFO") {
		t.Errorf("a missing action must be named: %s", text)
	}
	message(t, call(t, 403, primary, "GET", tickers, nil))
	message(t, call(t, 403, sub, "GET", d+"/info", nil))

	// Limits are exact and their end is told.
	limited := issue(t, primary, map[string]any{"name": "limited", "rate_limit": 3})
	waitForSecond(40)
	for range 3 {
		call(t, 200, limited, "GET", tickers, nil)
	}
	refused := call(t, 429, limited, "GET", tickers, nil)
	if refused.Header.Get("Retry-After") == "" || refused.Header.Get("RateLimit-Limit") != "3" || refused.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("headers of a refused request: %v", refused.Header)
	}
	message(t, refused)

	// A disabled key is refused on the next request, a reset secret is dead at once.
	call(t, 200, primary, "POST", d+"/sub-keys/"+sub.AccessKey+"/disable", nil)
	message(t, call(t, 403, sub, "GET", tickers, nil))
	call(t, 200, primary, "POST", d+"/sub-keys/"+sub.AccessKey+"/enable", nil)
	call(t, 200, sub, "GET", tickers, nil)
	renewed := data[client.Key](t, call(t, 200, primary, "POST", d+"/sub-keys/"+sub.AccessKey+"/reset-secret", nil))
	if renewed.AccessKey != sub.AccessKey || renewed.SecretKey == sub.SecretKey {
		t.Errorf("reset returned %s with the old secret: %v", renewed.AccessKey, renewed.SecretKey == sub.SecretKey)
	}
	message(t, call(t, 401, sub, "GET", tickers, nil))
	call(t, 200, renewed, "GET", tickers, nil)

	// The figures agree to the request: 3 of sub, 3 of limited.
	quota := data[struct {
		Max, Allocated, Available, Used, Remaining int64
	}](t, rename(t, call(t, 200, primary, "GET", d+"/quota", nil)))
	if quota.Max != 1000 || quota.Allocated != 200 || quota.Available != 800 || quota.Used != 6 || quota.Remaining != 994 {
		t.Errorf("quota = %+v", quota)
	}
	var rows []struct {
		AccessKey        string `json:"access_key"`
		UsedMonthlyQuota int64  `json:"used_monthly_quota"`
	}
	if err := json.Unmarshal(call(t, 200, primary, "GET", d+"/sub-keys/export", nil).Body, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].UsedMonthlyQuota != 3 || rows[1].UsedMonthlyQuota != 3 {
		t.Errorf("export = %+v", rows)
	}

	// Somebody else's key is an unknown one.
	other := register(t, nil)
	stranger := call(t, 404, other, "GET", d+"/sub-keys/"+sub.AccessKey, nil)
	unknown := call(t, 404, other, "GET", d+"/sub-keys/"+strings.Repeat("0", 32), nil)
	if message(t, stranger) != message(t, unknown) {
		t.Error("somebody else's key is answered differently from an unknown one")
	}

	call(t, 200, primary, "DELETE", d+"/sub-keys/"+sub.AccessKey, nil)
	message(t, call(t, 401, renewed, "GET", tickers, nil))
}

// rename shortens the members of a quota summary so that Go's decoder finds
// them: it compares names without case, not without underscores.
func rename(t *testing.T, a client.Answer) client.Answer {
	t.Helper()
	for _, name := range []string{"max_total", "allocated", "available", "used", "remaining"} {
		short := strings.TrimSuffix(name, "_total")
		a.Body = []byte(strings.ReplaceAll(string(a.Body), `"`+name+`_quota"`, `"`+short+`"`))
	}
	return a
}

// waitForSecond returns before a second of the clock minute, so that a rate
// window does not end under a test.
func waitForSecond(latest int) {
	for second := time.Now().Second(); second > latest; second = time.Now().Second() {
		time.Sleep(time.Second)
	}
}

func TestConcurrentRequestsNeverPassTheQuota(t *testing.T) {
	t.Parallel()
	primary := register(t, map[string]any{"max_total_quota": 20})
	keys := []client.Key{issue(t, primary, nil), issue(t, primary, map[string]any{"monthly_quota": 8})}
	var mu sync.Mutex
	served := make(map[string]int)
	var wg sync.WaitGroup
	for worker := range 8 {
		key := keys[worker%2]
		wg.Go(func() {
			for range 6 {
				answer, err := api().Get(t.Context(), key, hl+"/tickers", nil)
				if err != nil {
					t.Error(err)
					return
				}
				switch answer.Status {
				case 200:
					mu.Lock()
					served[key.AccessKey]++
					mu.Unlock()
				case 429:
				default:
					t.Errorf("status %d: %s", answer.Status, answer.Body)
				}
			}
		})
	}
	wg.Wait()
	if total := served[keys[0].AccessKey] + served[keys[1].AccessKey]; total > 20 || served[keys[1].AccessKey] > 8 {
		t.Errorf("served %d in all and %d of the key with 8", total, served[keys[1].AccessKey])
	}
	used := data[struct{ Used int }](t, rename(t, call(t, 200, primary, "GET", d+"/quota", nil))).Used
	if total := served[keys[0].AccessKey] + served[keys[1].AccessKey]; used != total {
		t.Errorf("quota counts %d, served %d", used, total)
	}
}

func TestOneTokenRegistersOneDistributor(t *testing.T) {
	t.Parallel()
	token := invite(t, nil)
	var mu sync.Mutex
	statuses := make(map[int]int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			answer, err := api().Do(t.Context(), client.Key{}, "POST", d+"/register", nil, map[string]any{"invite_token": token})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[answer.Status]++
		})
	}
	wg.Wait()
	if statuses[200] != 1 || statuses[400] != 15 {
		t.Errorf("statuses = %v", statuses)
	}
}

func TestTheEdgeRefusesWhatNoFunctionShouldSee(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	tickers := hl + "/tickers"
	message(t, call(t, 401, client.Key{}, "GET", tickers, nil))
	message(t, call(t, 401, client.Key{AccessKey: strings.Repeat("0", 32), SecretKey: "x"}, "GET", tickers, nil))
	message(t, call(t, 404, key, "GET", "/no/such/path", nil))
	message(t, call(t, 404, client.Key{}, "GET", hl+"/fills", nil))
	wrong := call(t, 405, key, "DELETE", tickers, nil)
	if message(t, wrong); wrong.Header.Get("Allow") == "" {
		t.Error("a wrong method must name the right ones in Allow")
	}
	message(t, call(t, 413, key, "POST", hl+"/info", map[string]any{"type": strings.Repeat("a", 1<<20)}))
	message(t, call(t, 400, key, "GET", hl+"/klines-with-taker-vol/BTC/7m", nil))
	message(t, call(t, 400, key, "POST", hl+"/info", map[string]any{"type": "noSuchType"}))
	message(t, call(t, 501, key, "GET", "/v2/market", nil))

	signed := key.Sign(time.Now(), "once-"+fmt.Sprint(time.Now().UnixNano()))
	for i, want := range []int{200, 401} {
		answer, err := api().Do(t.Context(), client.Key{}, "GET", tickers, signed, nil)
		if err != nil || answer.Status != want {
			t.Fatalf("use %d of a nonce: %d %s (%v)", i+1, answer.Status, answer.Body, err)
		}
		if want == 401 && message(t, answer) != "nonce already used" {
			t.Errorf("replay: %s", answer.Body)
		}
	}
	twice := key.Sign(time.Now(), "twice")
	twice["Timestamp"] = append(twice["Timestamp"], twice["Timestamp"][0])
	if answer, err := api().Do(t.Context(), client.Key{}, "GET", tickers, twice, nil); err != nil || answer.Status != 401 {
		t.Errorf("a repeated signature parameter: %d (%v)", answer.Status, err)
	}
}

func TestEveryRouteDemandsItsPermission(t *testing.T) {
	t.Parallel()
	primary := register(t, nil)
	bare := issue(t, primary, map[string]any{"name": "bare", "level": "bare"})
	call(t, 200, primary, "PUT", d+"/levels/bare", level(0))
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS || !e.Authorized() {
			continue
		}
		path := e.Path
		for name, value := range map[string]string{
			"address": "0x010461c14e146ac35fe42271bdc1134ee31c703a", "builder": "0x010461c14e146ac35fe42271bdc1134ee31c703a",
			"coin": "BTC", "interval": "1m", "oid": "1", "twapid": "1", "window": "day", "level": "basic", "access_key": bare.AccessKey, "symbol": "i:MSTR:US",
		} {
			path = strings.ReplaceAll(path, "{"+name+"}", value)
		}
		var body any
		if e.Method != "GET" {
			body = map[string]any{}
		}
		t.Run(e.String(), func(t *testing.T) {
			message(t, call(t, 401, client.Key{}, e.Method, path, body))
			message(t, call(t, 403, bare, e.Method, path, body))
			if e.Access.Kind != catalog.Management {
				message(t, call(t, 403, primary, e.Method, path, body))
			}
		})
	}
}

func TestARecordingIsReplayedOnceAndServed(t *testing.T) {
	t.Parallel()
	recording := filepath.Join(root, "shared", "source", "hyperliquid", "testdata", "node_fills.jsonl")
	fills := make(map[string]int) // by address
	file, err := os.Open(recording)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var total int
	for lines.Scan() {
		var block struct {
			Events [][2]json.RawMessage `json:"events"`
		}
		if err := json.Unmarshal(lines.Bytes(), &block); err != nil {
			t.Fatal(err)
		}
		for _, event := range block.Events {
			var address string
			if err := json.Unmarshal(event[0], &address); err != nil {
				t.Fatal(err)
			}
			fills[strings.ToLower(address)]++
			total++
		}
	}
	if total == 0 {
		t.Fatal("the recording holds no fills")
	}
	for range 2 {
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "localstack"), "replay", recording, "--data", world.State.DataDir)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("replay: %v\n%s", err, out)
		}
		for address, want := range fills {
			got := data[[]map[string]any](t, call(t, 200, world.State.Demo.SubKey, "GET", hl+"/fills/"+address+"?limit=2000", nil))
			if len(got) != want {
				t.Errorf("%s has %d fills, the recording %d", address, len(got), want)
			}
		}
	}
}

// The simulated venue trades: prices, candles and fills arrive.
func TestLiveDataArrives(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	deadline := time.Now().Add(60 * time.Second)
	for {
		tickers := data[[]struct{ Coin, Price string }](t, call(t, 200, key, "GET", hl+"/tickers", nil))
		klines := data[[]map[string]any](t, call(t, 200, key, "GET", hl+"/klines-with-taker-vol/BTC/1s?limit=5", nil))
		if len(tickers) > 5 && len(klines) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute: %d tickers, %d klines", len(tickers), len(klines))
		}
		time.Sleep(500 * time.Millisecond)
	}
	call(t, 200, key, "GET", hl+"/tickers/coin/BTC", nil)
	mids := data[map[string]string](t, call(t, 200, key, "POST", hl+"/info", map[string]any{"type": "allMids"}))
	if mids["BTC"] == "" {
		t.Errorf("allMids = %v", mids)
	}
	meta := data[struct{ Universe []struct{ Name string } }](t, call(t, 200, key, "POST", hl+"/info", map[string]any{"type": "meta"}))
	if len(meta.Universe) == 0 {
		t.Error("meta lists no perpetual")
	}
	top := data[[]map[string]any](t, call(t, 200, key, "GET", hl+"/fills/top-trades?coin=BTC&interval=1d&limit=5", nil))
	if len(top) == 0 {
		t.Error("top-trades is empty")
	}
}
