package feeds

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"mime"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html/charset"
)

// Document is what a feed holds.
type Document struct {
	Image     string // absolute address of the publisher's picture, "" for none
	Items     []Item // in the order of the feed, each key once
	Malformed int    // items that have no key or no text, and those beyond 500
}

// Item is one item of a feed. Texts have no markup.
type Item struct {
	// Key names the item among those of its publisher: its guid or id, else its link
	// without tracking parameters.
	Key string

	Title     string    // at most 300 runes
	Summary   string    // at most 500 runes, "" for none
	Content   string    // HTML of harmless elements, at most 60,000 bytes; "" for none
	Link      string    // absolute address, "" for none
	Image     string    // absolute address, "" for none
	Author    string    // "" for none
	Published time.Time // when it was published or last updated, UTC; zero where the feed has no date that can be read
}

// Bounds of what is kept of a feed.
const (
	maxItems   = 500
	maxKey     = 1024  // bytes
	maxTitle   = 300   // runes
	maxSummary = 500   // runes
	maxAuthor  = 100   // runes
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
		read = readFeed
	}
	feed, err := read(toUTF8(body, contentType))
	if err != nil {
		return Document{}, err
	}
	base := resolved(feed.Link, from)
	if feed.Image != nil {
		doc.Image = absolute(feed.Image.URL, base)
	}
	var items []Item
	for n, one := range feed.Items {
		if one == nil || n >= maxItems {
			doc.Malformed++
			continue
		}
		item, ok := itemOf(one, base)
		if !ok {
			doc.Malformed++
			continue
		}
		items = append(items, item)
	}
	doc.add(Document{Items: items})
	return doc, nil
}

// add appends a page, of which items whose keys are there already are left out.
func (d *Document) add(page Document) {
	d.Image = cmp.Or(d.Image, page.Image)
	d.Malformed += page.Malformed
	seen := map[string]bool{}
	for _, item := range d.Items {
		seen[item.Key] = true
	}
	for _, item := range page.Items {
		if !seen[item.Key] && len(d.Items) < maxItems {
			seen[item.Key] = true
			d.Items = append(d.Items, item)
		}
	}
}

// readFeed reads RSS, Atom or JSON Feed.
func readFeed(text []byte) (*gofeed.Feed, error) {
	if nestedTooDeep(text) {
		return nil, fmt.Errorf("%w: elements are nested more than %d deep", errNoFeed, maxNesting)
	}
	feed, err := new(gofeed.Parser).Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFeed, err)
	}
	return feed, nil
}

// maxNesting is how deep elements of a feed may stand in each other. The parser calls
// itself for each level, and a stack that is used up ends the program.
const maxNesting = 100

// nestedTooDeep reports whether a text is XML that is nested deeper than maxNesting. What
// is no XML is left to the parser to refuse.
func nestedTooDeep(text []byte) bool {
	if start := bytes.TrimLeft(text, " \t\r\n\ufeff"); len(start) == 0 || start[0] != '<' {
		return false
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.AutoClose, d.Entity = xml.HTMLAutoClose, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	for depth := 0; ; {
		token, err := d.RawToken()
		if err != nil {
			return false
		}
		switch token.(type) {
		case xml.StartElement:
			if depth++; depth > maxNesting {
				return true
			}
		case xml.EndElement:
			depth--
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

// itemOf reads one item; ok is false for one without key or text.
func itemOf(in *gofeed.Item, feed *url.URL) (item Item, ok bool) {
	base := resolved(in.Link, feed)
	item.Link = absolute(in.Link, feed)
	item.Key = strings.TrimSpace(in.GUID)
	if item.Key == "" || strings.HasPrefix(item.Key, "http://") || strings.HasPrefix(item.Key, "https://") {
		item.Key = untracked(cmp.Or(item.Key, item.Link))
	}
	text := cmp.Or(strings.TrimSpace(in.Content), in.Description)
	item.Content = clean(text, base)
	item.Summary = plain(cmp.Or(in.Description, in.Content), maxSummary)
	item.Title = cmp.Or(plain(in.Title, maxTitle), shortened(item.Summary, maxTitle/3))
	item.Image = cover(in, base)
	if len(in.Authors) > 0 && in.Authors[0] != nil {
		item.Author = plain(in.Authors[0].Name, maxAuthor)
	}
	for _, at := range [...]*time.Time{in.PublishedParsed, in.UpdatedParsed} {
		if at != nil && item.Published.IsZero() {
			item.Published = at.UTC().Truncate(time.Second)
		}
	}
	return item, item.Key != "" && len(item.Key) <= maxKey && utf8.ValidString(item.Key) && item.Title != ""
}

// cover is the picture of an item: its own, one that is attached, or the first in its
// text.
func cover(in *gofeed.Item, base *url.URL) string {
	var candidates []string
	for _, name := range [...]string{"content", "thumbnail"} {
		for _, one := range in.Extensions["media"][name] {
			if kind := one.Attrs["type"]; name == "thumbnail" || one.Attrs["medium"] == "image" || strings.HasPrefix(kind, "image/") {
				candidates = append(candidates, one.Attrs["url"])
			}
		}
	}
	if in.Image != nil {
		candidates = append(candidates, in.Image.URL)
	}
	for _, one := range in.Enclosures {
		if one != nil && strings.HasPrefix(one.Type, "image/") {
			candidates = append(candidates, one.URL)
		}
	}
	for _, candidate := range candidates {
		if address := absolute(candidate, base); address != "" {
			return address
		}
	}
	if address := picture(in.Content, base); address != "" {
		return address
	}
	return picture(in.Description, base)
}

// declaration is that of an XML document, with its encoding.
var declaration = regexp.MustCompile(`^\s*<\?xml\b[^>]*?(?:encoding\s*=\s*["']([A-Za-z0-9._:-]+)["'][^>]*?)?\?>`)

// toUTF8 decodes a document. What is valid UTF-8 is that, whatever is declared, as text
// of other encodings hardly ever is; else the byte order mark, the document and the
// content type say what it is, in this order. The declaration is dropped: it is true no
// more.
func toUTF8(body []byte, contentType string) []byte {
	if !utf8.Valid(body) {
		_, parameters, err := mime.ParseMediaType(contentType)
		if err != nil {
			parameters = nil
		}
		declared := ""
		if found := declaration.FindSubmatch(body[:min(len(body), 1024)]); found != nil {
			declared = string(found[1])
		}
		label := cmp.Or(byteOrder(body), declared, parameters["charset"])
		var decoded io.Reader
		if label != "" {
			decoded, err = charset.NewReaderLabel(label, bytes.NewReader(body))
		}
		if label == "" || err != nil {
			decoded, err = charset.NewReader(bytes.NewReader(body), "")
		}
		if err == nil {
			if text, err := io.ReadAll(decoded); err == nil {
				body = text
			}
		}
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	return bytes.TrimSpace(body[len(declaration.Find(body[:min(len(body), 1024)])):])
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
