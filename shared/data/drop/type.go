package drop

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quotary/shared/text/strictjson"
	"quotary/shared/text/visible"
)

// Type is what a line of a dataset may hold: a JSON object with the members of the
// struct T, by their json tags, and no others. Members are texts, whole numbers
// (int64), booleans and lists of texts. Further tags: required:"true", of a text maxlen (runes) and
// pattern, of a number min and max, of both enum (values separated by |; a text is taken in
// any letter case, and is what stands in the tag then), of a list both maxlen of its texts and most of
// them, and accepts, which says better in words what is accepted. A required text may not be empty,
// and no text of a list. Control characters in texts are dropped, but for tabs and line breaks; a
// text of a list is on one line, and is in it once.
type Type[T any] struct{ members []member }

// member is a member of a line. Kinds of Go are those of JSON that it may be.
type member struct {
	index    int
	name     string
	kind     reflect.Kind
	required bool
	longest  int // runes; 0 is unbounded
	most     int // texts of a list
	pattern  *regexp.Regexp
	enum     []string
	min, max *int64
	accepts  string
}

// TypeOf compiles the tags of T. It panics on tags that are none: a test finds it.
func TypeOf[T any]() *Type[T] {
	t := new(Type[T])
	of := reflect.TypeFor[T]()
	for i := range of.NumField() {
		field := of.Field(i)
		m := member{index: i, name: field.Tag.Get("json"), kind: field.Type.Kind(), required: field.Tag.Get("required") == "true", accepts: field.Tag.Get("accepts")}
		isList := field.Type == reflect.TypeFor[[]string]()
		if m.name == "" || strings.Contains(m.name, ",") || !isList && !slices.Contains([]reflect.Kind{reflect.String, reflect.Int64, reflect.Bool}, m.kind) {
			panic(fmt.Sprintf("drop: field %s of %s needs a json tag that is a name alone, and must be a string, an int64, a bool or a []string", field.Name, of))
		}
		for tag, bound := range map[string]*int{"maxlen": &m.longest, "most": &m.most} {
			if text := field.Tag.Get(tag); text != "" {
				n, err := strconv.Atoi(text)
				if err != nil {
					panic(fmt.Sprintf("drop: field %s of %s: %v", field.Name, of, err))
				}
				*bound = n
			}
		}
		for tag, bound := range map[string]**int64{"min": &m.min, "max": &m.max} {
			if text := field.Tag.Get(tag); text != "" {
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					panic(fmt.Sprintf("drop: field %s of %s: %v", field.Name, of, err))
				}
				*bound = &n
			}
		}
		if isList && (m.most == 0 || m.longest == 0) {
			panic(fmt.Sprintf("drop: field %s of %s is a list, and needs most and maxlen", field.Name, of))
		}
		if text := field.Tag.Get("pattern"); text != "" {
			m.pattern = regexp.MustCompile(text)
		}
		if text := field.Tag.Get("enum"); text != "" {
			m.enum = strings.Split(text, "|")
		}
		t.members = append(t.members, m)
	}
	return t
}

// Decode reads a line. The error is one sentence for whoever wrote it. Null is as
// good as absent.
func (t *Type[T]) Decode(line []byte) (value T, err error) {
	if !utf8.Valid(line) {
		return value, errors.New("the line is not valid UTF-8")
	}
	given, err := strictjson.Decode(line, "the line")
	if err == nil {
		err = given.Only("the line", t.names()...)
	}
	if err != nil {
		return value, err
	}
	into := reflect.ValueOf(&value).Elem()
	for i := range t.members {
		switch m, raw := &t.members[i], given[t.members[i].name]; {
		case len(raw) > 0 && string(raw) != "null":
			if !m.set(into.Field(m.index), raw) {
				return value, fmt.Errorf("%s must be %s", m.name, m.accepted())
			}
		case m.required:
			return value, fmt.Errorf("%s is missing: it must be %s", m.name, m.accepted())
		}
	}
	return value, nil
}

// set reports whether a value is accepted.
func (m *member) set(at reflect.Value, raw json.RawMessage) bool {
	switch m.kind {
	case reflect.String:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return false
		}
		text = visible.Text(text)
		if i := slices.IndexFunc(m.enum, func(value string) bool { return strings.EqualFold(value, text) }); i >= 0 {
			text = m.enum[i]
		}
		at.SetString(text)
		return (!m.required || text != "") && (m.longest == 0 || utf8.RuneCountInString(text) <= m.longest) &&
			(m.pattern == nil || m.pattern.MatchString(text)) && (m.enum == nil || slices.Contains(m.enum, text))
	case reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		at.SetInt(n)
		return err == nil && m.holds(n)
	case reflect.Slice:
		list, ok := m.list(raw)
		at.Set(reflect.ValueOf(list))
		return ok
	}
	at.SetBool(string(raw) == "true")
	return string(raw) == "true" || string(raw) == "false"
}

// list reads a list of texts; ok is false for what is not accepted.
func (m *member) list(raw json.RawMessage) (list []string, ok bool) {
	var texts []string
	if json.Unmarshal(raw, &texts) != nil {
		return nil, false
	}
	for _, text := range texts {
		if text = visible.Line(text); text == "" || utf8.RuneCountInString(text) > m.longest {
			return nil, false
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
		if len(list) > m.most {
			return nil, false
		}
	}
	return list, true
}

// holds reports whether a number is within its bounds.
func (m *member) holds(n int64) bool {
	return (m.min == nil || n >= *m.min) && (m.max == nil || n <= *m.max) && (m.enum == nil || slices.Contains(m.enum, strconv.FormatInt(n, 10)))
}

// CheckNumbers returns what is wrong with the numbers of a value that was not decoded.
func (t *Type[T]) CheckNumbers(value *T) error {
	of := reflect.ValueOf(value).Elem()
	for i := range t.members {
		if m := &t.members[i]; m.kind == reflect.Int64 && !m.holds(of.Field(m.index).Int()) {
			return fmt.Errorf("%s must be %s", m.name, m.accepted())
		}
	}
	return nil
}

// accepted says what is accepted, in words.
func (m *member) accepted() string {
	switch {
	case m.accepts != "":
		return m.accepts
	case m.enum != nil:
		return "one of " + strings.Join(m.enum, ", ")
	case m.min != nil && m.max != nil:
		return fmt.Sprintf("a whole number from %d to %d", *m.min, *m.max)
	case m.min != nil:
		return fmt.Sprintf("a whole number from %d on", *m.min)
	case m.kind == reflect.Int64:
		return "a whole number"
	case m.kind == reflect.Bool:
		return "true or false"
	case m.kind == reflect.Slice:
		return fmt.Sprintf("a list of at most %d texts of 1 to %d characters", m.most, m.longest)
	}
	text := "a text"
	if m.longest > 0 {
		text = fmt.Sprintf("a text of at most %d characters", m.longest)
	}
	if m.pattern != nil {
		text += " that matches " + m.pattern.String()
	}
	return text
}

// values are those of an enum, as JSON has them. Null is as good as absent.
func (m *member) values() (all []any) {
	for _, text := range m.enum {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && m.kind == reflect.Int64 {
			all = append(all, n)
		} else {
			all = append(all, text)
		}
	}
	if !m.required {
		all = append(all, nil)
	}
	return all
}

func (t *Type[T]) names() []string {
	names := make([]string, len(t.members))
	for i := range t.members {
		names[i] = t.members[i].name
	}
	return names
}

// Schema is the JSON Schema of a line. Comments are those of T, under "", and of its
// fields, by their names in Go.
func (t *Type[T]) Schema(title string, comments map[string]string) map[string]any {
	of := reflect.TypeFor[T]()
	properties, required := map[string]any{}, []string{}
	for i := range t.members {
		m := &t.members[i]
		p := map[string]any{"type": map[reflect.Kind]string{reflect.String: "string", reflect.Int64: "integer", reflect.Bool: "boolean", reflect.Slice: "array"}[m.kind]}
		if comment := comments[of.Field(m.index).Name]; comment != "" {
			p["description"] = comment
		}
		if m.required {
			required = append(required, m.name)
			if m.kind == reflect.String {
				p["minLength"] = 1
			}
		} else {
			p["type"] = []any{p["type"], "null"}
		}
		switch {
		case m.kind == reflect.Slice:
			p["items"], p["maxItems"] = map[string]any{"type": "string", "minLength": 1, "maxLength": m.longest}, m.most
		case m.longest > 0:
			p["maxLength"] = m.longest
		}
		if m.pattern != nil {
			p["pattern"] = m.pattern.String()
		}
		if m.min != nil {
			p["minimum"] = *m.min
		}
		if m.max != nil {
			p["maximum"] = *m.max
		}
		if m.enum != nil {
			p["enum"] = m.values()
		}
		properties[m.name] = p
	}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "description": comments[""],
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}
}
