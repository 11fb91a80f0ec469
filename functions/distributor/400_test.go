package main

import (
	"fmt"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/gate/keys"
	"quotary/shared/testing/must"
)

func withSubKeys(n int64) keys.Preset {
	preset := contract
	preset.MaxSubKeys = n
	return preset
}

// What the catalog says of single parameters is held against every endpoint by the
// tests of shared/api; here is what the key store says, and what bodies hold.
func TestABadRequestNamesItsParameterAndChangesNothing(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	k := b.create(object{"monthly_quota": 1, "metadata": `{"a":1}`})
	b.ok("PUT", "/levels/gold", object{"permissions": []object{{"resource_type": "perpdex", "actions": []string{"HL_FILLS"}}}})
	before := b.state()
	level := func(resource string, actions ...string) object {
		return object{"permissions": []object{{"resource_type": resource, "actions": actions}}}
	}
	limits := func(name string, value any) object { return object{"request_limits": object{name: value}} }
	sub := "/sub-keys/" + k.AccessKey
	unknown := strings.Repeat("0", 32)
	var fifty []string
	for i := range 50 {
		fifty = append(fifty, fmt.Sprintf("%032x", i))
	}

	for _, c := range []struct {
		name, method, path string
		body               any
		parts              []string
	}{
		{"body is no JSON", "POST", "/sub-keys", `{"name":`, []string{"JSON object"}},
		{"body is a list", "POST", "/sub-keys", `[]`, []string{"JSON object"}},
		{"body is followed by more", "POST", "/sub-keys", `{} {}`, []string{"JSON object"}},
		{"body is not UTF-8", "POST", "/sub-keys", "{\"name\":\"\xff\"}", []string{"UTF-8"}},

		{"empty name", "POST", "/sub-keys", object{"name": ""}, []string{"name"}},
		{"long name", "POST", "/sub-keys", object{"name": strings.Repeat("é", 65)}, []string{"name", "64"}},
		{"line feed in name", "POST", "/sub-keys", object{"name": "a\nb"}, []string{"name", "control"}},
		{"name that reads backwards", "POST", "/sub-keys", object{"name": "a\u202eb"}, []string{"name"}},
		{"null in name", "POST", "/sub-keys", object{"name": "a\x00b"}, []string{"name"}},
		{"name is an object", "POST", "/sub-keys", object{"name": object{}}, []string{"name"}},
		{"bad level", "POST", "/sub-keys", object{"name": "n", "level": "a/b"}, []string{"level"}},
		{"quota beyond the largest", "POST", "/sub-keys", object{"name": "n", "monthly_quota": int64(1) << 60}, []string{"monthly_quota"}},
		{"connections beyond the cap", "POST", "/sub-keys", object{"name": "n", "monthly_quota": 1, "ws_conn_limit": 6}, []string{"ws_conn_limit", "5"}},
		{"subscriptions beyond the cap", "POST", "/sub-keys", object{"name": "n", "monthly_quota": 1, "ws_sub_limit": 51}, []string{"ws_sub_limit", "50"}},
		{"metadata no JSON", "POST", "/sub-keys", object{"name": "n", "metadata": "{"}, []string{"metadata"}},
		{"metadata an object", "POST", "/sub-keys", object{"name": "n", "metadata": object{}}, []string{"metadata"}},
		{"metadata long", "POST", "/sub-keys", object{"name": "n", "metadata": `"` + strings.Repeat("x", 4095) + `"`}, []string{"metadata"}},

		{"update to an empty name", "PUT", sub, object{"name": ""}, []string{"name"}},
		{"update beyond the cap", "PUT", sub, object{"ws_conn_limit": 6}, []string{"ws_conn_limit", "5"}},
		{"update of two, one bad", "PUT", sub, object{"name": "other", "rate_limit": -1}, []string{"rate_limit"}},
		{"update to bad metadata", "PUT", sub, object{"metadata": "nope"}, []string{"metadata"}},

		{"access key with a null", "GET", "/sub-keys/%00", nil, []string{"access_key"}},
		{"access key of 5000 characters", "GET", "/sub-keys/" + strings.Repeat("z", 5000), nil, []string{"access_key"}},

		{"keyword not UTF-8", "GET", "/sub-keys/export?keyword=%ff", nil, []string{"keyword"}},

		{"level name", "PUT", "/levels/a.b", object{}, []string{"level"}},
		{"level name long", "PUT", "/levels/" + strings.Repeat("a", 65), object{"permissions": []object{}}, []string{"level", "64"}},
		{"level name in GET", "GET", "/levels/a%20b", nil, []string{"level"}},
		{"level name in DELETE", "DELETE", "/levels/a%2Fb", nil, []string{"level"}},
		{"resource type", "PUT", "/levels/gold", level("spot", "HL_FILLS"), []string{"resource_type", "perpdex"}},
		{"no resource type", "PUT", "/levels/gold", object{"permissions": []object{{"actions": []string{"HL_FILLS"}}}}, []string{"resource_type"}},
		{"unknown action", "PUT", "/levels/gold", level("perpdex", "HL_FILLS", "HL_NOPE"), []string{"actions", "HL_NOPE"}},
		{"actions no list", "PUT", "/levels/gold", object{"permissions": []object{{"resource_type": "perpdex", "actions": "HL_FILLS"}}}, []string{"permissions"}},
		{"limit negative", "PUT", "/levels/gold", limits("max_time_range", -1), []string{"max_time_range"}},
		{"limit a text", "PUT", "/levels/gold", limits("request_rate_limit", "fast"), []string{"request_limits"}},

		{"batch with an unknown key", "POST", "/sub-keys/batch-disable", object{"access_keys": []string{k.AccessKey, unknown}}, []string{"access_keys", unknown}},
		{"batch with several unknown keys", "POST", "/sub-keys/batch-enable", object{"access_keys": []string{unknown, k.AccessKey, b.SubKey.AccessKey}}, []string{"access_keys", unknown, b.SubKey.AccessKey}},
		{"batch with fifty unknown keys", "POST", "/sub-keys/batch-enable", object{"access_keys": fifty}, fifty},
		{"a level without anything", "PUT", "/levels/gold", object{}, []string{"permissions", "request_limits"}},
		{"a level of nulls", "PUT", "/levels/gold", object{"permissions": nil, "request_limits": nil, "name": "x"}, []string{"permissions", "request_limits"}},
		{"an export in another format", "GET", "/sub-keys/export?format=xlsx", nil, []string{"format", "json, csv"}},
		{"batch with another's key", "POST", "/sub-keys/batch-disable", object{"access_keys": []string{k.AccessKey, b.SubKey.AccessKey}}, []string{"access_keys", b.SubKey.AccessKey}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.call(c.method, c.path, c.body).Refused(t, 400, c.parts...)
		})
	}
	if after := b.state(); after != before {
		t.Errorf("a refused request changed something:\nbefore %s\nafter  %s", before, after)
	}
}

func TestRegistrationWithoutAValidTokenIsRefused(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	token, _ := must.Get2(b.Keys.CreateInvite(t.Context(), contract, 0))(t)
	register := func(body any) apitest.Answer {
		return b.Call(t, apitest.Key{}, "POST", root+"/register", body)
	}
	if a := register(object{"invite_token": token}); a.Status != 200 {
		t.Fatalf("status %d: %s", a.Status, a.Body)
	}
	for name, body := range map[string]any{
		"used": object{"invite_token": token}, "unknown": object{"invite_token": strings.Repeat("A", 43)},
		"no token": object{}, "empty": object{"invite_token": ""}, "null": object{"invite_token": nil},
		"long": object{"invite_token": strings.Repeat("A", 10_000)}, "a list": object{"invite_token": []string{token}},
		"a number": object{"invite_token": 5},
	} {
		t.Run(name, func(t *testing.T) { register(body).Refused(t, 400, "invite_token") })
	}
	register(object{"invite_token": token}).Golden(t, "400_register")
}

func TestSubKeysBeyondTheContractAreRefused(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	for range contract.MaxSubKeys {
		b.create(object{"monthly_quota": 2000})
	}
	b.call("POST", "/sub-keys", object{"name": "one more", "monthly_quota": 1}).Refused(t, 400, "max_sub_keys", fmt.Sprint(contract.MaxSubKeys))
}

func TestALevelBeyondAHundredIsRefusedUntilOneIsDeleted(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	for n := range 100 {
		must.Do(t, b.Keys.PutLevel(t.Context(), b.key.AccessKey, fmt.Sprint("level", n), keys.Allow()))
	}
	level := object{"permissions": []object{}}
	b.call("PUT", "/levels/more", level).Refused(t, 400, "level", "may have 100 levels and has 100")
	b.ok("PUT", "/levels/level99", level)
	b.ok("DELETE", "/levels/level5", nil)
	b.ok("PUT", "/levels/more", level)
}

func TestAQuotaThatCannotDefaultIsRefused(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	b.create(object{})
	b.call("POST", "/sub-keys", object{"name": "n"}).Refused(t, 400, "monthly_quota")
	b.create(object{"monthly_quota": 1}) // over-allocation is allowed when asked for
}
