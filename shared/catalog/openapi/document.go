// Package openapi writes the catalog down as OpenAPI documents: [Document] for the
// gateway, which reads 3.0, and [Public] for people, in 3.1 with descriptions and
// examples (openapi.json, written by make openapi).
//
// [Document] is made of plain maps, so that whoever serves the document can add
// to it before encoding it: the deployment adds what the gateway must know. As
// encoding/json sorts the members of maps, the same catalog always gives the
// same bytes. Nothing is imported but the catalog.
package openapi

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"quotary/shared/catalog"
)

// Object is a JSON object.
type Object = map[string]any

// Error is the name of the schema of every answer that is not 200.
const Error = "Error"

// Document returns all HTTPS endpoints. The caller owns it.
//
// Every operation names its function in x-quotary-function and who may call it
// in x-quotary-access; x-quotary-planned marks what answers 501 until it is
// built, of which only the parameters in the path are described.
func Document() Object {
	d := &document{schemas: Object{}}
	d.schemas[Error] = d.object(reflect.TypeFor[catalog.ErrorBody]())
	paths := paths(d.operation)
	return Object{
		"openapi": "3.0.3",
		"info": Object{
			"title":       "Quotary",
			"version":     "2",
			"description": "Crypto market data. Decimals are strings, times are UTC.",
		},
		"servers": []any{Object{"url": catalog.BasePath}},
		"paths":   paths,
		"components": Object{
			"schemas":         d.schemas,
			"securitySchemes": signatureSchemes(),
		},
	}
}

// paths are the operations of all HTTPS endpoints, by path and method.
func paths(operation func(*catalog.Endpoint) Object) Object {
	paths := Object{}
	for _, e := range catalog.All() {
		if e.Method == catalog.MethodWS {
			continue
		}
		item, ok := paths[e.Documented()].(Object)
		if !ok {
			item = Object{}
			paths[e.Documented()] = item
		}
		item[strings.ToLower(e.Method)] = operation(e)
	}
	return paths
}

type document struct {
	schemas Object
	public  bool // for people, in OpenAPI 3.1
}

func (d *document) operation(e *catalog.Endpoint) Object {
	op := Object{
		"operationId":        e.OperationID(),
		"tags":               []any{string(e.Family)},
		"security":           []any{},
		"x-quotary-function": e.Function(),
		"x-quotary-access":   e.Access.String(),
		"responses": Object{
			"200":     d.success(e),
			"default": Object{"description": "refused or failed", "content": jsonContent(reference(Error))},
		},
	}
	if e.Authorized() {
		signed := Object{}
		for name := range signatureSchemes() {
			signed[name] = []any{}
		}
		op["security"] = []any{signed}
	}
	if e.Planned {
		op["x-quotary-planned"] = true
	}
	parameters, body := d.request(e)
	if len(parameters) > 0 {
		op["parameters"] = parameters
	}
	if body != nil {
		op["requestBody"] = Object{"required": true, "content": jsonContent(body)}
	}
	return op
}

func (d *document) success(e *catalog.Endpoint) Object {
	success := Object{"description": "success", "content": content(e, d.answer(e))}
	if sent := partHeaders(e); len(sent) > 0 {
		success["headers"] = sent
	}
	return success
}

// partHeaders are the headers of an answer that may be a part of what was asked for.
func partHeaders(e *catalog.Endpoint) Object {
	sent := Object{}
	if e.In != nil && slices.ContainsFunc(reflect.VisibleFields(e.In), func(f reflect.StructField) bool { return f.Type == reflect.TypeFor[catalog.Cursor]() }) {
		sent[catalog.HeaderNextCursor] = Object{
			"description": "present where the answer is not all: the cursor with which the rest is asked for",
			"schema":      Object{"type": "string"},
		}
	}
	if e.Venue {
		sent[catalog.HeaderDataSource] = Object{
			"description": "present where the answer begins with what the exchange itself says: \"venue until <time>\"",
			"schema":      Object{"type": "string"},
		}
	}
	if e.Covers {
		sent[catalog.HeaderDataCoverage] = Object{
			"description": "how much of the open interest is held by the accounts that are known, and so in the answer: 0 to 1",
			"schema":      Object{"type": "string"},
		}
	}
	if e.Versions {
		sent[catalog.HeaderDataVersion] = Object{
			"description": "when that was made of which the answer is",
			"schema":      Object{"type": "string", "format": "date-time"},
		}
	}
	if e.Hourly() {
		sent[catalog.HeaderDataUntil] = Object{
			"description": "present where what the answer is made of comes with the hours that the venue publishes: up to when it is whole",
			"schema":      Object{"type": "string", "format": "date-time"},
		}
		sent[catalog.HeaderDataMissing] = Object{
			"description": "present where some hours before that have not come, or not whole: their beginnings, with commas between them",
			"schema":      Object{"type": "string"},
		}
	}
	if e.SaysSince() {
		sent[catalog.HeaderDataSince] = Object{
			"description": "present where the answer would reach further back than the data is known or retained: since when it goes",
			"schema":      Object{"type": "string", "format": "date-time"},
		}
	}
	return sent
}

// request describes the parameters and the body of a request; a nil body is
// none.
func (d *document) request(e *catalog.Endpoint) (parameters []any, body Object) {
	if e.In == nil {
		for _, segment := range strings.Split(e.Documented(), "/") {
			if name, _, ok := catalog.PathParameter(segment); ok {
				parameters = append(parameters, parameter("path", name, true, Object{"type": "string"}))
			}
		}
		return parameters, nil
	}
	members, required := Object{}, []any{}
	for _, p := range catalog.Parameters(e.In) {
		schema := d.accepted(p.Field.Type, p.Field.Tag)
		if len(p.Names) > 1 {
			schema["description"] = "also accepted as " + strings.Join(p.Names[1:], ", ")
		}
		// Null is as good as absent; among a member's choices generators do not expect it.
		if d.public && p.In == "body" && !p.Required && schema["enum"] == nil {
			schema = orNull(schema)
		}
		if d.public && p.In == "body" && p.Field.Tag.Get("list") == "set" {
			schema["items"] = orNull(schema["items"].(Object))
		}
		d.words(schema, e.In, p.Field)
		if p.In != "body" {
			described := parameter(p.In, p.Names[0], p.Required, schema)
			if schema["type"] == "array" {
				described["style"], described["explode"] = "form", false
			}
			parameters = append(parameters, described)
			continue
		}
		members[p.Names[0]] = schema
		if p.Required {
			required = append(required, p.Names[0])
		}
	}
	if d.public && e.Method == http.MethodPost && e.Authorized() {
		for _, name := range catalog.SignatureParameters {
			d.schemas[name] = Object{"type": "string", "description": signatureTexts[name] + "; in the body, where the query has none of the four"}
			members[name] = reference(name)
		}
	}
	if varied, ok := reflect.New(e.In).Interface().(catalog.Varied); ok && d.public {
		return parameters, d.variants(e, varied.Variants(), members)
	}
	if len(members) > 0 {
		body = object(members, required)
	}
	return parameters, body
}

func object(members Object, required []any) Object {
	out := Object{"type": "object", "properties": members}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// variants is the body of a request that is one of several. Each is a component, which
// generators name their type of it by.
func (d *document) variants(e *catalog.Endpoint, list []catalog.Variant, members Object) Object {
	bodies, mapping := []any{}, Object{}
	for _, v := range list {
		own, required := Object{}, []any{"type"}
		for _, name := range v.Needs {
			own[name] = notNull(members[name].(Object))
			required = append(required, name)
		}
		for _, name := range slices.Concat(v.Takes, catalog.SignatureParameters) {
			own[name] = members[name]
		}
		kind := clone(members["type"].(Object))
		kind["enum"] = []any{v.Name}
		kind["examples"] = []any{v.Name}
		delete(kind, "maxLength")
		own["type"] = kind
		body := object(own, required)
		body["description"] = v.About
		name := strings.TrimSuffix(e.In.Name(), "In") + strings.ToUpper(v.Name[:1]) + v.Name[1:]
		d.schemas[name] = body
		bodies = append(bodies, reference(name))
		mapping[v.Name] = reference(name)["$ref"]
	}
	return Object{"oneOf": bodies, "discriminator": Object{"propertyName": "type", "mapping": mapping}}
}

func parameter(place, name string, required bool, schema Object) Object {
	return Object{"in": place, "name": name, "required": required, "schema": schema}
}

// answer is the schema of a 200: data in its envelope.
func (d *document) answer(e *catalog.Endpoint) Object {
	data := Object{}
	if e.Out != nil {
		if !e.Out.Implements(reflect.TypeFor[catalog.Members]()) {
			data = d.schema(e.Out)
		}
		if e.Out.Implements(reflect.TypeFor[interface{ Bare() }]()) {
			return data
		}
	}
	truth, text, number := Object{"type": "boolean"}, Object{"type": "string"}, Object{"type": "integer"}
	members := map[catalog.Envelope]Object{
		catalog.EnvelopeA: {"success": truth, "errorCode": number, "error": text, "data": data},
		catalog.EnvelopeB: {"code": text, "msg": text, "data": data},
		catalog.EnvelopeC: {"success": truth, "status": number, "message": text, "data": data},
		catalog.EnvelopeD: {"success": truth, "data": data, "message": text},
	}[e.Envelope]
	if e.Out == reflect.TypeFor[catalog.None]() {
		delete(members, "data")
	}
	if e.Out != nil && e.Out.Implements(reflect.TypeFor[catalog.Members]()) {
		maps.Copy(members, d.object(e.Out)["properties"].(Object))
	}
	return Object{"type": "object", "properties": members}
}

// signatureSchemes are the four parameters that sign a request, all of which
// are needed. A POST may carry them in its body instead.
func signatureSchemes() Object {
	schemes := Object{}
	for _, name := range catalog.SignatureParameters {
		schemes[name] = Object{"type": "apiKey", "in": "query", "name": name}
	}
	return schemes
}

func jsonContent(schema Object) Object { return Object{jsonMedia: Object{"schema": schema}} }

const jsonMedia = "application/json"

// content is that of an answer of a schema.
func content(e *catalog.Endpoint, schema Object) Object {
	return Object{media(e): Object{"schema": schema}}
}

// media is the type of an answer: JSON unless its own type says otherwise.
func media(e *catalog.Endpoint) string {
	if e.Out == nil {
		return jsonMedia
	}
	if of, ok := reflect.Zero(e.Out).Interface().(interface{ MediaType() string }); ok {
		return of.MediaType()
	}
	return jsonMedia
}

func reference(name string) Object { return Object{"$ref": "#/components/schemas/" + name} }
