package market

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner walks one JSON text. It accepts exactly the grammar of RFC 8259
// (held against encoding/json by a fuzz test) and allocates nothing: the
// strings that it returns are parts of the text.
type scanner struct {
	s string
	i int
}

// errSyntax reports that the text is no JSON, or not of the expected shape.
var errSyntax = errors.New("not the expected JSON")

// maxDepth bounds the nesting of skipped values.
const maxDepth = 200

func (p *scanner) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// peek is the next byte that is no space, 0 at the end.
func (p *scanner) peek() byte {
	p.space()
	if p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

// take consumes c if it is next.
func (p *scanner) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

// literal consumes word if it is next.
func (p *scanner) literal(word string) bool {
	p.space()
	if len(p.s)-p.i < len(word) || p.s[p.i:p.i+len(word)] != word {
		return false
	}
	p.i += len(word)
	return true
}

// text consumes a string and returns what it means.
func (p *scanner) text() (string, bool) {
	if !p.take('"') {
		return "", false
	}
	from := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return p.s[from : p.i-1], true
		case c == '\\':
			return p.escaped(from)
		case c < ' ':
			return "", false
		}
		p.i++
	}
	return "", false
}

// escaped reads on where a string has its first backslash.
func (p *scanner) escaped(from int) (string, bool) {
	b := []byte(p.s[from:p.i])
	for p.i < len(p.s) {
		c := p.s[p.i]
		p.i++
		switch {
		case c == '"':
			return string(b), true
		case c < ' ':
			return "", false
		case c != '\\':
			b = append(b, c)
			continue
		}
		if p.i == len(p.s) {
			return "", false
		}
		c = p.s[p.i]
		p.i++
		switch c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, ok := p.hex4()
			if !ok {
				return "", false
			}
			b = utf8.AppendRune(b, p.pair(r))
		default:
			return "", false
		}
	}
	return "", false
}

// pair joins r with a following low surrogate; a lone surrogate becomes the
// replacement character, as in encoding/json.
func (p *scanner) pair(r rune) rune {
	if !utf16.IsSurrogate(r) {
		return r
	}
	if len(p.s)-p.i >= 6 && p.s[p.i] == '\\' && p.s[p.i+1] == 'u' {
		back := p.i
		p.i += 2
		if low, ok := p.hex4(); ok {
			if joined := utf16.DecodeRune(r, low); joined != utf8.RuneError {
				return joined
			}
		}
		p.i = back
	}
	return utf8.RuneError
}

func (p *scanner) hex4() (rune, bool) {
	if len(p.s)-p.i < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[p.i:p.i+4], 16, 16)
	if err != nil {
		return 0, false
	}
	p.i += 4
	return rune(n), true
}

// number consumes a JSON number and returns its text.
func (p *scanner) number() (string, bool) {
	p.space()
	from := p.i
	if p.at('-') {
		p.i++
	}
	if p.at('0') {
		p.i++
	} else if !p.digits() {
		return "", false
	}
	if p.at('.') {
		p.i++
		if !p.digits() {
			return "", false
		}
	}
	if p.at('e') || p.at('E') {
		p.i++
		if p.at('+') || p.at('-') {
			p.i++
		}
		if !p.digits() {
			return "", false
		}
	}
	return p.s[from:p.i], true
}

func (p *scanner) at(c byte) bool { return p.i < len(p.s) && p.s[p.i] == c }

func (p *scanner) digits() bool {
	from := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i > from
}

// skip consumes any value.
func (p *scanner) skip() bool { return p.skipTo(maxDepth) }

func (p *scanner) skipTo(depth int) bool {
	if depth == 0 {
		return false
	}
	switch p.peek() {
	case '"':
		_, ok := p.text()
		return ok
	case '{':
		return p.object(func(string) bool { return p.skipTo(depth - 1) })
	case '[':
		return p.array(func() bool { return p.skipTo(depth - 1) })
	case 't':
		return p.literal("true")
	case 'f':
		return p.literal("false")
	case 'n':
		return p.literal("null")
	default:
		_, ok := p.number()
		return ok
	}
}

// object consumes an object; member consumes the value of each key.
func (p *scanner) object(member func(key string) bool) bool {
	if !p.take('{') {
		return false
	}
	if p.take('}') {
		return true
	}
	for {
		key, ok := p.text()
		if !ok || !p.take(':') || !member(key) {
			return false
		}
		if p.take('}') {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

// array consumes an array; element consumes each of its elements.
func (p *scanner) array(element func() bool) bool {
	if !p.take('[') {
		return false
	}
	if p.take(']') {
		return true
	}
	for {
		if !element() {
			return false
		}
		if p.take(']') {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}
