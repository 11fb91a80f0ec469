package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// mistake is an error in a message, as its sender is told.
type mistake struct{ text string }

func (m *mistake) Error() string { return m.text }

func wrongf(format string, args ...any) error { return &mistake{fmt.Sprintf(format, args...)} }

// members are those of a JSON object, by name.
type members map[string]json.RawMessage

// decodeObject reads one JSON object and nothing after it. Unlike encoding/json
// it refuses a member that is given twice; names count letter by letter.
func decodeObject(text []byte, what string) (members, error) {
	malformed := wrongf("%s must be one JSON object", what)
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, malformed
	}
	found := make(members)
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
			return nil, wrongf("%s gives %.40q twice", what, name)
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

// only refuses members that are not among those named.
func (m members) only(what string, accepted ...string) error {
	var unknown []string
	for name := range m {
		if !slices.Contains(accepted, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return wrongf("%s has no member %.40q: accepted are %s", what, slices.Min(unknown), list(accepted))
}

// choice returns a member that must be one of the words.
func (m members) choice(name string, words ...string) (string, error) {
	raw, ok := m[name]
	if !ok {
		return "", wrongf("%s is missing: accepted are %s", name, list(words))
	}
	var word string
	if json.Unmarshal(raw, &word) != nil || !slices.Contains(words, word) {
		return "", wrongf("unknown %s %s: accepted are %s", name, shown(raw), list(words))
	}
	return word, nil
}

// text hands a member that must be a string to parse, whose error says what the
// string must be.
func (m members) text(name string, parse func([]byte) error) error {
	raw, ok := m[name]
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
			return wrongf("%s is missing: it must be %v", name, wrong)
		}
		return wrongf("%s %s is not accepted: it must be %v", name, shown(raw), wrong)
	}
	return nil
}

// number returns a member that must be one of the whole numbers; absent and
// null are 0.
func (m members) number(name string, accepted ...int) (int, error) {
	raw, ok := m[name]
	if !ok || string(raw) == "null" {
		return 0, nil
	}
	var n int
	if json.Unmarshal(raw, &n) != nil || !slices.Contains(accepted, n) {
		words := make([]string, len(accepted))
		for i, a := range accepted {
			words[i] = fmt.Sprint(a)
		}
		return 0, wrongf("%s %s is not accepted: it must be one of %s", name, shown(raw), list(words))
	}
	return n, nil
}

// shown is a value as an error shows it.
func shown(raw json.RawMessage) string {
	const most = 60
	text := strings.ToValidUTF8(string(raw), "")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func list(words []string) string { return strings.Join(words, ", ") }
