package api

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"quotary/shared/catalog"
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
	of        reflect.Type
	source    source
	names     []string // the first is the one shown in messages
	required  bool
	emptyText bool   // an optional text of which an empty one means something
	fallback  string // text of the default, "" = none
	accepted  string // what a message says is accepted
	set       setter[string]
	setJSON   setter[json.RawMessage] // for objects of the body
	list      *list                   // for lists
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
	taken := make(map[string]string)
	for i, p := range catalog.Parameters(t) {
		f, err := compileField(i, p)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", p.Field.Name, t, err)
		}
		if f.source == fromBody {
			if method == http.MethodGet {
				return nil, fmt.Errorf("field %s of %s: a GET has no body", p.Field.Name, t)
			}
			b.body = true
		}
		for _, name := range f.names {
			if other := taken[p.In+" "+name]; other != "" {
				return nil, fmt.Errorf("fields %s and %s of %s are both named %s", other, p.Field.Name, t, name)
			}
			taken[p.In+" "+name] = p.Field.Name
		}
		b.fields = append(b.fields, f)
	}
	return b, nil
}

var sources = map[string]source{"path": fromPath, "query": fromQuery, "body": fromBody}

func compileField(index int, p catalog.Parameter) (field, error) {
	from, ok := sources[p.In]
	if !ok {
		return field{}, errors.New("needs a path, query or body tag")
	}
	f := field{index: index, of: p.Field.Type, source: from, names: p.Names, fallback: p.Default, required: p.Required}
	t := p.Field.Type
	var err error
	switch {
	case isList(t):
		if f.source == fromPath {
			return f, errors.New("a list does not come from the path")
		}
		f.list, err = compileList(t, p.Field.Tag)
		f.accepted = f.list.accepted()
	case isObject(t):
		if f.source != fromBody {
			return f, fmt.Errorf("a %s comes from the body only", t)
		}
		f.accepted, f.setJSON, err = compileNested(p.Field)
	default:
		f.emptyText = t == reflect.TypeFor[*string]()
		f.accepted, f.set, err = compileScalar(t, p.Field.Tag)
	}
	return f, err
}

// isList reports whether a type is a list of values each of which a text can hold.
func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice && !isObject(t.Elem()) }

// isObject reports whether only JSON can hold a value of a type.
func isObject(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return false
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Slice
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
	selective, _ := in.Interface().(catalog.Selective)
	for i := range b.fields {
		f := &b.fields[i]
		if selective != nil && !selective.Uses(f.names[0]) {
			continue
		}
		if err := f.bind(req, body, in.Elem().Field(f.index)); err != nil {
			return nil, err
		}
	}
	return in.Interface(), nil
}

// spanNames are the parameters by which a request that was bound says where its span starts and
// ends, as the client has spelt them: of several the first that is given, else the first.
func (b *binder) spanNames(in any, req *request) (start, end string) {
	selective, _ := in.(catalog.Selective)
	ended := false
	note := func(name, spelt string, given bool) {
		switch isStart, isEnd := catalog.BoundsSpan(name); {
		case isStart:
			start = spelt
		case isEnd && (end == "" || given && !ended):
			end, ended = spelt, given
		}
	}
	for i := range b.fields {
		f := &b.fields[i]
		if selective != nil && !selective.Uses(f.names[0]) {
			continue
		}
		spelt, given := f.spelt(req), !reflect.ValueOf(in).Elem().Field(f.index).IsZero()
		note(f.names[0], spelt, given)
		if t := b.of.Field(f.index).Type; f.setJSON != nil && t.Kind() == reflect.Pointer {
			for j := range t.Elem().NumField() {
				name, _, _ := strings.Cut(t.Elem().Field(j).Tag.Get("json"), ",")
				note(name, spelt+"."+name, given)
			}
		}
	}
	return start, end
}

// spelt is the name under which a request has the parameter, the documented one where it has none.
func (f *field) spelt(req *request) string {
	i := slices.IndexFunc(f.names, func(name string) bool { return req.query.Has(name) || req.fields[name] != nil })
	return f.names[max(i, 0)]
}

func (f *field) bind(req *request, body map[string]json.RawMessage, at reflect.Value) error {
	if f.list != nil {
		return f.bindList(req, body, at)
	}
	var text string
	switch f.source {
	case fromPath:
		text = req.PathValue(f.names[0])
	case fromQuery:
		var err error
		if text, err = req.value(f.names, f.same); err != nil {
			return err
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
			return BadParameter("missing %s: it must be %s", f.names[0], f.accepted)
		}
		if text = f.fallback; text == "" {
			return nil
		}
	}
	if !utf8.ValidString(text) {
		return BadParameter("invalid %s: must be valid UTF-8", f.names[0])
	}
	return f.wrong(f.set(at, text))
}

// member finds the field's member of the body under any of its spellings; null
// is as good as absent, and so is an empty text but where it means something.
func (f *field) member(body map[string]json.RawMessage) (found json.RawMessage, err error) {
	var under string
	for _, name := range f.names {
		raw := body[name]
		switch {
		case len(raw) == 0 || string(raw) == "null" || string(raw) == `""` && !f.emptyText && f.setJSON == nil:
		case found == nil:
			found, under = raw, name
		case !f.sameJSON(found, raw):
			return nil, contradiction(under, name)
		}
	}
	return found, nil
}

// sameJSON reports whether two values are one: a number may be written as a text.
func (f *field) sameJSON(a, b json.RawMessage) bool {
	one, errOne := scalar(a)
	other, errOther := scalar(b)
	if errOne != nil || errOther != nil {
		return bytes.Equal(a, b)
	}
	return f.same(one, other)
}

// same reports whether two texts are one value, as endpoints read them.
func (f *field) same(one, other string) bool {
	if f.of == reflect.TypeFor[catalog.PairKey]() {
		return strings.EqualFold(one, other) // keys are lower case, whatever users type
	}
	if one == other || f.set == nil {
		return one == other
	}
	a, b := reflect.New(f.of).Elem(), reflect.New(f.of).Elem()
	return f.set(a, one) == nil && f.set(b, other) == nil && reflect.DeepEqual(a.Interface(), b.Interface())
}

// contradiction is what is said of a parameter that is given with different values, under
// one of its names or two.
func contradiction(one, other string) error {
	if one == other {
		return BadParameter("%s is given more than once with different values: one value is accepted", one)
	}
	return BadParameter("%s and %s are given with different values: they name the same parameter, and one value is accepted", one, other)
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
	return BadParameter("invalid %s: must be %s", f.names[0], f.accepted)
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
		return catalog.WholeNumber(string(raw)), nil
	}
}
