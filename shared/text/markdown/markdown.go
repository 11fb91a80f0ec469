// Package markdown makes Markdown that strangers wrote harmless, whatever renders it.
//
// HTML inside is shown as text, and links and pictures lead to http and https alone.
// Everything else stays as it is written. In blocks of code an escape may be seen as such:
// a reader of Markdown alone would tell them apart, and readers differ.
package markdown

import (
	"regexp"
	"strings"

	"quotary/shared/text/visible"
)

// Harmless returns the text without control characters, in which no HTML is left, and no
// link or picture with an address of another scheme than http and https.
func Harmless(text string) string {
	text = strings.Map(printed, strings.ReplaceAll(text, "\r\n", "\n"))
	var b strings.Builder
	b.Grow(len(text))
	for text != "" {
		next := strings.IndexAny(text, "<]")
		if next < 0 {
			break
		}
		b.WriteString(text[:next])
		text = text[next:]
		if text[0] == '<' {
			text = angle(&b, text)
		} else {
			text = bracket(&b, text)
		}
	}
	b.WriteString(text)
	return b.String()
}

// printed drops what is no character of a text.
func printed(r rune) rune {
	if r == '\r' || visible.Hidden(r) {
		return -1
	}
	return r
}

// address is an address of the web in angle brackets, which is a link.
var address = regexp.MustCompile(`^(?i)<https?://[^\s<>]+>`)

// angle writes what begins with <: an address, or a character that begins no HTML. It
// returns the rest.
func angle(b *strings.Builder, text string) string {
	if link := address.FindString(text); link != "" {
		b.WriteString(link)
		return text[len(link):]
	}
	b.WriteString("&lt;")
	return text[1:]
}

// An address follows "](" of a link or a picture, and "]:" where one is defined for others
// to name. Some readers also accept spaces between the two.
var (
	follows = regexp.MustCompile(`^\]\s*[(:]`)
	allowed = regexp.MustCompile(`^(?i)\s*<?https?://`)
)

// bracket writes what begins with ], and nothing behind it that makes an address of another
// scheme a link. It returns the rest.
func bracket(b *strings.Builder, text string) string {
	between := follows.FindString(text)
	switch {
	case between == "":
		b.WriteString("]")
		return text[1:]
	case !allowed.MatchString(text[len(between):]):
		last := len(between) - 1
		b.WriteString(between[:last] + `\` + between[last:])
		return text[len(between):]
	}
	b.WriteString(between)
	return text[len(between):]
}
