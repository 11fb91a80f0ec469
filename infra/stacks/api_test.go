package stacks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"quotary/localstack/aws/gateway"
	"quotary/localstack/aws/lambdahost"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

const anyMethod = "x-amazon-apigateway-any-method"

func body(t *testing.T) map[string]any {
	t.Helper()
	return full.parts["api"].only(t, "AWS::ApiGateway::RestApi").Properties["Body"].(map[string]any)
}

func TestTheRoutesAreTheCatalog(t *testing.T) {
	t.Parallel()
	document := body(t)
	found := map[string]string{}
	for path, item := range at(document, "paths").(map[string]any) {
		for method, operation := range item.(map[string]any) {
			if method != anyMethod {
				found[strings.ToUpper(method)+" "+path] = plain(at(operation, "x-amazon-apigateway-integration", "uri"))
			}
		}
	}
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS {
			continue
		}
		var id strings.Builder
		for _, word := range strings.Split(e.Function(), "-") {
			id.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		want := "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${" + id.String() + "Function.Arn}/invocations"
		if found[e.Method+" "+e.Path] != want {
			t.Errorf("%s goes to %q, want %q", e, found[e.Method+" "+e.Path], want)
		}
		if r := full.parts["api"].Resources[id.String()+"Function"]; r == nil || r.Type != "AWS::Lambda::Function" {
			t.Errorf("%s: the template has no function %sFunction", e, id.String())
		}
		delete(found, e.Method+" "+e.Path)
	}
	for route := range found {
		t.Errorf("%s is not in the catalog", route)
	}
}

// A compressed answer leaves its function in base64, which the gateway decodes for
// binary media types alone; the gateway's own answers are made of text.
func TestEveryMediaTypeIsBinaryAndFixedAnswersAreText(t *testing.T) {
	t.Parallel()
	api := full.parts["api"].only(t, "AWS::ApiGateway::RestApi").Properties
	if types, _ := json.Marshal(api["BinaryMediaTypes"]); string(types) != `["*/*"]` {
		t.Errorf("binary media types: %s", types)
	}
	for path, item := range at(body(t), "paths").(map[string]any) {
		mock := at(item, anyMethod, "x-amazon-apigateway-integration")
		if at(mock, "contentHandling") != "CONVERT_TO_TEXT" || at(mock, "responses", "default", "contentHandling") != "CONVERT_TO_TEXT" {
			t.Errorf("the 405 of %s is not text", path)
		}
	}
}

func TestTheAuthorizerStandsBeforeEveryRouteButThePublicOnes(t *testing.T) {
	t.Parallel()
	document := body(t)
	var open []string
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS {
			continue
		}
		security, _ := json.Marshal(at(document, "paths", e.Path, strings.ToLower(e.Method), "security"))
		scheme := `[{"querySigned":[]}]`
		if e.Method == "POST" {
			scheme = `[{"anySigned":[]}]`
		}
		switch string(security) {
		case scheme:
		case `null`:
			open = append(open, e.String())
		default:
			t.Errorf("%s has the security %s", e, security)
		}
	}
	if want := []string{"POST /upgrade/v2/distributor/register"}; !slices.Equal(open, want) {
		t.Errorf("open to everybody: %v, want %v", open, want)
	}
}

// A cached decision would accept a nonce twice, and an identity source would
// refuse a POST that is signed in its body.
func TestTheAuthorizerIsAskedAboutEveryRequest(t *testing.T) {
	t.Parallel()
	for scheme, source := range map[string]any{
		"anySigned":   nil,
		"querySigned": "method.request.querystring.AccessKeyId, method.request.querystring.SignatureNonce, method.request.querystring.Timestamp, method.request.querystring.Signature",
	} {
		authorizer := at(body(t), "components", "securitySchemes", scheme, "x-amazon-apigateway-authorizer")
		if at(authorizer, "type") != "request" || at(authorizer, "authorizerResultTtlInSeconds") != 0.0 || at(authorizer, "identitySource") != source {
			t.Errorf("%s = %v", scheme, authorizer)
		}
		if uri := plain(at(authorizer, "authorizerUri")); !strings.Contains(uri, "${AuthorizerFunction.Arn}") {
			t.Errorf("%s is %s", scheme, uri)
		}
	}
}

func TestOnlyTheGatewayInvokesFunctions(t *testing.T) {
	t.Parallel()
	callers := map[string]string{}
	_, permissions := full.parts["api"].all("AWS::Lambda::Permission")
	for _, p := range permissions {
		if p.Properties["Principal"] != "apigateway.amazonaws.com" || p.Properties["Action"] != "lambda:InvokeFunction" {
			t.Errorf("%v", p.Properties)
		}
		callers[plain(p.Properties["FunctionName"])] = plain(p.Properties["SourceArn"])
	}
	const api = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}"
	ids, _ := full.parts["api"].all("AWS::Lambda::Function")
	for _, id := range ids {
		want := api + "/api/*/*"
		switch id {
		case "AuthorizerFunction":
			want = api + "/authorizers/*"
		case "AdminFunction":
			want = ""
		}
		if got := callers["${"+id+".Arn}"]; got != want {
			t.Errorf("%s may be invoked by %q, want %q", id, got, want)
		}
	}
}

// local is the local gateway, set up as the local stack does, whose functions
// fail as asked by the header X-Fail.
func local(t *testing.T) *httptest.Server {
	t.Helper()
	response := func(r catalog.GatewayResponse) gateway.Response {
		return gateway.Response{Type: r.Type, Status: r.Status, Template: r.Template,
			Headers: map[string]string{"X-Request-Id": "$context.requestId", "Cache-Control": "no-store"}}
	}
	cfg := gateway.Config{
		Stage: "api", Authorizer: catalog.FunctionAuthorizer, Functions: failing{}, MaxBody: 1 << 10,
		MethodNotAllowed: response(catalog.MethodNotAllowed()),
	}
	for _, e := range catalog.All() {
		if e.Method != catalog.MethodWS {
			cfg.Routes = append(cfg.Routes, gateway.Route{Method: e.Method, Path: e.Path, Function: e.Function(), Authorize: e.Authorized()})
		}
	}
	for _, r := range catalog.GatewayResponses() {
		cfg.Responses = append(cfg.Responses, response(r))
	}
	g := must.Get(gateway.New(cfg))(t)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return server
}

// failing is an authorizer and functions that fail on request.
type failing struct{}

func (failing) Invoke(_ context.Context, function string, event []byte) ([]byte, error) {
	var request struct {
		MethodArn string            `json:"methodArn"`
		Headers   map[string]string `json:"headers"`
	}
	if err := json.Unmarshal(event, &request); err != nil {
		return nil, err
	}
	effect := "Allow"
	switch request.Headers["X-Fail"] + " " + function {
	case "UNAUTHORIZED authorizer":
		return nil, &lambdahost.FunctionError{Message: "Unauthorized"}
	case "AUTHORIZER_FAILURE authorizer":
		return nil, errors.New("broken")
	case "THROTTLED authorizer":
		return nil, lambdahost.ErrThrottled
	case "ACCESS_DENIED authorizer":
		effect = "Deny"
	case "AUTHORIZER_CONFIGURATION_ERROR authorizer":
		return []byte(`{}`), nil
	}
	if function != catalog.FunctionAuthorizer {
		return nil, errors.New("broken") // INTEGRATION_FAILURE
	}
	return fmt.Appendf(nil, `{"principalId":"x","context":{"reason":"why"},"policyDocument":{"Version":"2012-10-17","Statement":[{"Action":"execute-api:Invoke","Effect":%q,"Resource":%q}]}}`,
		effect, request.MethodArn), nil
}

// answers sends a request and checks the answer against a template's status,
// headers (as the template writes them) and body.
func answers(t *testing.T, request *http.Request, status any, headers map[string]string, body string) {
	t.Helper()
	res := must.Get(http.DefaultClient.Do(request))(t)
	defer res.Body.Close()
	var got, want map[string]any
	must.Do(t, json.NewDecoder(res.Body).Decode(&got))
	id := res.Header.Get("X-Request-Id")
	filled := strings.NewReplacer("$context.requestId", id, "$context.authorizer.reason", "why").Replace(body)
	must.Do(t, json.Unmarshal([]byte(filled), &want))
	if fmt.Sprint(res.StatusCode) != fmt.Sprint(status) || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s %s: the local gateway answers %d %v, the deployed one %v %v", request.Method, request.URL.Path, res.StatusCode, got, status, want)
	}
	for name, value := range headers {
		value = strings.Trim(strings.ReplaceAll(value, "context.requestId", id), "'")
		if id == "" || res.Header.Get(name) != value {
			t.Errorf("%s %s: the local gateway sends %s: %q, the deployed one %q", request.Method, request.URL.Path, name, res.Header.Get(name), value)
		}
	}
}

func TestTheGatewaysOwnAnswersAreThoseOfTheLocalGateway(t *testing.T) {
	t.Parallel()
	deployed := at(body(t), "x-amazon-apigateway-gateway-responses").(map[string]any)
	for _, r := range catalog.GatewayResponses() {
		d := deployed[r.Type]
		if at(d, "responseTemplates", "application/json") != r.Template || at(d, "statusCode") != nil != (r.Status != 0) ||
			r.Status != 0 && at(d, "statusCode") != float64(r.Status) {
			t.Errorf("%s = %v", r.Type, d)
		}
	}
	if len(deployed) != len(catalog.GatewayResponses()) {
		t.Errorf("%d gateway responses, want those %d of the catalog", len(deployed), len(catalog.GatewayResponses()))
	}

	server := local(t)
	const tickers = "/api/upgrade/v2/hl/tickers"
	for kind, make := range map[string]func() (*http.Request, error){
		"MISSING_AUTHENTICATION_TOKEN": func() (*http.Request, error) { return http.NewRequest("GET", server.URL+"/api/nothing", nil) },
		"REQUEST_TOO_LARGE": func() (*http.Request, error) {
			return http.NewRequest("POST", server.URL+"/api/upgrade/v2/hl/info", strings.NewReader(strings.Repeat(" ", 2<<10)))
		},
		"BAD_REQUEST_PARAMETERS": func() (*http.Request, error) { return http.NewRequest("GET", server.URL+tickers+"?a=%FF", nil) },
	} {
		request := must.Get(make())(t)
		compare(t, deployed[kind], request)
	}
	for _, kind := range []string{"UNAUTHORIZED", "ACCESS_DENIED", "THROTTLED", "AUTHORIZER_FAILURE", "AUTHORIZER_CONFIGURATION_ERROR", "INTEGRATION_FAILURE"} {
		request := must.Get(http.NewRequest("GET", server.URL+tickers, nil))(t)
		request.Header.Set("X-Fail", kind)
		compare(t, deployed[kind], request)
	}
}

// compare checks the local gateway's answer against a gateway response.
func compare(t *testing.T, deployed any, request *http.Request) {
	t.Helper()
	headers := map[string]string{}
	for name, value := range at(deployed, "responseParameters").(map[string]any) {
		headers[strings.TrimPrefix(name, "gatewayresponse.header.")] = value.(string)
	}
	if len(headers) == 0 {
		t.Error("a gateway response has no headers")
	}
	answers(t, request, at(deployed, "statusCode"), headers, at(deployed, "responseTemplates", "application/json").(string))
}

func TestOtherMethodsAreAnsweredAsTheLocalGatewayDoes(t *testing.T) {
	t.Parallel()
	server := local(t)
	for path, item := range at(body(t), "paths").(map[string]any) {
		integration := at(item, anyMethod, "x-amazon-apigateway-integration")
		response := at(integration, "responses", "default")
		headers := map[string]string{}
		for name, value := range at(response, "responseParameters").(map[string]any) {
			header := strings.TrimPrefix(name, "method.response.header.")
			headers[header] = value.(string)
			if at(item, anyMethod, "responses", "405", "headers", header) == nil {
				t.Errorf("%s: the header %s is mapped and not declared", path, header)
			}
		}
		if at(integration, "type") != "mock" || at(item, anyMethod, "security") != nil || headers["Allow"] == "" {
			t.Errorf("%s: %v", path, integration)
		}
		request := must.Get(http.NewRequest("PATCH", server.URL+"/api"+path, nil))(t)
		answers(t, request, at(response, "statusCode"), headers, at(response, "responseTemplates", "application/json").(string))
	}
}

// CloudFormation takes 1 MB and 500 resources, API Gateway 300 resources of a
// REST API unless asked for more.
func TestTheTemplatesFit(t *testing.T) {
	t.Parallel()
	for name, part := range full.parts {
		if len(part.text) > 900_000 || len(part.Resources) > 400 {
			t.Errorf("%s: %d bytes, %d resources", name, len(part.text), len(part.Resources))
		}
	}
	segments := map[string]bool{"": true}
	for path := range at(body(t), "paths").(map[string]any) {
		for path != "" {
			segments[path] = true
			path = path[:strings.LastIndexByte(path, '/')]
		}
	}
	if len(segments) > 280 {
		t.Errorf("the REST API has %d resources", len(segments))
	}
}

func TestTheStageIsThrottledTracedAndLogged(t *testing.T) {
	t.Parallel()
	stage := full.parts["api"].only(t, "AWS::ApiGateway::Stage")
	method := at(stage.Properties, "MethodSettings", 0)
	if stage.Properties["StageName"] != "api" || stage.Properties["TracingEnabled"] != true || at(method, "DataTraceEnabled") != false ||
		at(method, "ThrottlingRateLimit") == nil || at(method, "ThrottlingBurstLimit") == nil || plain(at(method, "ResourcePath")) != "/*" {
		t.Errorf("stage = %v", stage.Properties)
	}
	format := plain(at(stage.Properties, "AccessLogSetting", "Format"))
	var line map[string]string
	if err := json.Unmarshal([]byte(format), &line); err != nil || line["requestId"] != "$context.requestId" || strings.Contains(strings.ToLower(format), "query") {
		t.Errorf("access log = %s (%v)", format, err)
	}
}

func TestTheFirewallLimitsEachAddress(t *testing.T) {
	t.Parallel()
	acl := full.parts["api"].only(t, "AWS::WAFv2::WebACL")
	rule := at(acl.Properties, "Rules", 0)
	rate := at(rule, "Statement", "RateBasedStatement")
	if at(rate, "Limit") != 12000.0 || at(rate, "AggregateKeyType") != "IP" || at(rule, "Action", "Block", "CustomResponse", "ResponseCode") != 429.0 {
		t.Errorf("rule = %v", rule)
	}
	var answer map[string]any
	text := plain(at(acl.Properties, "CustomResponseBodies", "throttled", "Content"))
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer["success"] != false || answer["status"] != 429.0 || strings.Contains(text, "$context") {
		t.Errorf("answer = %s (%v)", text, err)
	}
	link := full.parts["api"].only(t, "AWS::WAFv2::WebACLAssociation")
	if got := plain(link.Properties["ResourceArn"]); !strings.HasSuffix(got, "/restapis/${Api}/stages/${ApiStage}") {
		t.Errorf("it protects %s", got)
	}
}
