package syndication

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"quotary/shared/text/visible"
)

// List is a list of JSON, of which the first MaxItems values are kept and the others
// counted: what a list of millions of small values costs is its own length.
type List struct {
	Values []json.RawMessage
	More   int
	Work   int // bytes of all values
}

// UnmarshalJSON implements [json.Unmarshaler]. What is no list is an error; null is none.
func (l *List) UnmarshalJSON(text []byte) error {
	return l.read(json.NewDecoder(bytes.NewReader(text)))
}

// read reads the next value.
func (l *List) read(d *json.Decoder) error {
	if begin, err := d.Token(); err != nil || begin == nil {
		return err
	} else if begin != json.Delim('[') {
		return errNoList
	}
	var value json.RawMessage
	for d.More() {
		if err := d.Decode(&value); err != nil { // into the same bytes
			return err
		}
		l.Work += len(value)
		if len(l.Values) == MaxItems {
			l.More++
			continue
		}
		l.Values = append(l.Values, bytes.Clone(value))
	}
	_, err := d.Token()
	return err
}

// lenient is a value, or nothing where another kind of value was written: a member that
// cannot be read does not cost the others.
type lenient[T any] struct{ value T }

// UnmarshalJSON implements [json.Unmarshaler].
func (l *lenient[T]) UnmarshalJSON(text []byte) error {
	var value T
	if err := json.Unmarshal(text, &value); err == nil {
		l.value = value
	}
	return nil
}

// word is a text, or a number as it is written.
type word string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *word) UnmarshalJSON(text []byte) error {
	var s string
	var n json.Number
	switch {
	case json.Unmarshal(text, &s) == nil:
		*w = word(visible.Text(s))
	case json.Unmarshal(text, &n) == nil:
		*w = word(n)
	}
	return nil
}

type jsonAuthor struct {
	Name word `json:"name"`
}

type jsonItem struct {
	ID            word `json:"id"`
	URL           word `json:"url"`
	ExternalURL   word `json:"external_url"`
	Title         word `json:"title"`
	HTML          word `json:"content_html"`
	Text          word `json:"content_text"`
	Summary       word `json:"summary"`
	Image         word `json:"image"`
	BannerImage   word `json:"banner_image"`
	DatePublished word `json:"date_published"`
	DateModified  word `json:"date_modified"`

	Author      lenient[jsonAuthor] `json:"author"` // of version 1.0
	Authors     lenient[List]       `json:"authors"`
	Attachments lenient[List]       `json:"attachments"`
}

type jsonFeed struct {
	Version word
	Page    word
	Icon    word
	Favicon word
	Author  lenient[jsonAuthor]
	Authors lenient[List]
	Items   List
}

// read reads the members one by one, so that what is behind a fault does not cost what is
// before it.
func (j *jsonFeed) read(d *json.Decoder) error {
	into := map[string]any{
		"version": &j.Version, "home_page_url": &j.Page, "icon": &j.Icon, "favicon": &j.Favicon, "author": &j.Author, "authors": &j.Authors,
	}
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string)
		switch member := into[text]; {
		case text == "items":
			err = j.Items.read(d)
		case member != nil:
			err = d.Decode(member)
		default:
			err = d.Decode(&lenient[struct{}]{})
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func readJSON(text []byte) (*Feed, error) {
	// No text may hold a control character as it stands, and some do.
	text = bytes.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	var doc jsonFeed
	d := json.NewDecoder(bytes.NewReader(text))
	fault := doc.read(d)
	feed := &Feed{
		Link: string(doc.Page), Image: string(doc.Icon), Unread: doc.Items.More, Cut: fault != nil,
		Work: len(text) + int(d.InputOffset()) + doc.Items.Work + doc.Authors.value.Work,
	}
	switch isFeed := strings.Contains(string(doc.Version), "jsonfeed.org/version/"); {
	case fault != nil && (!isFeed || len(doc.Items.Values) == 0):
		return feed, fmt.Errorf("%w: %w", ErrNoFeed, fault)
	case !isFeed:
		return feed, fmt.Errorf("%w: it is JSON of something else", ErrNoFeed)
	}
	if feed.Cut {
		feed.Unread++
	}
	if feed.Image == "" {
		feed.Image = string(doc.Favicon)
	}
	author := firstAuthor(doc.Authors.value, doc.Author.value)
	for _, value := range doc.Items.Values {
		var one jsonItem
		feed.Work += len(value)
		if err := json.Unmarshal(value, &one); err != nil {
			feed.Unread++
			continue
		}
		feed.Work += one.Authors.value.Work + one.Attachments.value.Work
		feed.Items = append(feed.Items, one.item(author))
	}
	return feed, nil
}

func firstAuthor(all List, alone jsonAuthor) Text {
	name := alone.Name
	if len(all.Values) > 0 {
		var one lenient[jsonAuthor]
		if err := json.Unmarshal(all.Values[0], &one); err == nil && one.value.Name != "" {
			name = one.value.Name
		}
	}
	return Text{Plain, string(name)}
}

func (j *jsonItem) item(author Text) Item {
	item := Item{
		ID: strings.TrimSpace(string(j.ID)), Link: string(j.URL), Title: Text{Plain, string(j.Title)}, Summary: Text{Plain, string(j.Summary)},
		Content: Text{Markup, string(j.HTML)}, Author: firstAuthor(j.Authors.value, j.Author.value), Published: Date(string(j.DatePublished)),
	}
	if item.Content.Empty() {
		item.Content = Text{Plain, string(j.Text)}
	}
	if item.Link == "" {
		item.Link = string(j.ExternalURL)
	}
	if item.Author.Empty() {
		item.Author = author
	}
	if item.Published.IsZero() {
		item.Published = Date(string(j.DateModified))
	}
	item.Pictures = []string{string(j.Image), string(j.BannerImage)}
	for _, value := range j.Attachments.value.Values {
		var one lenient[struct {
			URL  word `json:"url"`
			Kind word `json:"mime_type"`
		}]
		if err := json.Unmarshal(value, &one); err == nil && strings.HasPrefix(string(one.value.Kind), "image/") && len(item.Pictures) < maxPictures {
			item.Pictures = append(item.Pictures, string(one.value.URL))
		}
	}
	return item
}
