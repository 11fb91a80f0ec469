package visible

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is a JSON text that is kept as it was written, for whoever decodes it: where one of its
// strings has a character that no [Name] has, escaped or not, or what is no UTF-8, U+FFFD
// stands instead, but not of what joins two emoji: a string may be a free text. Without
// anything in its place a name would be that of another thing, and two members of an object
// might have one name. The text of before is left as it is, and is the result where there is
// nothing to hide.
func JSON(text []byte) []byte {
	if ordinary(text) {
		return text
	}
	var clean []byte // what is done of the text, once something is replaced
	done := 0
	inside := false // a string
	last := rune(0)
	for i := 0; i < len(text); {
		r, size := character(text[i:])
		if text[i] == '"' {
			inside = !inside
		}
		hides := inside && !shown(r)
		if hides && (r == joiner || r == inColours) {
			next, _ := character(text[i+size:])
			joins := r == joiner && (emoji(last) || last == inColours) && emoji(next)
			hides = !joins && !colours(last, r, next)
		}
		if last = r; hides {
			last = 0
			clean = append(append(clean, text[done:i]...), string(utf8.RuneError)...)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	return append(clean, text[done:]...)
}

// ordinary reports whether a JSON text is of printable ASCII without escapes, as nearly all are.
func ordinary(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return bytes.IndexByte(text, '\\') < 0
}

// shown reports whether a character may be in a name.
func shown(r rune) bool { return !unicode.IsControl(r) && !blank(r) }

const joiner = '\u200d'

// emoji reports whether a character may stand beside a joiner in an emoji: a symbol, or the tone of
// a skin.
func emoji(r rune) bool { return r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sk) }

// character is the one with which the rest of a text begins, escaped or not, and its bytes: 0,
// which is not shown, for what is none.
func character(text []byte) (r rune, size int) {
	switch {
	case len(text) == 0:
		return 0, 0
	case text[0] == '\\':
		return escaped(text)
	case text[0] <= '~':
		return rune(text[0]), 1
	}
	if r, size = utf8.DecodeRune(text); r == utf8.RuneError && size == 1 {
		return 0, 1
	}
	return r, size
}

// escaped is the character for which the escape stands with which a text begins, and the bytes
// of it: 0, which is not shown, for half of a pair. What is no escape stands for itself.
func escaped(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return '\\', 1
	}
	switch text[1] {
	case 'b', 'f', 'n', 'r', 't':
		return '\n', 2
	case 'u':
	default:
		return '\\', 2
	}
	r, ok := fourDigits(text)
	if !ok {
		return '\\', 2
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := fourDigits(text[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return 0, 6
}

// fourDigits is the number of an escape of four digits with which a text begins.
func fourDigits(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}
