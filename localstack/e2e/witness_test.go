package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/catalog"
	"quotary/shared/testing/testenv"
)

// Every endpoint answers the same behind a gateway that somebody else wrote: the
// request finds its function, the authorizer lets it pass, what it says reaches
// the function, and the answer comes back whole. So do the refusals.
func TestAnotherGatewayAnswersTheSame(t *testing.T) {
	t.Parallel()
	if own.BaseURL == world.State.BaseURL {
		t.Skip("make test-cdk-local runs this")
	}
	demo, err := stack.Register(t.Context(), world.State, "Witness")
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := client.Client{BaseURL: own.BaseURL}, api()
	served, specified := 0, 0
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS {
			continue
		}
		key := keyFor(e, demo)
		path := values.Replace(e.Documented())
		compare(t, ours, theirs, key, e.Method, path)
		compare(t, ours, theirs, key, http.MethodPatch, path)
		compare(t, ours, theirs, client.Key{}, e.Method, path)
		if served++; !e.Addition {
			specified++
		}
	}
	if specified != 148 {
		t.Errorf("%d endpoints were compared, %d of them specified", served, specified)
	}
}

// compare sends a request through both gateways. Answers with data are compared
// by their envelope, because the market moves on; others must be equal but for
// the request's id.
func compare(t *testing.T, ours, theirs client.Client, key client.Key, method, path string) {
	t.Helper()
	var body any
	if method == http.MethodPost || method == http.MethodPut {
		body = map[string]any{}
	}
	var said [2]string
	// What is asked for the first time may be answered otherwise a moment later.
	testenv.Until(t, method+" "+path+" is answered alike by both", func() bool {
		for i, gateway := range []client.Client{ours, theirs} {
			answer, err := gateway.Do(t.Context(), key, method, path, nil, body)
			if err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			said[i] = summary(t, answer)
		}
		return said[0] == said[1]
	})
}

// summary is what two answers to one request have in common.
func summary(t *testing.T, a client.Answer) string {
	t.Helper()
	var text bytes.Buffer
	text.WriteString(http.StatusText(a.Status))
	for _, name := range []string{"Content-Type", "Cache-Control", "Allow"} {
		text.WriteString("\n" + name + ": " + a.Header.Get(name))
	}
	var body map[string]any
	if json.Unmarshal(a.Body, &body) != nil {
		return text.String()
	}
	delete(body, "request_id")
	if a.Status == http.StatusOK {
		text.WriteString("\n" + strings.Join(slices.Sorted(maps.Keys(body)), " "))
		return text.String()
	}
	rest, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	text.Write(rest)
	return text.String()
}
