package apitest

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"quotary/shared/catalog"
)

// Request is a call of an endpoint, to be sent by [World.Call].
type Request struct {
	Endpoint *catalog.Endpoint
	path     map[string]string
	query    url.Values
	body     map[string]any
}

// Example returns a request that the endpoint accepts, with the parameters that it
// requires and those that have an example. Its values come from the tags of the
// request struct (see [catalog.Route]).
func Example(e *catalog.Endpoint) Request {
	r := Request{Endpoint: e, path: map[string]string{}, query: url.Values{}, body: map[string]any{}}
	for _, segment := range strings.Split(e.Path, "/") {
		if name, _, ok := catalog.PathParameter(segment); ok { // of an endpoint to come nothing else is known
			r.path[name] = map[string]string{"address": anAddress, "builder": anAddress}[name]
			r.path[name] = cmp.Or(r.path[name], "1")
		}
	}
	for _, p := range Parameters(e) {
		if p.Required || p.Example {
			r = r.With(p, p.Valid)
		}
	}
	return r
}

// With returns the request with a value of one parameter, nil to leave it out. A
// path always has all its parameters.
func (r Request) With(p Parameter, value any) Request {
	r.path, r.query, r.body = maps.Clone(r.path), maps.Clone(r.query), maps.Clone(r.body)
	switch p.In {
	case "path":
		r.path[p.Name] = fmt.Sprint(value)
	case "query":
		delete(r.query, p.Name)
		if value != nil {
			r.query.Set(p.Name, fmt.Sprint(value))
		}
	case "body":
		delete(r.body, p.Name)
		if value != nil {
			r.body[p.Name] = value
		}
	}
	return r
}

// Twice returns the request with the value of a parameter of the query once more.
func (r Request) Twice(p Parameter) Request {
	r.query = maps.Clone(r.query)
	r.query[p.Name] = append(r.query[p.Name], r.query[p.Name]...)
	return r
}

// Target is the path with its parameters, and the query.
func (r Request) Target() string {
	path := r.Endpoint.Documented()
	for name, value := range r.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	if len(r.query) > 0 {
		path += "?" + r.query.Encode()
	}
	return path
}

// Body is what a POST or PUT sends: a JSON object; nil for other methods.
func (r Request) Body() any {
	if r.Endpoint.Method == "GET" || r.Endpoint.Method == "DELETE" {
		return nil
	}
	return r.body
}

// Parameter is a parameter of an endpoint with values to try.
type Parameter struct {
	Field    string // of the request struct
	Name     string // in the request
	In       string // path, query or body
	Required bool
	Example  bool   // optional, and part of an example
	Default  string // the text of what is bound where it is left out, "" = nothing
	Valid    any    // a value that is accepted
	Invalid  []any  // values that are refused
}

const anAddress = "0x0123456789abcdef0123456789abcdef01234567"

// Parameters returns the parameters of a built endpoint.
func Parameters(e *catalog.Endpoint) (list []Parameter) {
	if e.In == nil {
		return nil
	}
	for i := range e.In.NumField() {
		field := e.In.Field(i)
		for _, in := range []string{"path", "query", "body"} {
			names := field.Tag.Get(in)
			if names == "" {
				continue
			}
			p := Parameter{Field: field.Name, In: in, Required: in == "path" || field.Tag.Get("required") == "true", Default: field.Tag.Get("default")}
			p.Name, _, _ = strings.Cut(names, ",")
			p.Valid, p.Invalid = values(field.Type, field.Tag)
			if example := field.Tag.Get("example"); example != "" {
				p.Valid, p.Example = example, !p.Required
			}
			list = append(list, p)
		}
	}
	return list
}

// values are one that a parameter takes and some that it does not.
func values(t reflect.Type, tag reflect.StructTag) (valid any, invalid []any) {
	least, most := tag.Get("min"), tag.Get("max")
	switch {
	case t.Kind() == reflect.Pointer:
		return values(t.Elem(), tag)
	case t == reflect.TypeFor[catalog.Address]():
		return anAddress, []any{"0x1", "x", anAddress + "0"}
	case t == reflect.TypeFor[catalog.Coin]():
		return "BTC", []any{"B TC", strings.Repeat("A", 33), "B\u00e9"}
	case t == reflect.TypeFor[catalog.Millis]():
		return int64(1_790_000_000_000), []any{"-1", "yesterday", "1.5", "999999999999999"}
	case t == reflect.TypeFor[catalog.Int]():
		return 1, []any{"x", "1.5", "+1"}
	case t == reflect.TypeFor[catalog.Lookback]():
		invalid = []any{"x", "1", "-1h", "1y"}
		if n := seconds(least); n > 1 {
			invalid = append(invalid, strconv.FormatInt(n-1, 10)+"s")
		}
		if n := seconds(most); n > 0 {
			invalid = append(invalid, strconv.FormatInt(n+1, 10)+"s")
		}
		return cmp.Or(least, "1h"), invalid
	}
	switch t.Kind() {
	case reflect.Int64:
		invalid = []any{"x", "1.5", "+1", "99999999999999999999"}
		n, err := strconv.ParseInt(least, 10, 64)
		if err == nil {
			invalid = append(invalid, n-1)
		}
		if n, err := strconv.ParseInt(most, 10, 64); err == nil {
			invalid = append(invalid, n+1)
		}
		return max(n, 1), invalid
	case reflect.Bool:
		return true, []any{"maybe", "2"}
	case reflect.Slice:
		invalid = []any{"x", map[string]any{}}
		for text, beyond := range map[string]int{least: -1, most: 1} {
			if n, err := strconv.Atoi(text); err == nil {
				invalid = append(invalid, make([]any, n+beyond))
			}
		}
		element, _ := values(t.Elem(), "")
		return []any{element}, invalid
	case reflect.Struct:
		return map[string]any{}, []any{"x", []any{}, 5}
	}
	if list := tag.Get("enum"); list != "" {
		first, _, _ := strings.Cut(list, "|")
		return first, []any{"none of these"}
	}
	longest, err := strconv.Atoi(tag.Get("maxlen"))
	if err != nil {
		longest = 4096
	}
	return "a", []any{strings.Repeat("a", longest+1), "a\x00b"}
}

// seconds is a window in seconds, 0 where there is none.
func seconds(window string) int64 {
	var l catalog.Lookback
	if l.UnmarshalText([]byte(window)) != nil {
		return 0
	}
	return int64(l)
}
