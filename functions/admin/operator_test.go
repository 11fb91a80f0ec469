package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/usage"
	"quotary/shared/testing/must"
)

// world is the function on a real engine, where one distributor with one sub-key
// exists.
type world struct {
	*apitest.World
	t    testing.TB
	o    *operator
	logs *bytes.Buffer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := apitest.New(t, catalog.FunctionAdmin)
	b := &world{World: w, t: t, logs: new(bytes.Buffer)}
	b.o = &operator{keys: w.Keys, usage: w.Counters, now: w.Now, log: slog.New(slog.NewJSONHandler(b.logs, nil))}
	return b
}

// invoke returns the answer to an event as its caller gets it.
func (b *world) invoke(event string) []byte {
	b.t.Helper()
	out, err := b.o.invoke(b.t.Context(), json.RawMessage(event))
	if err != nil {
		b.t.Fatalf("%s: %v", event, err)
	}
	return must.Get(json.Marshal(out))(b.t)
}

// ok invokes and requires success.
func (b *world) ok(event string) (answer map[string]any, text []byte) {
	b.t.Helper()
	text = b.invoke(event)
	must.Do(b.t, json.Unmarshal(text, &answer))
	if answer["success"] != true {
		b.t.Fatalf("%s: %s", event, text)
	}
	return answer, text
}

// wantFailure requires an answer of the type whose sentence holds all parts.
func (b *world) wantFailure(event, kind string, parts ...string) {
	b.t.Helper()
	text := b.invoke(event)
	var f failure
	if err := json.Unmarshal(text, &f); err != nil || f.Success || f.Type != kind || f.Error == "" {
		b.t.Errorf("%.200s: got %s, want a failure of type %s", event, text, kind)
	}
	for _, part := range parts {
		if !strings.Contains(f.Error, part) {
			b.t.Errorf("%.200s: the message %q does not hold %q", event, f.Error, part)
		}
	}
	if len(f.Error) > 500 {
		b.t.Errorf("%.200s: the message has %d bytes", event, len(f.Error))
	}
}

func golden(t testing.TB, name string, text []byte, random map[string]string) {
	t.Helper()
	apitest.Answer{Body: text}.Naming(random).Golden(t, name)
}

const acme = `"name":"Beta","level":"gold","max_sub_keys":3,"max_total_quota":500`

func TestEveryActionAnswersInItsShape(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	b.Move(time.Second)
	created, text := b.ok(`{"action":"create_invite",` + acme + `,"rate_limit":"600","ws_conn_limit":"4","ws_sub_limit":40,"grants":["futures:FUNDING_RATE_HISTORY"],"expires_in":3600}`)
	token, id := created["token"].(string), created["id"].(string)
	random := map[string]string{token: "<token>", id: "<id>", b.Primary.AccessKey: "<Acme>", b.SubKey.AccessKey: "<sub-key>"}
	golden(t, "create_invite", text, random)

	r := must.Get(b.Keys.Register(t.Context(), token))(t)
	random[r.AccessKey] = "<Beta>"
	b.Move(time.Second)
	second, _ := b.ok(`{"action":"create_invite",` + acme + `}`)
	random[second["id"].(string)] = "<second id>"
	_, text = b.ok(`{"action":"revoke_invite","id":"` + second["id"].(string) + `"}`)
	golden(t, "revoke_invite", text, random)
	invites := must.Get(b.Keys.Invites(t.Context()))(t)
	random[invites[len(invites)-1].ID] = "<first id>"
	_, text = b.ok(`{"action":"list_invites"}`)
	golden(t, "list_invites", text, random)

	for range 3 {
		must.Get(b.Counters.Take(t.Context(), b.SubKey.AccessKey, b.Primary.AccessKey, usage.Limits{}))(t)
	}
	_, text = b.ok(`{"action":"list_distributors"}`)
	golden(t, "list_distributors", text, random)
	_, text = b.ok(`{"action":"disable_distributor","access_key":"` + r.AccessKey + `"}`)
	golden(t, "disable_distributor", text, random)
	_, text = b.ok(`{"action":"enable_distributor","access_key":"` + r.AccessKey + `"}`)
	golden(t, "enable_distributor", text, random)
	_, text = b.ok(`{"action":"set_grants","access_key":"` + r.AccessKey + `","grants":"all"}`)
	golden(t, "set_grants", text, random)
	_, text = b.ok(`{"action":"set_limits","access_key":"` + r.AccessKey + `","max_sub_keys":"9","max_total_quota":0,"rate_limit":1200,"ws_conn_limit":0}`)
	golden(t, "set_limits", text, random)
	_, text = b.ok(`{"action":"usage_history","access_key":"` + b.Primary.AccessKey + `","months":2}`)
	golden(t, "usage_history_distributor", text, random)
	_, text = b.ok(`{"action":"usage_history","access_key":"` + b.SubKey.AccessKey + `","months":1}`)
	golden(t, "usage_history_sub_key", text, random)
	_, text = b.ok(`{"action":"reseal_secrets"}`)
	golden(t, "reseal_secrets", text, random)
	golden(t, "failure", b.invoke(`{"action":"revoke_invite"}`), nil)

	for _, secret := range []string{token, second["token"].(string), string(r.Secret), b.Primary.Secret, b.SubKey.Secret} {
		if strings.Contains(b.logs.String(), secret) {
			t.Error("the log shows a token or a secret")
		}
	}
}

func TestATokenIsShownOnce(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	created, _ := b.ok(`{"action":"create_invite",` + acme + `}`)
	for _, event := range []string{`{"action":"list_invites"}`, `{"action":"list_distributors"}`, `{"action":"revoke_invite","id":"` + created["id"].(string) + `"}`} {
		if _, text := b.ok(event); strings.Contains(string(text), created["token"].(string)) {
			t.Errorf("%s shows the token", event)
		}
	}
	// Nor is it stored.
	out := must.Get(b.DB.Scan(t.Context(), &dynamodb.ScanInput{TableName: ptr(b.Prefix + "keys")}))(t)
	stored := must.Get(json.Marshal(out.Items))(t)
	for _, secret := range []string{created["token"].(string), b.Primary.Secret, b.SubKey.Secret} {
		if strings.Contains(string(stored), secret) {
			t.Error("a token or a secret is stored in the clear")
		}
	}
}

func TestInvitesAreListedByStatus(t *testing.T) {
	t.Parallel()
	b := newWorld(t) // its distributor used one
	b.ok(`{"action":"create_invite",` + acme + `}`)
	b.ok(`{"action":"create_invite",` + acme + `,"expires_in":5}`)
	revoked, _ := b.ok(`{"action":"create_invite",` + acme + `}`)
	b.ok(`{"action":"revoke_invite","id":"` + revoked["id"].(string) + `"}`)
	b.Move(5 * time.Second)
	for status, want := range map[string]int{"unused": 1, "used": 1, "expired": 1, "revoked": 1} {
		answer, text := b.ok(`{"action":"list_invites","status":"` + status + `"}`)
		if got := answer["invites"].([]any); len(got) != want || !strings.Contains(string(text), `"status":"`+status+`"`) {
			t.Errorf("%s: got %s, want %d", status, text, want)
		}
	}
	if answer, _ := b.ok(`{"action":"list_invites"}`); len(answer["invites"].([]any)) != 4 {
		t.Errorf("got %v, want 4", answer)
	}
}

func TestADisabledDistributorIsSeenByTheGateAtOnce(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	for action, disabled := range map[string]bool{"disable_distributor": true, "enable_distributor": false} {
		b.ok(`{"action":"` + action + `","access_key":"` + b.Primary.AccessKey + `"}`)
		for _, accessKey := range []string{b.Primary.AccessKey, b.SubKey.AccessKey} {
			p, err := b.Keys.Resolve(t.Context(), accessKey)
			if err != nil || p.DistributorDisabled != disabled {
				t.Errorf("after %s: disabled is %t and error %v", action, p.DistributorDisabled, err)
			}
		}
	}
}

func TestGrantsAreReplaced(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	for list, want := range map[string][2]bool{
		`[]`:                               {false, false},
		`["futures:FUNDING_RATE_HISTORY"]`: {true, false},
		`"all"`:                            {true, true},
	} {
		b.ok(`{"action":"set_grants","access_key":"` + b.Primary.AccessKey + `","grants":` + list + `}`)
		p, err := b.Keys.Resolve(t.Context(), b.SubKey.AccessKey)
		got := [2]bool{p.Grants.Has("futures:FUNDING_RATE_HISTORY"), p.Grants.Has("coin_treasury_COIN_TREASURY_ENTITIES")}
		if err != nil || got != want {
			t.Errorf("%s: got %v and error %v, want %v", list, got, err, want)
		}
	}
}

func TestAnEventThatCannotBeCarriedOutSaysWhy(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	d := `"access_key":"` + b.Primary.AccessKey + `"`
	create := func(more string) string { return `{"action":"create_invite",` + more + `}` }
	for _, c := range []struct {
		event string
		kind  string
		parts []string
	}{
		{`null`, "invalid", []string{"JSON object"}},
		{`[]`, "invalid", []string{"JSON object"}},
		{`{`, "invalid", []string{"JSON object"}},
		{`{}`, "invalid", []string{"action", "create_invite"}},
		{`{"action":"list_invites","action":"list_distributors"}`, "invalid", []string{"action", "twice"}},
		{`{"action":5}`, "invalid", []string{"action", "create_invite"}},
		{`{"action":"drop_table"}`, "invalid", []string{"action", "drop_table", "list_invites"}},
		{`{"action":"` + strings.Repeat("x", 5000) + `"}`, "invalid", []string{"action"}},

		{create(`"level":"gold","max_sub_keys":3,"max_total_quota":500`), "invalid", []string{"missing name"}},
		{create(`"name":"n","max_sub_keys":3,"max_total_quota":500`), "invalid", []string{"missing level"}},
		{create(`"name":"n","level":"gold","max_total_quota":500`), "invalid", []string{"missing max_sub_keys", "whole number"}},
		{create(`"name":"n","level":"gold","max_sub_keys":3`), "invalid", []string{"missing max_total_quota"}},
		{create(acme + `,"max_total_qouta":5`), "invalid", []string{"max_total_qouta", "max_total_quota"}},
		{create(acme + `,"Grants":[]`), "invalid", []string{`"Grants"`}},
		{create(acme + `,"grants":["nope"]`), "invalid", []string{"grants", "nope"}},
		{create(acme + `,"grants":"some"`), "invalid", []string{"grants", `"all"`}},
		{create(acme + `,"grants":[5]`), "invalid", []string{"grants"}},
		{create(acme + `,"expires_in":-1`), "invalid", []string{"expires_in"}},
		{create(acme + `,"ws_conn_limit":1.5`), "invalid", []string{"ws_conn_limit", "whole number"}},
		{create(acme + `,"ws_sub_limit":"many"`), "invalid", []string{"ws_sub_limit", "whole number"}},
		{create(acme + `,"ws_sub_limit":-1`), "invalid", []string{"ws_sub_limit"}},
		{create(`"name":5,"level":"gold","max_sub_keys":3,"max_total_quota":5`), "invalid", []string{"name must be a text"}},
		{create(`"name":"","level":"gold","max_sub_keys":3,"max_total_quota":5`), "invalid", []string{"name"}},
		{create(`"name":"n","level":"g ld","max_sub_keys":3,"max_total_quota":5`), "invalid", []string{"level"}},
		{create(`"name":"n","level":"gold","max_sub_keys":-3,"max_total_quota":5`), "invalid", []string{"max_sub_keys"}},

		{`{"action":"list_invites","status":"gone"}`, "invalid", []string{"status", "unused"}},
		{`{"action":"revoke_invite"}`, "invalid", []string{"missing id"}},
		{`{"action":"revoke_invite","id":"x"}`, "not_found", []string{"id"}},
		{`{"action":"revoke_invite","id":"x","id":"y"}`, "invalid", []string{"id", "twice"}},
		{`{"action":"list_distributors","page":1}`, "invalid", []string{`"page"`, "accepted are action"}},
		{`{"action":"disable_distributor"}`, "invalid", []string{"access_key"}},
		{`{"action":"disable_distributor","access_key":"x"}`, "not_found", []string{"access_key"}},
		{`{"action":"disable_distributor","access_key":"` + b.SubKey.AccessKey + `"}`, "not_found", []string{"access_key"}},
		{`{"action":"enable_distributor","access_key":"` + strings.Repeat("0", 32) + `"}`, "not_found", []string{"access_key"}},
		{`{"action":"set_grants",` + d + `}`, "invalid", []string{"missing grants"}},
		{`{"action":"set_grants",` + d + `,"grants":null}`, "invalid", []string{"missing grants"}},
		{`{"action":"set_limits",` + d + `}`, "invalid", []string{"max_sub_keys"}},
		{`{"action":"set_limits",` + d + `,"max_total_quota":-1}`, "invalid", []string{"max_total_quota"}},
		{`{"action":"set_limits",` + d + `,"rate_limit":59}`, "invalid", []string{"rate_limit", "from 60"}},
		{`{"action":"usage_history",` + d + `,"months":0}`, "invalid", []string{"months", "36"}},
		{`{"action":"usage_history",` + d + `,"months":37}`, "invalid", []string{"months", "36"}},
		{`{"action":"usage_history","access_key":"` + strings.Repeat("0", 32) + `"}`, "not_found", []string{"access_key"}},
		{`{"action":"usage_history","access_key":"` + strings.Repeat("x", 5000) + `"}`, "not_found", []string{"access_key"}},
	} {
		b.wantFailure(c.event, c.kind, c.parts...)
	}
	if answer, text := b.ok(`{"action":"list_invites"}`); len(answer["invites"].([]any)) != 1 {
		t.Errorf("a refused event created an invite: %s", text)
	}
	if strings.Contains(b.logs.String(), "drop_table") {
		t.Error("the log repeats foreign text of an event")
	}
}

func TestHistoryGoesBackByMonthAndOutlivesASubKey(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	take := func(n int) {
		for range n {
			must.Get(b.Counters.Take(t.Context(), b.SubKey.AccessKey, b.Primary.AccessKey, usage.Limits{}))(t)
		}
	}
	take(2)                     // 21 November
	b.Move(15 * 24 * time.Hour) // 6 December
	take(5)
	b.Move(31 * 24 * time.Hour) // 6 January
	must.Do(t, b.Keys.DeleteSubKey(t.Context(), b.Primary.AccessKey, b.SubKey.AccessKey))
	for _, accessKey := range []string{b.SubKey.AccessKey, b.Primary.AccessKey} {
		_, text := b.ok(`{"action":"usage_history","access_key":"` + accessKey + `"}`)
		var got usageHistoryOut
		must.Do(t, json.Unmarshal(text, &got))
		want := map[string]int64{"2026-11": 2, "2026-12": 5}
		if len(got.Months) != 12 || got.Months[0].Month != "2026-02" || got.Months[11].Month != "2027-01" {
			t.Errorf("got the months %+v, want 2026-02 to 2027-01", got.Months)
		}
		for _, m := range got.Months {
			if m.Used != want[m.Month] {
				t.Errorf("%s of the %s: %d used, want %d", m.Month, got.Kind, m.Used, want[m.Month])
			}
			if got.Kind == "sub-key" && m.Month == "2026-12" && (len(m.Days) != 31 || m.Days[5] != 5) {
				t.Errorf("the days of December are %v, want 5 on the 6th of 31", m.Days)
			}
		}
	}
}

func TestAFaultFailsTheInvocation(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	o := *b.o
	o.keys = keys.New(b.DB, "no-such-table", nil, b.Now)
	_, err := o.invoke(t.Context(), json.RawMessage(`{"action":"list_invites"}`))
	if err == nil || errors.As(err, new(*keys.InvalidError)) {
		t.Errorf("got error %v, want a fault", err)
	}
	if !strings.Contains(b.logs.String(), `"outcome":"fault"`) {
		t.Errorf("the log does not show the fault: %s", b.logs)
	}
}

func ptr[T any](v T) *T { return &v }
