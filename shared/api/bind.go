package api

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"quotary/shared/catalog"
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

// compileScalar returns what a scalar type accepts, in words, and its setter.
func compileScalar(t reflect.Type, tag reflect.StructTag) (string, func(unsafe.Pointer, string) error, error) {
	if t.Kind() == reflect.Pointer {
		elem := t.Elem()
		accepted, set, err := compileScalar(elem, tag)
		if err != nil {
			return "", nil, err
		}
		return accepted, func(at unsafe.Pointer, text string) error {
			value := reflect.New(elem)
			if err := set(value.UnsafePointer(), text); err != nil {
				return err
			}
			*(*unsafe.Pointer)(at) = value.UnsafePointer()
			return nil
		}, nil
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return compileText(t, tag)
	}
	switch t.Kind() {
	case reflect.String:
		return compileString(tag)
	case reflect.Int64:
		return compileInt(tag)
	case reflect.Bool:
		return "true or false", func(at unsafe.Pointer, text string) error {
			switch text {
			case "true", "1":
				*(*bool)(at) = true
			case "false", "0":
				*(*bool)(at) = false
			default:
				return errNotAccepted
			}
			return nil
		}, nil
	}
	return "", nil, fmt.Errorf("%s cannot be bound", t)
}

func compileString(tag reflect.StructTag) (string, func(unsafe.Pointer, string) error, error) {
	if list := tag.Get("enum"); list != "" {
		values := strings.Split(list, "|")
		return "one of " + strings.Join(values, ", "), func(at unsafe.Pointer, text string) error {
			if !slices.Contains(values, text) {
				return errNotAccepted
			}
			*(*string)(at) = text
			return nil
		}, nil
	}
	longest, accepted := 4096, "a text"
	if tag.Get("maxlen") != "" {
		var err error
		if longest, err = strconv.Atoi(tag.Get("maxlen")); err != nil {
			return "", nil, fmt.Errorf("maxlen: %w", err)
		}
		accepted = fmt.Sprintf("a text of at most %d characters", longest)
	}
	return accepted, func(at unsafe.Pointer, text string) error {
		if utf8.RuneCountInString(text) > longest || strings.ContainsFunc(text, isControl) {
			return errNotAccepted
		}
		*(*string)(at) = strings.Clone(text)
		return nil
	}, nil
}

// isControl refuses control characters but those of text in several lines.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

func compileInt(tag reflect.StructTag) (string, func(unsafe.Pointer, string) error, error) {
	least, most, err := bounds(tag, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	if err != nil {
		return "", nil, err
	}
	return "a whole number" + within(tag), func(at unsafe.Pointer, text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || text[0] == '+' || n < least || n > most {
			return errNotAccepted
		}
		*(*int64)(at) = n
		return nil
	}, nil
}

// compileText binds a type that parses itself; its own error says what it
// accepts. A lookback window also has bounds.
func compileText(t reflect.Type, tag reflect.StructTag) (string, func(unsafe.Pointer, string) error, error) {
	parse := func(at unsafe.Pointer, text string) error {
		return reflect.NewAt(t, at).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	}
	// What a type accepts is what it says of the empty text.
	probe := reflect.New(t)
	refused := probe.Interface().(encoding.TextUnmarshaler).UnmarshalText(nil)
	if refused == nil {
		return "", nil, fmt.Errorf("%s accepts an empty text", t)
	}
	if t != reflect.TypeFor[catalog.Lookback]() {
		return refused.Error(), parse, nil
	}
	least, most, err := bounds(tag, func(s string) (int64, error) {
		var l catalog.Lookback
		err := l.UnmarshalText([]byte(s))
		return int64(l), err
	})
	if err != nil {
		return "", nil, err
	}
	return refused.Error() + within(tag), func(at unsafe.Pointer, text string) error {
		if err := parse(at, text); err != nil {
			return err
		}
		if n := *(*int64)(at); n < least || n > most {
			return errNotAccepted
		}
		return nil
	}, nil
}

// compileNested binds a list or an object of the body.
func compileNested(sf reflect.StructField) (string, func(unsafe.Pointer, json.RawMessage) error, error) {
	accepted := "an object"
	least, most, err := bounds(sf.Tag, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	if err != nil {
		return "", nil, err
	}
	cut := 0
	if text := sf.Tag.Get("cut"); text != "" {
		if cut, err = strconv.Atoi(text); err != nil {
			return "", nil, fmt.Errorf("cut: %w", err)
		}
	}
	isList := sf.Type.Kind() == reflect.Slice
	if isList {
		accepted = "a list"
		if sf.Tag.Get("min") != "" || sf.Tag.Get("max") != "" {
			accepted += " whose length is" + within(sf.Tag)
		}
	}
	return accepted, func(at unsafe.Pointer, raw json.RawMessage) error {
		value := reflect.NewAt(sf.Type, at)
		decoder := json.NewDecoder(bytes.NewReader(raw))
		if err := decoder.Decode(value.Interface()); err != nil {
			return nestedFault(sf, accepted, err)
		}
		if !isList {
			return nil
		}
		list := value.Elem()
		if cut > 0 && list.Len() > cut {
			list.SetLen(cut)
		}
		if n := int64(list.Len()); n < least || n > most {
			return errNotAccepted
		}
		return nil
	}, nil
}

// nestedFault names the member at fault where the decoder knows it.
func nestedFault(sf reflect.StructField, accepted string, err error) error {
	name := strings.Split(sf.Tag.Get("body"), ",")[0]
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) && wrongType.Field != "" {
		return BadRequest("invalid %s.%s: must be %s", name, wrongType.Field, inWords(wrongType.Type))
	}
	if after, ok := strings.CutPrefix(err.Error(), "must be "); ok {
		return BadRequest("invalid %s: a value in it must be %s", name, after)
	}
	return BadRequest("invalid %s: must be %s", name, accepted)
}

func inWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "a number"
	}
}

func bounds(tag reflect.StructTag, parse func(string) (int64, error)) (least, most int64, err error) {
	least, most = -1<<62, 1<<62
	if text := tag.Get("min"); text != "" {
		if least, err = parse(text); err != nil {
			return 0, 0, fmt.Errorf("min: %w", err)
		}
	}
	if text := tag.Get("max"); text != "" {
		if most, err = parse(text); err != nil {
			return 0, 0, fmt.Errorf("max: %w", err)
		}
	}
	return least, most, nil
}

// within puts the bounds of a tag into words.
func within(tag reflect.StructTag) string {
	least, most := tag.Get("min"), tag.Get("max")
	switch {
	case least != "" && most != "":
		return " from " + least + " to " + most
	case least != "":
		return " of at least " + least
	case most != "":
		return " of at most " + most
	default:
		return ""
	}
}
