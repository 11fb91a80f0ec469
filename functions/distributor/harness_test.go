package main

import (
	"net/http"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/usage"
	"quotary/shared/testing/must"
)

const root = "/upgrade/v2/distributor"

// world is the function in front of a real engine, and a distributor to call it.
type world struct {
	*apitest.World
	t   testing.TB
	key apitest.Key // a distributor of an ordinary contract
}

var contract = keys.Preset{Name: "Acme", Level: "gold", MaxSubKeys: 5, MaxTotalQuota: 10_000, WSConnLimit: 5, WSSubLimit: 50}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := apitest.Open(t, catalog.Distributor, func(w *apitest.World) {
		(&management{keys: w.Keys, usage: w.Counters}).serve(w.Family)
	})
	return &world{World: w, t: t, key: w.Register(t, contract)}
}

// call calls a management path as the distributor.
func (b *world) call(method, path string, body any) apitest.Answer {
	b.t.Helper()
	return b.Call(b.t, b.key, method, root+path, body)
}

// ok calls and requires success.
func (b *world) ok(method, path string, body any) apitest.Answer {
	b.t.Helper()
	a := b.call(method, path, body)
	if a.Status != http.StatusOK {
		b.t.Fatalf("%s %s: status %d: %s", method, path, a.Status, a.Body)
	}
	return a
}

// object is a JSON object of a request.
type object map[string]any

// create creates a sub-key through the endpoint.
func (b *world) create(body object) catalog.CreatedSubKey {
	b.t.Helper()
	if body["name"] == nil {
		body["name"] = "client"
	}
	return apitest.Data[catalog.CreatedSubKey](b.t, b.ok("POST", "/sub-keys", body))
}

// request counts so many requests of a sub-key, as admitted data requests do.
func (b *world) request(accessKey string, n int) {
	b.t.Helper()
	for range n {
		must.Get(b.Counters.Take(b.t.Context(), accessKey, b.key.AccessKey, usage.Limits{PerMonth: 1 << 40, Total: contract.MaxTotalQuota}))(b.t)
	}
}

// state is everything that the distributor can read of itself.
func (b *world) state() string {
	b.t.Helper()
	var all strings.Builder
	for _, path := range []string{"/info", "/quota", "/levels", "/sub-keys?page_size=100", "/sub-keys/stats", "/sub-keys/export"} {
		all.Write(b.ok("GET", path, nil).Body)
	}
	page := apitest.Data[catalog.SubKeyPage](b.t, b.ok("GET", "/sub-keys?page_size=100", nil))
	for _, k := range page.List {
		all.Write(b.ok("GET", "/sub-keys/"+k.AccessKey, nil).Body)
	}
	return all.String()
}
