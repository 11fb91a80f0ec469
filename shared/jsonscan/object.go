package jsonscan

import (
	"encoding/json"
	"unicode/utf8"
)

// Object reads one object into a T, once and without reflection: member consumes
// the value of each key and puts into the T what it asks for. A text that is not
// as member expects it is left to encoding/json, which reads it or says what is
// wrong with it. The T shares no memory with text.
func Object[T any](text []byte, member func(p *Scanner, key string, into *T) bool) (T, error) {
	var value T
	if utf8.Valid(text) {
		p := New(string(text))
		if p.Object(func(key string) bool { return member(&p, key, &value) }) && p.End() {
			return value, nil
		}
		var none T
		value = none
	}
	return value, json.Unmarshal(text, &value)
}
