package gateway

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// template is a compiled body of a gateway response: literals and variables.
type template []part

type part struct {
	literal  string
	variable string // without "$context."; empty for a literal
	inString bool   // the variable stands inside a JSON string
	quoted   bool   // the variable brings quotes of its own
}

var variable = regexp.MustCompile(`\$context\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*`)

// compile takes a template apart. Whether a variable stands inside a string is
// known from the literals alone, because no value can end a string.
func compile(text string) template {
	var t template
	inString, done := false, 0
	for _, at := range variable.FindAllStringIndex(text, -1) {
		literal := text[done:at[0]]
		inString = endsInString(literal, inString)
		v := part{variable: strings.TrimPrefix(text[at[0]:at[1]], "$context."), inString: inString}
		if v.variable == "error.messageString" {
			v.variable, v.quoted = "error.message", true
		}
		t = append(t, part{literal: literal}, v)
		done = at[1]
	}
	return append(t, part{literal: text[done:]})
}

func endsInString(literal string, inString bool) bool {
	for i := 0; i < len(literal); i++ {
		switch {
		case literal[i] == '\\' && inString:
			i++
		case literal[i] == '"':
			inString = !inString
		}
	}
	return inString
}

// validate renders the template with values of every kind and wants JSON.
func (t template) validate() error {
	for _, value := range []string{"", "text", `"\`, "12"} {
		body := t.json(func(string) (string, bool) { return value, value != "" })
		if !json.Valid(body) {
			return fmt.Errorf("the template does not give JSON, but %q", body)
		}
	}
	return nil
}

// json renders a body. Inside a string a value is escaped. Elsewhere a number or
// a boolean stands as it is, a missing value is null and any other is quoted.
func (t template) json(lookup func(string) (string, bool)) []byte {
	var b []byte
	for _, p := range t {
		if p.variable == "" {
			b = append(b, p.literal...)
			continue
		}
		value, found := lookup(p.variable)
		switch {
		case p.inString:
			quoted := encodeJSON(value)
			b = append(b, quoted[1:len(quoted)-1]...)
		case !found:
			b = append(b, "null"...)
		case !p.quoted && isScalar(value):
			b = append(b, value...)
		default:
			b = append(b, encodeJSON(value)...)
		}
	}
	return b
}

// text renders a header value; control characters, which could end it, are
// dropped.
func (t template) text(lookup func(string) (string, bool)) string {
	var s strings.Builder
	for _, p := range t {
		value := p.literal
		if p.variable != "" {
			value, _ = lookup(p.variable)
		}
		s.WriteString(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, value))
	}
	return s.String()
}

func isScalar(value string) bool {
	if value == "" || value[0] == '"' || value[0] == '{' || value[0] == '[' || value != strings.TrimSpace(value) {
		return false
	}
	return json.Valid([]byte(value))
}
