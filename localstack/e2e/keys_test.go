package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

func TestTheLifeOfAKey(t *testing.T) {
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

	limited := issue(t, primary, map[string]any{"name": "limited", "rate_limit": 3})
	for range 3 {
		call(t, 200, limited, "GET", tickers, nil)
	}

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
	quota := data[quotaSummary](t, call(t, 200, primary, "GET", d+"/quota", nil))
	if quota.Max != 1000 || quota.Allocated != 200 || quota.Available != 800 || quota.Used != 6 || quota.Remaining != 994 {
		t.Errorf("quota = %+v", quota)
	}
	var rows []struct {
		AccessKey        string `json:"access_key"`
		UsedMonthlyQuota int64  `json:"used_monthly_quota"`
	}
	must.Do(t, json.Unmarshal(call(t, 200, primary, "GET", d+"/sub-keys/export", nil).Body, &rows))
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

type quotaSummary struct {
	Max       int64 `json:"max_total_quota"`
	Allocated int64 `json:"allocated_quota"`
	Available int64 `json:"available_quota"`
	Used      int64 `json:"used_quota"`
	Remaining int64 `json:"remaining_quota"`
}

// TestTheDemoKeyHasAPlanThatClientsKnow, which name what they may do by it.
func TestTheDemoKeyHasAPlanThatClientsKnow(t *testing.T) {
	t.Parallel()
	plan := data[struct {
		Type string `json:"vip_type"`
	}](t, call(t, 200, world.State.Demo.SubKey, "GET", "/v2/api-key-info", nil))
	if plan.Type != "professional" {
		t.Errorf("the plan is %q", plan.Type)
	}
}

func TestARequestOverTheRateLimitIsRefused(t *testing.T) {
	t.Parallel()
	limited := issue(t, register(t, nil), map[string]any{"rate_limit": 3})
	for range 3 {
		call(t, 200, limited, "GET", hl+"/tickers", nil)
	}
	refused := ask(t, limited, "GET", hl+"/tickers", nil)
	if refused.Status != 429 || refused.Header.Get("Retry-After") == "" || refused.Header.Get("RateLimit-Limit") != "3" || refused.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("over the limit: %d, %v", refused.Status, refused.Header)
	}
	message(t, refused)
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
	used := data[quotaSummary](t, call(t, 200, primary, "GET", d+"/quota", nil)).Used
	if total := served[keys[0].AccessKey] + served[keys[1].AccessKey]; used != int64(total) {
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
	for _, e := range catalog.All() {
		if e.Planned && e.Method == "GET" {
			message(t, call(t, 501, key, "GET", values.Replace(e.Documented()), nil))
			break
		}
	}

	signed := key.Sign(time.Now(), "once-"+fmt.Sprint(time.Now().UnixNano()))
	for i, use := range []struct {
		path string
		want int
	}{{tickers, 200}, {tickers, 200}, {hl + "/open-interest/summary", 401}} {
		answer, err := api().Do(t.Context(), client.Key{}, "GET", use.path, signed, nil)
		if err != nil || answer.Status != use.want {
			t.Fatalf("use %d of a nonce: %d %s (%v)", i+1, answer.Status, answer.Body, err)
		}
		if use.want == 401 && message(t, answer) != "nonce already used" {
			t.Errorf("the nonce of another request: %s", answer.Body)
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
		path := values.Replace(e.Documented())
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
