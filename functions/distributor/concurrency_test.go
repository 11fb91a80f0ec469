package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// together makes the same call n times at once and returns the answers.
func together(n int, call func() apitest.Answer) []apitest.Answer {
	answers := make([]apitest.Answer, n)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = call() })
	}
	wg.Wait()
	return answers
}

func TestConcurrentRegistrationsWithOneTokenSucceedOnce(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	token, _ := must.Get2(b.Keys.CreateInvite(t.Context(), contract, 0))(t)
	won := 0
	for _, a := range together(50, func() apitest.Answer {
		return b.Call(t, apitest.Key{}, "POST", root+"/register", object{"invite_token": token})
	}) {
		if a.Status == 200 {
			won++
			continue
		}
		a.Refused(t, 400, "invite_token")
	}
	if won != 1 {
		t.Errorf("%d of 50 registrations succeeded, want 1", won)
	}
}

func TestManagementIsLimitedPerDistributor(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	b.Gate.ManagementRate = 20
	limits := func(a apitest.Answer) string {
		return fmt.Sprint(a.Status, " rate ", a.Header["RateLimit-Remaining"], "/", a.Header["RateLimit-Limit"], " ", a.Header["RateLimit-Reset"],
			" quota ", a.Header["Quota-Limit"], " after ", a.Header["Retry-After"])
	}
	for i := range 22 {
		if got, want := limits(b.call("GET", "/info", nil)), fmt.Sprintf("200 rate %d/20 66 quota  after ", min(20, 21-i)); got != want {
			t.Fatalf("request %d: %s, want %s", i+1, got, want)
		}
	}
	a := b.call("POST", "/sub-keys", object{"name": "n"})
	a.Refused(t, 429, "rate limit exceeded: at most 20 requests per minute")
	if got, want := limits(a), "429 rate 0/20 66 quota  after 66"; got != want {
		t.Errorf("over the rate: %s, want %s", got, want)
	}
	mine := b.key
	b.key = b.Register(t, contract)
	b.ok("GET", "/info", nil)
	b.key = mine
	b.Move(66 * time.Second)
	b.ok("GET", "/info", nil)
}

func TestConcurrentCreationsStopAtMaxSubKeys(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	created := 0
	for _, a := range together(25, func() apitest.Answer {
		return b.call("POST", "/sub-keys", object{"name": "n", "monthly_quota": 3})
	}) {
		if a.Status == 200 {
			created++
			continue
		}
		a.Refused(t, 400, "max_sub_keys")
	}
	info := apitest.Data[catalog.DistributorInfo](t, b.ok("GET", "/info", nil))
	quota := apitest.Data[catalog.QuotaSummary](t, b.ok("GET", "/quota", nil))
	page := apitest.Data[catalog.SubKeyPage](t, b.ok("GET", "/sub-keys", nil))
	if created != 5 || info.SubKeyCount != 5 || page.Total != 5 || quota.AllocatedQuota != 15 {
		t.Errorf("%d created, info counts %d, the list %d, %d are allocated: want 5, 5, 5, 15",
			created, info.SubKeyCount, page.Total, quota.AllocatedQuota)
	}
}
