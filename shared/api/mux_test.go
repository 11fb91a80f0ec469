package api

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// The gateway prefers literal segments from left to right, also where a ServeMux
// sees two patterns that conflict.
func TestOverlappingPathsAreRoutedAsTheGatewayDoes(t *testing.T) {
	t.Parallel()
	var endpoints []*catalog.Endpoint
	for _, path := range []string{
		"/orders/{address}/latest", "/orders/oid/{oid}", "/orders/{address}/{coin}", "/orders/top", "/coin/{coin+}", "/coin/all", "/{any}/all",
	} {
		endpoints = append(endpoints, &catalog.Endpoint{Method: "GET", Path: path})
	}
	var got, parameters string
	mux := newMux(endpoints, func(e *catalog.Endpoint) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got, parameters = e.Path, r.PathValue("address")+r.PathValue("oid")+r.PathValue("coin")+r.PathValue("any")
		})
	}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got, parameters = "none", "" }))
	for path, want := range map[string][2]string{
		"/orders/0x1/latest":  {"/orders/{address}/latest", "0x1"},
		"/orders/oid/5":       {"/orders/oid/{oid}", "5"},
		"/orders/oid/latest":  {"/orders/oid/{oid}", "latest"},
		"/orders/0x1/BTC":     {"/orders/{address}/{coin}", "0x1BTC"},
		"/orders/top":         {"/orders/top", ""},
		"/orders/all":         {"/{any}/all", "orders"},
		"/coin/PURR/USDC":     {"/coin/{coin+}", "PURR/USDC"},
		"/coin/PURR%2FUSDC":   {"/coin/{coin+}", "PURR/USDC"},
		"/coin/100%25":        {"/coin/{coin+}", "100%"},
		"/coin/all":           {"/coin/all", ""},
		"/coin/all/of/it":     {"/coin/{coin+}", "all/of/it"},
		"/orders/0x1/a/b":     {"none", ""},
		"/other":              {"none", ""},
		"/orders/%2E%2E/BTC":  {"/orders/{address}/{coin}", "..BTC"},
		"/orders/a%3Fb/BTC":   {"/orders/{address}/{coin}", "a?bBTC"},
		"/orders/a%2Fb/BTC":   {"/orders/{address}/{coin}", "a/bBTC"},
		"/orders/a%20b/BTC":   {"/orders/{address}/{coin}", "a bBTC"},
		"/orders/%FF/BTC":     {"/orders/{address}/{coin}", "\xffBTC"},
		"/orders/0x1/latest/": {"none", ""},
	} {
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
		if got != want[0] || parameters != want[1] {
			t.Errorf("%s goes to %s with %q, want %s with %q", path, got, parameters, want[0], want[1])
		}
	}
	mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/orders/top", nil))
	if got != "none" {
		t.Errorf("another method goes to %s", got)
	}
}

// Whatever the gateway reads out of a path arrives as it was, in its own place.
func TestAnyParameterSurvivesTheWayThroughItsPath(t *testing.T) {
	t.Parallel()
	var got []string
	mux := newMux([]*catalog.Endpoint{{Method: "GET", Path: "/a/{one}/b/{rest+}"}}, func(*catalog.Endpoint) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = []string{r.PathValue("one"), r.PathValue("rest")}
		})
	}, http.NotFoundHandler())
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.StringN(1, 20, -1), rapid.StringMatching(`[./%?#;&+ A-Z]{1,8}`), rapid.SampledFrom([]string{"..", ".", "100%", "%", "%zz", "a//b", "/"}))
		alone := func(v string) bool { return v != "/" && v != "%2F" && v != "%2f" } // which ServeMux takes for the end of the path: 404
		want := []string{value.Filter(alone).Draw(t, "one"), value.Filter(alone).Draw(t, "rest")}
		path, ok := requestPath("/a/{one}/b/{rest+}", map[string]string{"one": want[0], "rest": want[1]})
		if !ok {
			t.Fatal("a parameter is missing")
		}
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://host"+path, nil))(t)
		got = nil
		mux.ServeHTTP(httptest.NewRecorder(), r)
		for i, value := range want { // what came encoded is decoded
			if decoded, err := url.PathUnescape(value); err == nil {
				want[i] = decoded
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: got %q, want %q", path, got, want)
		}
	})
}

func TestEveryFamilyHasAMux(t *testing.T) {
	t.Parallel()
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	newMux(catalog.All(), func(*catalog.Endpoint) http.Handler { return nothing }, nothing) // panics on a path that is none
}
