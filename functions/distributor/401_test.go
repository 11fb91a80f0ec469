package main

import (
	"net/http"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
)

// target is a path of the endpoint with its parameters filled in.
func target(e *catalog.Endpoint, accessKey string) string {
	return strings.NewReplacer("{level}", "gold", "{access_key}", accessKey).Replace(e.Path)
}

// signed are the endpoints that demand a signature.
func signed() (list []*catalog.Endpoint) {
	for _, e := range catalog.Served(string(catalog.Distributor)) {
		if e.Authorized() {
			list = append(list, e)
		}
	}
	return list
}

func TestEveryEndpointButRegistrationDemandsASignature(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	k := b.create(object{})
	before := b.state()
	wrong := apitest.Key{AccessKey: b.key.AccessKey, Secret: strings.Repeat("0", 32)}
	unknown := apitest.Key{AccessKey: strings.Repeat("0", 32), Secret: b.key.Secret}
	body := object{"access_keys": []string{k.AccessKey}, "name": "n", "monthly_quota": 1}
	if n := len(signed()); n != 18 {
		t.Fatalf("%d endpoints demand a signature, want 18", n)
	}
	for _, e := range signed() {
		var sent any
		if e.Method != http.MethodGet {
			sent = body
		}
		for name, key := range map[string]apitest.Key{"no signature": {}, "wrong secret": wrong, "unknown key": unknown} {
			t.Run(e.String()+" "+name, func(t *testing.T) {
				b.Call(t, key, e.Method, target(e, k.AccessKey), sent).Refused(t, 401, "signature authentication failed")
			})
		}
	}
	if b.state() != before {
		t.Error("an unsigned request changed something")
	}
}

func TestARepeatedNonceIsRefused(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	p := b.Sign(b.key)
	if a := b.Send(t, p, "GET", root+"/info", nil); a.Status != 200 {
		t.Fatalf("status %d: %s", a.Status, a.Body)
	}
	b.Send(t, p, "GET", root+"/quota", nil).Refused(t, 401, "nonce already used")
}
