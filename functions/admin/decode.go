package main

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	"quotary/shared/catalog"
	"quotary/shared/text/strictjson"
)

// typed makes an action of a function by decoding its parameters.
func typed[In, Out any](do func(ctx context.Context, in In) (Out, error)) action {
	return func(ctx context.Context, event strictjson.Object) (any, error) {
		var in In
		if err := decode(event, &in); err != nil {
			return nil, err
		}
		return do(ctx, in)
	}
}

// decode fills the struct that into points to. Each field is the parameter of
// its param tag; one with required:"true" must be there. Names count letter by
// letter, and a parameter without a field is refused.
func decode(event strictjson.Object, into any) error {
	v := reflect.ValueOf(into).Elem()
	known := []string{"action"}
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		name := sf.Tag.Get("param")
		known = append(known, name)
		raw, ok := event[name]
		if !ok || string(raw) == "null" {
			if sf.Tag.Get("required") == "true" {
				return strictjson.Errorf("missing %s: it must be %s", name, accepted(sf.Type))
			}
			continue
		}
		if err := json.Unmarshal(raw, v.Field(i).Addr().Interface()); err != nil {
			return strictjson.Errorf("%s must be %s", name, accepted(sf.Type))
		}
	}
	return event.Only("the event", known...)
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
