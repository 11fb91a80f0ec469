// Package syndication reads RSS, RDF (RSS 1.0), Atom and JSON Feed from bytes that a
// stranger wrote. It says what the publisher wrote and of which form each text is; who
// shows it makes it harmless.
//
// # Bounds
//
// An XML feed is read once, token by token, by a tokenizer that has no syntax errors: what
// is judged is what is read. Work and memory grow with the length of the feed and with
// nothing else: entities are not defined, namespaces are not resolved beyond the few that
// feeds are made of, and there are bounds on tokens, depth, attributes, items, pictures and
// texts. A broken item ends at its own end or where the next one begins.
package syndication

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a feed.
const (
	MaxItems = 500 // those behind them are counted

	maxTokens     = 1_000_000
	maxToken      = 2 << 20   // bytes of a tag or a text, at which reading ends
	maxNesting    = 100       // elements in each other
	maxAttributes = 64        // of an element; others are not looked at
	maxPrefixes   = 64        // of the namespaces that are known
	maxPictures   = 10        // of an item
	maxShort      = 16 << 10  // bytes of a title, a name, a date, an address
	maxLong       = 256 << 10 // bytes of a summary or content
)

// Feed is a feed as it was written. Addresses may be relative.
type Feed struct {
	Link  string // the publisher's page
	Base  string // against which addresses are resolved, "" for none
	Image string // the publisher's picture
	Items []Item // in the order of the feed

	Unread int  // items that could not be read, and those beyond MaxItems
	Cut    bool // it is cut off: there may be more items
	Work   int  // tokens and bytes that were handled: what reading has cost
}

// Item is one item.
type Item struct {
	ID        string // whole, as the publisher wrote it; "" for none
	Link      string
	Base      string // as that of the feed
	Title     Text
	Summary   Text
	Content   Text
	Author    Text
	Pictures  []string  // those that are said to be of the item, best first
	Published time.Time // or last updated, UTC; zero where no date can be read
}

// Form is what a text says it is.
type Form int

// The forms.
const (
	// Plain is text: each character is one that the writer wrote.
	Plain Form = iota

	// Headline is the title of an RSS item, which is text, but may hold character references
	// behind those of XML, and pairs of elements that only change how words look.
	Headline

	// Markup is HTML.
	Markup
)

// Text is a text in the form in which it was written.
type Text struct {
	Form Form
	Body string
}

// Empty reports whether nothing was written.
func (t Text) Empty() bool { return strings.TrimSpace(t.Body) == "" }

// Why bytes are not read.
var (
	ErrNoFeed = errors.New("not RSS, Atom or JSON Feed")
	errRoot   = fmt.Errorf("%w: it begins with another element", ErrNoFeed)
	errNoList = errors.New("a list is expected")
	errNested = fmt.Errorf("%w: elements are nested more than %d deep", ErrNoFeed, maxNesting)
	errTokens = fmt.Errorf("%w: more than %d tokens", ErrNoFeed, maxTokens)
	errCut    = fmt.Errorf("%w: it is cut off", ErrNoFeed)
)

// Read reads a feed in UTF-8 of any of the formats. Of what it refuses it returns how far it came,
// for [Feed.Work].
func Read(text []byte) (*Feed, error) {
	text = bytes.TrimLeft(text, " \t\r\n\ufeff")
	if bytes.HasPrefix(text, []byte("{")) {
		return readJSON(text)
	}
	return readXML(text)
}

// TrackingPixel reports whether a picture of that width or height, as it is written, shows
// nothing: it counts readers.
func TrackingPixel(size string) bool {
	size = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "px"))
	return size == "0" || size == "1"
}

// maxReference is how long a character reference is at most: &CounterClockwiseContourIntegral;
const maxReference = 34

// Unescape resolves the character references of a text once. What does not end with a
// semicolon, or names no character, is text.
func Unescape(text string) string {
	var b strings.Builder
	for {
		before, behind, found := strings.Cut(text, "&")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = behind
		resolved := "&"
		if end := strings.IndexByte(behind[:min(len(behind), maxReference)], ';'); end > 0 {
			// One or two characters; more is a name that only begins as a known one does.
			reference := "&" + behind[:end+1]
			if of := html.UnescapeString(reference); of != reference && utf8.RuneCountInString(of) <= 2 {
				resolved, text = of, behind[end+1:]
			}
		}
		b.WriteString(resolved)
	}
}
