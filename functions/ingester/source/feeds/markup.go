package feeds

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"

	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/shared/text/visible"
)

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
		if kind == html.CommentToken || kind == html.DoctypeToken || b.Len() > 2*maxContent {
			return // a short address becomes as long as the item's own, and a quote five bytes
		}
		token := z.Token()
		if kind == html.TextToken {
			token.Data = beginning(visible.Text(token.Data), maxContent)
		}
		token.Attr = slices.DeleteFunc(token.Attr[:min(len(token.Attr), maxAttributes)], func(a html.Attribute) bool { return a.Key == "srcset" })
		for i := range token.Attr {
			if a := &token.Attr[i]; a.Key == "href" || a.Key == "src" || a.Key == "cite" {
				a.Val = w.address(a.Val, base)
			} else {
				a.Val = beginning(visible.Text(a.Val), maxValue)
			}
		}
		if kind == html.StartTagToken && slices.Contains(void, token.Data) {
			token.Type = html.SelfClosingTagToken
		}
		b.WriteString(token.String())
	})
	*w += work(b.Len() / textOfWork)
	return w.closed(policy.Sanitize(b.String()))
}

// Bounds of an element: attributes that are looked at, and bytes of the value of each that is
// no address.
const (
	maxAttributes = 32
	maxValue      = 2048
)

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
	if t.Form != syndication.Markup || *w > maxWork { // of which no address is resolved
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
