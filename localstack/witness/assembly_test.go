package witness

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	restTemplate = `{"Resources": {"Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": "n", "Body": {
		"components": {"securitySchemes": {"gate": {"x-amazon-apigateway-authorizer": {
			"type": "request", "authorizerUri": "arn:gate", "authorizerResultTtlInSeconds": 0}}}},
		"x-amazon-apigateway-gateway-responses": {"UNAUTHORIZED": {"statusCode": 401,
			"responseParameters": {"gatewayresponse.header.Cache-Control": "'no-store'"},
			"responseTemplates": {"application/json": "{}"}}},
		"paths": {"/a/{b}": {
			"x-amazon-apigateway-any-method": {"x-amazon-apigateway-integration": {"type": "mock", "responses": {"default": {"statusCode": "405"}}}},
			"get": {"security": [{"gate": []}], "x-amazon-apigateway-integration": {"type": "aws_proxy", "uri": "arn:f"}},
			"post": {"x-amazon-apigateway-integration": {"type": "aws_proxy", "uri": "arn:g"}}}}}}}}}`
	feedTemplate = `{"Resources": {
		"Feed": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"ProtocolType": "WEBSOCKET", "Description": "/a/feed"}},
		"Stage": {"Type": "AWS::ApiGatewayV2::Stage", "Properties": {"ApiId": {"Ref": "Feed"}, "StageVariables": {"feed": "feed"}}},
		"Gate": {"Type": "AWS::ApiGatewayV2::Authorizer", "Properties": {"ApiId": {"Ref": "Feed"}, "IdentitySource": ["route.request.querystring.A", "route.request.querystring.B"]}},
		"Connect": {"Type": "AWS::ApiGatewayV2::Route", "Properties": {"ApiId": {"Ref": "Feed"}, "AuthorizationType": "CUSTOM", "AuthorizerId": {"Ref": "Gate"}}},
		"Function": {"Type": "AWS::Lambda::Function", "Metadata": {"aws:asset:path": "here"}}}}`
)

// unrolled writes templates, unrolls them and reads them again.
func unrolled(t *testing.T, templates map[string]string) (*Plan, map[string]resource) {
	t.Helper()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "assembly")
	for name, text := range templates {
		if err := os.WriteFile(filepath.Join(from, name+".template.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := Unroll(from, to)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]resource)
	for name := range templates {
		text, err := os.ReadFile(filepath.Join(to, name+".template.json"))
		if err != nil {
			t.Fatal(err)
		}
		var one template
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, one.Resources)
	}
	return plan, all
}

func TestUnrollWritesTheDocumentAsResources(t *testing.T) {
	t.Parallel()
	plan, all := unrolled(t, map[string]string{"rest": restTemplate})
	var methods, parts []string
	for _, id := range slices.Sorted(maps.Keys(all)) { // the order in which cdk-local reads them
		r := all[id]
		switch r.Type {
		case "AWS::ApiGateway::RestApi":
			if r.Properties["Body"] != nil || r.Properties["Name"] != "n" {
				t.Errorf("the API is %v", r.Properties)
			}
		case "AWS::ApiGateway::Resource":
			parts = append(parts, r.Properties["PathPart"].(string))
		case "AWS::ApiGateway::Method":
			methods = append(methods, r.Properties["HttpMethod"].(string)+" "+r.Properties["AuthorizationType"].(string))
		case "AWS::ApiGateway::Authorizer":
			if r.Properties["Type"] != "REQUEST" || r.Properties["AuthorizerUri"] != "arn:gate" {
				t.Errorf("the authorizer is %v", r.Properties)
			}
		}
	}
	slices.Sort(parts)
	if !slices.Equal(parts, []string{"a", "{b}"}) {
		t.Errorf("parts of paths are %v", parts)
	}
	if slices.Sort(methods[:2]); strings.Join(methods, ", ") != "GET CUSTOM, POST NONE, ANY NONE" {
		t.Errorf("methods are %v", methods)
	}
	want := map[string]Response{"UNAUTHORIZED": {Status: 401, Template: "{}", Headers: map[string]string{"Cache-Control": "'no-store'"}}}
	if !reflect.DeepEqual(plan.Responses, want) {
		t.Errorf("gateway responses are %+v", plan.Responses)
	}
}

func TestUnrollPutsAHandshakeBehindTheAuthorizerOfTheRESTAPI(t *testing.T) {
	t.Parallel()
	plan, all := unrolled(t, map[string]string{"rest": restTemplate, "feeds": feedTemplate})
	feed := plan.Feeds["/a/feed"]
	if feed == nil || feed.ID != "Feed" || feed.Variables["feed"] != "feed" {
		t.Fatalf("the feeds are %+v", plan.Feeds)
	}
	if connect := all["Connect"].Properties; connect["AuthorizationType"] != "NONE" || connect["AuthorizerId"] != nil {
		t.Errorf("the route is %v", connect)
	}
	if !strings.Contains(string(all["Function"].Metadata), "here") {
		t.Errorf("what is none of its business has changed: %+v", all["Function"])
	}
	gate := all["ApiAuthorizerFeed"].Properties
	if gate["AuthorizerUri"] != "arn:gate" || gate["IdentitySource"] != "method.request.querystring.A,method.request.querystring.B" {
		t.Errorf("its authorizer is %v", gate)
	}
	guarded := 0
	for _, r := range all {
		if authorizer, _ := r.Properties["AuthorizerId"].(object); r.Type == "AWS::ApiGateway::Method" && authorizer["Ref"] == "ApiAuthorizerFeed" {
			guarded++
		}
	}
	if guarded != 1 {
		t.Errorf("%d methods are behind it", guarded)
	}
}

func TestALogicalIDNamesItsFunction(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"PerpMarketFunction": "perp-market", "AuthorizerFunction": "authorizer"} {
		if got := functionOf(id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}
