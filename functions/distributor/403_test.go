package main

import (
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
)

func TestManagementIsClosedToSubKeysAndDisabledDistributors(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	k := b.create(object{})
	before := b.state()
	disabled := b.Register(t, contract)
	if err := b.Keys.SetDisabled(t.Context(), disabled.AccessKey, true); err != nil {
		t.Fatal(err)
	}
	own := apitest.Key{AccessKey: k.AccessKey, Secret: k.SecretKey}
	body := object{"access_keys": []string{k.AccessKey}, "name": "n", "monthly_quota": 1}
	for _, e := range signed() {
		var sent any
		if e.Method != http.MethodGet {
			sent = body
		}
		t.Run(e.String()+" sub-key", func(t *testing.T) {
			b.Call(t, own, e.Method, target(e, k.AccessKey), sent).Refused(t, 403, "not a distributor")
		})
		t.Run(e.String()+" disabled distributor", func(t *testing.T) {
			b.Call(t, disabled, e.Method, target(e, k.AccessKey), sent).Refused(t, 403, "disabled")
		})
	}
	if b.state() != before {
		t.Error("a forbidden request changed something")
	}
}
