package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"quotary/shared/catalog"
)

// texts are the types whose wire form is not that of their kind.
var texts = map[reflect.Type]Object{
	reflect.TypeFor[catalog.Address]():         {"type": "string", "pattern": "^0[xX][0-9a-fA-F]{40}$"},
	reflect.TypeFor[catalog.Coin]():            {"type": "string", "maxLength": 32},
	reflect.TypeFor[catalog.Millis]():          {"type": "integer", "format": "int64", "minimum": 0},
	reflect.TypeFor[catalog.Lookback]():        {"type": "string", "pattern": "^[0-9]+[smhdw]$"},
	reflect.TypeFor[catalog.Moment]():          {"type": "string"},
	reflect.TypeFor[catalog.Days]():            {"type": "integer", "minimum": 0, "maximum": 365},
	reflect.TypeFor[catalog.WindowDays]():      {"type": "integer", "enum": []any{0, 1, 7, 30}},
	reflect.TypeFor[catalog.LongDays]():        {"type": "integer", "enum": []any{1, 7, 30, 60, 90}},
	reflect.TypeFor[catalog.LongWindowDays]():  {"type": "integer", "enum": []any{0, 1, 7, 30, 60, 90}},
	reflect.TypeFor[catalog.Int]():             {"type": "integer", "format": "int64"},
	reflect.TypeFor[catalog.Decimal]():         {"type": "string", "format": "decimal"},
	reflect.TypeFor[catalog.Key]():             {"type": "string", "minLength": 1, "maxLength": 64},
	reflect.TypeFor[catalog.PairKey]():         {"type": "string", "minLength": 1, "maxLength": 64},
	reflect.TypeFor[catalog.StartDate]():       {"type": "string"},
	reflect.TypeFor[catalog.EndDate]():         {"type": "string"},
	reflect.TypeFor[catalog.Seconds]():         {"type": "integer", "format": "int64", "minimum": 0},
	reflect.TypeFor[catalog.FuturesInterval](): {"type": "string", "enum": anys(catalog.FuturesIntervals())},
	reflect.TypeFor[catalog.KlinePeriod]():     {"type": "integer", "enum": anys(catalog.KlinePeriods())},
	reflect.TypeFor[json.Number]():             {"type": "number"},
	reflect.TypeFor[json.RawMessage]():         {},
	reflect.TypeFor[catalog.VenueAnswer]():     {},
}

// schema describes what encoding/json makes of a type. A struct becomes a
// component of the document, everything else stands where it is used. A type
// that cannot occur on the wire panics: it is found by the first test.
func (d *document) schema(t reflect.Type) Object {
	if text, ok := texts[t]; ok {
		return clone(text)
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := d.schema(t.Elem())
		if d.public {
			return orNull(s)
		}
		if _, isReference := s["$ref"]; isReference {
			s = Object{"allOf": []any{s}} // 3.0 ignores what stands beside a reference
		}
		s["nullable"] = true
		return s
	case reflect.Struct:
		if _, known := d.schemas[t.Name()]; !known {
			d.schemas[t.Name()] = Object{} // ends a recursion
			d.schemas[t.Name()] = d.object(t)
			if text := descriptions()[t.Name()]; text != "" && d.public {
				d.schemas[t.Name()].(Object)["description"] = text
			}
		}
		return reference(t.Name())
	case reflect.Slice, reflect.Array:
		return Object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		of := d.schema(t.Elem())
		if len(of) == 0 { // validators take an empty schema for one that has no null
			of = orNull(of)
		}
		return Object{"type": "object", "additionalProperties": of}
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Object{"type": "integer", "format": "int64"}
	case reflect.Float64:
		return Object{"type": "number"}
	case reflect.Interface:
		return Object{}
	}
	panic(fmt.Sprintf("openapi: %s has no wire form", t))
}

// orNull is what null stands for too, in OpenAPI 3.1.
func orNull(s Object) Object {
	kind, ok := s["type"].(string)
	if !ok || s["enum"] != nil {
		return Object{"anyOf": []any{s, Object{"type": "null"}}}
	}
	s["type"] = []any{kind, "null"}
	return s
}

// notNull is a schema without what [orNull] added.
func notNull(s Object) Object {
	s = clone(s)
	if kinds, ok := s["type"].([]any); ok {
		s["type"] = kinds[0]
	}
	if choices, ok := s["anyOf"].([]any); ok {
		delete(s, "anyOf")
		maps.Copy(s, choices[0].(Object))
	}
	return s
}

func (d *document) object(t reflect.Type) Object {
	members, required := Object{}, []any{}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" || field.Anonymous && name == "" || field.Tag.Get("schema") == "-" {
			continue // schema:"-" is another spelling: generators make one name of both
		}
		if name == "" {
			name = field.Name
		}
		schema := d.schema(field.Type)
		d.words(schema, t, field)
		members[name] = schema
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	return object(members, required)
}

// accepted describes a parameter by its type and the tags at [catalog.Route].
func (d *document) accepted(t reflect.Type, tag reflect.StructTag) Object {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := d.schema(t)
	if list := tag.Get("enum"); list != "" {
		values := []any{}
		for _, value := range strings.Split(list, "|") {
			values = append(values, value)
		}
		s["enum"] = values
	}
	if example := tag.Get("example"); example != "" && d.public {
		s["examples"] = []any{typed(s, example)}
	} else if example != "" {
		s["example"] = example
	}
	if longest, err := strconv.Atoi(tag.Get("maxlen")); err == nil {
		s["maxLength"] = longest
	}
	if also := tag.Get("also"); also != "" && d.public { // a list of types is nothing that every generator reads
		return Object{"anyOf": []any{s, Object{"type": also}}}
	}
	least, most := "minimum", "maximum"
	if s["type"] == "array" {
		least, most = "minItems", "maxItems"
	}
	bound := func(keyword, text string) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			s[keyword] = n
		}
	}
	if t != reflect.TypeFor[catalog.Lookback]() {
		bound(least, tag.Get("min"))
		bound(most, tag.Get("max"))
	} else if tag.Get("min") != "" || tag.Get("max") != "" {
		s["description"] = fmt.Sprintf("a window from %s to %s", tag.Get("min"), tag.Get("max"))
	}
	if fallback := tag.Get("default"); fallback != "" {
		s["default"] = fallback
		if n, err := strconv.ParseInt(fallback, 10, 64); err == nil && s["type"] == "integer" {
			s["default"] = n
		}
		if d.public || s["type"] == "array" {
			s["default"] = typed(s, fallback)
		}
	}
	return s
}

func anys[T any](values []T) []any {
	out := make([]any, len(values))
	for i, value := range values {
		out[i] = value
	}
	return out
}

func clone(o Object) Object {
	out := make(Object, len(o)+1)
	for name, value := range o {
		out[name] = value
	}
	return out
}
