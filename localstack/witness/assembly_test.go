package witness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const document = `{"Resources": {"Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Name": "n", "Body": {
	"components": {"securitySchemes": {"gate": {"x-amazon-apigateway-authorizer": {
		"type": "request", "authorizerUri": "arn:gate", "authorizerResultTtlInSeconds": 0}}}},
	"paths": {"/a/{b}": {
		"x-amazon-apigateway-any-method": {"x-amazon-apigateway-integration": {"type": "mock", "responses": {"default": {"statusCode": "405"}}}},
		"get": {"security": [{"gate": []}], "x-amazon-apigateway-integration": {"type": "aws_proxy", "uri": "arn:f"}},
		"post": {"x-amazon-apigateway-integration": {"type": "aws_proxy", "uri": "arn:g"}}}}}}}}}`

func TestUnrollWritesTheDocumentAsResources(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "assembly")
	if err := os.WriteFile(filepath.Join(from, "x.template.json"), []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Unroll(from, to); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(to, "x.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties map[string]any
		}
	}
	if err := json.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	var methods, parts []string
	var ids []string
	for id := range template.Resources {
		ids = append(ids, id)
	}
	slices.Sort(ids) // the order in which cdk-local reads them
	for _, id := range ids {
		r := template.Resources[id]
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
}

func TestALogicalIDNamesItsProgram(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"PerpMarketFunction": "perp-market", "AuthorizerFunction": "authorizer"} {
		if got := program(id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}
