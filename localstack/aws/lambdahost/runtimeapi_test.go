package lambdahost_test

import (
	"net/http"
	"strings"
	"testing"

	"quotary/shared/testing/must"
)

// What an instance may not do must not disturb the one that may.
func TestTheRuntimeAPIRefusesWhatIsOutOfTurn(t *testing.T) {
	t.Parallel()
	h := host(t)
	var address string
	for _, entry := range mustInvoke(t, h, order{Do: "env"}).Env {
		if value, found := strings.CutPrefix(entry, "AWS_LAMBDA_RUNTIME_API="); found {
			address = "http://" + value
		}
	}
	root := address[:strings.LastIndexByte(address, '/')]
	first := mustInvoke(t, h, order{})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for name, tt := range map[string]struct {
		method, url string
		status      int
	}{
		"an answer to an invocation that it does not hold": {"POST", address + "/2018-06-01/runtime/invocation/other/response", 403},
		"an error for one":                 {"POST", address + "/2018-06-01/runtime/invocation/other/error", 403},
		"an answer without an invocation":  {"POST", address + "/2018-06-01/runtime/invocation//response", 404},
		"the address of no instance":       {"GET", root + "/0123456789abcdef/2018-06-01/runtime/invocation/next", 403},
		"the address of no function":       {"GET", strings.Replace(root, "probe", "nobody", 1) + "/x/2018-06-01/runtime/invocation/next", 404},
		"another version":                  {"GET", address + "/2015-03-31/runtime/invocation/next", 404},
		"another call":                     {"GET", address + "/2018-06-01/runtime/logs", 404},
		"another verb on an invocation":    {"POST", address + "/2018-06-01/runtime/invocation/other/pause", 404},
		"a question with the wrong method": {"DELETE", address + "/2018-06-01/runtime/invocation/next", 404},
	} {
		req := must.Get(http.NewRequest(tt.method, tt.url, strings.NewReader("{}")))(t)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		resp.Body.Close()
		if resp.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d", name, resp.StatusCode, tt.status)
		}
	}
	if status := mustInvoke(t, h, order{Do: "ask"}).Text; status != "403" {
		t.Errorf("a question out of turn: status %s, want 403", status)
	}
	if again := mustInvoke(t, h, order{}); again.PID != first.PID {
		t.Error("the instance was lost")
	}
}
