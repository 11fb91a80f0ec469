package feeds

import (
	"bytes"
	"cmp"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/shared/text/visible"
)

// Document is what a feed holds.
type Document struct {
	Image     string // absolute address of the publisher's picture, "" for none
	Items     []Item // in the order of the feed, each key once
	Malformed int    // items that have no key or no text, repeat a key, or are beyond 500

	cut  bool // there may be more items
	work work // what its markup has cost
}

// Item is one item of a feed. Texts have no markup: what looks like it is words.
type Item struct {
	// Key names the item among those of its publisher: its guid or id as it stands, else its
	// link without tracking parameters.
	Key string

	Title     string    // at most 300 runes
	Summary   string    // at most 500 runes, "" for none
	Content   string    // HTML of harmless elements, at most 60,000 bytes; "" for none
	Link      string    // absolute address, "" for none
	Image     string    // absolute address, "" for none
	Author    string    // "" for none
	Published time.Time // when it was published or last updated, UTC; zero where the feed has no date that can be read

	// Neighbour is, in a delivery, about when an item without a date was published, as the
	// items beside it say; zero where they say nothing.
	Neighbour time.Time `json:"-"`

	// Revised is, in a delivery, whether it was known in another state.
	Revised bool `json:"-"`
}

// Bounds of what is kept of a feed.
const (
	maxItems   = syndication.MaxItems
	maxKey     = 1024  // bytes
	maxTitle   = 300   // runes
	maxSummary = 500   // runes
	maxAuthor  = 100   // runes
	lastYear   = 9999  // that JSON can hold: a day of another zone may be behind it in UTC
	maxContent = 60000 // bytes: six times as much, which JSON may take, fits into a row
)

// Parse reads a feed that was answered with a content type from an address, against
// which relative addresses are resolved.
func Parse(body []byte, contentType string, from *url.URL) (Document, error) {
	return Format{}.parse(body, contentType, from)
}

func (f Format) parse(body []byte, contentType string, from *url.URL) (doc Document, err error) {
	defer func() {
		// Whatever a stranger writes, the program goes on.
		if fault := recover(); fault != nil {
			doc, err = Document{}, fmt.Errorf("parse: %v", fault)
		}
	}()
	read := f.Read
	if read == nil {
		read = syndication.Read
	}
	feed, err := read(toUTF8(body, contentType))
	if err != nil {
		return Document{}, err
	}
	doc = Document{Malformed: feed.Unread, cut: feed.Cut}
	base := resolved(feed.Link, resolved(feed.Base, from))
	doc.Image = absolute(feed.Image, base)
	seen := map[string]bool{}
	for i := range feed.Items {
		item, ok := doc.work.item(&feed.Items[i], base)
		if !ok || seen[item.Key] || len(doc.Items) == maxItems {
			doc.Malformed++
			continue
		}
		seen[item.Key] = true
		doc.Items = append(doc.Items, item)
	}
	return doc, nil
}

// add appends a page, of which items whose keys are there already are left out: while pages
// are read, items move on to the next.
func (d *Document) add(page Document) {
	d.Image = cmp.Or(d.Image, page.Image)
	d.Malformed += page.Malformed
	d.cut = d.cut || page.cut
	seen := map[string]bool{}
	for _, item := range d.Items {
		seen[item.Key] = true
	}
	for _, item := range page.Items {
		switch {
		case seen[item.Key]:
		case len(d.Items) == maxItems:
			d.Malformed++
		default:
			d.Items = append(d.Items, item)
		}
	}
}

// resolved is an address against a base, or the base where it is of no use.
func resolved(reference string, base *url.URL) *url.URL {
	if text := absolute(reference, base); text != "" {
		if u, err := url.Parse(text); err == nil {
			return u
		}
	}
	return base
}

// item reads one item; ok is false for one without key or text.
func (w *work) item(in *syndication.Item, feed *url.URL) (item Item, ok bool) {
	feed = resolved(in.Base, feed)
	base := resolved(in.Link, feed)
	item.Link = absolute(in.Link, feed)
	item.Key = visible.Text(cmp.Or(in.ID, untracked(item.Link)))
	content, summary := in.Content, in.Summary
	if content.Empty() {
		content = summary
	}
	if summary.Empty() {
		summary = content
	}
	item.Content = w.markup(content, base)
	item.Summary = w.words(summary, maxSummary)
	item.Title = cmp.Or(w.words(in.Title, maxTitle), shortened(item.Summary, maxTitle/3))
	item.Image = w.cover(in, base)
	item.Author = w.words(in.Author, maxAuthor)
	if at := in.Published.UTC(); !at.IsZero() && at.Year() >= 1 && at.Year() <= lastYear {
		item.Published = at.Truncate(time.Second)
	}
	return item, item.Key != "" && len(item.Key) <= maxKey && utf8.ValidString(item.Key) && item.Title != ""
}

// cover is the picture of an item: its own, or the first in its text.
func (w *work) cover(in *syndication.Item, base *url.URL) string {
	for _, candidate := range in.Pictures {
		if address := w.address(candidate, base); address != "" {
			return address
		}
	}
	return cmp.Or(w.picture(in.Content, base), w.picture(in.Summary, base))
}

// declaration is that of an XML document, with its encoding.
var declaration = regexp.MustCompile(`^\s*<\?xml\b[^>]*?(?:encoding\s*=\s*["']([A-Za-z0-9._:-]+)["'][^>]*?)?\?>`)

// toUTF8 decodes a document. What is UTF-8 but for a few broken bytes is that, whatever is
// declared, as text of other encodings hardly ever is, unless that has seven bits; else the
// byte order mark, the content type and the document say what it is, in this order. The
// declaration is dropped: it is true no more.
func toUTF8(body []byte, contentType string) []byte {
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		parameters = nil
	}
	declared := ""
	if found := declaration.FindSubmatch(body[:min(len(body), 1024)]); found != nil {
		declared = string(found[1])
	}
	unicode, wide := isUTF8(body), bytes.IndexByte(body[:min(len(body), 64)], 0) >= 0
	for _, label := range []string{byteOrder(body), parameters["charset"], declared, "windows-1252"} {
		encoding, name := charset.Lookup(label)
		switch {
		case encoding == nil || name == "replacement" || name == "utf-8" && !unicode:
			continue
		case strings.HasPrefix(name, "utf-16") && !wide: // as documents say that were written in another program
			continue
		case unicode && name != "iso-2022-jp" && !strings.HasPrefix(name, "utf-16"):
			continue
		}
		if text, err := encoding.NewDecoder().Bytes(body); err == nil {
			body = text
			break
		}
	}
	body = bytes.TrimPrefix(bytes.ToValidUTF8(body, []byte("\uFFFD")), []byte("\uFEFF"))
	return bytes.TrimSpace(body[len(declaration.Find(body[:min(len(body), 1024)])):])
}

// isUTF8 reports whether what is beyond ASCII is UTF-8: eight runes or more for each broken byte.
func isUTF8(body []byte) bool {
	good, bad := 0, 0
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		body = body[size:]
	}
	return bad*8 <= good
}

// byteOrder is the encoding that a byte order mark says.
func byteOrder(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte{0xFE, 0xFF}):
		return "utf-16be"
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE}):
		return "utf-16le"
	}
	return ""
}
