package stacks

import (
	"slices"
	"strings"

	"quotary/shared/catalog"
	"quotary/shared/catalog/openapi"
)

// The authorizer stands in the gateway's document twice: before requests whose
// signature must be in the query, which is an identity source without which it is not
// even woken, and before those that may carry it in the body.
const (
	querySigned = "querySigned"
	anySigned   = "anySigned"
)

// gatewayDocument is the OpenAPI document that defines the REST API: all
// routes in one resource, where a resource for each would exceed the 500 of a
// stack.
//
// Of the public document it keeps the operations and the parameters in paths.
// Schemas are left out: functions validate requests, with one body for all
// errors, and the gateway's importer knows only a part of OpenAPI. Added are
// the integrations, the authorizer, the gateway's own answers and, for each
// path, a method ANY that answers 405.
func gatewayDocument() openapi.Object {
	document := openapi.Document()
	byOperation := map[string]*catalog.Endpoint{}
	for _, e := range catalog.All() {
		byOperation[e.OperationID()] = e
	}
	paths := openapi.Object{}
	for path, item := range document["paths"].(openapi.Object) {
		routes, methods := openapi.Object{}, []string{}
		for method, op := range item.(openapi.Object) {
			op := op.(openapi.Object)
			e := byOperation[op["operationId"].(string)]
			routes[method], path = operation(op, e), e.Path // the gateway must know which parameter takes the rest
			methods = append(methods, strings.ToUpper(method))
		}
		slices.Sort(methods)
		routes["x-amazon-apigateway-any-method"] = methodNotAllowed(strings.Join(methods, ", "))
		paths[path] = routes
	}
	return openapi.Object{
		"openapi": document["openapi"],
		"info":    document["info"],
		"paths":   paths,
		"components": openapi.Object{
			"securitySchemes": openapi.Object{
				querySigned: authorizer(catalog.SignatureParameters), anySigned: authorizer(nil),
			},
		},
		"x-amazon-apigateway-gateway-responses": gatewayResponses(),
	}
}

func operation(public openapi.Object, e *catalog.Endpoint) openapi.Object {
	op := openapi.Object{
		"operationId":                     public["operationId"],
		"responses":                       openapi.Object{"200": openapi.Object{"description": "success"}},
		"x-amazon-apigateway-integration": proxy(e.Function()),
	}
	var inPath []any
	parameters, _ := public["parameters"].([]any)
	for _, p := range parameters {
		// What stands behind a parameter that takes the rest is none of the gateway's.
		if p := p.(openapi.Object); p["in"] == "path" && strings.Contains(strings.ReplaceAll(e.Path, "+}", "}"), "{"+p["name"].(string)+"}") {
			inPath = append(inPath, openapi.Object{
				"in": "path", "name": p["name"], "required": true, "schema": openapi.Object{"type": "string"},
			})
		}
	}
	if inPath != nil {
		op["parameters"] = inPath
	}
	if e.Authorized() {
		scheme := querySigned
		if len(e.IdentitySource()) == 0 {
			scheme = anySigned
		}
		op["security"] = []any{openapi.Object{scheme: []any{}}}
	}
	return op
}

// proxy passes requests to a function and waits for it as long as it may run.
func proxy(function string) openapi.Object {
	return openapi.Object{
		"type": "aws_proxy", "httpMethod": "POST", "passthroughBehavior": "when_no_match",
		"timeoutInMillis": catalog.GatewayTimeout.Milliseconds(),
		"uri":             invocation("${" + logicalID(function) + ".Arn}"),
	}
}

// invocation is the address under which the gateway invokes a function.
func invocation(arn string) openapi.Object {
	return openapi.Object{"Fn::Sub": "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/" + arn + "/invocations"}
}

// authorizer asks for every request again, as each signature is good for one. Requests
// without a query parameter of its identity source are refused before it sees them.
func authorizer(identitySource []string) openapi.Object {
	declared := openapi.Object{
		"type": "request", "authorizerResultTtlInSeconds": 0,
		"authorizerUri": invocation("${" + logicalID(catalog.FunctionAuthorizer) + ".Arn}"),
	}
	var sources []string
	for _, name := range identitySource {
		sources = append(sources, "method.request.querystring."+name)
	}
	if sources != nil {
		declared["identitySource"] = strings.Join(sources, ", ")
	}
	return openapi.Object{
		"type": "apiKey", "in": "header", "name": "Unused",
		"x-amazon-apigateway-authtype":   "custom",
		"x-amazon-apigateway-authorizer": declared,
	}
}

// bodyTypes are the content types that a 405 is ready for; API Gateway takes a
// request without one for application/json, and answers 415 to any other.
var bodyTypes = []string{
	"application/json", "application/octet-stream", "application/x-www-form-urlencoded",
	"application/xml", "multipart/form-data", "text/html", "text/plain", "text/xml",
}

// methodNotAllowed is the answer of a path to every other method, given by the
// gateway alone.
func methodNotAllowed(allow string) openapi.Object {
	no := catalog.MethodNotAllowed()
	request := openapi.Object{}
	for _, kind := range bodyTypes {
		request[kind] = `{"statusCode":405}`
	}
	header := openapi.Object{"schema": openapi.Object{"type": "string"}}
	return openapi.Object{
		"responses": openapi.Object{"405": openapi.Object{
			"description": "method not allowed",
			"headers":     openapi.Object{"Allow": header, "Cache-Control": header, "X-Request-Id": header},
		}},
		"x-amazon-apigateway-integration": openapi.Object{
			"type": "mock", "passthroughBehavior": "never", "requestTemplates": request,
			"contentHandling": "CONVERT_TO_TEXT", // as bodies are binary, and a template takes text
			"responses": openapi.Object{"default": openapi.Object{
				"statusCode": "405", "contentHandling": "CONVERT_TO_TEXT",
				"responseParameters": openapi.Object{
					"method.response.header.Allow":         "'" + allow + "'",
					"method.response.header.Cache-Control": "'no-store'",
					"method.response.header.X-Request-Id":  "context.requestId",
				},
				"responseTemplates": openapi.Object{"application/json": no.Template},
			}},
		},
	}
}

func gatewayResponses() openapi.Object {
	out := openapi.Object{}
	for _, r := range catalog.GatewayResponses() {
		one := openapi.Object{
			"responseParameters": openapi.Object{
				"gatewayresponse.header.Cache-Control": "'no-store'",
				"gatewayresponse.header.X-Request-Id":  "context.requestId",
			},
			"responseTemplates": openapi.Object{"application/json": r.Template},
		}
		if r.Status != 0 {
			one["statusCode"] = r.Status
		}
		out[r.Type] = one
	}
	return out
}
