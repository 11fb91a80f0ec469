package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// plan binds requests to one request struct. It is compiled from the struct's
// tags (see catalog.Route) when the function starts; binding a request walks
// the compiled fields and reflects on nothing but custom text types.
type plan struct {
	fields []field
	body   bool // some field comes from the JSON body
}

// field is one parameter: where it comes from and how its text becomes the
// value at an offset of the request struct.
type field struct {
	source    source
	names     []string // the first is the one shown in messages
	required  bool
	emptyText bool   // an optional text of which an empty one means something
	fallback  string // text of the default, "" = none
	accepted  string // what a message says is accepted
	set       func(unsafe.Pointer, string) error
	setJSON   func(unsafe.Pointer, json.RawMessage) error // for lists and nested values of the body
	offset    uintptr
}

type source int

const (
	fromPath source = iota
	fromQuery
	fromBody
)

// compile reads the tags of In.
func compile[In any](method string) (*plan, error) {
	t := reflect.TypeFor[In]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	p := new(plan)
	for i := range t.NumField() {
		sf := t.Field(i)
		f, err := compileField(sf)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", sf.Name, t, err)
		}
		if f.source == fromBody {
			if method == http.MethodGet {
				return nil, fmt.Errorf("field %s of %s: a GET has no body", sf.Name, t)
			}
			p.body = true
		}
		p.fields = append(p.fields, f)
	}
	return p, nil
}

func compileField(sf reflect.StructField) (field, error) {
	f := field{offset: sf.Offset, fallback: sf.Tag.Get("default"), required: sf.Tag.Get("required") == "true"}
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

// bind fills in, a pointer to the struct that the plan was compiled from.
func (p *plan) bind(req *request, in any) error {
	base := reflect.ValueOf(in).UnsafePointer()
	var body map[string]json.RawMessage
	if p.body {
		var err error
		if body, err = req.body(); err != nil {
			return err
		}
	}
	for i := range p.fields {
		f := &p.fields[i]
		if err := f.bind(req, body, unsafe.Add(base, f.offset)); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) bind(req *request, body map[string]json.RawMessage, at unsafe.Pointer) error {
	var text string
	switch f.source {
	case fromPath:
		text = req.event.PathParameters[f.names[0]]
		if strings.Contains(text, "%") { // some gateways hand it on still encoded
			if decoded, err := url.PathUnescape(text); err == nil {
				text = decoded
			}
		}
	case fromQuery:
		values := req.query(f.names)
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
