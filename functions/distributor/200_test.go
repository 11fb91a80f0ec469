package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestEveryEndpointAnswersInItsShape(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	token, _ := must.Get2(b.Keys.CreateInvite(t.Context(), contract, 0))(t)
	registered := b.Call(t, apitest.Key{}, "POST", root+"/register", object{"invite_token": token})
	r := apitest.Data[catalog.Registered](t, registered)
	b.key = apitest.Key{AccessKey: r.AccessKey, Secret: r.SecretKey}
	random := map[string]string{r.AccessKey: "<primary access key>", r.SecretKey: "<primary secret>", token: "<invite token>"}
	registered.Naming(random).Golden(t, "register")

	level := object{
		"request_limits": object{"max_time_range": 86400, "max_request": 1000, "request_rate_limit": 60},
		"permissions":    []object{{"resource_type": "perpdex", "actions": []string{"HL_TICKERS", "HL_FILLS"}}},
	}
	b.ok("PUT", "/levels/gold", level).Naming(random).Golden(t, "put_level")
	b.ok("GET", "/levels/gold", nil).Naming(random).Golden(t, "get_level")
	b.ok("GET", "/levels", nil).Naming(random).Golden(t, "list_levels")

	created := b.ok("POST", "/sub-keys", object{
		"name": "Zoë's bot", "monthly_quota": 700, "rate_limit": 6, "max_time_range": 3600, "ws_conn_limit": 2,
		"ws_sub_limit": 20, "expires_in": 3600, "metadata": `{"plan":"pro"}`,
	})
	k := apitest.Data[catalog.CreatedSubKey](t, created)
	random[k.AccessKey], random[k.SecretKey] = "<sub-key 1>", "<secret 1>"
	created.Naming(random).Golden(t, "create_sub_key")
	b.Move(1234 * time.Millisecond)
	second := b.create(object{"name": "second"})
	random[second.AccessKey] = "<sub-key 2>"
	b.request(k.AccessKey, 3)

	b.ok("POST", "/sub-keys/"+second.AccessKey+"/disable", nil).Naming(random).Golden(t, "disable_sub_key")
	b.ok("GET", "/info", nil).Naming(random).Golden(t, "info")
	b.ok("GET", "/quota", nil).Naming(random).Golden(t, "quota")
	b.ok("GET", "/sub-keys", nil).Naming(random).Golden(t, "list_sub_keys")
	b.ok("GET", "/sub-keys/"+k.AccessKey, nil).Naming(random).Golden(t, "get_sub_key")
	b.ok("GET", "/sub-keys/stats", nil).Naming(random).Golden(t, "stats")
	b.ok("GET", "/sub-keys/export", nil).Naming(random).Golden(t, "export")
	b.ok("PUT", "/sub-keys/"+k.AccessKey, object{"name": "renamed", "expires_in": 0}).Naming(random).Golden(t, "update_sub_key")
	b.ok("POST", "/sub-keys/"+second.AccessKey+"/enable", nil).Naming(random).Golden(t, "enable_sub_key")
	both := object{"access_keys": []string{k.AccessKey, second.AccessKey}}
	b.ok("POST", "/sub-keys/batch-disable", both).Naming(random).Golden(t, "batch_disable")
	b.ok("POST", "/sub-keys/batch-enable", both).Naming(random).Golden(t, "batch_enable")
	reset := b.ok("POST", "/sub-keys/"+k.AccessKey+"/reset-secret", nil)
	fresh := apitest.Data[catalog.NewSecret](t, reset)
	if fresh.SecretKey == k.SecretKey {
		t.Error("the secret is the old one")
	}
	random[fresh.SecretKey] = "<secret 2>"
	reset.Naming(random).Golden(t, "reset_secret")
	b.ok("DELETE", "/sub-keys/"+k.AccessKey, nil).Naming(random).Golden(t, "delete_sub_key")
	b.ok("DELETE", "/levels/gold", nil).Naming(random).Golden(t, "delete_level")
	b.ok("GET", "/levels", nil).Naming(random).Golden(t, "list_levels_empty")
	b.ok("GET", "/sub-keys?keyword=none", nil).Naming(random).Golden(t, "list_sub_keys_empty")
	b.ok("GET", "/sub-keys/export?keyword=none", nil).Naming(random).Golden(t, "export_empty")

	for _, secret := range []string{r.SecretKey, k.SecretKey, fresh.SecretKey, second.SecretKey, token} {
		if strings.Contains(b.Logs.String(), secret) {
			t.Error("the log shows a secret")
		}
	}
}

func TestNoAnswerButThreeShowsASecret(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	k := b.create(object{"metadata": `{}`})
	state := b.state()
	for _, hidden := range []string{k.SecretKey, b.key.Secret, "secret"} {
		if strings.Contains(state, hidden) {
			t.Errorf("an answer shows %q", hidden)
		}
	}
}

func TestAnUpdateShowsInTheDetail(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	k := b.create(object{"metadata": `[1]`, "expires_in": 60, "monthly_quota": 10})
	detail := func() catalog.SubKeyDetail {
		return apitest.Data[catalog.SubKeyDetail](t, b.ok("GET", "/sub-keys/"+k.AccessKey, nil))
	}
	before := detail()
	b.ok("PUT", "/sub-keys/"+k.AccessKey, object{
		"name": "new", "status": 0, "monthly_quota": "20", "rate_limit": 1, "max_time_range": 2, "ws_conn_limit": 3,
		"ws_sub_limit": 4, "expires_in": 0, "metadata": "", "unknown": []int{1},
	})
	want := before
	want.Name, want.Status, want.MonthlyQuota, want.RateLimit, want.MaxTimeRange = "new", 0, 20, 1, 2
	want.WSConnLimit, want.WSSubLimit, want.ExpiresAt, want.Metadata = 3, 4, nil, ""
	check.Equalf(t, want, detail(), "detail")
	b.ok("PUT", "/sub-keys/"+k.AccessKey, object{})
	check.Equalf(t, want, detail(), "detail after an update without a field")
}

func TestThePagesOfAListAreCompleteAndDisjoint(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	b.key = b.Register(t, withSubKeys(100))
	var want []string
	for i := range 45 {
		k := b.create(object{"name": fmt.Sprintf("bot %d", i), "monthly_quota": 1})
		want = append([]string{k.AccessKey}, want...)
		b.Move(time.Millisecond)
	}
	for query, size := range map[string]int{"": 20, "&page_size=7": 7, "&page_size=100": 100, "&page_size=45": 45} {
		var got []string
		pages := 0
		for {
			pages++
			page := apitest.Data[catalog.SubKeyPage](t, b.ok("GET", fmt.Sprintf("/sub-keys?page=%d%s", pages, query), nil))
			if page.Total != 45 || page.Page != int64(pages) || page.PageSize != int64(size) {
				t.Fatalf("got total %d, page %d, page_size %d, want 45, %d, %d", page.Total, page.Page, page.PageSize, pages, size)
			}
			if len(page.List) == 0 {
				break
			}
			for _, k := range page.List {
				got = append(got, k.AccessKey)
			}
		}
		check.Equalf(t, want, got, "%q: list, the newest first", query)
		if want := (45+size-1)/size + 1; pages != want {
			t.Errorf("%q: %d pages, want %d with the empty one at the end", query, pages, want)
		}
	}
	page := apitest.Data[catalog.SubKeyPage](t, b.ok("GET", "/sub-keys?keyword=BOT%204&status=1", nil))
	if page.Total != 6 { // bot 4 and bot 40 to 44
		t.Errorf("got %d sub-keys with the keyword, want 6", page.Total)
	}
}

func TestABatchMayCarryItsSignatureInTheBody(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	k := b.create(object{})
	p := b.Sign(b.key)
	a := b.Call(t, apitest.Key{}, "POST", root+"/sub-keys/batch-disable", object{
		"access_keys": []string{k.AccessKey}, "AccessKeyId": p.AccessKeyID, "SignatureNonce": p.Nonce,
		"Timestamp": p.Timestamp, "Signature": p.Signature,
	})
	if a.Status != 200 {
		t.Fatalf("status %d: %s", a.Status, a.Body)
	}
	if stats := apitest.Data[catalog.SubKeyStatistics](t, b.ok("GET", "/sub-keys/stats", nil)); stats.DisabledSubKeys != 1 {
		t.Errorf("got %+v, want one disabled", stats)
	}
}

func TestNumbersMayBeTexts(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	b.ok("PUT", "/levels/gold", object{"request_limits": object{"max_request": "1000"}})
	k := b.create(object{"monthly_quota": "700", "rate_limit": "6"})
	got := apitest.Data[catalog.SubKeyDetail](t, b.ok("GET", "/sub-keys/"+k.AccessKey, nil))
	level := apitest.Data[catalog.Level](t, b.ok("GET", "/levels/gold", nil))
	if got.MonthlyQuota != 700 || got.RateLimit != 6 || level.RequestLimits.MaxRequest != 1000 {
		t.Errorf("bound %+v and %+v", got, level)
	}
}
