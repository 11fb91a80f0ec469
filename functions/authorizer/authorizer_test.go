package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/api/apitest"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/testing/must"
)

const (
	arn   = "arn:aws:execute-api:us-east-1:000000000000:abc/api/GET/upgrade/v2/hl/tickers"
	stage = "arn:aws:execute-api:us-east-1:000000000000:abc/api/*"
)

func request(method, resource string, p signature.Params) events.APIGatewayCustomAuthorizerRequestTypeRequest {
	query := make(map[string][]string)
	for name, value := range map[string]string{
		signature.AccessKeyID: p.AccessKeyID, signature.Nonce: p.Nonce, signature.Timestamp: p.Timestamp, signature.Signature: p.Signature,
	} {
		if value != "" {
			query[name] = []string{value}
		}
	}
	return events.APIGatewayCustomAuthorizerRequestTypeRequest{
		HTTPMethod: method, Resource: resource, MethodArn: arn, MultiValueQueryStringParameters: query,
	}
}

func open(t testing.TB) (*apitest.World, *authorizer) {
	w := apitest.New(t, catalog.FunctionPlanned)
	return w, newAuthorizer(w.Gate, slog.New(slog.DiscardHandler))
}

const (
	tickers = "/upgrade/v2/hl/tickers"
	info    = "/upgrade/v2/hl/info"
	quota   = "/upgrade/v2/distributor/quota"
)

func TestAValidSignatureIsAllowedWithItsLimits(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	out := must.Get(a.authorize(t.Context(), request(http.MethodGet, tickers, w.Sign(w.SubKey))))(t)
	statement := out.PolicyDocument.Statement[0]
	if statement.Effect != "Allow" || statement.Resource[0] != stage || out.PrincipalID != w.SubKey.AccessKey {
		t.Errorf("policy = %+v", out)
	}
	caller, verdict, _ := admission.CallerFrom(out.Context)
	if verdict != admission.VerdictCaller || caller.AccessKey != w.SubKey.AccessKey || caller.Distributor != w.Primary.AccessKey || caller.MonthlyQuota != 1_000_000 {
		t.Errorf("caller = %+v (%v)", caller, verdict)
	}
	for name, value := range out.Context {
		if strings.Contains(value.(string), w.SubKey.Secret) {
			t.Errorf("the context's %s holds the secret", name)
		}
	}
}

// A path may hold what a policy takes for a pattern, and a handshake's is no path.
func TestAPolicyNamesTheStageWhateverThePath(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	for _, path := range []string{"GET/upgrade/v2/hl/tickers/coin/PURR/USDC", "GET/upgrade/v2/hl/tickers/coin/*?", "$connect"} {
		event := request(http.MethodGet, "/upgrade/v2/hl/tickers/coin/{coin+}", w.Sign(w.SubKey))
		event.MethodArn = strings.TrimSuffix(stage, "*") + path
		out, err := a.authorize(t.Context(), event)
		if err != nil || out.PolicyDocument.Statement[0].Effect != "Allow" || out.PolicyDocument.Statement[0].Resource[0] != stage {
			t.Errorf("%s: %+v, %v", path, out, err)
		}
	}
}

func TestWhoCannotSignIsUnauthorizedAndLearnsNothing(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	unknown := apitest.Key{AccessKey: strings.Repeat("0", 32), Secret: "x"}
	wrong := apitest.Key{AccessKey: w.SubKey.AccessKey, Secret: "wrong"}
	twice := request(http.MethodGet, tickers, w.Sign(w.SubKey))
	twice.MultiValueQueryStringParameters[signature.Nonce] = []string{"a", "b"}
	partial := w.Sign(w.SubKey)
	partial.Nonce = ""
	for name, event := range map[string]events.APIGatewayCustomAuthorizerRequestTypeRequest{
		"no signature":        request(http.MethodGet, tickers, signature.Params{}),
		"unknown key":         request(http.MethodGet, tickers, w.Sign(unknown)),
		"wrong secret":        request(http.MethodGet, tickers, w.Sign(wrong)),
		"repeated parameter":  twice,
		"half in the query":   request(http.MethodPost, info, partial),
		"unsigned PUT":        request(http.MethodPut, "/upgrade/v2/distributor/levels/{level}", signature.Params{}),
		"unsigned management": request(http.MethodGet, quota, signature.Params{}),
	} {
		out, err := a.authorize(t.Context(), event)
		if !errors.Is(err, errUnauthorized) || out.PolicyDocument.Statement != nil {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

func TestDenialsCarryTheirReason(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	quotaOf := int64(5)
	ghost := w.Issue(t, w.Primary, keys.NewSubKey{Name: "ghost", Level: "ghost", MonthlyQuota: &quotaOf})
	for name, tt := range map[string]struct {
		event  events.APIGatewayCustomAuthorizerRequestTypeRequest
		reason string
	}{
		"primary key on data":     {request(http.MethodGet, tickers, w.Sign(w.Primary)), "primary key"},
		"sub-key on management":   {request(http.MethodGet, quota, w.Sign(w.SubKey)), "not a distributor"},
		"level not configured":    {request(http.MethodGet, tickers, w.Sign(ghost)), "not configured"},
		"resource not catalogued": {request(http.MethodGet, "/missing", w.Sign(w.SubKey)), "no such endpoint"},
	} {
		out, err := a.authorize(t.Context(), tt.event)
		if err != nil || out.PolicyDocument.Statement[0].Effect != "Deny" || !strings.Contains(out.Context[admission.ReasonContext].(string), tt.reason) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

func TestAGrantIsDemandedFromTheDistributor(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	const history = "/upgrade/v2/futures/funding-rate/history"
	effect := func() string {
		out := must.Get(a.authorize(t.Context(), request(http.MethodGet, history, w.Sign(w.SubKey))))(t)
		return out.PolicyDocument.Statement[0].Effect
	}
	if got := effect(); got != "Allow" {
		t.Errorf("with all grants: %s", got)
	}
	must.Do(t, w.Keys.SetGrants(t.Context(), w.Primary.AccessKey, []string{"futures:LIQUIDATION_MAP"}))
	if got := effect(); got != "Deny" {
		t.Errorf("without the grant: %s", got)
	}
}

func TestAnUnsignedPostIsLeftToTheFunction(t *testing.T) {
	t.Parallel()
	_, a := open(t)
	out, err := a.authorize(t.Context(), request(http.MethodPost, info, signature.Params{}))
	if err != nil || out.PolicyDocument.Statement[0].Effect != "Allow" {
		t.Fatalf("%+v, %v", out, err)
	}
	if _, verdict, _ := admission.CallerFrom(out.Context); verdict != admission.VerdictBody {
		t.Errorf("verdict = %v", verdict)
	}
}

func TestAReplayReachesTheFunctionWithItsReason(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	event := request(http.MethodGet, tickers, w.Sign(w.SubKey))
	longer, otherPath, posted, handshake := event, event, event, event
	longer.MultiValueQueryStringParameters = maps.Clone(event.MultiValueQueryStringParameters)
	longer.MultiValueQueryStringParameters["limit"] = []string{"1"}
	otherPath.Path += "/coin/BTC"
	posted.HTTPMethod, posted.Resource = http.MethodPost, "/upgrade/v2/hl/info"
	handshake.HTTPMethod, handshake.Resource, handshake.StageVariables = "", "", map[string]string{"feed": "ws"}
	for _, step := range []struct {
		name  string
		event events.APIGatewayCustomAuthorizerRequestTypeRequest
		want  admission.Verdict
	}{
		{"the first", event, admission.VerdictCaller},
		{"the same again", event, admission.VerdictCaller},
		{"another query", longer, admission.VerdictRefused},
		{"another path", otherPath, admission.VerdictRefused},
		{"a POST", posted, admission.VerdictRefused},
		{"a handshake", handshake, admission.VerdictRefused},
	} {
		out := must.Get(a.authorize(t.Context(), step.event))(t)
		caller, verdict, refusal := admission.CallerFrom(out.Context)
		if verdict != step.want || verdict == admission.VerdictRefused && (refusal.Message != "nonce already used" || refusal.Reason != catalog.ReasonNonceUsed || caller.AccessKey != "") {
			t.Errorf("%s: %+v, %v, %q", step.name, caller, verdict, refusal)
		}
	}
	for _, once := range []events.APIGatewayCustomAuthorizerRequestTypeRequest{posted, handshake} {
		fresh := request("", "", w.Sign(w.SubKey))
		once.MultiValueQueryStringParameters, once.QueryStringParameters = fresh.MultiValueQueryStringParameters, fresh.QueryStringParameters
		for _, want := range []admission.Verdict{admission.VerdictCaller, admission.VerdictRefused} {
			out := must.Get(a.authorize(t.Context(), once))(t)
			if _, verdict, _ := admission.CallerFrom(out.Context); verdict != want {
				t.Errorf("%s %s: %v, want %v", once.HTTPMethod, once.Resource, verdict, want)
			}
		}
	}
}

func TestAFaultOfTheStoreIsNotARefusal(t *testing.T) {
	t.Parallel()
	w, _ := open(t)
	broken := keys.New(w.DB, "no-such-table", nil, w.Now)
	gate := *w.Gate
	gate.Keys = broken
	_, err := newAuthorizer(&gate, slog.New(slog.DiscardHandler)).authorize(t.Context(), request(http.MethodGet, tickers, w.Sign(w.SubKey)))
	if err == nil || errors.Is(err, errUnauthorized) {
		t.Errorf("error = %v, want a fault", err)
	}
}

func TestAConnectionDemandsTheActionOfItsFeed(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	level := keys.Allow("HL_WS_FILLS")
	must.Do(t, w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "all", level))
	for feed, effect := range map[string]string{"fills": "Allow", "ws": "Deny", "filled-orders": "Deny", "clearinghouse-state": "Deny", "other": "Deny"} {
		event := request("", "", w.Sign(w.SubKey))
		event.StageVariables = map[string]string{"feed": feed}
		out, err := a.authorize(t.Context(), event)
		if err != nil || out.PolicyDocument.Statement[0].Effect != effect {
			t.Errorf("%s: %+v, %v, want %s", feed, out, err, effect)
		}
		event = request("", "", w.Sign(w.Primary))
		event.StageVariables = map[string]string{"feed": feed}
		if out, err := a.authorize(t.Context(), event); err != nil || out.PolicyDocument.Statement[0].Effect != "Deny" {
			t.Errorf("%s with a primary key: %+v, %v", feed, out, err)
		}
	}
}

func TestWhatTheAuthorizerRefusesIsCountedByItsCause(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	var out bytes.Buffer
	a.metrics = metrics.New(&out, "quotary-test", w.Now)
	once := request(http.MethodGet, tickers, w.Sign(w.SubKey))
	replayed := once
	replayed.Path = "/other"
	for _, step := range []struct {
		name   string
		event  events.APIGatewayCustomAuthorizerRequestTypeRequest
		counts string // "" for no line
	}{
		{"allowed", once, ""},
		{"a replay", replayed, `"Reason":"nonce_used","Denials":1`},
		{"a wrong secret", request(http.MethodGet, tickers, w.Sign(apitest.Key{AccessKey: w.SubKey.AccessKey, Secret: "wrong"})), `"Reason":"signature_wrong","Denials":1`},
		{"a primary key on data", request(http.MethodGet, tickers, w.Sign(w.Primary)), `"Reason":"wrong_key_kind","Denials":1`},
	} {
		out.Reset()
		_, _ = a.authorize(t.Context(), step.event) // other tests look at the answers
		if line := out.String(); !strings.Contains(line, step.counts) || (line == "") != (step.counts == "") || strings.Contains(line, w.SubKey.AccessKey) {
			t.Errorf("%s is counted as %q, want %q", step.name, line, step.counts)
		}
	}
}

// stalledKeys is a key store that never answers.
type stalledKeys struct{}

func (stalledKeys) Resolve(ctx context.Context, _ string) (keys.Principal, error) {
	<-ctx.Done()
	return keys.Principal{}, ctx.Err()
}

func TestAStalledKeyStoreIsLoggedBeforeTheInvocationEnds(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	var logs bytes.Buffer
	a.log = slog.New(slog.NewJSONHandler(&logs, nil))
	a.gate.Keys = stalledKeys{}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := a.authorize(ctx, request(http.MethodGet, tickers, w.Sign(w.SubKey))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
	if ctx.Err() != nil {
		t.Error("nothing was left of the invocation's time")
	}
	if !strings.Contains(logs.String(), `"msg":"failed"`) {
		t.Errorf("the log says %s", &logs)
	}
}
