package api

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quotary/shared/catalog"
	"quotary/shared/text/visible"
)

// compileScalar returns what a scalar type accepts, in words, and its setter.
func compileScalar(t reflect.Type, tag reflect.StructTag) (string, setter[string], error) {
	if t.Kind() == reflect.Pointer {
		elem := t.Elem()
		accepted, set, err := compileScalar(elem, tag)
		if err != nil {
			return "", nil, err
		}
		return accepted, func(at reflect.Value, text string) error {
			value := reflect.New(elem)
			if err := set(value.Elem(), text); err != nil {
				return err
			}
			at.Set(value)
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
		return "true or false", func(at reflect.Value, text string) error {
			switch strings.ToLower(text) { // programs write True and TRUE too
			case "true", "1":
				at.SetBool(true)
			case "false", "0":
				at.SetBool(false)
			default:
				return errNotAccepted
			}
			return nil
		}, nil
	}
	return "", nil, fmt.Errorf("%s cannot be bound", t)
}

func compileString(tag reflect.StructTag) (string, setter[string], error) {
	if list := tag.Get("enum"); list != "" {
		accepted, set := compileEnum(strings.Split(list, "|"))
		return accepted, set, nil
	}
	longest, accepted := 4096, "a text"
	if tag.Get("maxlen") != "" {
		var err error
		if longest, err = strconv.Atoi(tag.Get("maxlen")); err != nil {
			return "", nil, fmt.Errorf("maxlen: %w", err)
		}
		accepted = fmt.Sprintf("a text of at most %d characters", longest)
	}
	return accepted, func(at reflect.Value, text string) error {
		if utf8.RuneCountInString(text) > longest || strings.ContainsFunc(text, visible.Hidden) {
			return errNotAccepted
		}
		at.SetString(text)
		return nil
	}, nil
}

// compileEnum accepts values in any letter case and binds them as they are documented.
// Where case tells values apart, or may do so for who sends them, they are accepted as they
// are only: 1m is a minute and 1M a month, whether or not both are among the values.
func compileEnum(values []string) (string, setter[string]) {
	differ := false // by case alone
	for i, value := range values {
		differ = differ || slices.ContainsFunc(values[:i], func(other string) bool { return strings.EqualFold(value, other) })
	}
	equal := func(value, text string) bool {
		return value == text || !differ && !minutesOrMonths(value) && strings.EqualFold(value, text)
	}
	return "one of " + strings.TrimPrefix(strings.Join(values, ", "), ", "), func(at reflect.Value, text string) error {
		i := slices.IndexFunc(values, func(value string) bool { return equal(value, text) })
		if i < 0 {
			return errNotAccepted
		}
		at.SetString(values[i])
		return nil
	}
}

// minutesOrMonths reports whether a value is a number of minutes or months: 15m, 1M.
func minutesOrMonths(value string) bool {
	unit := strings.TrimLeft(value, "0123456789")
	return unit != value && (unit == "m" || unit == "M")
}

func compileInt(tag reflect.StructTag) (string, setter[string], error) {
	least, most, err := bounds(tag, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	if err != nil {
		return "", nil, err
	}
	accepted := "a whole number" + words(tag)
	if most == least+1 {
		accepted = strconv.FormatInt(least, 10) + " or " + strconv.FormatInt(most, 10)
	}
	return accepted, func(at reflect.Value, text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || text[0] == '+' || n < least || n > most {
			return errNotAccepted
		}
		at.SetInt(n)
		return nil
	}, nil
}

// compileText binds a type that parses itself; its own error says what it
// accepts.
func compileText(t reflect.Type, tag reflect.StructTag) (string, setter[string], error) {
	parse := func(at reflect.Value, text string) error {
		return at.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	}
	// What a type accepts is what it says of the empty text.
	probe := reflect.New(t)
	refused := probe.Interface().(encoding.TextUnmarshaler).UnmarshalText(nil)
	if refused == nil {
		return "", nil, fmt.Errorf("%s accepts an empty text", t)
	}
	within, err := compileBounds(t, tag)
	if err != nil {
		return "", nil, err
	}
	return refused.Error() + words(tag) + forExample(tag), func(at reflect.Value, text string) error {
		if err := parse(at, text); err != nil {
			return err
		}
		if !within(at) {
			return errNotAccepted
		}
		return nil
	}, nil
}

// compileBounds returns whether a value of a type that parses itself lies within
// the tags min and max.
func compileBounds(t reflect.Type, tag reflect.StructTag) (func(reflect.Value) bool, error) {
	switch {
	case tag.Get("min") == "" && tag.Get("max") == "":
		return func(reflect.Value) bool { return true }, nil
	case t == reflect.TypeFor[catalog.Lookback]():
		least, most, err := bounds(tag, func(s string) (int64, error) {
			var l catalog.Lookback
			err := l.UnmarshalText([]byte(s))
			return int64(l), err
		})
		return func(at reflect.Value) bool { return at.Int() >= least && at.Int() <= most }, err
	case t == reflect.TypeFor[catalog.Int]():
		least, most, err := bounds(tag, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
		return func(at reflect.Value) bool { return at.Int() >= least && at.Int() <= most }, err
	case t == reflect.TypeFor[catalog.Decimal]():
		var least, most *catalog.Decimal
		for name, bound := range map[string]**catalog.Decimal{"min": &least, "max": &most} {
			if text := tag.Get(name); text != "" {
				*bound = new(catalog.Decimal)
				if err := (*bound).UnmarshalText([]byte(text)); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return func(at reflect.Value) bool {
			d := at.Interface().(catalog.Decimal)
			return (least == nil || d.Cmp(least.Decimal) >= 0) && (most == nil || d.Cmp(most.Decimal) <= 0)
		}, nil
	}
	return nil, fmt.Errorf("%s has no min and max", t)
}

// compileNested binds an object of the body, or a list of objects.
func compileNested(sf reflect.StructField) (string, setter[json.RawMessage], error) {
	accepted := "an object"
	size, err := compileSize(sf.Tag)
	if err != nil {
		return "", nil, err
	}
	isList := sf.Type.Kind() == reflect.Slice
	if isList {
		accepted = "a list" + strings.Replace(size.words, "entries", "objects", 1)
	}
	return accepted, func(at reflect.Value, raw json.RawMessage) error {
		if err := json.Unmarshal(raw, at.Addr().Interface()); err != nil {
			return nestedFault(sf, accepted, raw, err)
		}
		if !isList {
			return nil
		}
		if size.cut > 0 && at.Len() > size.cut {
			at.SetLen(size.cut)
		}
		if !size.allows(at.Len()) {
			return errNotAccepted
		}
		return nil
	}, nil
}

// nestedFault names the member at fault where it can be found.
func nestedFault(sf reflect.StructField, accepted string, raw json.RawMessage, err error) error {
	name := strings.Split(sf.Tag.Get("body"), ",")[0]
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	member := refused(sf.Type, raw)
	switch {
	case errors.As(err, &wrongType) && wrongType.Field != "":
		if member == "" {
			member = "." + wrongType.Field
		}
		return BadParameter("invalid %s%s: must be %s", name, member, inWords(wrongType.Type))
	case wrongType == nil && !errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF): // a type of the catalog has refused it
		after := strings.TrimPrefix(err.Error(), "must be ")
		if member != "" {
			return BadParameter("invalid %s%s: must be %s", name, member, after)
		}
		return BadParameter("invalid %s: a value in it must be %s", name, after)
	}
	return BadParameter("invalid %s: must be %s", name, accepted)
}

// refused is where the first member is that its own type refuses, of an object (.coin) or of
// a list of objects ([2].coin); "" where none is found.
func refused(t reflect.Type, raw json.RawMessage) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice {
		var entries []json.RawMessage
		if json.Unmarshal(raw, &entries) != nil {
			return ""
		}
		for i, entry := range entries {
			if member := refused(t.Elem(), entry); member != "" {
				return fmt.Sprintf("[%d]%s", i, member)
			}
		}
		return ""
	}
	var members map[string]json.RawMessage
	if t.Kind() != reflect.Struct || json.Unmarshal(raw, &members) != nil {
		return ""
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if text, ok := members[name]; ok && json.Unmarshal(text, reflect.New(t.Field(i).Type).Interface()) != nil {
			return "." + name
		}
	}
	return ""
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

// forExample shows the example of a tag: of a type that parses itself only the parameter knows
// which of its values make sense.
func forExample(tag reflect.StructTag) string {
	if example := tag.Get("example"); example != "" {
		return " (for example " + example + ")"
	}
	return ""
}

// words puts the bounds of a tag into words.
func words(tag reflect.StructTag) string {
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
