// Package strictjson reads JSON objects that strangers send. It accepts no member that
// is given twice, none that is unknown where [Object.Only] is asked, and its errors are for the sender: one sentence that names
// the member, what is wrong with it, and what is accepted.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Error is a mistake in what was sent. Its text is for the sender.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// Errorf returns an [*Error].
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Object is a JSON object: its members by name.
type Object map[string]json.RawMessage

// Decode reads one JSON object and nothing after it; what names it in errors. Unlike
// encoding/json it refuses a member that is given twice, and upper and lower case
// differ in names.
func Decode(text []byte, what string) (Object, error) {
	malformed := Errorf("%s must be one JSON object", what)
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, malformed
	}
	found := make(Object)
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, malformed
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, malformed
		}
		if _, twice := found[name]; twice {
			return nil, Errorf("%s gives %.40q twice", what, name)
		}
		found[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, malformed
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, malformed
	}
	return found, nil
}

// Only refuses members that are not among those named.
func (o Object) Only(what string, accepted ...string) error {
	var unknown []string
	for name := range o {
		if !slices.Contains(accepted, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return Errorf("%s has no member %.40q: accepted are %s", what, slices.Min(unknown), list(accepted))
}

// Choice returns a member that must be one of the words.
func (o Object) Choice(name string, words ...string) (string, error) {
	raw, ok := o[name]
	if !ok {
		return "", Errorf("%s is missing: accepted are %s", name, list(words))
	}
	var word string
	if json.Unmarshal(raw, &word) != nil || !slices.Contains(words, word) {
		return "", Errorf("unknown %s %s: accepted are %s", name, Shown(raw), list(words))
	}
	return word, nil
}

// Text passes a member that must be a string to parse, whose error says what the
// string must be.
func (o Object) Text(name string, parse func([]byte) error) error {
	raw, ok := o[name]
	if !ok {
		raw = json.RawMessage("null")
	}
	var s *string
	err := json.Unmarshal(raw, &s)
	if err != nil || s == nil {
		s = new(string)
	}
	if wrong := parse([]byte(*s)); wrong != nil || err != nil {
		if wrong == nil { // another type, where an empty string would do
			wrong = errors.New("a string")
		}
		if !ok {
			return Errorf("%s is missing: it must be %v", name, wrong)
		}
		return Errorf("%s %s is not accepted: it must be %v", name, Shown(raw), wrong)
	}
	return nil
}

// Number returns a member that must be one of the whole numbers; absent and
// null are 0.
func (o Object) Number(name string, accepted ...int) (int, error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return 0, nil
	}
	var n int
	if json.Unmarshal(raw, &n) != nil || !slices.Contains(accepted, n) {
		words := make([]string, len(accepted))
		for i, a := range accepted {
			words[i] = fmt.Sprint(a)
		}
		return 0, Errorf("%s %s is not accepted: it must be one of %s", name, Shown(raw), list(words))
	}
	return n, nil
}

// Bool returns a member that must be true or false; absent and null are false.
func (o Object) Bool(name string) (bool, error) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return false, nil
	}
	var b bool
	if json.Unmarshal(raw, &b) != nil {
		return false, Errorf("%s %s is not accepted: it must be true or false", name, Shown(raw))
	}
	return b, nil
}

// Shown is a value as an error shows it: cut when it is long.
func Shown(raw json.RawMessage) string {
	const most = 60
	text := strings.ToValidUTF8(string(raw), "")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func list(words []string) string { return strings.Join(words, ", ") }
