package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"
)

// binder binds requests to one request struct. It is compiled from the struct's
// tags (see catalog.Route) when the function starts; binding a request walks
// the compiled fields.
type binder struct {
	of     reflect.Type
	fields []field
	body   bool // some field comes from the JSON body
}

// setter parses what a parameter carries into a field.
type setter[T any] func(reflect.Value, T) error

// field is one parameter: where it comes from and how its text becomes the
// value of a field of the request struct.
type field struct {
	index     int
	source    source
	names     []string // the first is the one shown in messages
	required  bool
	emptyText bool   // an optional text of which an empty one means something
	fallback  string // text of the default, "" = none
	accepted  string // what a message says is accepted
	set       setter[string]
	setJSON   setter[json.RawMessage] // for lists and nested values of the body
}

type source int

const (
	fromPath source = iota
	fromQuery
	fromBody
)

// compile reads the tags of a request struct.
func compile(t reflect.Type, method string) (*binder, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	b := &binder{of: t}
	for i := range t.NumField() {
		sf := t.Field(i)
		f, err := compileField(i, sf)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", sf.Name, t, err)
		}
		if f.source == fromBody {
			if method == http.MethodGet {
				return nil, fmt.Errorf("field %s of %s: a GET has no body", sf.Name, t)
			}
			b.body = true
		}
		b.fields = append(b.fields, f)
	}
	return b, nil
}

func compileField(index int, sf reflect.StructField) (field, error) {
	f := field{index: index, fallback: sf.Tag.Get("default"), required: sf.Tag.Get("required") == "true"}
	for source, tag := range map[source]string{fromPath: "path", fromQuery: "query", fromBody: "body"} {
		if names := sf.Tag.Get(tag); names != "" {
			f.source, f.names = source, strings.Split(names, ",")
		}
	}
	if f.names == nil {
		return f, errors.New("needs a path, query or body tag")
	}
	if f.source == fromPath {
		f.required = true
	}
	var err error
	if sf.Type.Kind() == reflect.Slice || sf.Type.Kind() == reflect.Struct ||
		sf.Type.Kind() == reflect.Pointer && sf.Type.Elem().Kind() == reflect.Struct {
		if f.source != fromBody {
			return f, fmt.Errorf("a %s comes from the body only", sf.Type)
		}
		f.accepted, f.setJSON, err = compileNested(sf)
		return f, err
	}
	f.emptyText = sf.Type == reflect.TypeFor[*string]()
	f.accepted, f.set, err = compileScalar(sf.Type, sf.Tag)
	return f, err
}

// bind returns a pointer to a request struct that the request fills.
func (b *binder) bind(req *request) (any, error) {
	in := reflect.New(b.of)
	var body map[string]json.RawMessage
	if b.body {
		var err error
		if body, err = req.body(); err != nil {
			return nil, err
		}
	}
	for i := range b.fields {
		f := &b.fields[i]
		if err := f.bind(req, body, in.Elem().Field(f.index)); err != nil {
			return nil, err
		}
	}
	return in.Interface(), nil
}

func (f *field) bind(req *request, body map[string]json.RawMessage, at reflect.Value) error {
	var text string
	switch f.source {
	case fromPath:
		text = req.PathValue(f.names[0])
	case fromQuery:
		values := req.values(f.names)
		if len(values) > 1 {
			return BadRequest("%s is given more than once: once is accepted", f.names[0])
		}
		if len(values) == 1 {
			text = values[0]
		}
	case fromBody:
		raw, err := f.member(body)
		if err != nil {
			return err
		}
		if raw != nil && f.setJSON != nil {
			return f.wrong(f.setJSON(at, raw))
		}
		if raw != nil {
			if text, err = scalar(raw); err != nil {
				return f.wrong(err)
			}
			if text == "" && f.emptyText { // given, and empty: not the same as absent
				return f.wrong(f.set(at, text))
			}
		}
	}
	if text == "" {
		if f.required {
			return BadRequest("missing %s: it must be %s", f.names[0], f.accepted)
		}
		if text = f.fallback; text == "" {
			return nil
		}
	}
	if !utf8.ValidString(text) {
		return BadRequest("invalid %s: must be valid UTF-8", f.names[0])
	}
	return f.wrong(f.set(at, text))
}

// member finds the field's member of the body under any of its spellings; null
// is as good as absent.
func (f *field) member(body map[string]json.RawMessage) (json.RawMessage, error) {
	var found json.RawMessage
	for _, name := range f.names {
		raw, ok := body[name]
		if !ok || string(raw) == "null" {
			continue
		}
		if found != nil {
			return nil, BadRequest("%s is given more than once: once is accepted", f.names[0])
		}
		found = raw
	}
	return found, nil
}

// wrong names the parameter and what is accepted.
func (f *field) wrong(err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return BadRequest("invalid %s: must be %s", f.names[0], f.accepted)
}

var errNotAccepted = errors.New("not accepted")

// scalar returns the text of a JSON string, number or boolean.
func scalar(raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case '{', '[':
		return "", errNotAccepted
	default:
		return string(raw), nil
	}
}
