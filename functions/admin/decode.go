package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"quotary/shared/catalog"
	"quotary/shared/keys"
)

// members are the parameters of an event, not decoded yet.
type members map[string]json.RawMessage

// typed makes an action of a function by decoding its parameters.
func typed[In, Out any](do func(ctx context.Context, in In) (Out, error)) action {
	return func(ctx context.Context, event members) (any, error) {
		var in In
		if err := event.decode(&in); err != nil {
			return nil, err
		}
		return do(ctx, in)
	}
}

// decode fills the struct that into points to. Each field is the parameter of
// its param tag; one with required:"true" must be there. Names count letter by
// letter, and a parameter without a field is refused.
func (m members) decode(into any) error {
	v := reflect.ValueOf(into).Elem()
	known := make([]string, v.NumField())
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		name := sf.Tag.Get("param")
		known[i] = name
		raw, ok := m[name]
		if !ok || string(raw) == "null" {
			if sf.Tag.Get("required") == "true" {
				return invalid("missing %s: it must be %s", name, accepted(sf.Type))
			}
			continue
		}
		if err := json.Unmarshal(raw, v.Field(i).Addr().Interface()); err != nil {
			return invalid("%s must be %s", name, accepted(sf.Type))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, name) {
			return invalid("unknown parameter %.64q: this action takes %s", name, orNone(known))
		}
	}
	return nil
}

// accepted puts a type of parameter into words.
func accepted(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[catalog.Int]():
		return "a whole number"
	case reflect.TypeFor[grants]():
		return `"all" or a list of names`
	}
	return "a text"
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// grants is "all" or a list of names; nil is all.
type grants []string

// UnmarshalJSON implements [json.Unmarshaler].
func (g *grants) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte(`"all"`)) {
		*g = nil
		return nil
	}
	list := []string{}
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*g = list
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (g grants) MarshalJSON() ([]byte, error) {
	if g == nil {
		return []byte(`"all"`), nil
	}
	return json.Marshal([]string(g))
}

func invalid(format string, args ...any) error {
	return &keys.InvalidError{Message: fmt.Sprintf(format, args...)}
}
