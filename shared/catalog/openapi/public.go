package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"quotary/shared/catalog"
)

// descriptionLines has a line for each description, sorted: its name, a tab, the text.
// Written by make openapi.
//
//go:embed descriptions.txt
var descriptionLines string

// descriptions are the comments of endpoints ("GET /v2/coin"), types ("Fill") and
// fields ("Fill.Px") of the catalog, by these names.
var descriptions = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(descriptionLines) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out[name] = text
	}
	return out
})

// Example is a request that an endpoint was sent and what it answered.
type Example struct {
	Name   string // unique within the endpoint
	Path   map[string]string
	Query  map[string][]string
	Body   json.RawMessage // of the request; nil is none
	Answer json.RawMessage // of status 200
}

// Public returns the document for people: OpenAPI 3.1 with every endpoint described by
// its comment in the catalog, and with examples by the names of endpoints
// ("GET /v2/coin").
//
// x-quotary-access names the action or grant that a key needs, as the catalog spells
// it; x-quotary-planned marks what answers 501 until it is built.
func Public(examples map[string][]Example) Object {
	d := &document{schemas: Object{}, public: true}
	d.schemas[Error] = d.object(reflect.TypeFor[catalog.ErrorBody]())
	paths := paths(func(e *catalog.Endpoint) Object { return d.describe(e, examples[e.String()]) })
	return Object{
		"openapi": "3.1.0",
		"info": Object{
			"title":       "Quotary",
			"version":     "2",
			"description": about,
		},
		"servers": []any{Object{"url": catalog.BasePath}},
		"paths":   paths,
		"components": Object{
			"schemas":         d.schemas,
			"securitySchemes": publicSchemes(),
			"headers":         headers(),
			"responses":       refusals(),
		},
	}
}

const about = "Crypto market data. Decimals are strings, times are UTC, and ms is milliseconds since 1970 UTC. " +
	"Below /upgrade/v2/hl the venue is the perpetual exchange Hyperliquid, a dex a group of its perpetuals (the main one has an empty name). " +
	"Sizes are in base units, coins of the market; prices and values are in quote units, USDC in nearly all markets. " +
	"A figure that is not known is null, or an empty text where that is said. " +
	"Every request but the registration is signed by four parameters, in the query or, for POST, in the JSON body. " +
	"An unknown parameter is ignored. One that has several names may be sent under more than one, with the same value. " +
	"Words to choose from are accepted in any letter case, lengths of time such as 15m as they are. " +
	"A list is sent as x=a,b or x=a&x=b or x[]=a&x[]=b or x[0]=a&x[1]=b, in a body as an array or a comma-joined text; " +
	"numbers in a body may be texts. Answers over 1 MB are compressed where gzip is accepted; one that would exceed 6 MB is refused."

// describe is the operation of an endpoint.
func (d *document) describe(e *catalog.Endpoint, examples []Example) Object {
	op := Object{
		"operationId":      e.OperationID(),
		"summary":          strings.TrimSuffix(descriptions()[e.String()], "."),
		"tags":             []any{string(e.Family)},
		"security":         []any{},
		"x-quotary-access": e.Access.String(),
		"responses":        d.responses(e, examples),
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
	if e.In != nil && e.In != reflect.TypeFor[catalog.None]() {
		op["description"] = descriptions()[e.In.Name()]
	}
	parameters, body := d.request(e)
	for _, p := range parameters {
		exemplify(p.(Object), examples)
	}
	if len(parameters) > 0 {
		op["parameters"] = parameters
	}
	if body != nil {
		content, shown := jsonContent(body), Object{}
		for _, example := range examples {
			if example.Body != nil {
				shown[example.Name] = Object{"value": example.Body}
			}
		}
		if len(shown) > 0 {
			content[jsonMedia].(Object)["examples"] = shown
		}
		_, must := body["required"]
		_, varied := body["oneOf"]
		op["requestBody"] = Object{"required": must || varied, "content": content}
	}
	return op
}

// responses are those of an endpoint by their status.
func (d *document) responses(e *catalog.Endpoint, examples []Example) Object {
	out := Object{"default": refusal("500")}
	for status := range refusals() {
		out[status] = refusal(status)
	}
	if e.Method != http.MethodPost && e.Method != http.MethodPut {
		delete(out, "413")
	}
	if !e.Authorized() {
		delete(out, "401")
		delete(out, "403")
	}
	if !e.Access.Counted() {
		delete(out, "429")
	}
	if !e.Access.Charged() {
		delete(out, "503")
	}
	if e.Planned {
		return out
	}
	delete(out, "501")
	content, shown := content(e, d.answer(e)), Object{}
	for _, example := range examples {
		shown[example.Name] = Object{"value": example.Answer}
	}
	if len(shown) > 0 {
		content[media(e)].(Object)["examples"] = shown
	}
	sent := partHeaders(e)
	sent["X-Request-Id"] = headerReference("X-Request-Id")
	for name := range headers() {
		if e.Access.Charged() && strings.HasPrefix(name, "Quota-") || e.Access.Counted() && strings.HasPrefix(name, "RateLimit-") {
			sent[name] = headerReference(name)
		}
	}
	out["200"] = Object{"description": "success", "headers": sent, "content": content}
	return out
}

// exemplify adds the values that examples have for a parameter.
func exemplify(parameter Object, examples []Example) {
	name, schema, shown := parameter["name"].(string), parameter["schema"].(Object), Object{}
	for _, example := range examples {
		values, ok := example.Query[name]
		if text, inPath := example.Path[name]; parameter["in"] == "path" && inPath {
			values, ok = []string{text}, true
		}
		if ok && len(values) > 0 {
			shown[example.Name] = Object{"value": typed(schema, strings.Join(values, ","))}
		}
	}
	if len(shown) > 0 {
		parameter["examples"] = shown
	}
}

// typed is the value that a text of a request means.
func typed(schema Object, text string) any {
	switch schema["type"] {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case "boolean":
		return text == "true" || text == "1"
	case "array":
		values := []any{}
		for _, entry := range strings.Split(text, ",") {
			values = append(values, typed(schema["items"].(Object), strings.TrimSpace(entry)))
		}
		return values
	}
	return text
}

// signatureTexts describe the four parameters that sign a request.
var signatureTexts = map[string]string{
	"AccessKeyId":    "access key of a sub-key, or of a distributor for its management endpoints",
	"SignatureNonce": "text of 1 to 128 characters that signs one request only within 30 seconds, such as a random UUID",
	"Timestamp":      "time in whole seconds since 1970 UTC, at most 30 seconds off",
	"Signature":      "Base64 of the hexadecimal HMAC-SHA1, keyed with the secret, of AccessKeyId=...&SignatureNonce=...&Timestamp=...",
}

// publicSchemes are [signatureSchemes] in words.
func publicSchemes() Object {
	schemes := signatureSchemes()
	for name, text := range signatureTexts {
		schemes[name].(Object)["description"] = text + "; a POST may have all four in its body instead"
	}
	return schemes
}

// headers are those that answers carry.
func headers() Object {
	number := Object{"type": "integer"}
	return Object{
		"X-Request-Id":        Object{"description": "id of the request, by which its log line is found", "schema": Object{"type": "string"}},
		"RateLimit-Limit":     Object{"description": "requests that the key may make in a minute", "schema": number},
		"RateLimit-Remaining": Object{"description": "requests left of them", "schema": number},
		"RateLimit-Reset":     Object{"description": "seconds until there are more", "schema": number},
		"Quota-Limit":         Object{"description": "requests that the key may make in a calendar month", "schema": number},
		"Quota-Remaining":     Object{"description": "requests left of them", "schema": number},
		"Quota-Reset":         Object{"description": "seconds until the next month", "schema": number},
		"Retry-After":         Object{"description": "seconds after which to try again", "schema": number},
	}
}

// refusals are the answers that are no success, by their status: each text is for all
// reasons that have the status of the one it stands at.
func refusals() Object {
	out := Object{}
	for reason, text := range map[catalog.Reason]string{
		catalog.ReasonBadParameter:     "a parameter is not accepted: the message names it and what is accepted",
		catalog.ReasonSignatureWrong:   "the signature is missing, wrong or used before",
		catalog.ReasonActionMissing:    "the key may not call this: the message says why",
		catalog.ReasonNotFound:         "there is no such thing, or no such endpoint",
		catalog.ReasonMethodNotAllowed: "the path has other methods, which Allow names",
		catalog.ReasonBodyTooLarge:     "the body is larger than 1 MiB",
		catalog.ReasonRateLimited:      "the rate or the quota of the key is used up",
		catalog.ReasonInternal:         "a fault of the service; it costs nothing",
		catalog.ReasonNotBuilt:         "specified, and not available yet",
		catalog.ReasonNotReady:         "what is asked for is not known yet, or the store is busy: the message says which, Retry-After when to ask again; it costs nothing",
		catalog.ReasonTooSlow:          "the request took too long: ask for less",
	} {
		sent := Object{"X-Request-Id": headerReference("X-Request-Id")}
		switch reason {
		case catalog.ReasonRateLimited:
			for name := range headers() {
				sent[name] = headerReference(name)
			}
		case catalog.ReasonNotReady:
			sent["Retry-After"] = headerReference("Retry-After")
		default: // no header of its own
		}
		content := jsonContent(reference(Error))
		content[jsonMedia].(Object)["example"] = catalog.NewErrorBody(reason, text, "0f3c1a52-5a3e-4a59-9d0c-2f4c1f0f6a11")
		out[strconv.Itoa(reason.Status())] = Object{"description": text, "headers": sent, "content": content}
	}
	return out
}

func headerReference(name string) Object { return Object{"$ref": "#/components/headers/" + name} }
func refusal(status string) Object       { return Object{"$ref": "#/components/responses/" + status} }

// words adds the description of a field to its schema.
func (d *document) words(schema Object, of reflect.Type, field reflect.StructField) {
	if !d.public {
		return
	}
	text := descriptions()[declaring(of, field)+"."+field.Name]
	if have, ok := schema["description"].(string); ok && have != "" && text != "" {
		text = fmt.Sprintf("%s (%s)", text, have)
	} else if ok {
		text = have + text
	}
	if text != "" {
		schema["description"] = text
	}
}

// declaring names the struct in which a field is declared, which is another one for
// a promoted field.
func declaring(t reflect.Type, field reflect.StructField) string {
	for _, i := range field.Index[:len(field.Index)-1] {
		t = t.Field(i).Type
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}
