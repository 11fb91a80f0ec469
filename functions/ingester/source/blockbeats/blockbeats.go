// Package blockbeats reads flashes of the news vendor BlockBeats, or of whoever speaks the
// protocol of its open API: GET /v1/open-api/open-flash, in pages of 50, newest first. The
// package feeds asks for them, with its bounds and its politeness, and makes their HTML
// harmless.
package blockbeats

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"quotary/functions/ingester/source/feeds"
	"quotary/functions/ingester/source/feeds/syndication"
)

// Languages of lists.
const (
	English = "en"
	Chinese = "cn"
)

// List is one of the vendor's lists of flashes.
type List struct {
	Language  string // English or Chinese
	Important bool   // only those that the vendor pushes to its readers
	Key       string // "" for none
}

// pageSize is how many flashes a page has.
const pageSize = 50

// keyHeader carries the key.
const keyHeader = "Api-Key"

// site is against what links without a host are resolved.
const site = "https://www.theblockbeats.info/"

// Format is that of the list.
func (l List) Format() feeds.Format {
	f := feeds.Format{Page: l.page, Read: read}
	if l.Key != "" {
		f.Header = http.Header{keyHeader: {l.Key}}
	}
	return f
}

// page is the address of a page of the list, whose own is that of all lists.
func (l List) page(list *url.URL, n int) *url.URL {
	u := *list
	query := u.Query()
	query.Set("page", strconv.Itoa(n))
	query.Set("size", strconv.Itoa(pageSize))
	query.Set("lang", l.Language)
	if l.Important {
		query.Set("type", "push")
	}
	u.RawQuery = query.Encode()
	return &u
}

// Why an answer is of no use. What the vendor says of it is left out: it may repeat a key.
var (
	errAnswer = errors.New("not the JSON of flashes")
	errStatus = errors.New("the vendor refuses")
)

// flash is one as the vendor writes it. Members that are absent are empty.
type flash struct {
	ID         json.Number `json:"id"`
	Title      string      `json:"title"`
	Content    string      `json:"content"` // HTML
	Pic        string      `json:"pic"`
	Link       string      `json:"link"`        // the vendor's own page
	URL        string      `json:"url"`         // what the flash is taken from
	CreateTime json.Number `json:"create_time"` // Unix s
}

// read reads a page. Each flash is read on its own: one that is broken is counted.
func read(text []byte) (*syndication.Feed, error) {
	var answer struct {
		Status *int `json:"status"`
		Data   struct {
			Data syndication.List `json:"data"`
		} `json:"data"`
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil || answer.Status == nil:
		return nil, errAnswer
	case *answer.Status != 0:
		return nil, fmt.Errorf("%w: status %d", errStatus, *answer.Status)
	}
	feed := &syndication.Feed{Link: site, Unread: answer.Data.Data.More}
	for _, one := range answer.Data.Data.Values {
		if item, ok := itemOf(one); ok {
			feed.Items = append(feed.Items, item)
		} else {
			feed.Unread++
		}
	}
	return feed, nil
}

func itemOf(text json.RawMessage) (item syndication.Item, ok bool) {
	var f flash
	if err := json.Unmarshal(text, &f); err != nil {
		return item, false
	}
	id, err := f.ID.Int64()
	if err != nil || id <= 0 {
		return item, false
	}
	item = syndication.Item{
		ID: strconv.FormatInt(id, 10), Link: cmp.Or(f.Link, f.URL), Pictures: []string{f.Pic},
		Title: syndication.Text{Form: syndication.Headline, Body: f.Title}, Content: syndication.Text{Form: syndication.Markup, Body: f.Content},
	}
	if at, err := f.CreateTime.Int64(); err == nil && at > 0 && at < 1<<40 {
		item.Published = time.Unix(at, 0).UTC()
	}
	return item, true
}
