// Package e2e walks through the running product as its customers do: over HTTP,
// against the real programs, engine and ingester, and with nothing of the
// product's own code.
package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// world is the stack that all tests of the package share.
var world *stack.Stack

// root is the folder of the repository, programs that of what is built.
var (
	root     = testenv.Root
	programs string
)

func TestMain(m *testing.M) {
	// The tests wait for the product more than they work; go test -parallel says otherwise.
	_ = flag.Set("test.parallel", "8")
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() {
		fmt.Println("end-to-end tests are skipped by -short")
		return 0
	}
	var err error
	if programs, err = testenv.Programs(); err != nil {
		fmt.Println(err)
		return 1
	}
	data, err := os.MkdirTemp("", "quotary-e2e-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(data)
	ctx, done := context.WithTimeout(context.Background(), 12*time.Minute)
	defer done()
	upstream, ingesters := "simulated", 2
	if flag.Lookup("test.bench").Value.String() != "" {
		upstream, ingesters = "none", 1 // a measured request shares the machine with nothing
	}
	engine := os.Getenv("QUOTARY_DYNAMODB_ENDPOINT")
	ingesterEnv := []string{"QUOTARY_FEED_IDLE=" + feedIdle.String(), "QUOTARY_FEED_SILENCE=" + feedSilence.String()}
	world, err = stack.Start(ctx, stack.Config{
		Upstream: upstream, Ingesters: ingesters,
		Data: data, Programs: programs, Tools: filepath.Join(root, "localstack"),
		DynamoDB: engine, Progress: os.Stdout, History: 1,
		IngesterEnv: ingesterEnv, Parallel: os.Getenv("QUOTARY_PARALLEL_MESSAGES") != "",
	})
	if err != nil {
		fmt.Println("start the stack:", err)
		logs(data)
		return 1
	}
	if upstream == "simulated" {
		asking, done := context.WithTimeout(context.Background(), 10*time.Minute)
		askAtOnce(asking)
		done()
	}
	code := m.Run()
	stopping, done := context.WithTimeout(context.Background(), 2*time.Minute) // on a busy machine
	defer done()
	if err := world.Stop(stopping); err != nil {
		fmt.Println("stop the stack:", err)
		code = 1
	}
	if engine != "" {
		if err := dropTables(stopping, world.State); err != nil {
			fmt.Println("delete the tables of this run:", err)
			code = 1
		}
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
	answer := ask(t, key, method, path, body)
	if answer.Status != want {
		t.Fatalf("%s %s: status %d, want %d: %.400s", method, path, answer.Status, want, answer.Body)
	}
	if answer.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s %s: no X-Request-Id", method, path)
	}
	return answer
}

// ask sends a signed request, whatever comes back.
func ask(t *testing.T, key client.Key, method, path string, body any) client.Answer {
	t.Helper()
	target, query, _ := strings.Cut(path, "?")
	parameters := must.Get(url.ParseQuery(query))(t)
	answer, err := api().Do(t.Context(), key, method, target, parameters, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
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
	must.Do(t, client.Invoke(t.Context(), world.State.LambdaURL, catalog.FunctionAdmin, event, &out))
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

// values stand in for the parameters of paths.
var values = strings.NewReplacer("{coin}", "BTC", "{interval}", "1h", "{level}", "none", "{window}", "day", "{symbol}", "MSTR",
	"{address}", "0x0123456789abcdef0123456789abcdef01234567", "{builder}", "0x0123456789abcdef0123456789abcdef01234567",
	"{oid}", "1", "{twapid}", "1", "{access_key}", strings.Repeat("0", 32))
