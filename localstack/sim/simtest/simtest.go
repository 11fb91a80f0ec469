// Package simtest asks simulated upstreams.
package simtest

import (
	"io"
	"net/http"
	"testing"

	"quotary/shared/testing/must"
)

// Get returns what is answered, which has to say that it is simulated. Headers are names, each
// with its value behind it.
func Get(t testing.TB, url string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	if response.Header.Get("X-Simulated") != "true" {
		t.Errorf("%s does not say that it is simulated", url)
	}
	return response, must.Get(io.ReadAll(response.Body))(t)
}
