package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// Unroll copies a synthesized assembly to a folder, with every REST API that has
// an OpenAPI document as one that has resources, methods and authorizers instead.
func Unroll(assembly, to string) error {
	if err := os.CopyFS(to, os.DirFS(assembly)); err != nil {
		return err
	}
	templates, err := filepath.Glob(filepath.Join(to, "*.template.json"))
	if err != nil {
		return err
	}
	if len(templates) == 0 {
		return errors.New("there is no template in " + assembly + ": run make synth")
	}
	for _, path := range templates {
		if err := unrollTemplate(path); err != nil {
			return fmt.Errorf("unroll %s: %w", filepath.Base(path), err)
		}
	}
	return nil
}

func unrollTemplate(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var template struct {
		Resources  map[string]object
		Parameters json.RawMessage `json:",omitempty"`
		Outputs    json.RawMessage `json:",omitempty"`
	}
	if err := json.Unmarshal(text, &template); err != nil {
		return err
	}
	added := make(map[string]object)
	for id, resource := range template.Resources {
		if resource["Type"] != "AWS::ApiGateway::RestApi" {
			continue
		}
		properties, _ := resource["Properties"].(object)
		document, ok := properties["Body"].(object)
		if !ok {
			continue
		}
		delete(properties, "Body")
		a := api{id: id, add: added, resources: make(map[string]any)}
		a.unroll(document)
	}
	maps.Copy(template.Resources, added)
	if text, err = json.Marshal(template); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// api is a REST API while its resources are made.
type api struct {
	id        string
	add       map[string]object
	resources map[string]any // by path: how methods and resources refer to them
}

func (a *api) unroll(document object) {
	components, _ := document["components"].(object)
	schemes, _ := components["securitySchemes"].(object)
	for name, scheme := range schemes {
		authorizer := scheme.(object)["x-amazon-apigateway-authorizer"].(object)
		a.add[a.id+"Authorizer"+name] = object{"Type": "AWS::ApiGateway::Authorizer", "Properties": object{
			"RestApiId": object{"Ref": a.id}, "Name": name, "Type": strings.ToUpper(authorizer["type"].(string)),
			"AuthorizerUri": authorizer["authorizerUri"], "AuthorizerResultTtlInSeconds": authorizer["authorizerResultTtlInSeconds"],
		}}
	}
	paths, _ := document["paths"].(object)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		at := a.resource(path)
		for method, operation := range paths[path].(object) {
			if method == "x-amazon-apigateway-any-method" {
				method = "ANY"
			}
			a.method(at, strings.ToUpper(method), operation.(object))
		}
	}
}

// resource returns the reference to the resource of a path, which it makes with
// those above it.
func (a *api) resource(path string) any {
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return object{"Fn::GetAtt": []string{a.id, "RootResourceId"}}
	}
	if at := a.resources[path]; at != nil {
		return at
	}
	cut := strings.LastIndex(path, "/")
	id := fmt.Sprintf("%sResource%d", a.id, len(a.resources))
	a.resources[path] = object{"Ref": id}
	a.add[id] = object{"Type": "AWS::ApiGateway::Resource", "Properties": object{
		"RestApiId": object{"Ref": a.id}, "ParentId": a.resource(path[:cut]), "PathPart": path[cut+1:],
	}}
	return a.resources[path]
}

func (a *api) method(at any, method string, operation object) {
	integration := operation["x-amazon-apigateway-integration"].(object)
	properties := object{
		"RestApiId": object{"Ref": a.id}, "ResourceId": at, "HttpMethod": method, "AuthorizationType": "NONE",
		"Integration": integrationOf(integration),
	}
	if security, ok := operation["security"].([]any); ok && len(security) > 0 {
		for name := range security[0].(object) {
			properties["AuthorizationType"] = "CUSTOM"
			properties["AuthorizerId"] = object{"Ref": a.id + "Authorizer" + name}
		}
	}
	// cdk-local takes the first that matches, API Gateway the most precise.
	kind := "Method"
	if method == "ANY" {
		kind = "OtherMethods"
	}
	a.add[fmt.Sprintf("%s%s%d", a.id, kind, len(a.add))] = object{"Type": "AWS::ApiGateway::Method", "Properties": properties}
}

// integrationOf is an integration in CloudFormation's words.
func integrationOf(document object) object {
	integration := object{"Type": strings.ToUpper(document["type"].(string))}
	for name, as := range map[string]string{"uri": "Uri", "httpMethod": "IntegrationHttpMethod", "requestTemplates": "RequestTemplates"} {
		if value, ok := document[name]; ok {
			integration[as] = value
		}
	}
	responses, _ := document["responses"].(object)
	var list []any
	for _, response := range responses {
		r := response.(object)
		list = append(list, object{
			"StatusCode": r["statusCode"], "ResponseParameters": r["responseParameters"], "ResponseTemplates": r["responseTemplates"],
		})
	}
	if list != nil {
		integration["IntegrationResponses"] = list
	}
	return integration
}
