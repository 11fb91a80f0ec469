package feeds

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// plainRounds is how often markup that shows up behind escapes is taken out.
const plainRounds = 4

// Text is the text of HTML on one line, at most so many runes.
func Text(html string, most int) string { return plain(html, most) }

// plain is the text of HTML on one line: without markup, entities read, at most so
// many runes. Markup that is escaped once more than it should be is taken out too, so
// that nobody who shows the text as HTML runs what a stranger wrote.
func plain(text string, most int) string {
	text = beginning(text, plainLength*most)
	for range plainRounds {
		next := textOf(text)
		if next == text {
			return shortened(text, most)
		}
		text = next
	}
	return shortened(strings.ReplaceAll(text, "<", ""), most)
}

// plainLength is how many bytes of HTML are read for each rune of its text: what a
// stranger writes costs no more time than that.
const plainLength = 32

// beginning is the first bytes of a text, so many at most, in whole runes.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// textOf reads HTML once.
func textOf(text string) string {
	var b strings.Builder
	for _, n := range fragment(text) {
		appendText(&b, n)
	}
	return strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// hidden elements hold no text for people.
var hidden = []atom.Atom{atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Svg, atom.Math, atom.Title, atom.Textarea, atom.Select}

// inline elements do not end a word.
var inline = []atom.Atom{atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Em, atom.Font, atom.I, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.U, atom.Wbr}

func appendText(b *strings.Builder, n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		b.WriteString(n.Data)
	case n.Type == html.ElementNode && !slices.Contains(hidden, n.DataAtom):
		apart := !slices.Contains(inline, n.DataAtom)
		if apart {
			b.WriteByte(' ')
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			appendText(b, child)
		}
		if apart {
			b.WriteByte(' ')
		}
	}
}

// fragment parses HTML as a browser does. Text that it cannot parse is no HTML.
func fragment(text string) []*html.Node {
	nodes, err := html.ParseFragment(strings.NewReader(text), &html.Node{Type: html.ElementNode, DataAtom: atom.Body, Data: "body"})
	if err != nil {
		return nil
	}
	return nodes
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

// clean makes HTML harmless, with absolute addresses. What gets longer than maxContent
// is shown as text alone.
func clean(text string, base *url.URL) string {
	text = beginning(text, 2*maxContent)
	var b strings.Builder
	for _, n := range fragment(text) {
		makeAbsolute(n, base)
		if err := html.Render(&b, n); err != nil {
			return html.EscapeString(plain(text, maxContent/8))
		}
	}
	safe := strings.TrimSpace(policy.Sanitize(b.String()))
	if len(safe) > maxContent {
		return html.EscapeString(plain(text, maxContent/8)) // a rune is 4 bytes at most, an escape 5 for one
	}
	return safe
}

// makeAbsolute resolves the addresses in a tree, and drops those that cannot be.
func makeAbsolute(n *html.Node, base *url.URL) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "srcset" })
	for i := range n.Attr {
		if a := &n.Attr[i]; a.Key == "href" || a.Key == "src" || a.Key == "cite" {
			a.Val = absolute(a.Val, base)
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		makeAbsolute(child, base)
	}
}

// picture is the address of the first picture in HTML, "" for none.
func picture(text string, base *url.URL) string {
	for _, n := range fragment(beginning(text, maxContent)) {
		for d := range n.Descendants() {
			if address := pictureOf(d, base); address != "" {
				return address
			}
		}
		if address := pictureOf(n, base); address != "" {
			return address
		}
	}
	return ""
}

func pictureOf(n *html.Node, base *url.URL) string {
	if n.DataAtom != atom.Img {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == "src" {
			return absolute(a.Val, base)
		}
	}
	return ""
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

// untracked is an address without tracking parameters and fragment: the same for all
// ways to the same page.
func untracked(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Fragment, u.RawFragment = "", ""
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
