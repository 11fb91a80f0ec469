package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"quotary/shared/api"
	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/signature"
	"quotary/shared/gate/usage"
	"quotary/shared/store/schema"
	"quotary/shared/testing/must"
)

// coin calls the ticker of a coin with the parameter as the gateway sends it.
func coin(t *testing.T, w *apitest.World, change func(*events.APIGatewayProxyRequest)) apitest.Answer {
	t.Helper()
	event := apitest.Event(t, http.MethodGet, ticker+"BTC", nil)
	event.RequestContext.Authorizer = admission.Caller{AccessKey: w.SubKey.AccessKey, Distributor: w.Primary.AccessKey}.Context()
	change(&event)
	return w.Invoke(t, event)
}

// The path of an event is not what is routed by: a domain may be mapped to any
// base path, and what is special in a URL may stand in the path decoded.
func TestThePathIsRebuiltFromResourceAndParameters(t *testing.T) {
	t.Parallel()
	w := market(t)
	for name, tt := range map[string]struct {
		path, coin string
		want       string // the coin that is bound; "" for 400
	}{
		"plain":                    {ticker + "BTC", "BTC", "BTC"},
		"behind a base path":       {"/api" + ticker + "BTC", "BTC", "BTC"},
		"behind a deep base path":  {"/market/data/v1" + ticker + "BTC", "BTC", "BTC"},
		"a slash":                  {ticker + "PURR/USDC", "PURR/USDC", "PURR/USDC"},
		"an encoded slash":         {ticker + "PURR%2FUSDC", "PURR%2FUSDC", "PURR/USDC"},
		"a slash after a base":     {"/api" + ticker + "PURR/USDC", "PURR/USDC", "PURR/USDC"},
		"a dot":                    {ticker + ".", ".", "."},
		"two dots":                 {ticker + "..", "..", ".."},
		"dots between slashes":     {ticker + "a/../b", "a/../b", "a/../b"},
		"two slashes":              {ticker + "a//b", "a//b", "a//b"},
		"a question mark":          {ticker + "A?limit=1", "A?limit=1", ""},
		"a number sign":            {ticker + "A#B", "A#B", ""},
		"a percent sign":           {ticker + "100%", "100%", ""},
		"an encoded percent sign":  {ticker + "100%25", "100%25", ""},
		"a letter, encoded":        {ticker + "%41", "%41", "A"},
		"a letter, encoded twice":  {ticker + "%2541", "%2541", ""}, // it is decoded once
		"a percent sign in a word": {ticker + "%zz", "%zz", ""},
		"a space":                  {ticker + "A B", "A B", ""},
	} {
		a := coin(t, w, func(e *events.APIGatewayProxyRequest) {
			e.Path, e.PathParameters = tt.path, map[string]string{"coin": tt.coin}
		})
		if tt.want == "" {
			a.Refused(t, http.StatusBadRequest, "invalid coin")
		} else if got := apitest.Data[catalog.Ticker](t, a); got.Coin != tt.want {
			t.Errorf("%s: the coin is %q, want %q", name, got.Coin, tt.want)
		}
	}
	for name, parameters := range map[string]map[string]string{"missing": nil, "empty": {"coin": ""}} {
		a := coin(t, w, func(e *events.APIGatewayProxyRequest) { e.PathParameters = parameters })
		if a.Status != http.StatusNotFound {
			t.Errorf("%s parameter: %d %s", name, a.Status, a.Body)
		}
		if line := lastLine(w); !strings.Contains(line, `"msg":"request"`) || !strings.Contains(line, `"resource":"`+ticker+`{coin+}"`) || !strings.Contains(line, `"status":404`) {
			t.Errorf("%s parameter: the log says %s", name, line)
		}
	}
}

// What is not one of net/http in the adapter is made so.
func TestAnyHandlerAnswersAsUnderNetHTTP(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"nothing is written":  func(http.ResponseWriter, *http.Request) {},
		"a second status":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(418); w.WriteHeader(500) },
		"a status after body": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "tea"); w.WriteHeader(500) },
		"body and status":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); _, _ = io.WriteString(w, "none") },
	} {
		want := httptest.NewRecorder()
		h(want, httptest.NewRequest(http.MethodGet, tickers, nil))
		got := apitest.Invoke(t, h, apitest.Event(t, http.MethodGet, tickers, nil))
		if got.Status != want.Code || string(got.Body) != want.Body.String() {
			t.Errorf("%s: %d %q, want %d %q", name, got.Status, got.Body, want.Code, want.Body)
		}
	}
}

func TestABodyThatIsNoBase64Is400(t *testing.T) {
	t.Parallel()
	w := info(t)
	event := apitest.Event(t, http.MethodPost, "/upgrade/v2/hl/info", "!!")
	event.IsBase64Encoded = true
	w.Invoke(t, event).Refused(t, http.StatusBadRequest, "could not be read")
	if line := lastLine(w); !strings.Contains(line, `"status":400`) {
		t.Errorf("the log says %s", line)
	}
}

// lastLine returns the last line that the world's family logged.
func lastLine(w *apitest.World) string {
	text := strings.TrimSpace(w.Logs.String())
	return text[strings.LastIndex(text, "\n")+1:]
}

func TestWhatTheGatewayAndLambdaKnowArrives(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../events/perp-market.json"))(t)
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	ctx = context.WithValue(ctx, "x-amzn-trace-id", "Root=1;Parent=2") //nolint:staticcheck // the runtime's own name
	seen := false
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = true
		gateway, ok := core.GetAPIGatewayContextFromContext(r.Context())
		if _, verdict, _ := admission.CallerFrom(gateway.Authorizer); !ok || gateway.RequestID == "" || verdict != admission.VerdictCaller {
			t.Errorf("the gateway's context is %+v", gateway)
		}
		if got := r.Header.Get("X-Amzn-Trace-Id"); got != "Root=1;Parent=2" {
			t.Errorf("the trace is %q", got)
		}
		if got, ok := r.Context().Deadline(); !ok || !got.Equal(deadline) {
			t.Errorf("the deadline is %v", got)
		}
	})
	if _, err := lambda.NewHandler(api.Lambda(h, slog.New(slog.DiscardHandler))).Invoke(ctx, text); err != nil || !seen {
		t.Fatalf("not answered: %v", err)
	}
}

// A path that the gateway takes for one endpoint and the mux for another must not
// be served: the authorizer decided on the gateway's.
func TestAPathThatMeansAnotherEndpointIsRefused(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, string(catalog.PerpMarket))
	reached := false
	api.Handle(w.Family, catalog.OpenInterestSummary, func(context.Context, catalog.None) (catalog.OpenInterestTotal, error) {
		reached = true
		return catalog.OpenInterestTotal{}, nil
	})
	event := apitest.Event(t, http.MethodGet, "/upgrade/v2/hl/open-interest/summary", nil)
	event.RequestContext.Authorizer = admission.Caller{AccessKey: w.SubKey.AccessKey, Distributor: w.Primary.AccessKey}.Context()
	event.Resource, event.PathParameters = "/upgrade/v2/hl/open-interest/{coin}", map[string]string{"coin": "summary"}
	w.Invoke(t, event).Refused(t, http.StatusNotFound, "no such endpoint")
	if reached {
		t.Error("the handler of the other endpoint was called")
	}
}

func TestAHandlerIsStoppedInTimeToAnswer(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, string(catalog.PerpMarket))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // of which a busy machine takes some until the handler runs
	defer cancel()
	api.Handle(w.Family, catalog.Tickers, func(within context.Context, _ catalog.None) ([]catalog.Ticker, error) {
		keepsTimeForARefund(t, ctx, within)
		<-within.Done()
		return nil, within.Err()
	})
	event := apitest.Event(t, http.MethodGet, tickers, nil)
	event.RequestContext.Authorizer = admission.Caller{AccessKey: w.SubKey.AccessKey, Distributor: w.Primary.AccessKey}.Context()
	out, err := api.Lambda(w.Family, slog.New(slog.DiscardHandler))(ctx, event)
	if err != nil || out.StatusCode != http.StatusGatewayTimeout || !strings.Contains(out.Body, "the request took too long") {
		t.Errorf("%d %s, %v", out.StatusCode, out.Body, err)
	}
	if n := used(t, w); n != 1 {
		t.Errorf("charged %d times, want once: its data was read", n)
	}
}

// keepsTimeForARefund compares the deadlines of an invocation and of its handler: what
// the clock says afterwards would judge how busy the machine is.
func keepsTimeForARefund(t *testing.T, invocation, handler context.Context) {
	t.Helper()
	ends, _ := invocation.Deadline()
	within, ok := handler.Deadline()
	if left := ends.Sub(within); !ok || left <= usage.RefundTimeout {
		t.Errorf("%v of the invocation's time are kept for a refund of up to %v and the answer", left, usage.RefundTimeout)
	}
}

// stalled is an engine that answers no refund.
type stalled struct {
	*dynamodb.Client
	t *testing.T
}

func (s stalled) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if _, refunds := in.ExpressionAttributeValues[":back"]; refunds {
		if ends, ok := ctx.Deadline(); !ok || time.Until(ends) > usage.RefundTimeout {
			s.t.Errorf("a refund may take until %v", ends)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Client.UpdateItem(ctx, in, options...)
}

func TestARefundThatStallsLeavesTimeForTheAnswer(t *testing.T) {
	t.Parallel()
	w := apitest.New(t, string(catalog.PerpMarket))
	w.Gate.Counters = usage.NewCounters(stalled{w.DB, t}, w.Prefix+schema.UsageTable, w.Now)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // of which a busy machine takes some until the handler runs
	defer cancel()
	api.Handle(w.Family, catalog.Tickers, func(within context.Context, _ catalog.None) ([]catalog.Ticker, error) {
		keepsTimeForARefund(t, ctx, within)
		<-within.Done()
		return nil, api.NotFound("there is none")
	})
	event := apitest.Event(t, http.MethodGet, tickers, nil)
	event.RequestContext.Authorizer = admission.Caller{AccessKey: w.SubKey.AccessKey, Distributor: w.Primary.AccessKey}.Context()
	out, err := api.Lambda(w.Family, slog.New(slog.DiscardHandler))(ctx, event)
	if err != nil || out.StatusCode != http.StatusNotFound {
		t.Errorf("%d %s, %v", out.StatusCode, out.Body, err)
	}
	if !strings.Contains(w.Logs.String(), "refund failed") {
		t.Errorf("the log says nothing of the refund: %s", w.Logs)
	}
}

// The same handler is a signed API by itself, without any gateway.
func TestAFamilyIsAPlainHTTPServer(t *testing.T) {
	t.Parallel()
	w, i := market(t), info(t)
	markets, infos := httptest.NewServer(w.Family), httptest.NewServer(http.StripPrefix("/api", i.Family))
	defer markets.Close()
	defer infos.Close()
	call := func(base string, p signature.Params, method, target, body string) apitest.Answer {
		t.Helper()
		u := must.Get(url.Parse(base + target))(t)
		query := u.Query()
		if !p.Empty() {
			query.Add(signature.AccessKeyID, p.AccessKeyID)
			query.Add(signature.Nonce, p.Nonce)
			query.Add(signature.Timestamp, p.Timestamp)
			query.Add(signature.Signature, p.Signature)
		}
		u.RawQuery = query.Encode()
		r := must.Get(http.NewRequestWithContext(t.Context(), method, u.String(), strings.NewReader(body)))(t)
		res := must.Get(http.DefaultClient.Do(r))(t)
		defer res.Body.Close()
		text := must.Get(io.ReadAll(res.Body))(t)
		if res.Header.Get("X-Request-Id") == "" || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: headers %v", target, res.Header)
		}
		return apitest.Answer{Status: res.StatusCode, Body: text, Header: map[string]string{"RateLimit-Limit": res.Header.Get("RateLimit-Limit"), "Quota-Remaining": res.Header.Get("Quota-Remaining")}}
	}
	for _, target := range []string{ticker + "PURR/USDC", ticker + "PURR%2FUSDC"} {
		a := call(markets.URL, w.Sign(w.SubKey), "GET", target, "")
		if got := apitest.Data[catalog.Ticker](t, a); got.Coin != "PURR/USDC" || a.Header["Quota-Remaining"] == "" {
			t.Errorf("%s: %+v %v", target, got, a.Header)
		}
	}
	if n := used(t, w); n != 2 {
		t.Errorf("charged %d times, want 2", n)
	}
	p := w.Sign(w.SubKey)
	for range 2 {
		if a := call(markets.URL, p, "GET", tickers, ""); a.Status != 200 {
			t.Errorf("a signed address, repeated: %d %s", a.Status, a.Body)
		}
	}
	call(markets.URL, p, "GET", tickers+"?limit=1", "").Refused(t, 401, "nonce already used")
	call(markets.URL, signature.Params{}, "GET", tickers, "").Refused(t, 401, "signature authentication failed")
	call(markets.URL, w.Sign(w.SubKey), "GET", tickers+"?Signature=twice", "").Refused(t, 401)
	call(markets.URL, w.Sign(w.Primary), "GET", tickers, "").Refused(t, 403, "primary key")
	call(markets.URL, w.Sign(w.SubKey), "GET", klines+"?limit=0", "").Refused(t, 400, "invalid limit")
	call(markets.URL, w.Sign(w.SubKey), "GET", "/nothing", "").Refused(t, 404, "no such endpoint")
	call(markets.URL, w.Sign(w.SubKey), "POST", tickers, "").Refused(t, 404, "no such endpoint")

	const path = "/api/upgrade/v2/hl/info"
	if a := call(infos.URL, i.Sign(i.SubKey), "POST", path, `{"type":"meta"}`); a.Status != 200 {
		t.Errorf("a POST: %d %s", a.Status, a.Body)
	}
	p = i.Sign(i.SubKey)
	signed := must.Get(json.Marshal(map[string]string{"type": "meta", "AccessKeyId": p.AccessKeyID, "SignatureNonce": p.Nonce, "Timestamp": p.Timestamp, "Signature": p.Signature}))(t)
	if a := call(infos.URL, signature.Params{}, "POST", path, string(signed)); a.Status != 200 {
		t.Errorf("a POST signed in its body: %d %s", a.Status, a.Body)
	}
	call(infos.URL, signature.Params{}, "POST", path, `{"type":"meta"}`).Refused(t, 401)
	call(infos.URL, i.Sign(i.SubKey), "POST", path, strings.Repeat(" ", 1<<20+1)).Refused(t, 413, "1 MiB")
}
