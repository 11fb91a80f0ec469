// Package jsonscan walks a JSON text once, without reflection and without
// allocation: for the lines of the market, of which there are thousands a second.
// encoding/json is for all other texts.
//
// A reader asks a [Scanner] for what it expects next and learns whether it was
// there. What it does not expect it skips, or it gives up: after a false the
// scanner's position is where the text is not what was expected.
package jsonscan

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner walks one text. It accepts exactly the grammar of RFC 8259, but for
// UTF-8, which it does not check. The strings that it returns are parts of the
// text wherever they have no escape.
type Scanner struct {
	s string
	i int
}

// New returns a scanner at the start of text.
func New(text string) Scanner { return Scanner{s: text} }

// Offset is how far the scanner has come, in bytes.
func (p *Scanner) Offset() int { return p.i }

// End reports whether nothing but space is left.
func (p *Scanner) End() bool { return p.Peek() == 0 && p.i == len(p.s) }

// maxDepth bounds the nesting of skipped values.
const maxDepth = 200

func (p *Scanner) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// Peek is the next byte that is no space, 0 at the end.
func (p *Scanner) Peek() byte {
	p.space()
	if p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

// Accept consumes c if it is next.
func (p *Scanner) Accept(c byte) bool {
	if p.Peek() != c {
		return false
	}
	p.i++
	return true
}

// Literal consumes word if it is next.
func (p *Scanner) Literal(word string) bool {
	p.space()
	if len(p.s)-p.i < len(word) || p.s[p.i:p.i+len(word)] != word {
		return false
	}
	p.i += len(word)
	return true
}

// Text consumes a string and returns what it means.
func (p *Scanner) Text() (string, bool) {
	if !p.Accept('"') {
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
func (p *Scanner) escaped(from int) (string, bool) {
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
func (p *Scanner) pair(r rune) rune {
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

func (p *Scanner) hex4() (rune, bool) {
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

// Number consumes a JSON number and returns its text.
func (p *Scanner) Number() (string, bool) {
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

func (p *Scanner) at(c byte) bool { return p.i < len(p.s) && p.s[p.i] == c }

func (p *Scanner) digits() bool {
	from := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i > from
}

// Skip consumes any value.
func (p *Scanner) Skip() bool { return p.skipTo(maxDepth) }

// Raw consumes any value and returns its text.
func (p *Scanner) Raw() (string, bool) {
	p.space()
	from := p.i
	ok := p.Skip()
	return p.s[from:p.i], ok
}

func (p *Scanner) skipTo(depth int) bool {
	if depth == 0 {
		return false
	}
	switch p.Peek() {
	case '"':
		_, ok := p.Text()
		return ok
	case '{':
		return p.Object(func(string) bool { return p.skipTo(depth - 1) })
	case '[':
		return p.Array(func() bool { return p.skipTo(depth - 1) })
	case 't':
		return p.Literal("true")
	case 'f':
		return p.Literal("false")
	case 'n':
		return p.Literal("null")
	default:
		_, ok := p.Number()
		return ok
	}
}

// Object consumes an object; member consumes the value of each key.
func (p *Scanner) Object(member func(key string) bool) bool {
	if !p.Accept('{') {
		return false
	}
	if p.Accept('}') {
		return true
	}
	for {
		key, ok := p.Text()
		if !ok || !p.Accept(':') || !member(key) {
			return false
		}
		if p.Accept('}') {
			return true
		}
		if !p.Accept(',') {
			return false
		}
	}
}

// Array consumes an array; element consumes each of its elements.
func (p *Scanner) Array(element func() bool) bool {
	if !p.Accept('[') {
		return false
	}
	if p.Accept(']') {
		return true
	}
	for {
		if !element() {
			return false
		}
		if p.Accept(']') {
			return true
		}
		if !p.Accept(',') {
			return false
		}
	}
}
