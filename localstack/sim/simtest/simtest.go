// Package simtest asks simulated upstreams.
package simtest

import (
	"io"
	"net/http"
	"testing"
)

// Get returns what is answered, which has to say that it is simulated. Headers are names, each
// with its value behind it.
func Get(t testing.TB, url string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("X-Simulated") != "true" {
		t.Fatalf("%s: %v, or it does not say that it is simulated: %v", url, err, response.Header)
	}
	return response, body
}
