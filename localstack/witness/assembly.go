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

// Plan is what templates say that cdk-local does not read.
type Plan struct {
	Responses map[string]Response // of the REST API's gateway, by type
	Feeds     map[string]*Feed    // by path
}

// Response is an answer that the gateway gives by itself.
type Response struct {
	Status   int // 0 leaves the usual one
	Template string
	Headers  map[string]string // constants in single quotes, or variables
}

// Feed is a WebSocket API.
type Feed struct {
	ID        string // of its resource
	Path      string // under which clients know it, the description of the API
	Variables map[string]string

	identity []string // what its authorizer wants to be there
}

// Unroll copies a synthesized assembly to a folder and changes what cdk-local
// cannot serve: a REST API that has an OpenAPI document has resources, methods and
// authorizers instead, and a WebSocket API has no authorizer. The REST API has a
// path for each WebSocket API in return, with its authorizer before an empty
// answer.
func Unroll(assembly, to string) (*Plan, error) {
	if err := os.CopyFS(to, os.DirFS(assembly)); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(to, "*.template.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("there is no template in " + assembly + ": run make synth")
	}
	templates := make([]template, len(paths))
	plan := &Plan{Responses: make(map[string]Response), Feeds: make(map[string]*Feed)}
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &templates[i]); err != nil {
			return nil, fmt.Errorf("read %s: %w", filepath.Base(path), err)
		}
		templates[i].openFeeds(plan)
	}
	for i, path := range paths {
		templates[i].unroll(plan)
		text, err := json.Marshal(&templates[i])
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// template is a CloudFormation template, as far as it matters here.
type template struct {
	Resources  map[string]resource
	Parameters json.RawMessage `json:",omitempty"`
	Outputs    json.RawMessage `json:",omitempty"`
}

type resource struct {
	Type           string
	Properties     object          `json:",omitempty"`
	Metadata       json.RawMessage `json:",omitempty"`
	DependsOn      json.RawMessage `json:",omitempty"`
	DeletionPolicy string          `json:",omitempty"`
}

// openFeeds notes the WebSocket APIs and takes their authorizers away.
func (t *template) openFeeds(plan *Plan) {
	for id, api := range t.Resources {
		if api.Type != "AWS::ApiGatewayV2::Api" || api.Properties["ProtocolType"] != "WEBSOCKET" {
			continue
		}
		feed := &Feed{ID: id, Variables: make(map[string]string)}
		feed.Path, _ = api.Properties["Description"].(string)
		for _, r := range t.Resources {
			if ref, _ := r.Properties["ApiId"].(object); ref["Ref"] != id {
				continue
			}
			switch r.Type {
			case "AWS::ApiGatewayV2::Stage":
				variables, _ := r.Properties["StageVariables"].(object)
				for name, value := range variables {
					feed.Variables[name], _ = value.(string) // an address of AWS is none here
				}
			case "AWS::ApiGatewayV2::Authorizer":
				source, _ := r.Properties["IdentitySource"].([]any)
				for _, s := range source {
					feed.identity = append(feed.identity, strings.Replace(fmt.Sprint(s), "route.", "method.", 1))
				}
			case "AWS::ApiGatewayV2::Route":
				r.Properties["AuthorizationType"] = "NONE"
				delete(r.Properties, "AuthorizerId")
			}
		}
		plan.Feeds[feed.Path] = feed
	}
}

// unroll replaces the documents of REST APIs.
func (t *template) unroll(plan *Plan) {
	added := make(map[string]resource)
	for id, r := range t.Resources {
		if r.Type != "AWS::ApiGateway::RestApi" {
			continue
		}
		document, ok := r.Properties["Body"].(object)
		if !ok {
			continue
		}
		delete(r.Properties, "Body")
		a := api{id: id, add: added, resources: make(map[string]any)}
		a.unroll(document)
		for _, path := range slices.Sorted(maps.Keys(plan.Feeds)) {
			a.handshake(plan.Feeds[path])
		}
		responses, _ := document["x-amazon-apigateway-gateway-responses"].(object)
		for kind, response := range responses {
			plan.Responses[kind] = responseOf(response.(object))
		}
	}
	maps.Copy(t.Resources, added)
}

func responseOf(document object) Response {
	status, _ := document["statusCode"].(float64)
	templates, _ := document["responseTemplates"].(object)
	parameters, _ := document["responseParameters"].(object)
	r := Response{Status: int(status), Headers: make(map[string]string)}
	r.Template, _ = templates["application/json"].(string)
	for name, value := range parameters {
		if header, ok := strings.CutPrefix(name, "gatewayresponse.header."); ok {
			r.Headers[header], _ = value.(string)
		}
	}
	return r
}

// api is a REST API while its resources are made.
type api struct {
	id        string
	add       map[string]resource
	resources map[string]any // by path: how methods and resources refer to them
	uri       any            // of the authorizer
}

func (a *api) unroll(document object) {
	components, _ := document["components"].(object)
	schemes, _ := components["securitySchemes"].(object)
	for name, scheme := range schemes {
		authorizer := scheme.(object)["x-amazon-apigateway-authorizer"].(object)
		a.uri = authorizer["authorizerUri"]
		a.authorizer(name, authorizer["type"].(string), authorizer["authorizerResultTtlInSeconds"], nil)
	}
	paths, _ := document["paths"].(object)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		at := a.resource(path)
		for method, operation := range paths[path].(object) {
			if method == "x-amazon-apigateway-any-method" {
				method = "ANY"
			}
			a.operation(at, strings.ToUpper(method), operation.(object))
		}
	}
}

// handshake adds what decides on the handshakes of a WebSocket API.
func (a *api) handshake(feed *Feed) {
	a.authorizer(feed.ID, "request", 0, feed.identity)
	a.method(a.resource(feed.Path), "GET", feed.ID, object{
		"Type": "MOCK", "RequestTemplates": object{"application/json": `{"statusCode":200}`},
		"IntegrationResponses": []any{object{"StatusCode": "200"}},
	})
}

func (a *api) authorizer(name, kind string, ttl any, identity []string) {
	properties := object{
		"RestApiId": object{"Ref": a.id}, "Name": name, "Type": strings.ToUpper(kind),
		"AuthorizerUri": a.uri, "AuthorizerResultTtlInSeconds": ttl,
	}
	if identity != nil {
		properties["IdentitySource"] = strings.Join(identity, ",")
	}
	a.add[a.id+"Authorizer"+name] = resource{Type: "AWS::ApiGateway::Authorizer", Properties: properties}
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
	a.add[id] = resource{Type: "AWS::ApiGateway::Resource", Properties: object{
		"RestApiId": object{"Ref": a.id}, "ParentId": a.resource(path[:cut]), "PathPart": path[cut+1:],
	}}
	return a.resources[path]
}

func (a *api) operation(at any, method string, operation object) {
	authorizer := ""
	if security, ok := operation["security"].([]any); ok && len(security) > 0 {
		for name := range security[0].(object) {
			authorizer = name
		}
	}
	a.method(at, method, authorizer, integrationOf(operation["x-amazon-apigateway-integration"].(object)))
}

// method adds a method behind an authorizer, or behind none where that is empty.
func (a *api) method(at any, method, authorizer string, integration object) {
	properties := object{
		"RestApiId": object{"Ref": a.id}, "ResourceId": at, "HttpMethod": method, "AuthorizationType": "NONE",
		"Integration": integration,
	}
	if authorizer != "" {
		properties["AuthorizationType"] = "CUSTOM"
		properties["AuthorizerId"] = object{"Ref": a.id + "Authorizer" + authorizer}
	}
	// cdk-local takes the first that matches, API Gateway the most precise.
	kind := "Method"
	if method == "ANY" {
		kind = "OtherMethods"
	}
	a.add[fmt.Sprintf("%s%s%d", a.id, kind, len(a.add))] = resource{Type: "AWS::ApiGateway::Method", Properties: properties}
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
