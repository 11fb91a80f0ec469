package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// customDomain is a client of the stack under its custom domain, whose base path
// the gateway leaves in the path of an event.
func customDomain(t *testing.T) client.Client {
	t.Helper()
	address := must.Get(url.Parse(world.State.BaseURL))(t)
	var dialer net.Dialer
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address.Host)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return client.Client{BaseURL: "http://" + stack.CustomDomain + catalog.BasePath, HTTP: &http.Client{Transport: transport, Timeout: soon}}
}

// TestACoinWithASlashIsFound asks for coins in every way in which clients write
// them into a path, at the stage's own address and under a custom domain.
func TestACoinWithASlashIsFound(t *testing.T) {
	t.Parallel()
	for name, gateway := range map[string]client.Client{"the stage": api(), "a custom domain": customDomain(t)} {
		for path, coin := range map[string]string{
			"BTC": "BTC", "PURR/USDC": "PURR/USDC", "PURR%2FUSDC": "PURR/USDC", "PURR%2fUSDC": "PURR/USDC",
			"@107": "@107", "%40107": "@107", "sim:GOLD": "sim:GOLD", "sim%3AGOLD": "sim:GOLD",
		} {
			t.Run(name+" "+path, func(t *testing.T) {
				t.Parallel()
				type ticker struct{ Coin string }
				eventually(t, "the ticker of "+coin, func() client.Answer {
					return must.Get(gateway.Get(t.Context(), world.State.Demo.SubKey, hl+"/tickers/coin/"+path, nil))(t)
				}, func(one ticker) bool { return one.Coin == coin })
			})
		}
	}
}

// TestEveryEndpointOfACoinTakesASlash asks each for a coin with a slash in its name, as
// clients write it and as they should.
func TestEveryEndpointOfACoinTakesASlash(t *testing.T) {
	t.Parallel()
	for name, gateway := range map[string]client.Client{"the stage": api(), "a custom domain": customDomain(t)} {
		for _, e := range catalog.All() {
			for _, coin := range []string{"PURR/USDC", "PURR%2FUSDC"} {
				path := strings.Replace(e.Documented(), "{coin}", coin, 1)
				if path == e.Documented() {
					continue
				}
				answer, err := gateway.Get(t.Context(), world.State.Demo.SubKey, values.Replace(path), nil)
				// An account that is asked for the first time is not known yet.
				if err != nil || answer.Status != http.StatusOK && answer.Status != http.StatusServiceUnavailable {
					t.Errorf("%s: %s: %d %s, %v", name, path, answer.Status, answer.Body, err)
				}
			}
		}
	}
}

// TestEveryEndpointAnswersUnderACustomDomain compares all answers with those at the
// stage's own address.
func TestEveryEndpointAnswersUnderACustomDomain(t *testing.T) {
	t.Parallel()
	demo := must.Get(stack.Register(t.Context(), world.State, "Domain"))(t)
	stage, domain := client.Client{BaseURL: world.State.BaseURL}, customDomain(t)
	for _, e := range catalog.All() {
		if e.Method != catalog.MethodWS {
			compare(t, stage, domain, keyFor(e, demo), e.Method, values.Replace(e.Documented()))
		}
	}
	compare(t, stage, domain, demo.SubKey, http.MethodPatch, hl+"/tickers")
	compare(t, stage, domain, demo.SubKey, http.MethodGet, "/no/such/path")
	compare(t, stage, domain, client.Key{}, http.MethodGet, hl+"/tickers/coin/PURR/USDC")
	compare(t, stage, domain, demo.SubKey, http.MethodGet, hl+"/tickers/coin/100%25")
}

// keyFor is the key that an endpoint demands.
func keyFor(e *catalog.Endpoint, demo stack.Demo) client.Key {
	if e.Function() == string(catalog.Distributor) {
		return demo.Primary
	}
	return demo.SubKey
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
	rest := must.Get(json.Marshal(body))(t)
	text.Write(rest)
	return text.String()
}
