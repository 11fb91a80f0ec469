package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads the JSON of a function's answer, whose body is one long string
// with an escape every few bytes. encoding/json goes over such a string three
// times; this goes over it once. A fuzz test holds the two against each other.
type scanner struct {
	data []byte
	at   int
}

var errJSON = errors.New("the answer is not valid JSON")

// null reads null if it is there.
func (s *scanner) null() bool {
	if s.next(); !bytes.HasPrefix(s.data[s.at:], []byte("null")) {
		return false
	}
	s.at += len("null")
	return true
}

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.next(); s.at < len(s.data) {
		return errJSON
	}
	return nil
}

// object calls member for each key of an object, with the scanner at its value.
// member must read the value.
func (s *scanner) object(member func(key string) error) error {
	return s.list('{', '}', func() error {
		key, err := s.string(0)
		if err != nil {
			return err
		}
		if s.next() != ':' {
			return errJSON
		}
		s.at++
		s.next()
		return member(string(key))
	})
}

// array calls element at each element, which it must read.
func (s *scanner) array(element func() error) error { return s.list('[', ']', element) }

func (s *scanner) list(open, end byte, item func() error) error {
	if s.next() != open {
		return fmt.Errorf("at byte %d: want %q", s.at, open)
	}
	s.at++
	if s.next() == end {
		s.at++
		return nil
	}
	for {
		s.next()
		if err := item(); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.at++
		case end:
			s.at++
			return nil
		default:
			return errJSON
		}
	}
}

// next skips white space and returns the byte there; 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// literal reads a number, true, false or null as it is written.
func (s *scanner) literal() (string, error) {
	start := s.at
	for s.at < len(s.data) && strings.IndexByte(",]} \t\n\r", s.data[s.at]) < 0 {
		s.at++
	}
	text := string(s.data[start:s.at])
	switch text {
	case "true", "false", "null":
		return text, nil
	}
	if !isNumber(text) {
		return "", errJSON
	}
	return text, nil
}

// isNumber checks JSON's grammar, which is narrower than strconv's.
func isNumber(s string) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	if s != "" && s[0] == '0' {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if s != "" && s[0] == '.' {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// string reads a string and returns its value, which lies in memory of its own,
// with room for at least capacity bytes if that is needed. What is not UTF-8
// becomes U+FFFD.
func (s *scanner) string(capacity int) ([]byte, error) {
	if s.next() != '"' {
		return nil, fmt.Errorf("at byte %d: want a string", s.at)
	}
	s.at++
	var out []byte
	from := s.at
	for {
		i := plainRun(s.data[s.at:])
		s.at += i
		if s.at >= len(s.data) || s.data[s.at] < ' ' {
			return nil, errJSON
		}
		switch s.data[s.at] {
		case '"':
			out = append(out, s.data[from:s.at]...)
			s.at++
			if !utf8.Valid(out) {
				out = bytes.ToValidUTF8(out, []byte("\ufffd"))
			}
			return out, nil
		default: // a backslash
			if out == nil {
				out = make([]byte, 0, capacity)
			}
			out = append(out, s.data[from:s.at]...)
			var err error
			if out, err = s.escape(out); err != nil {
				return nil, err
			}
			from = s.at
		}
	}
}

// plainRun is the length of what needs no attention: no quote, no backslash, no
// control character.
func plainRun(data []byte) int {
	for i, c := range data {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(data)
}

// escape reads one escape sequence.
func (s *scanner) escape(out []byte) ([]byte, error) {
	if s.at+1 >= len(s.data) {
		return nil, errJSON
	}
	c := s.data[s.at+1]
	s.at += 2
	switch c {
	case '"', '\\', '/':
		return append(out, c), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
	default:
		return nil, errJSON
	}
	r, err := s.unit()
	if err != nil {
		return nil, err
	}
	if utf16.IsSurrogate(r) {
		r = s.lowHalf(r)
	}
	return utf8.AppendRune(out, r), nil
}

// lowHalf completes a surrogate pair. A half alone is U+FFFD, and what follows it
// is left to be read by itself.
func (s *scanner) lowHalf(high rune) rune {
	back := s.at
	if bytes.HasPrefix(s.data[s.at:], []byte(`\u`)) {
		s.at += 2
		if low, err := s.unit(); err == nil {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r
			}
		}
	}
	s.at = back
	return utf8.RuneError
}

// unit reads the four digits of \u.
func (s *scanner) unit() (rune, error) {
	if s.at+4 > len(s.data) {
		return 0, errJSON
	}
	digits := string(s.data[s.at : s.at+4])
	n, err := strconv.ParseUint(digits, 16, 16)
	if err != nil {
		return 0, errJSON
	}
	s.at += 4
	return rune(n), nil
}
