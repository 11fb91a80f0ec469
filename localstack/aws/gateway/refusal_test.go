package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/localstack/aws/gateway"
	"quotary/localstack/aws/lambdahost"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

func TestEveryRefusalHasItsStatusAndItsBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := map[string]struct {
		method, path, body string
		status             int
		want               string
	}{
		"401 the authorizer says Unauthorized": {"GET", "/guarded/BTC", "", 401, `{"error":"who are you?","id":"<id>"}`},
		"403 the policy denies":                {"GET", "/guarded/BTC?auth=deny", "", 403, `{"error":"no \"grant\"","limit":12.5,"none":null}`},
		"403 the policy allows another path":   {"GET", "/guarded/BTC?auth=another", "", 403, `{"error":"no \"grant\"","limit":12.5,"none":null}`},
		"404 unknown path":                     {"GET", "/nowhere", "", 404, `{"error":"nothing here"}`},
		"404 the stage alone":                  {"GET", "", "", 404, `{"error":"nothing here"}`},
		"404 an empty parameter":               {"GET", "/guarded/", "", 404, `{"error":"nothing here"}`},
		"405 known path, other method":         {"DELETE", "/open", "", 405, `{"error":"not with DELETE"}`},
		"413 a body over the limit":            {"POST", "/open", strings.Repeat("x", 1<<20+1), 413, `{"message":"the request body is too large"}`},
		"400 a path that is not UTF-8":         {"GET", "/guarded/%ff", "", 400, `{"message":"the path must be percent-encoded UTF-8"}`},
		"400 a query that is not UTF-8": {"GET", "/open?a=%ff", "", 400,
			`{"message":"the query must be name=value pairs in percent-encoded UTF-8, separated by &"}`},
		"400 a query with a broken escape": {"GET", "/open?a=%g1", "", 400,
			`{"message":"the query must be name=value pairs in percent-encoded UTF-8, separated by &"}`},
		"500 the authorizer fails":            {"GET", "/guarded/BTC?auth=broken", "", 500, `{"message":null}`},
		"500 the authorizer's process ends":   {"GET", "/guarded/BTC?auth=crash", "", 500, `{"message":null}`},
		"500 the authorizer answers nonsense": {"GET", "/guarded/BTC?auth=garbage", "", 500, `{"message":null}`},
		"500 a context that is not flat":      {"GET", "/guarded/BTC?auth=object", "", 500, `{"message":null}`},
		"502 the function fails":              {"GET", "/open?do=fail", "", 502, `{"message":"Internal server error"}`},
		"502 the function's process ends":     {"GET", "/open?do=exit", "", 502, `{"message":"Internal server error"}`},
		"504 there is no such function":       {"GET", "/missing", "", 504, `{"message":"Internal server error"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.send(t, tt.method, tt.path, tt.body)
			got := strings.ReplaceAll(string(r.body), r.Header.Get("X-Amzn-RequestId"), "<id>")
			if r.StatusCode != tt.status || got != tt.want {
				t.Errorf("answer %d %s, want %d %s", r.StatusCode, got, tt.status, tt.want)
			}
			if kind := r.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("Content-Type = %q", kind)
			}
			if allow := r.Header.Get("Allow"); tt.status == 405 && allow != "GET, POST" {
				t.Errorf("Allow = %q", allow)
			}
		})
	}
}

func TestWhatIsNotHTTPIsRefusedInTheGatewaysOwnWords(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := `{"message":"the request is not valid HTTP, or its path is not percent-encoded UTF-8"}`
	large := `{"message":"the request line and headers are larger than 10240 bytes"}`
	tests := map[string]struct {
		text   string
		status int
		want   string
	}{
		"a broken escape in the path":  {"GET /api/guarded/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, bad},
		"noise":                        {"\x16\x03\x01\r\n\r\n", 400, bad},
		"no host":                      {"GET /api/open HTTP/1.1\r\n\r\n", 400, bad},
		"an unknown transfer encoding": {"POST /api/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: zip\r\n\r\n", 400, bad},
		"two lengths":                  {"POST /api/open HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, bad},
		"headers a little too large":   {"GET /api/open HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 10_240) + "\r\n\r\n", 431, large},
		"headers far too large":        {"GET /api/open HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 60_000) + "\r\n\r\n", 431, large},
		"a chunked body that breaks": {"POST /api/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400,
			`{"message":"the request body could not be read to its end"}`},
		"a chunked body over the limit": {"POST /api/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n" +
			strings.Repeat("x", 0x100001) + "\r\n0\r\n\r\n", 413, `{"message":"the request body is too large"}`},
		"a promise of too large a body": {"POST /api/open HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413,
			`{"message":"the request body is too large"}`},
		"an asterisk for a path": {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, `{"error":"nothing here"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.raw(t, tt.text)
			if r.StatusCode != tt.status || string(r.body) != tt.want {
				t.Errorf("answer %d %s, want %d %s", r.StatusCode, r.body, tt.status, tt.want)
			}
			if r.Header.Get("X-Amzn-RequestId") == "" {
				t.Error("the answer has no request id")
			}
		})
	}
}

// AWS has one type for all statuses without a type, whose body therefore has to name one;
// here each has its own.
func TestTheBodyOfTheServicesAnswersSaysTheirStatus(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.Responses = nil
		for _, r := range slices.Concat(catalog.GatewayResponses(), catalog.LocalResponses()) {
			c.Responses = append(c.Responses, gateway.Response{Type: r.Type, Status: r.Status, Template: r.Template})
		}
	})
	for status, request := range map[int]string{
		400: "GET /api/open?a=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
		401: "GET /api/guarded/BTC HTTP/1.1\r\nHost: x\r\n\r\n",
		404: "GET /api/nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
		413: "POST /api/open HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
		426: "GET /api/ws HTTP/1.1\r\nHost: x\r\n\r\n",
		431: "GET /api/open HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 10_240) + "\r\n\r\n",
		502: "GET /api/open?do=fail HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		var body catalog.ErrorBody
		r := s.raw(t, request)
		if err := json.Unmarshal(r.body, &body); err != nil || r.StatusCode != status || body.Status != status || body.Code != strconv.Itoa(status) || body.Error == "" {
			t.Errorf("%d is answered %d %s", status, r.StatusCode, r.body)
		}
	}
}

func TestAFunctionThatTakesTooLongIs504(t *testing.T) {
	t.Parallel()
	const enough = 100 * time.Millisecond
	t.Run("by the gateway's clock", func(t *testing.T) {
		t.Parallel()
		s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.Timeout = enough })
		r := s.send(t, "GET", "/open?do=sleep", "")
		if want := `{"message":"Endpoint request timed out"}`; r.StatusCode != 504 || string(r.body) != want {
			t.Errorf("answer %d %s", r.StatusCode, r.body)
		}
	})
	t.Run("by the function's clock", func(t *testing.T) {
		t.Parallel()
		s := start(t, func(_ *gateway.Config, f map[string]lambdahost.Function) {
			probe := f["probe"]
			probe.Timeout = enough
			f["probe"] = probe
		})
		r := s.send(t, "GET", "/open?do=sleep", "")
		if want := `{"message":"Endpoint request timed out"}`; r.StatusCode != 504 || string(r.body) != want {
			t.Errorf("answer %d %s", r.StatusCode, r.body)
		}
	})
}

func TestABusyFunctionIs429(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *gateway.Config, f map[string]lambdahost.Function) {
		probe := f["probe"]
		probe.MaxInstances, probe.MaxQueue = 1, 1
		f["probe"] = probe
	})
	s.send(t, "GET", "/open", "")
	replies := make(chan reply)
	release := filepath.Join(t.TempDir(), "release")
	for range 3 {
		go func() { replies <- s.send(t, "GET", "/open?do=wait&file="+url.QueryEscape(release), "") }()
	}
	first := <-replies // one runs, one is queued, neither can end: the third is refused
	if first.StatusCode != 429 || first.Header.Get("Retry-After") != "1" ||
		first.Header.Get("X-Request-Id") != first.Header.Get("X-Amzn-RequestId") {
		t.Errorf("answer %d %v", first.StatusCode, first.Header)
	}
	must.Do(t, os.WriteFile(release, nil, 0o600))
	for range 2 {
		if r := <-replies; r.StatusCode != 200 {
			t.Errorf("answer %d %s", r.StatusCode, r.body)
		}
	}
}

func TestRequestsOverTheLimitInFlightAre429(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.MaxInFlight = 1 })
	conn := must.Get(net.Dial("tcp", s.addr))(t)
	defer conn.Close()
	in := bufio.NewReader(conn)
	// The gateway says 100 once it wants the body: from then on the place is taken.
	fmt.Fprint(conn, "POST /api/open HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("%q, %v", line, err)
	}
	if r := s.send(t, "GET", "/open", ""); r.StatusCode != 429 {
		t.Errorf("a second request was answered %d, want 429", r.StatusCode)
	}
	fmt.Fprint(conn, "body")
	_, _ = in.ReadString('\n') // the empty line after the 100
	resp := must.Get(http.ReadResponse(in, nil))(t)
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("the first request was answered %d, want 200", resp.StatusCode)
	}
}
