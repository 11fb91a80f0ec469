package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/localstack/aws/gateway"
	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestAFunctionGetsTheEventOfAProxyIntegration(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC) }
	})
	r := s.send(t, "POST", "/guarded/PURR%2FUSDC?auth=allow&a=1&a=2%26&empty=&s=x;y=1", "{\"x\":\"π\"}",
		"X-One", "1", "X-Two", "a", "X-Two", "b", "User-Agent", "tester/1", "X-Forwarded-For", "203.0.113.9")
	got := event(t, r)

	context := got["requestContext"].(map[string]any)
	for _, varies := range []string{"requestId", "extendedRequestId", "resourceId"} {
		if context[varies] == "" {
			t.Errorf("requestContext.%s is empty", varies)
		}
	}
	if context["requestId"] != r.Header.Get("X-Amzn-RequestId") {
		t.Error("the event's request id is not the answer's")
	}
	authorizer := context["authorizer"].(map[string]any)
	delete(authorizer, "seen")
	if _, isNumber := authorizer["integrationLatency"].(float64); !isNumber {
		t.Errorf("integrationLatency = %v", authorizer["integrationLatency"])
	}
	identity := context["identity"].(map[string]any)
	for name, value := range identity {
		if value == nil {
			delete(identity, name)
		}
	}
	for _, varies := range []string{"requestId", "extendedRequestId", "resourceId"} {
		delete(context, varies)
	}
	delete(authorizer, "integrationLatency")
	headers, multi := got["headers"].(map[string]any), got["multiValueHeaders"].(map[string]any)
	for _, m := range []map[string]any{headers, multi} {
		for _, varies := range []string{"X-Amzn-Trace-Id", "X-Forwarded-Port", "Host"} {
			if m[varies] == nil {
				t.Errorf("header %s is missing", varies)
			}
			delete(m, varies)
		}
	}

	want := map[string]any{
		"resource": "/guarded/{coin}", "path": "/guarded/PURR%2FUSDC", "httpMethod": "POST",
		"headers": map[string]any{"X-One": "1", "X-Two": "b", "User-Agent": "tester/1", "Accept-Encoding": "gzip",
			"X-Forwarded-For": "203.0.113.9, 127.0.0.1", "X-Forwarded-Proto": "http"},
		"multiValueHeaders": map[string]any{"X-One": []any{"1"}, "X-Two": []any{"a", "b"}, "User-Agent": []any{"tester/1"},
			"Accept-Encoding": []any{"gzip"}, "X-Forwarded-For": []any{"203.0.113.9, 127.0.0.1"}, "X-Forwarded-Proto": []any{"http"}},
		"queryStringParameters":           map[string]any{"auth": "allow", "a": "2&", "empty": "", "s": "x;y=1"},
		"multiValueQueryStringParameters": map[string]any{"auth": []any{"allow"}, "a": []any{"1", "2&"}, "empty": []any{""}, "s": []any{"x;y=1"}},
		"pathParameters":                  map[string]any{"coin": "PURR%2FUSDC"},
		"stageVariables":                  nil,
		"body":                            `{"x":"π"}`,
		"isBase64Encoded":                 false,
		"requestContext": map[string]any{
			"resourcePath": "/guarded/{coin}", "httpMethod": "POST", "path": "/api/guarded/PURR%2FUSDC",
			"requestTime": "02/Jan/2026:03:04:05 +0000", "requestTimeEpoch": float64(1767323045678),
			"accountId": "000000000000", "apiId": "local00000", "stage": "api", "protocol": "HTTP/1.1",
			"domainName": "127.0.0.1", "domainPrefix": "127",
			"identity":   map[string]any{"sourceIp": "127.0.0.1", "userAgent": "tester/1"},
			"authorizer": map[string]any{"principalId": "someone", "reason": `no "grant"`, "limit": "12.5", "trial": "true"},
		},
	}
	check.Equalf(t, want, got, "event")
}

func TestAFunctionFindsWhatWasAskedForWhicheverWayTheRequestCame(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.Domains = []gateway.Domain{{Name: "api.example.com", BasePath: "/v1/data"}, {Name: "bare.example.com"}}
	})
	type seen struct{ path, contextPath, resource, coin, arn string }
	const one, greedy = "/guarded/{coin}", "/tickers/{coin+}"
	const arn = "arn:aws:execute-api:us-east-1:000000000000:local00000/api/GET"
	tests := map[string]struct {
		host, sent string
		want       seen
	}{
		"the stage's own address":               {"", "/api/guarded/BTC", seen{"/guarded/BTC", "/api/guarded/BTC", one, "BTC", arn + "/guarded/BTC"}},
		"a base path":                           {"api.example.com", "/v1/data/guarded/BTC", seen{"/v1/data/guarded/BTC", "/v1/data/guarded/BTC", one, "BTC", arn + "/guarded/BTC"}},
		"a domain with no base path":            {"Bare.Example.com:8080", "/guarded/BTC", seen{"/guarded/BTC", "/guarded/BTC", one, "BTC", arn + "/guarded/BTC"}},
		"an encoded slash":                      {"api.example.com", "/v1/data/guarded/PURR%2FUSDC", seen{"/v1/data/guarded/PURR%2FUSDC", "/v1/data/guarded/PURR%2FUSDC", one, "PURR%2FUSDC", arn + "/guarded/PURR%2FUSDC"}},
		"a greedy parameter":                    {"", "/api/tickers/PURR/USDC", seen{"/tickers/PURR/USDC", "/api/tickers/PURR/USDC", greedy, "PURR/USDC", arn + "/tickers/PURR/USDC"}},
		"a greedy parameter behind a base path": {"api.example.com", "/v1/data/tickers/PURR/100%25/", seen{"/v1/data/tickers/PURR/100%25/", "/v1/data/tickers/PURR/100%25/", greedy, "PURR/100%25", arn + "/tickers/PURR/100%25/"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := event(t, s.sendTo(t, tt.host, tt.sent+"?auth=allow"))
			context := got["requestContext"].(map[string]any)
			var first map[string]any
			must.Do(t, json.Unmarshal([]byte(context["authorizer"].(map[string]any)["seen"].(string)), &first))
			for _, e := range []map[string]any{got, first} {
				about := e["requestContext"].(map[string]any)
				have := seen{path: e["path"].(string), contextPath: about["path"].(string), resource: e["resource"].(string), arn: first["methodArn"].(string)}
				have.coin, _ = e["pathParameters"].(map[string]any)["coin"].(string)
				if have != tt.want {
					t.Errorf("event is of %+v, want %+v", have, tt.want)
				}
				if about["stage"] != "api" || about["resourcePath"] != tt.want.resource {
					t.Errorf("stage %v, resourcePath %v", about["stage"], about["resourcePath"])
				}
			}
		})
	}
	for name, tt := range map[string]struct{ host, sent string }{
		"the stage on a custom domain":            {"api.example.com", "/api/guarded/BTC"},
		"a base path on the stage's own address":  {"", "/v1/data/guarded/BTC"},
		"a base path that goes on in its segment": {"api.example.com", "/v1/database/guarded/BTC"},
	} {
		if r := s.sendTo(t, tt.host, tt.sent+"?auth=allow"); r.StatusCode != 404 {
			t.Errorf("%s: answer %d %s, want 404", name, r.StatusCode, r.body)
		}
	}
}

func TestTheAuthorizerGetsTheRequestWithoutItsBody(t *testing.T) {
	t.Parallel()
	r := start(t).send(t, "POST", "/guarded/BTC?auth=allow", "a body")
	context := event(t, r)["requestContext"].(map[string]any)
	var seen map[string]any
	must.Do(t, json.Unmarshal([]byte(context["authorizer"].(map[string]any)["seen"].(string)), &seen))
	for member, want := range map[string]any{
		"type": "REQUEST", "resource": "/guarded/{coin}", "path": "/guarded/BTC", "httpMethod": "POST",
		"methodArn":             "arn:aws:execute-api:us-east-1:000000000000:local00000/api/POST/guarded/BTC",
		"pathParameters":        map[string]any{"coin": "BTC"},
		"queryStringParameters": map[string]any{"auth": "allow"},
		"stageVariables":        map[string]any{},
	} {
		if !cmp.Equal(seen[member], want) {
			t.Errorf("%s = %v, want %v", member, seen[member], want)
		}
	}
	if _, has := seen["body"]; has {
		t.Error("the authorizer got the body")
	}
	if seen["requestContext"].(map[string]any)["requestId"] != context["requestId"] {
		t.Error("authorizer and function got different request ids")
	}
}

// The authorizer would crash on "crash" (500): it is not asked.
func TestWithoutItsIdentitySourceARequestIsRefusedBeforeTheAuthorizer(t *testing.T) {
	t.Parallel()
	s := start(t)
	for query, want := range map[string]int{
		"": 401, "?auth=crash": 401, "?n=1": 401, "?auth=crash&n=": 401, "?auth=crash&N=1": 401,
		"?auth=crash&n=1": 500, "?auth=allow&n=1": 200,
	} {
		if r := s.send(t, "GET", "/signed"+query, ""); r.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", query, r.StatusCode, r.body, want)
		}
	}
}

func TestABodyThatIsNotTextArrivesInBase64(t *testing.T) {
	t.Parallel()
	s := start(t)
	for body, want := range map[string]struct {
		body    any
		encoded bool
	}{
		"":             {nil, false},
		"plain \x00":   {"plain \x00", false},
		"\xff\xfe\x00": {"//4A", true},
	} {
		e := event(t, s.send(t, "POST", "/open", body))
		if e["body"] != want.body || e["isBase64Encoded"] != want.encoded {
			t.Errorf("%q arrived as %v, base64 %v", body, e["body"], e["isBase64Encoded"])
		}
	}
}

// As for the binary media type */* on AWS.
func TestWhereAllIsBinaryBodiesTravelInBase64(t *testing.T) {
	t.Parallel()
	s := start(t, func(cfg *gateway.Config, _ map[string]lambdahost.Function) { cfg.Binary = true })
	for body, want := range map[string]any{"": nil, "{}": "e30=", "\xff\xfe\x00": "//4A"} {
		e := event(t, s.send(t, "POST", "/open", body))
		if e["body"] != want || e["isBase64Encoded"] != (want != nil) {
			t.Errorf("%q arrived as %v, base64 %v", body, e["body"], e["isBase64Encoded"])
		}
	}
}

func TestABodyInBase64IsDecodedOnlyWhereMediaTypesAreBinary(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := s.send(t, "GET", "/open?do=raw&answer="+url.QueryEscape(`{"statusCode":200,"isBase64Encoded":true,"body":"/wA="}`), "")
	if r.StatusCode != 200 || string(r.body) != "/wA=" {
		t.Errorf("answer %d %q", r.StatusCode, r.body)
	}
}

func TestAFunctionsAnswerIsMappedBack(t *testing.T) {
	t.Parallel()
	s := start(t, func(cfg *gateway.Config, _ map[string]lambdahost.Function) { cfg.Binary = true })
	tests := map[string]struct {
		answer string
		status int
		body   string
		header map[string][]string
	}{
		"plain":   {`{"statusCode":201,"body":"made"}`, 201, "made", map[string][]string{"Content-Type": {"application/json"}}},
		"headers": {`{"statusCode":200,"headers":{"content-type":"text/csv","X-N":7,"X-A":"one"},"multiValueHeaders":{"X-A":["two","three"]},"body":null}`, 200, "", map[string][]string{"Content-Type": {"text/csv"}, "X-N": {"7"}, "X-A": {"two", "three"}}},
		"binary":  {`{"statusCode":"200","isBase64Encoded":true,"body":"/wA="}`, 200, "\xff\x00", nil},
		"renamed": {`{"statusCode":200,"headers":{"Connection":"close","Server":"mine"},"body":""}`, 200, "", map[string][]string{"X-Amzn-Remapped-Connection": {"close"}, "X-Amzn-Remapped-Server": {"mine"}, "Server": nil}},
		"no body": {`{"statusCode":204}`, 204, "", nil},

		"no status":        {`{"body":"x"}`, 502, `{"message":"Internal server error"}`, nil},
		"unknown key":      {`{"statusCode":200,"cookies":[]}`, 502, `{"message":"Internal server error"}`, nil},
		"body not text":    {`{"statusCode":200,"body":{"a":1}}`, 502, `{"message":"Internal server error"}`, nil},
		"status too small": {`{"statusCode":101}`, 502, `{"message":"Internal server error"}`, nil},
		"broken base64":    {`{"statusCode":200,"isBase64Encoded":true,"body":"%"}`, 502, `{"message":"Internal server error"}`, nil},
		"not an object":    {`"hello"`, 502, `{"message":"Internal server error"}`, nil},
		"null":             {`null`, 502, `{"message":"Internal server error"}`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.send(t, "GET", "/open?do=raw&answer="+url.QueryEscape(tt.answer), "")
			if r.StatusCode != tt.status || string(r.body) != tt.body {
				t.Errorf("answer %d %q, want %d %q", r.StatusCode, r.body, tt.status, tt.body)
			}
			for name, want := range tt.header {
				if got := r.Header.Values(name); !cmp.Equal(got, want) {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestManyRequestsAtOnceAreAllAnswered(t *testing.T) {
	t.Parallel()
	s := start(t)
	var clients sync.WaitGroup
	for client := range 32 {
		clients.Go(func() {
			for n := range 8 {
				coin := fmt.Sprintf("C%d-%d", client, n)
				e := event(t, s.send(t, "GET", "/guarded/"+coin+"?auth=allow", ""))
				if got := e["pathParameters"].(map[string]any)["coin"]; got != coin {
					t.Errorf("asked for %s, got the answer for %v", coin, got)
				}
			}
		})
	}
	clients.Wait()
}

func TestAClientThatLeavesDoesNotEndTheFunction(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *gateway.Config, f map[string]lambdahost.Function) {
		probe := f["probe"]
		probe.MaxInstances = 1
		f["probe"] = probe
	})
	first := event(t, s.send(t, "GET", "/open?do=pid", ""))
	release := filepath.Join(t.TempDir(), "release")
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	req := must.Get(http.NewRequestWithContext(ctx, "GET", s.url+"/open?do=wait&file="+url.QueryEscape(release), nil))(t)
	left := make(chan error)
	go func() {
		resp, err := s.client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		left <- err
	}()
	waitUntil(t, func() bool { return exists(release + ".begun") })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatalf("the client did not leave: %v", err)
	}
	waitUntil(t, func() bool { return strings.Contains(s.logs.String(), `"status":499`) })
	must.Do(t, os.WriteFile(release, nil, 0o600))
	if e := event(t, s.send(t, "GET", "/open?do=pid", "")); e["pid"] != first["pid"] {
		t.Errorf("process %v answers, want %v: the one that was left alone", e["pid"], first["pid"])
	}
}

func TestRequestsUnderWayAreAnsweredWhenTheGatewayStops(t *testing.T) {
	t.Parallel()
	s := start(t)
	release := filepath.Join(t.TempDir(), "release")
	replies := make(chan reply)
	go func() { replies <- s.send(t, "GET", "/open?do=wait&file="+url.QueryEscape(release), "") }()
	waitUntil(t, func() bool { return exists(release + ".begun") })
	s.stop()
	waitUntil(t, func() bool { // it takes no more connections
		conn, err := net.Dial("tcp", s.addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	must.Do(t, os.WriteFile(release, nil, 0o600))
	if r := <-replies; r.StatusCode != 200 {
		t.Errorf("answer %d %s", r.StatusCode, r.body)
	}
}

func TestTheLogHoldsNeitherPathNorQuery(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.send(t, "GET", "/guarded/PRIVATE?auth=allow&Signature=SECRET", "")
	s.send(t, "GET", "/nowhere/PRIVATE?Signature=SECRET", "")
	s.send(t, "GET", "/open?do=fail&Signature=SECRET", "")
	logs := s.logs.String()
	if strings.Contains(logs, "SECRET") || strings.Contains(logs, "PRIVATE") {
		t.Errorf("the log holds the client's text:\n%s", logs)
	}
	for _, want := range []string{`"method":"GET","resource":"/guarded/{coin}","status":200,"ms":`, `"resource":"","status":404`, `"level":"WARN"`} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log lacks %s:\n%s", want, logs)
		}
	}
}
