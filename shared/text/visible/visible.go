// Package visible is the one place that decides which characters of a stranger's text are
// shown, whether a source, a drop or a caller wrote it. A control character, or one that
// turns the direction of reading, shows nothing itself, but can have a name look like
// another one, or a log line like two. Two code points are no characters at all. Texts need some
// that show nothing, as emoji do that are joined; a name with one would look like that without.
package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character is not shown. Line breaks and tabs are no such
// characters.
func Hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || unseen(r)
}

// unseen reports whether a character changes the direction in which others are read, or is
// none.
func unseen(r rune) bool {
	return r > unicode.MaxASCII && (unicode.Is(unicode.Bidi_Control, r) || r == '\uFFFE' || r == '\uFFFF')
}

// blank reports whether a character is for no name: it is unseen, or shows nothing between others,
// as fillers, joiners and selectors of variants do, which Unicode has whoever cannot show them ignore.
func blank(r rune) bool {
	return r > unicode.MaxASCII && (r == brailleBlank || unseen(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))
}

// brailleBlank is the pattern of Braille without a dot: no space, and nothing to see.
const brailleBlank = '\u2800'

// Text is a text without what is hidden, and without what is no UTF-8.
func Text(text string) string {
	if plain(text) {
		return text
	}
	return without(text, Hidden)
}

func without(text string, hidden func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// Line is a text on one line, as a [Name] is: its words with single spaces between them. A
// control character parts words.
func Line(text string) string {
	last := rune(0)
	return line(text, func(r rune) bool {
		hides := blank(r) && !unicode.IsSpace(r) && !colours(last, r, 0)
		last = r
		return hides
	})
}

// Headline is a free text on one line, with the characters that texts need.
func Headline(text string) string { return line(text, unseen) }

func line(text string, hidden func(rune) bool) string {
	if plain(text) && !strings.Contains(text, "  ") && strings.TrimSpace(text) == text {
		return text
	}
	words := strings.FieldsFunc(without(text, hidden), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	return strings.Join(words, " ")
}

// Excerpt is the beginning of a text as a [Line], of at most so many of its bytes: what may be
// logged of a stranger's.
func Excerpt(text string, most int) string { return Line(text[:min(len(text), most)]) }

// Name reports whether a text can be a name as it stands: it is UTF-8 on one line, of
// which nothing is hidden.
func Name(text string) bool {
	if plain(text) {
		return true
	}
	if !utf8.ValidString(text) {
		return false
	}
	last := rune(0)
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		if !shown(r) && !colours(last, r, next) {
			return false
		}
		last = r
	}
	return true
}

// inColours has the symbol before it be shown in colours, and keycap a digit before both on a key.
const inColours, keycap = '\ufe0f', '\u20e3'

// colours reports whether a character is the one by which keyboards write a symbol in colours, where
// it is: behind one, or before what makes a key. A letter or a digit alone looks as without it.
func colours(last, r, next rune) bool {
	return r == inColours && (next == keycap || last > unicode.MaxASCII && unicode.In(last, unicode.S, unicode.P) && !blank(last))
}

// plain reports whether a text is of printable ASCII, as nearly all names are.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
