package feeds

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/shared/text/visible"
)

// Text is the text of HTML on one line, at most so many runes.
func Text(html string, most int) string {
	var w work
	return w.words(syndication.Text{Form: syndication.Markup, Body: html}, most)
}

// work counts the tokens of markup that are read, and their bytes: what making texts of it costs.
type work int

const (
	// maxWork is how much of a document is done before the contents of its further items are
	// shown as text alone: half as much again as 5 MB take that people write, which is 270,000
	// with markup as in most feeds and 410,000 of words alone.
	maxWork = 600_000
	// textOfWork is how many bytes of text take as long as a token.
	textOfWork = 64
)

// next reads a token. Of raw text, as browsers see it in some elements, there is none in
// one that closes itself.
func (w *work) next(z *html.Tokenizer) html.TokenType {
	kind := z.Next()
	*w += 1 + work(len(z.Raw())/textOfWork)
	if kind == html.SelfClosingTagToken {
		z.NextIsNotRawText()
	}
	return kind
}

// plainLength is how many bytes of HTML are read for each rune of its text: what a
// stranger writes costs no more time than that.
const plainLength = 32

// words are what the writer of a text wrote, on one line and without markup, at most so many
// runes. Words may name elements: whoever shows them as HTML escapes them.
func (w *work) words(t syndication.Text, most int) string {
	text := beginning(t.Body, plainLength*most)
	switch t.Form {
	case syndication.Markup:
		text = w.textOf(finished(text, len(text) == len(t.Body)))
	case syndication.Headline:
		text = syndication.Unescape(w.withoutLooks(text))
	case syndication.Plain: // as it is
	}
	return shortened(oneLine(text), most)
}

// oneLine is a text without control characters and with single spaces.
func oneLine(text string) string {
	return visible.Headline(text)
}

// beginning is the first bytes of a text, so many at most, in whole runes.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// mostSigns is how many signs of a text people mean as such.
const mostSigns = 1000

// finished is HTML in which a tag that does not end, such as of "mark<index", is text, as its
// writer meant; of HTML that is not whole it is one that was cut, and left out.
func finished(text string, whole bool) string {
	end := strings.LastIndexByte(text, '>') + 1
	if !whole {
		words, _, _ := strings.Cut(text[end:], "<")
		return text[:end] + words
	}
	if !strings.Contains(text[end:], "<") || strings.Contains(text[end:], "<!--") {
		return text
	}
	return text[:end] + strings.Replace(text[end:], "<", "&lt;", mostSigns)
}

// hidden elements hold no text for people.
var hidden = []string{"script", "style", "noscript", "template", "iframe", "object", "svg", "math", "title", "textarea", "select", "noembed", "noframes", "xmp", "plaintext"}

// inline elements do not end a word.
var inline = []string{"a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span", "strong", "sub", "sup", "tt", "u", "wbr"}

// visible calls see for each token of HTML but those in hidden elements.
func (w *work) visible(text string, see func(kind html.TokenType, z *html.Tokenizer)) {
	z := html.NewTokenizer(strings.NewReader(text))
	within, depth := "", 0 // a hidden element, and those of its name in it
	for {
		kind := w.next(z)
		switch kind {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name := tagOf(z)
			hides := slices.Contains(hidden, name)
			switch {
			case !hides || within != "" && name != within:
			case kind == html.StartTagToken:
				within, depth = name, depth+1
			case kind == html.EndTagToken && depth > 0:
				if depth--; depth == 0 {
					within = ""
				}
			}
			if hides {
				continue
			}
		}
		if within == "" {
			see(kind, z)
		}
	}
}

// tagOf is the name of a tag, which stays to be read.
func tagOf(z *html.Tokenizer) string {
	name := bytes.TrimLeft(z.Raw(), "</")
	if end := bytes.IndexAny(name, " \t\r\n\f/>"); end >= 0 {
		name = name[:end]
	}
	return strings.ToLower(string(name))
}

// textOf is the text of HTML.
func (w *work) textOf(text string) string {
	var b strings.Builder
	w.visible(text, func(kind html.TokenType, z *html.Tokenizer) {
		switch {
		case kind == html.TextToken:
			b.Write(z.Text())
		case kind != html.CommentToken && kind != html.DoctypeToken && !slices.Contains(inline, tagOf(z)):
			b.WriteByte(' ')
		}
	})
	return b.String()
}

// withoutLooks takes out of a headline the elements that have both begin and end and only
// change how words look. All else is words.
func (w *work) withoutLooks(text string) string {
	if !strings.Contains(text, "</") {
		return text
	}
	type part struct {
		text string
		open string // the element that begins
	}
	var parts []part
	var open []int
	z := html.NewTokenizer(strings.NewReader(text))
	for kind := w.next(z); kind != html.ErrorToken; kind = w.next(z) {
		z.NextIsNotRawText()
		p := part{text: string(z.Raw())}
		switch name := tagOf(z); {
		case kind != html.StartTagToken && kind != html.EndTagToken || !slices.Contains(inline, name):
		case kind == html.StartTagToken:
			p.open = name
			open = append(open, len(parts))
		case len(open) > 0 && parts[open[len(open)-1]].open == name:
			parts[open[len(open)-1]].text, p.text = "", ""
			open = open[:len(open)-1]
		}
		parts = append(parts, p)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	b.Write(z.Raw()) // what begins as a tag and does not end
	return b.String()
}

// shortened cuts a text to so many runes, the last of which says so.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)[:most-1]
	return strings.TrimRightFunc(string(runes), unicode.IsSpace) + "…"
}
