package syndication

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"time"

	tokens "golang.org/x/net/html"

	"quotary/shared/text/visible"
)

// namespaces are those that feeds are made of, without scheme and last slash, and the
// prefix by which they go here.
var namespaces = map[string]string{
	"www.w3.org/2005/atom": "atom", "purl.org/atom/ns#": "atom",
	"purl.org/rss/1.0": "rss", "my.netscape.com/rdf/simple/0.9": "rss", "channel.netscape.com/rdf/simple/0.9": "rss", "backend.userland.com/rss2": "rss",
	"www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
	"purl.org/rss/1.0/modules/content":     "content",
	"purl.org/dc/elements/1.1":             "dc", "purl.org/dc/terms": "dcterms",
	"search.yahoo.com/mrss": "media", "video.search.yahoo.com/mrss": "media", "tools.search.yahoo.com/mrss": "media", "www.rssboard.org/media-rss": "media",
	"www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
}

// xmlReader reads the tokens of a feed: elements that are its structure, and fields, whose
// text is collected with the markup in it up to their end.
type xmlReader struct {
	feed   Feed
	tokens *tokens.Tokenizer
	atom   bool   // else it is RSS or RDF
	own    string // the prefix of the format's own elements, which is left out

	prefixes map[string]string // of known namespaces, as the feed calls them
	open     []element         // from the root on; not those in a field
	inItem   int               // how many are open up to the item, 0 outside of one
	item     *Item             // nil outside of items and behind MaxItems
	dates    [3]*time.Time     // of the item, best first; the first of each kind
	contents int               // how many of its pictures are media:content
	author   Text              // of the feed, for items without one
	field    field
	attrs    []tokens.Attribute // of the element that begins
}

// element is one that is open: its tag, and its canonical name.
type element struct{ tag, name string }

// field is a text that is read.
type field struct {
	on     bool
	tag    string
	same   int  // elements of that tag in it
	inside int  // elements in it that are open
	markup bool // what is in it is markup as it stands, and so is its text: XHTML
	most   int  // bytes; what is behind them is left out
	text   []byte
	take   func(text string)
}

func readXML(text []byte) (*Feed, error) {
	text = withoutUnclosed(withoutUnclosed(text, "<![CDATA[", "]]>"), "<!--", "-->")
	z := tokens.NewTokenizer(bytes.NewReader(text))
	z.SetMaxBuf(maxToken)
	r := &xmlReader{tokens: z, prefixes: map[string]string{}}
	r.tokens.AllowCDATA(true)
	for n := 0; ; n++ {
		kind := r.tokens.Next()
		r.feed.Work++
		var err error
		switch kind {
		case tokens.ErrorToken:
			return r.cut()
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			// No element of a feed holds raw text, as some of HTML do.
			r.tokens.NextIsNotRawText()
			err = r.begin(kind == tokens.SelfClosingTagToken)
		case tokens.EndTagToken:
			r.end()
		case tokens.TextToken:
			r.text(r.tokens.Raw())
		}
		switch {
		case err != nil:
			return &r.feed, err
		case n > maxTokens:
			return &r.feed, errTokens
		case r.own != "" && len(r.open) == 0:
			return &r.feed, nil
		}
	}
}

// withoutUnclosed takes out the marks with which sections begin that do not end before the
// next item does: they would hide all items up to the end of another.
func withoutUnclosed(text []byte, begin, end string) []byte {
	var kept []byte
	closes := 0 // where the next section ends
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte(begin))
		if next < 0 {
			if kept == nil {
				return text
			}
			return append(kept, text[at:]...)
		}
		inside := at + next + len(begin)
		if closes >= 0 && closes < inside {
			if closes = bytes.Index(text[inside:], []byte(end)); closes >= 0 {
				closes += inside
			}
		}
		again := bytes.Index(text[inside:], []byte(begin))
		if closes >= 0 && (again < 0 || inside+again > closes || !endsItem(text[inside:inside+again])) {
			if kept != nil {
				kept = append(kept, text[at:closes]...)
			}
			at = closes
			continue
		}
		if kept == nil {
			kept = make([]byte, 0, len(text))
			kept = append(kept, text[:at]...)
		}
		kept = append(kept, text[at:at+next]...)
		at = inside
	}
}

func endsItem(text []byte) bool {
	return bytes.Contains(text, []byte("</item>")) || bytes.Contains(text, []byte("</entry>"))
}

// cut is the feed up to where it is cut off: its items that are whole, if there are any.
func (r *xmlReader) cut() (*Feed, error) {
	r.feed.Cut = true
	if r.inItem > 0 {
		r.feed.Unread++
		if r.item != nil {
			r.feed.Items = r.feed.Items[:len(r.feed.Items)-1]
		}
	}
	if len(r.feed.Items) == 0 {
		return &r.feed, errCut
	}
	return &r.feed, nil
}

// name is the canonical name of a tag: with the prefix of a known namespace, without one
// for the format's own.
func (r *xmlReader) name(tag, defaultPrefix string) string {
	prefix, local, prefixed := strings.Cut(tag, ":")
	if !prefixed {
		prefix, local = defaultPrefix, tag
	} else if known, ok := r.prefixes[prefix]; ok {
		prefix = known
	}
	if prefix == "" || prefix == r.own {
		return local
	}
	return prefix + ":" + local
}

// start reads the tag and the attributes of an element, and the prefixes that it declares.
func (r *xmlReader) start() element {
	read, more := r.tokens.TagName()
	tag, defaultPrefix := string(read), ""
	r.attrs = r.attrs[:0]
	for more && len(r.attrs) < maxAttributes {
		var key, value []byte
		key, value, more = r.tokens.TagAttr()
		a := tokens.Attribute{Key: string(key), Val: visible.Text(string(value))}
		r.attrs = append(r.attrs, a)
		r.feed.Work += 1 + len(a.Val)
		if prefix, declares := strings.CutPrefix(a.Key, "xmlns"); declares {
			_, space, _ := strings.Cut(strings.ToLower(strings.TrimSpace(a.Val)), "://")
			known := namespaces[strings.TrimSuffix(space, "/")]
			switch prefix = strings.TrimPrefix(prefix, ":"); {
			case prefix == "":
				defaultPrefix = known
			case known != "" && len(r.prefixes) < maxPrefixes:
				r.prefixes[prefix] = known
			}
		}
	}
	return element{tag, r.name(tag, defaultPrefix)}
}

// attr is an attribute of the element that begins.
func (r *xmlReader) attr(key string) string {
	for _, a := range r.attrs {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// begin takes the tag with which an element begins.
func (r *xmlReader) begin(closed bool) error {
	var raw []byte
	if r.field.on {
		raw = bytes.Clone(r.tokens.Raw()) // which reading the tag changes
	}
	e := r.start()
	item := r.isItem(e.name)
	if r.field.on && !item {
		r.collect(raw)
	}
	switch {
	case r.own == "":
		return r.root(e, closed)
	case item && r.inItem > 0: // which was not closed
		r.closeTo(r.inItem - 1)
	case item && r.field.on: // one of the feed itself that does not end
		r.closeTo(len(r.open) - 1)
	case r.field.on:
		if !closed && !slices.Contains(void, e.tag) {
			r.field.inside++
			if e.tag == r.field.tag {
				r.field.same++
			}
		}
		return nil
	}
	if len(r.open) == maxNesting {
		return errNested
	}
	r.open = append(r.open, e)
	if item {
		r.newItem()
	} else {
		r.element(e.name)
	}
	if closed {
		r.closeTo(len(r.open) - 1)
	}
	return nil
}

// void are elements of HTML that have no end.
var void = []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

// root takes the first element, which says what the document is.
func (r *xmlReader) root(e element, closed bool) error {
	switch e.name {
	case "feed", "atom:feed":
		r.atom, r.own = true, "atom"
		r.feed.Base = r.attr("xml:base")
	case "rss", "rss:rss", "rdf:rdf":
		r.own = "rss"
	default:
		return errRoot
	}
	if !closed {
		r.open = append(r.open, e)
	}
	return nil
}

func (r *xmlReader) isItem(name string) bool {
	if r.atom {
		return name == "entry" && (r.inItem > 0 || len(r.open) == 1 || r.field.on && len(r.open) == 2)
	}
	return name == "item"
}

func (r *xmlReader) newItem() {
	r.inItem, r.dates, r.contents = len(r.open), [3]*time.Time{}, 0
	if len(r.feed.Items) == MaxItems {
		r.feed.Unread++
		r.item = nil
		return
	}
	r.feed.Items = append(r.feed.Items, Item{ID: r.attr("rdf:about"), Base: r.attr("xml:base")})
	r.item = &r.feed.Items[len(r.feed.Items)-1]
	r.item.Link = r.item.ID
}

// end closes the innermost element of a tag, and those in it. Of what is not open it says
// nothing.
func (r *xmlReader) end() {
	raw := r.tokens.Raw()
	if r.field.on {
		raw = bytes.Clone(raw) // which reading the tag changes
	}
	read, _ := r.tokens.TagName()
	tag := string(read)
	at := len(r.open) - 1
	for at >= 0 && r.open[at].tag != tag {
		at--
	}
	if f := &r.field; f.on && (at < 0 || f.tag == tag && f.same > 0) {
		if f.tag == tag {
			f.same--
		}
		f.inside = max(0, f.inside-1)
		r.collect(raw)
		return
	}
	if at >= 0 {
		r.closeTo(at)
	}
}

// closeTo leaves so many elements open.
func (r *xmlReader) closeTo(most int) {
	if f := r.field; f.on { // of the innermost
		r.field = field{}
		f.take(visible.Text(string(f.text)))
	}
	if r.inItem > most {
		r.endItem()
	}
	r.open = r.open[:most]
}

func (r *xmlReader) endItem() {
	r.inItem = 0
	if r.item == nil {
		return
	}
	for _, at := range r.dates {
		if at != nil && r.item.Published.IsZero() {
			r.item.Published = *at
		}
	}
	if r.item.Author.Empty() {
		r.item.Author = r.author
	}
	r.item = nil
}

// read begins a field with the element that begins.
func (r *xmlReader) read(most int, take func(string)) {
	r.field = field{on: true, tag: r.open[len(r.open)-1].tag, most: most, take: take}
}

// text takes characters, or a CDATA section.
func (r *xmlReader) text(raw []byte) {
	f := &r.field
	if !f.on || len(f.text) >= f.most {
		return
	}
	literal, isLiteral := bytes.CutPrefix(raw, []byte("<![CDATA["))
	switch literal = bytes.TrimSuffix(literal, []byte("]]>")); {
	case isLiteral && f.markup:
		r.collect([]byte(html.EscapeString(string(literal))))
	case isLiteral:
		r.collect(literal)
	case f.markup || f.inside > 0:
		r.collect(raw)
	default:
		r.collect([]byte(Unescape(string(raw))))
	}
}

func (r *xmlReader) collect(text []byte) {
	f := &r.field
	text = text[:min(len(text), f.most-len(f.text))]
	f.text = append(f.text, text...)
	r.feed.Work += len(text)
}
