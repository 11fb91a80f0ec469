// Package events holds one sample event for each function, in the shape that API
// Gateway sends, or CloudFormation to the one that it invokes, for sam local invoke
// -e. The test keeps them valid: against the types of events, against the catalog,
// and by feeding each to its function through the Runtime API.
package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/alerts"
	"quotary/shared/data/arrivals"
	"quotary/shared/data/fills"
	"quotary/shared/data/pairs"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// The keys in the samples; a test puts real ones in their place.
const (
	sampleSubKey  = "5b1f0c6e2d7a49838e4c1d2b3a4f5e60"
	samplePrimary = "9a8b7c6d5e4f30211234567890abcdef"
)

func sample(t *testing.T, function string) []byte {
	t.Helper()
	text, err := os.ReadFile(function + ".json")
	if err != nil {
		t.Fatalf("the function %s has no sample event: %v", function, err)
	}
	return text
}

func TestEachFunctionHasOneSample(t *testing.T) {
	t.Parallel()
	files := must.Get(filepath.Glob("*.json"))(t)
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".json")
	}
	if want := catalog.AllFunctions(); !slices.Equal(files, want) {
		t.Errorf("samples of %v, want those of %v", files, want)
	}
}

// Members that API Gateway sends and the types of aws-lambda-go do not know.
var untyped = map[string][]string{
	"requestContext": {"deploymentId"},
	"identity":       {"principalOrgId"},
}

// strict decodes an event and refuses members that its type does not have.
func strict(t *testing.T, function string, into any) {
	t.Helper()
	var event map[string]any
	if err := json.Unmarshal(sample(t, function), &event); err != nil {
		t.Fatalf("%s: %v", function, err)
	}
	context := event["requestContext"].(map[string]any)
	for _, name := range untyped["requestContext"] {
		delete(context, name)
	}
	for _, name := range untyped["identity"] {
		delete(context["identity"].(map[string]any), name)
	}
	text := must.Get(json.Marshal(event))(t)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Errorf("%s: %v", function, err)
	}
}

func TestSamplesHaveTheShapeOfTheGateway(t *testing.T) {
	t.Parallel()
	for _, function := range catalog.Functions() {
		var e events.APIGatewayProxyRequest
		strict(t, function, &e)
		endpoint := endpointOf(e.HTTPMethod, e.Resource)
		if endpoint == nil || endpoint.Function() != function {
			t.Errorf("%s: %s %s is not one of its endpoints", function, e.HTTPMethod, e.Resource)
			continue
		}
		path := e.Resource
		for name, value := range e.PathParameters {
			path = strings.ReplaceAll(path, "{"+name+"}", value)
		}
		context := e.RequestContext
		if e.Path != path || strings.Contains(path, "{") || context.Path != catalog.BasePath+path || context.ResourcePath != e.Resource ||
			context.HTTPMethod != e.HTTPMethod || context.RequestID == "" || context.Stage != strings.Trim(catalog.BasePath, "/") {
			t.Errorf("%s: its path, resource and context do not fit each other", function)
		}
		agree(t, function, e.Headers, e.MultiValueHeaders)
		agree(t, function, e.QueryStringParameters, e.MultiValueQueryStringParameters)
		if _, verdict, _ := admission.CallerFrom(context.Authorizer); verdict != admission.VerdictCaller {
			t.Errorf("%s: the authorizer's context names no caller: %v", function, context.Authorizer)
		}
	}
	var a events.APIGatewayCustomAuthorizerRequestTypeRequest
	var raw struct {
		events.APIGatewayCustomAuthorizerRequestTypeRequest
		RequestContext map[string]any `json:"requestContext"` // its type lacks what every REST API sends
	}
	strict(t, catalog.FunctionAuthorizer, &raw)
	a = raw.APIGatewayCustomAuthorizerRequestTypeRequest
	if endpointOf(a.HTTPMethod, a.Resource) == nil || a.Type != "REQUEST" || !strings.HasSuffix(a.MethodArn, "/api/"+a.HTTPMethod+a.Path) {
		t.Errorf("authorizer: %+v", a)
	}
	agree(t, catalog.FunctionAuthorizer, a.QueryStringParameters, a.MultiValueQueryStringParameters)

	var s events.APIGatewayWebsocketProxyRequest
	strict(t, catalog.FunctionSocket, &s)
	feeds := map[string]bool{}
	for _, e := range catalog.All() {
		feeds[e.Feed()] = true
	}
	if name := s.StageVariables["feed"]; name == "" || !feeds[name] || s.RequestContext.RouteKey != "$connect" || s.HTTPMethod != "" || s.Resource != "" {
		t.Errorf("socket: %+v", s)
	}
	agree(t, catalog.FunctionSocket, s.QueryStringParameters, s.MultiValueQueryStringParameters)
}

func endpointOf(method, path string) *catalog.Endpoint {
	for _, e := range catalog.All() {
		if e.Method == method && e.Path == path {
			return e
		}
	}
	return nil
}

// agree checks that the single values are the last of the multiple ones.
func agree(t *testing.T, function string, single map[string]string, multiple map[string][]string) {
	t.Helper()
	last := map[string]string{}
	for name, values := range multiple {
		last[name] = values[len(values)-1]
	}
	if !maps.Equal(single, last) {
		t.Errorf("%s: %v is not the last of %v", function, single, multiple)
	}
}

func TestEachFunctionAnswersItsSampleWithinItsRights(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	for _, function := range catalog.AllFunctions() {
		switch {
		case function == catalog.FunctionDataKey:
			d.dataKey(t)
			continue
		case function == catalog.FunctionPlanned && len(catalog.Served(function)) == 0: // every family answers for itself
			continue
		}
		answer, err := d.invoke(t, function, sample(t, function))
		switch function {
		case catalog.FunctionAuthorizer:
			var failed *lambdahost.FunctionError
			if !errors.As(err, &failed) || failed.Message != "Unauthorized" {
				t.Errorf("authorizer: %s, %v: its signature is long out of date", answer, err)
			}
			continue
		case catalog.FunctionAdmin:
			var out struct {
				Success      bool
				Distributors []any
			}
			if err != nil || json.Unmarshal(answer, &out) != nil || !out.Success || len(out.Distributors) != 1 {
				t.Errorf("admin: %s, %v", answer, err)
			}
			continue
		}
		var res events.APIGatewayProxyResponse
		if err != nil || json.Unmarshal(answer, &res) != nil {
			t.Errorf("%s: %s, %v", function, answer, err)
			continue
		}
		want := http.StatusOK
		if function == catalog.FunctionPlanned {
			want = http.StatusNotImplemented
		}
		if res.StatusCode != want {
			t.Errorf("%s: status %d, want %d: %s", function, res.StatusCode, want, res.Body)
		}
	}
	d.authorizer(t)
	d.rest(t)
	d.signedBodies(t)
	d.operator(t)
	d.socket(t)
	d.within(t)
}

// authorizer signs its sample again, and is allowed.
func (d *deployment) authorizer(t *testing.T) {
	t.Helper()
	d.Move(time.Since(apitest.Start)) // the function's clock is the real one
	var event map[string]any
	must.Do(t, json.Unmarshal(sample(t, catalog.FunctionAuthorizer), &event))
	p := d.Sign(d.SubKey)
	single, multiple := map[string]string{}, map[string][]string{}
	for name, value := range map[string]string{
		signature.AccessKeyID: p.AccessKeyID, signature.Nonce: p.Nonce, signature.Timestamp: p.Timestamp, signature.Signature: p.Signature,
	} {
		single[name], multiple[name] = value, []string{value}
	}
	event["queryStringParameters"], event["multiValueQueryStringParameters"] = single, multiple
	text := must.Get(json.Marshal(event))(t)
	answer, err := d.invoke(t, catalog.FunctionAuthorizer, text)
	var out events.APIGatewayCustomAuthorizerResponse
	if err != nil || json.Unmarshal(answer, &out) != nil || len(out.PolicyDocument.Statement) != 1 || out.PolicyDocument.Statement[0].Effect != "Allow" {
		t.Errorf("authorizer: %s, %v", answer, err)
	}
}

// rest asks for every endpoint that a function has built, so that what it may
// not do shows: parameters are those of the sample, and stand-ins.
func (d *deployment) rest(t *testing.T) {
	t.Helper()
	values := strings.NewReplacer("{address}", "0x0123456789abcdef0123456789abcdef01234567", "{builder}", "0x0123456789abcdef0123456789abcdef01234567",
		"{coin}", "BTC", "{interval}", "1h", "{level}", "all", "{access_key}", d.SubKey.AccessKey)
	// Somebody holds a position, so that what it takes to show it is asked for.
	held := market.Fill{Address: "0x0123456789abcdef0123456789abcdef01234567", Coin: "BTC", Px: "100", Sz: "1", Side: market.Buy, Time: d.Now().UnixMilli(), StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0", Tid: 1}
	var account market.Account
	account.Fill(&held, nil, nil)
	account.Address = held.Address
	storetest.PutLog(t, d.Log(), fills.Name, fills.AppendRows, held)
	storetest.PutSeries(t, d.Series(), accounts.Row(&account))
	must.Do(t, d.Keys.PutLevel(t.Context(), d.Primary.AccessKey, "spare", keys.Allow(catalog.Actions()...)))
	addresses := []string{`{"addresses":["` + held.Address + `"]}`}
	listed := `{"access_keys":["` + d.SubKey.AccessKey + `"]}`
	bodies := map[string][]string{
		"/upgrade/v2/distributor/sub-keys":                {`{"name":"another","monthly_quota":5}`},
		"/upgrade/v2/distributor/sub-keys/batch-enable":   {listed},
		"/upgrade/v2/distributor/sub-keys/batch-disable":  {listed},
		"/upgrade/v2/distributor/register":                {`{"invite_token":"none"}`},
		"/upgrade/v2/hl/traders/clearinghouse-state":      addresses,
		"/upgrade/v2/hl/traders/spot-clearinghouse-state": addresses,
		"/upgrade/v2/hl/info": {
			`{"type":"allMids"}`, `{"type":"meta"}`, `{"type":"userFills","user":"0x0123456789abcdef0123456789abcdef01234567"}`,
			`{"type":"candleSnapshot","req":{"coin":"BTC","interval":"1h","startTime":1795262400000}}`,
			`{"type":"clearinghouseState","user":"0x00000000000000000000000000000000000000aa"}`, // asked for at the exchange
			`{"type":"exchangeStatus"}`, // which the exchange answers
		},
	}
	for _, e := range catalog.All() {
		if e.Planned || e.Method == catalog.MethodWS {
			continue
		}
		var event events.APIGatewayProxyRequest
		strict(t, e.Function(), &event)
		values := values
		if e.Method == http.MethodDelete { // of a sub-key that is not there, and of a level that nobody needs
			values = strings.NewReplacer("{level}", "spare", "{access_key}", "none")
		}
		segments := strings.Split(values.Replace(e.Documented()), "/")
		for i, segment := range segments {
			if _, _, ok := catalog.PathParameter(segment); ok {
				segments[i] = "1"
			}
		}
		event.HTTPMethod, event.Resource = e.Method, e.Path
		event.PathParameters = apitest.Event(t, e.Method, strings.Join(segments, "/"), nil).PathParameters
		event.MultiValueQueryStringParameters = map[string][]string{
			"coin": {"BTC"}, "interval": {"1h"}, "id": {"1"}, "symbol": {"btcswapusdt:binance"}, "key_list": {perpKey}, "market_list": {pairs.Hyperliquid},
		}
		switch e.Path {
		case catalog.LatestTrades.Path:
			event.MultiValueQueryStringParameters["symbol"] = []string{perpKey}
		case catalog.OrdersByAddress.Path, catalog.FillsByAddress.Path: // of a frame
			must.Do(t, arrivals.SaveStored(t.Context(), d.Series(), market.ArrivalAt(d.Now())))
			frame := market.CursorAt("", market.ArrivalAt(d.Now().Add(-time.Hour)))
			event.MultiValueQueryStringParameters["cursor"] = []string{frame.Text()}
		case catalog.AddAlert.Path, catalog.RemoveAlert.Path: // in this order
			of := must.Get(market.ParseAlertType("td:5:td_nine"))(t)
			event.MultiValueQueryStringParameters["symbol"] = []string{followedKey}
			event.MultiValueQueryStringParameters["subType"] = []string{of.String()}
			event.MultiValueQueryStringParameters["id"] = []string{strconv.FormatInt(alerts.IDOf(followedKey, of), 10)}
		case catalog.CommonKlines.Path: // a pair that nobody has asked for
			event.MultiValueQueryStringParameters["symbol"] = []string{otherKey}
		}
		variants := bodies[e.Path]
		if e.Method == http.MethodGet || variants == nil {
			variants = []string{"{}"}
		}
		for _, event.Body = range variants {
			d.ask(t, e, event)
		}
	}
}

// signedBodies sends each function a POST whose signature is in its body, which the
// function checks itself.
func (d *deployment) signedBodies(t *testing.T) {
	t.Helper()
	d.Move(time.Since(d.Now()))
	quota := int64(10)
	subKey := d.Issue(t, d.Primary, keys.NewSubKey{Name: "bodies", MonthlyQuota: &quota}) // the other one's secret was reset
	seen := map[string]bool{}
	for _, e := range catalog.All() {
		if seen[e.Function()] || e.Method != http.MethodPost || !e.Authorized() {
			continue
		}
		seen[e.Function()] = true
		key := subKey
		if e.Access.Kind == catalog.Management {
			key = d.Primary
		}
		p := d.Sign(key)
		body := must.Get(json.Marshal(map[string]string{
			signature.AccessKeyID: p.AccessKeyID, signature.Nonce: p.Nonce, signature.Timestamp: p.Timestamp, signature.Signature: p.Signature,
		}))(t)
		event := apitest.Event(t, e.Method, strings.NewReplacer("{", "", "}", "").Replace(e.Path), string(body))
		event.RequestContext.Authorizer = admission.BodyContext()
		d.ask(t, e, event)
	}
}

// operator has admin do what its sample does not.
func (d *deployment) operator(t *testing.T) {
	t.Helper()
	invoke := func(event string) (out struct {
		Success bool
		ID      string
	}) {
		t.Helper()
		answer, err := d.invoke(t, catalog.FunctionAdmin, []byte(event))
		if err != nil || json.Unmarshal(answer, &out) != nil || !out.Success {
			t.Errorf("admin: %s: %s, %v", event, answer, err)
		}
		return out
	}
	invite := invoke(`{"action":"create_invite","name":"Beta","level":"all","max_sub_keys":1,"max_total_quota":0}`)
	invoke(`{"action":"revoke_invite","id":"` + invite.ID + `"}`)
	invoke(`{"action":"reseal_secrets"}`)
	invoke(`{"action":"disable_distributor","access_key":"` + d.Primary.AccessKey + `"}`)
	invoke(`{"action":"enable_distributor","access_key":"` + d.Primary.AccessKey + `"}`)
}

// socket has the connection of the sample follow something, and close.
func (d *deployment) socket(t *testing.T) {
	t.Helper()
	var event events.APIGatewayWebsocketProxyRequest
	strict(t, catalog.FunctionSocket, &event)
	for _, step := range []struct{ route, body string }{
		{"$default", `{"method":"subscribe","subscription":{"type":"trades","coin":"BTC"}}`},
		{"$default", `{"method":"unsubscribe","subscription":{"type":"trades","coin":"BTC"}}`},
		{"$disconnect", ""},
	} {
		event.RequestContext.RouteKey, event.Body = step.route, step.body
		text := must.Get(json.Marshal(event))(t)
		if answer, err := d.invoke(t, catalog.FunctionSocket, text); err != nil || strings.Contains(string(answer), `"statusCode":5`) {
			t.Errorf("socket: %s: %s, %v", step.route, answer, err)
		}
	}
}

// ask wants any answer but a 500, with which a right that is missing would
// show on AWS.
func (d *deployment) ask(t *testing.T, e *catalog.Endpoint, event events.APIGatewayProxyRequest) {
	t.Helper()
	text := must.Get(json.Marshal(event))(t)
	answer, err := d.invoke(t, e.Function(), text)
	var res events.APIGatewayProxyResponse
	if err != nil || json.Unmarshal(answer, &res) != nil || res.StatusCode == http.StatusInternalServerError {
		t.Errorf("%s %s: %s, %v", e, event.Body, answer, err)
	}
}
