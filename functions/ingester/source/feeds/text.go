package feeds

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"

	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/shared/text/visible"
)

// Text is the text of HTML on one line, at most so many runes.
func Text(html string, most int) string {
	var w work
	return w.words(syndication.Text{Form: syndication.Markup, Body: html}, most)
}

// work counts the tokens of markup that are read: what making texts of it costs.
type work int

// maxWork is how many tokens of a document are read before the contents of its further items
// are shown as text alone: three times those of 5 MB that people write.
const maxWork = 500_000

// next reads a token. Of raw text, as browsers see it in some elements, there is none in
// one that closes itself.
func (w *work) next(z *html.Tokenizer) html.TokenType {
	*w++
	kind := z.Next()
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
	}
	return shortened(oneLine(text), most)
}

// oneLine is a text without control characters and with single spaces.
func oneLine(text string) string {
	return visible.Line(text)
}

// beginning is the first bytes of a text, so many at most, in whole runes.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

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
	return text[:end] + strings.ReplaceAll(text[end:], "<", "&lt;")
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

// policy is which HTML is harmless: text, its structure, links and pictures with
// absolute addresses.
var policy = func() *bluemonday.Policy {
	p := bluemonday.UGCPolicy()
	p.AllowRelativeURLs(false)
	p.AllowURLSchemes("http", "https")
	p.RequireNoReferrerOnLinks(true)
	return p
}()

// markup is a text as harmless HTML with absolute addresses, at most maxContent bytes: what
// is longer is cut where that falls.
func (w *work) markup(t syndication.Text, base *url.URL) string {
	text := beginning(t.Body, 4*maxContent)
	switch {
	case t.Form != syndication.Markup:
		return w.closed(paragraphs(text))
	case *w > maxWork:
		return w.closed(html.EscapeString(w.words(t, maxContent/plainLength)))
	}
	var b strings.Builder
	w.visible(finished(text, len(text) == len(t.Body)), func(kind html.TokenType, z *html.Tokenizer) {
		if kind == html.CommentToken || kind == html.DoctypeToken || b.Len() > 4*maxContent {
			return // a short address becomes as long as the item's own
		}
		token := z.Token()
		if kind == html.TextToken {
			token.Data = visible.Text(token.Data)
		}
		token.Attr = slices.DeleteFunc(token.Attr[:min(len(token.Attr), maxAttributes)], func(a html.Attribute) bool { return a.Key == "srcset" })
		for i := range token.Attr {
			if a := &token.Attr[i]; a.Key == "href" || a.Key == "src" || a.Key == "cite" {
				a.Val = w.address(a.Val, base)
			} else {
				a.Val = visible.Text(a.Val)
			}
		}
		if kind == html.StartTagToken && slices.Contains(void, token.Data) {
			token.Type = html.SelfClosingTagToken
		}
		b.WriteString(token.String())
	})
	return w.closed(policy.Sanitize(b.String()))
}

// bytesOfWork is how many bytes of an address that is made cost as much as a token that is read.
const bytesOfWork = 16

// maxAttributes is how many attributes of an element are looked at.
const maxAttributes = 32

// paragraphs is a text as HTML: its empty lines part paragraphs, its other ones stay.
func paragraphs(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(visible.Text(text), "\r\n", "\n"), "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(paragraph), "\n", "<br/>") + "</p>")
		}
	}
	return b.String()
}

// void elements have no end, alike ones end where the next of them begins in their container.
var (
	void       = []string{"area", "br", "col", "hr", "img", "wbr"}
	alike      = []string{"p", "li", "dt", "dd", "tr", "td", "th"}
	containers = []string{"table", "ul", "ol", "dl", "div", "blockquote", "section", "article"}
)

// maxOpen is how many elements stand in each other.
const maxOpen = 100

// closed is the beginning of harmless HTML, so much as fits into maxContent bytes when all
// elements that it opens are closed.
func (w *work) closed(text string) string {
	var b strings.Builder
	var open []string
	ends := 0 // bytes that closing them takes
	pop := func(to int) {
		for len(open) > to {
			name := open[len(open)-1]
			open, ends = open[:len(open)-1], ends-len("</>")-len(name)
			b.WriteString("</" + name + ">")
		}
	}
	z := html.NewTokenizer(strings.NewReader(strings.TrimSpace(text)))
	for kind := w.next(z); kind != html.ErrorToken; kind = w.next(z) {
		raw, name := string(z.Raw()), ""
		room := maxContent - b.Len() - ends
		if kind != html.TextToken {
			name = tagOf(z)
		}
		switch {
		case kind == html.TextToken:
			b.WriteString(unlessLonger(raw, room))
		case kind == html.EndTagToken:
			if at := lastIndex(open, name); at >= 0 {
				pop(at)
			}
			continue
		case kind == html.StartTagToken && !slices.Contains(void, name):
			if slices.Contains(alike, name) {
				for at := len(open) - 1; at >= 0 && !slices.Contains(containers, open[at]); at-- {
					if open[at] == name {
						pop(at)
						break
					}
				}
			}
			if len(open) == maxOpen {
				continue
			}
			if room -= len("</>") + len(name); len(raw) <= room {
				b.WriteString(raw)
				open, ends = append(open, name), ends+len("</>")+len(name)
			}
		case len(raw) <= room:
			b.WriteString(raw)
		}
		if len(raw) > room {
			break
		}
	}
	pop(0)
	return strings.TrimSpace(b.String())
}

func lastIndex(of []string, name string) int {
	for at := len(of) - 1; at >= 0; at-- {
		if of[at] == name {
			return at
		}
	}
	return -1
}

// unlessLonger is the beginning of escaped text, at most so many bytes, without half a rune or
// reference.
func unlessLonger(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = beginning(text, most)
	if at := strings.LastIndexByte(text, '&'); at >= 0 && !strings.Contains(text[at:], ";") {
		text = text[:at]
	}
	return text
}

// picture is the address of the first picture in HTML, "" for none. One of a single pixel is
// none: it counts readers.
func (w *work) picture(t syndication.Text, base *url.URL) (address string) {
	if t.Form != syndication.Markup {
		return ""
	}
	z := html.NewTokenizer(strings.NewReader(beginning(t.Body, maxContent)))
	for kind := w.next(z); kind != html.ErrorToken && address == ""; kind = w.next(z) {
		if (kind == html.StartTagToken || kind == html.SelfClosingTagToken) && tagOf(z) == "img" {
			address = w.pictureOf(z.Token(), base)
		}
	}
	return address
}

func (w *work) pictureOf(img html.Token, base *url.URL) (address string) {
	for _, a := range img.Attr[:min(len(img.Attr), maxAttributes)] {
		switch {
		case a.Key == "src" && address == "":
			address = w.address(a.Val, base)
		case (a.Key == "width" || a.Key == "height") && syndication.TrackingPixel(a.Val), a.Key == "style" && tinyStyle.MatchString(a.Val):
			return ""
		}
	}
	return address
}

// tinyStyle is a style of the same kind as a [syndication.TrackingPixel].
var tinyStyle = regexp.MustCompile(`(?i)(^|[;\s])(width|height)\s*:\s*[01](px)?\s*(;|!|$)|display\s*:\s*none`)

// address is [absolute] for one of the many addresses of an item. What it costs follows from the
// base too, also where nothing comes of it; none is resolved in a document that has cost too much.
func (w *work) address(reference string, base *url.URL) string {
	if *w > maxWork {
		return ""
	}
	if base != nil {
		*w += work((len(reference) + len(base.Path)) / bytesOfWork)
	}
	return absolute(reference, base)
}

// maxAddress is the longest address that is kept.
const maxAddress = 2048

// absolute resolves an address of the web against a base, which may be nil; "" is
// what cannot be resolved, or is of another scheme.
func absolute(reference string, base *url.URL) string {
	u, err := url.Parse(strings.TrimSpace(reference))
	if err != nil || reference == "" {
		return ""
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if checkScheme(u) != nil || u.User != nil {
		return ""
	}
	if text := u.String(); len(text) <= maxAddress {
		return text
	}
	return ""
}

// tracking are the parameters of addresses that say where a reader came from, beside
// those that begin with utm_.
var tracking = []string{"fbclid", "gclid", "dclid", "msclkid", "yclid", "twclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl", "ref", "ref_src", "source", "cmpid", "spm"}

// page is an address without tracking parameters and fragment: the same for all ways to the
// same page.
func page(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return untracked(address)
}

// untracked is an address without tracking parameters.
func untracked(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if u.RawQuery != "" {
		kept := strings.Split(u.RawQuery, "&")
		kept = slices.DeleteFunc(kept, func(pair string) bool {
			name, _, _ := strings.Cut(strings.ToLower(pair), "=")
			return name == "" || strings.HasPrefix(name, "utm_") || slices.Contains(tracking, name)
		})
		u.RawQuery = strings.Join(kept, "&")
	}
	return u.String()
}
