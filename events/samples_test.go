package events_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/signature"
	"quotary/shared/testing/must"
)

// The host of a gateway's samples, and the moment at which they were sent.
const (
	sampleHost = "a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com"
	sampleTime = 1795262400 // seconds
)

// object is a JSON object whose members stand in the order of their names.
type object map[string]any

// Samples of requests follow from the catalog: go test ./events -update writes those
// of the gateway's functions and of the authorizer again. The other samples are for
// what is in no catalog.
func TestSamplesOfRequestsFollowFromTheCatalog(t *testing.T) {
	t.Parallel()
	want := map[string]object{catalog.FunctionAuthorizer: authorizerEvent(t, endpointOf(http.MethodGet, "/upgrade/v2/hl/tickers"))}
	for _, function := range catalog.Functions() {
		want[function] = requestEvent(t, sampled(function))
	}
	for function, event := range want {
		text := must.Get(json.MarshalIndent(event, "", "  "))(t)
		text = append(text, '\n')
		if *apitest.Update {
			must.Do(t, os.WriteFile(function+".json", text, 0o644))
		} else if !bytes.Equal(text, sample(t, function)) {
			t.Errorf("%s.json is not what follows from the catalog: run make generate", function)
		}
	}
}

// sampled is the endpoint of a function that its sample calls: built before
// planned, a GET before others, one that asks for nothing before one that wants
// something which must be there, and of these the one with the fewest parameters.
func sampled(function string) *catalog.Endpoint {
	var best *catalog.Endpoint
	rank := func(e *catalog.Endpoint) (n int) {
		if e.Planned {
			n += 400
		}
		if e.Method != http.MethodGet {
			n += 200
		}
		parameters := catalog.Parameters(e.In)
		if slices.ContainsFunc(parameters, func(p catalog.Parameter) bool { return p.In == "query" && p.Required }) {
			n += 100
		}
		return n + len(parameters)
	}
	for _, e := range catalog.Served(function) {
		if best == nil || rank(e) < rank(best) {
			best = e
		}
	}
	return best
}

// requestEvent is what the gateway sends to the function of an endpoint.
func requestEvent(t *testing.T, e *catalog.Endpoint) object {
	t.Helper()
	caller := admission.Caller{AccessKey: sampleSubKey, Distributor: samplePrimary, MonthlyQuota: 1_000_000, RateLimit: 600, MaxTimeRange: 2_592_000, WSConnLimit: 10, WSSubLimit: 100}
	if e.Access.Kind == catalog.Management {
		caller = admission.Caller{AccessKey: samplePrimary, Distributor: samplePrimary, Primary: true}
	}
	authorizer := caller.Context()
	authorizer["principalId"], authorizer["integrationLatency"] = caller.AccessKey, 11
	event := gatewayEvent(t, e, caller.AccessKey)
	event["requestContext"].(object)["authorizer"] = authorizer
	event["isBase64Encoded"] = false
	return event
}

// authorizerEvent is what the gateway asks the authorizer before it.
func authorizerEvent(t *testing.T, e *catalog.Endpoint) object {
	t.Helper()
	event := gatewayEvent(t, e, sampleSubKey)
	event["type"], event["methodArn"] = "REQUEST", "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/api/"+e.Method+event["path"].(string)
	event["pathParameters"], event["stageVariables"] = object{}, object{}
	delete(event, "body")
	return event
}

// gatewayEvent is what both events have in common.
func gatewayEvent(t *testing.T, e *catalog.Endpoint, accessKey string) object {
	t.Helper()
	r := apitest.Example(e)
	call := apitest.Event(t, e.Method, r.Target(), r.Body())
	query := call.MultiValueQueryStringParameters
	for name, value := range map[string]string{
		signature.AccessKeyID: accessKey, signature.Nonce: "1f6b2c3d4e5f6071", signature.Timestamp: "1795262400",
		signature.Signature: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nw==",
	} {
		query[name] = []string{value}
	}
	single := object{}
	for name, values := range query {
		single[name] = values[len(values)-1]
	}
	headers := object{
		"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "Host": sampleHost, "User-Agent": "python-requests/2.32.3",
		"X-Amzn-Trace-Id": "Root=1-6a3f1c40-0123456789abcdef01234567", "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Port": "443", "X-Forwarded-Proto": "https",
	}
	multiple := map[string][]string{}
	var body any
	if call.Body != "" {
		headers["Content-Type"], body = "application/json", call.Body
	}
	for name, value := range headers {
		multiple[name] = []string{value.(string)}
	}
	return object{
		"resource": e.Path, "path": call.Path, "httpMethod": e.Method, "body": body,
		"headers": headers, "multiValueHeaders": multiple,
		"queryStringParameters": single, "multiValueQueryStringParameters": query,
		"pathParameters": none(call.PathParameters), "stageVariables": nil,
		"requestContext": object{
			"resourceId": "qqqqq1", "resourcePath": e.Path, "httpMethod": e.Method, "path": catalog.BasePath + call.Path,
			"extendedRequestId": "UVWx0FZjoAMEJkg=", "requestId": "00000001-4d3c-4b2a-9f1e-0a1b2c3d4e5f",
			"requestTime": "21/Nov/2026:12:00:00 +0000", "requestTimeEpoch": sampleTime * 1000,
			"accountId": "123456789012", "apiId": "a1b2c3d4e5", "deploymentId": "x9y8z7", "stage": strings.Trim(catalog.BasePath, "/"),
			"domainName": sampleHost, "domainPrefix": "a1b2c3d4e5", "protocol": "HTTP/1.1",
			"identity": object{
				"accessKey": nil, "accountId": nil, "caller": nil, "cognitoAuthenticationProvider": nil, "cognitoAuthenticationType": nil,
				"cognitoIdentityId": nil, "cognitoIdentityPoolId": nil, "principalOrgId": nil, "sourceIp": "203.0.113.7",
				"user": nil, "userAgent": "python-requests/2.32.3", "userArn": nil,
			},
		},
	}
}

// none is how the gateway writes that there is no parameter.
func none(parameters map[string]string) any {
	if len(parameters) == 0 {
		return nil
	}
	return parameters
}
