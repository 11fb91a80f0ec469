package feeds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/shared/backoff"
)

// Source follows one feed. All fields are set before use.
type Source struct {
	Client *Client
	URL    *url.URL
	Format Format
	Every  time.Duration // between two looks at the feed
	Twins  *Twins        // of the publisher's feeds; nil for one that is alone
	Stats  *source.Stats // Lines are answers, Malformed items and answers that could not be read
	Log    *slog.Logger
}

// Format is how a feed is asked for and read. The zero value is that of RSS, Atom and JSON
// Feed.
type Format struct {
	// Header is sent with each question to the feed's own host alone: a redirect to another
	// takes no key along.
	Header http.Header

	// Page is the address of a page of the feed, newest items first, from page 1 on; nil for
	// a feed of one page.
	Page func(feed *url.URL, n int) *url.URL

	// Read reads an answer in UTF-8; nil reads RSS, Atom and JSON Feed.
	Read func(text []byte) (*syndication.Feed, error)
}

// maxPages is how many pages are read at most to find where those items begin that are
// known; at a start none is.
const maxPages = 10

// Delivery is what an answer had that the one before had not.
type Delivery struct {
	Items    []Item
	Image    string    // of the publisher
	Time     time.Time // when it was seen, ms precision
	Position Position
}

// longestWait is the longest between two looks at a feed that cannot be read.
const longestWait = 6 * time.Hour

// errCut means that pages behind the first could not be read.
var errCut = errors.New("a page behind the first")

// Follow delivers the items of the feed that are new or have changed since a position,
// again and again until ctx ends. It returns then, or when the sink fails. Trouble is
// logged, counted and tried again: an unchanged feed after Every, one that cannot be
// read less and less often.
func (s *Source) Follow(ctx context.Context, from Position, sink func(context.Context, Delivery) error) error {
	web := s.web()
	s.Twins.begin(s)
	s.Twins.end(s, from.Twins)
	failures := 0
	for {
		next, wait, err := s.look(ctx, web, from, sink)
		from = next
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case source.SinkError(err) != nil:
			return source.SinkError(err)
		case errors.Is(err, errCut):
			wait, failures = max(wait, s.Every), 0
			s.Log.Warn("cannot read the feed to its end", "host", s.URL.Host, "error", err.Error(), "again in", wait.Round(time.Second).String())
		case err != nil:
			wait = max(wait, backoff.Backoff{Min: s.Every, Max: max(s.Every, longestWait)}.Delay(min(failures, mostDoublings)))
			failures++
			s.Log.Warn("cannot read the feed", "host", s.URL.Host, "error", err.Error(), "again in", wait.Round(time.Second).String())
		default:
			wait, failures = s.Every, 0
		}
		if err := backoff.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// web is the client with which the feed is asked for.
func (s *Source) web() *http.Client {
	web := transport(s.URL)
	if len(s.Format.Header) > 0 {
		web.Transport = keyed{web.Transport, s.URL, s.Format.Header}
	}
	return web
}

// look asks for the feed once and delivers what is new: where a page cannot be read, of those
// before it. The wait is how long its host is to be left alone.
func (s *Source) look(ctx context.Context, web *http.Client, from Position, sink func(context.Context, Delivery) error) (next Position, wait time.Duration, err error) {
	doc, first, wait, fault := s.read(ctx, web, from)
	now := time.Now().UTC().Truncate(time.Millisecond)
	if fault != nil && ctx.Err() == nil {
		s.Stats.Malformed.Add(1)
	}
	if fault != nil && len(doc.Items) == 0 {
		return from, wait, fault
	}
	if first.unchanged {
		s.Stats.Seen(now, 0)
		return from, 0, nil
	}
	s.Stats.Malformed.Add(int64(doc.Malformed))
	d := Delivery{Image: doc.Image, Time: now, Position: from.empty(first.validators)}
	if len(doc.Items) > 0 {
		var later bool
		d.Position, d.Items, later = from.follow(&doc, now, s.Twins, s)
		if !later && !doc.cut { // else there is more to be read, also where nothing changes
			d.Position.Validators = first.validators
		}
	}
	if fault != nil {
		d.Position, fault = d.Position.cut(&from), fmt.Errorf("%w: %w", errCut, fault)
	}
	s.Stats.Seen(now, d.Position.Newest*1000)
	// That there is nothing is said too, until there has been something.
	if len(from.Seen) == 0 || len(d.Items) > 0 || d.Position.Validators != from.Validators {
		if err := sink(ctx, d); err != nil {
			return from, 0, source.OfSink(fmt.Errorf("deliver the items: %w", err))
		}
	}
	return d.Position, wait, fault
}

// read asks for the feed: for its pages, up to one that has an item which is known. The
// first answer is that of the first page. With an error come the pages before.
func (s *Source) read(ctx context.Context, web *http.Client, from Position) (doc Document, first answer, wait time.Duration, err error) {
	address, have := s.URL, from.Validators
	for n := 1; ; n++ {
		if s.Format.Page != nil {
			address = s.Format.Page(s.URL, n)
		}
		a, wait, err := s.Client.get(ctx, web, address, have)
		if err != nil {
			return doc, first, wait, err
		}
		s.Stats.Lines.Add(1)
		if n == 1 {
			first, have = a, Validators{}
		}
		if a.unchanged {
			return doc, first, 0, nil
		}
		page, err := s.Client.parse(&s.Format, &a)
		if err != nil {
			return doc, first, 0, err
		}
		known := slices.ContainsFunc(page.Items, from.knows)
		doc.add(page)
		if s.Format.Page == nil || known || len(page.Items) == 0 || len(doc.Items) >= maxItems || n == maxPages {
			return doc, first, 0, nil
		}
	}
}

// digests are short digests of an item's key and of all that is shown of it.
func digests(item *Item, image string) (key, content string) {
	text, err := json.Marshal(struct {
		Item
		Publisher string
	}{*item, image})
	if err != nil {
		panic(fmt.Sprintf("feeds: encode an item: %v", err)) // texts, and a time that was read
	}
	return digest([]byte(item.Key)), digest(text)
}

func digest(of []byte) string {
	sum := sha256.Sum256(of)
	return hex.EncodeToString(sum[:8])
}
