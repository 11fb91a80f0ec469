package main

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/store"
)

// rss is a document of RSS 2.0.
type rss struct {
	XMLName xml.Name  `xml:"rss"`
	Version string    `xml:"version,attr"`
	Title   string    `xml:"channel>title"`
	Link    string    `xml:"channel>link"`
	About   string    `xml:"channel>description"`
	Items   []rssItem `xml:"channel>item"`
}

type rssItem struct {
	Title   string  `xml:"title"`
	Link    string  `xml:"link,omitempty"`
	About   string  `xml:"description,omitempty"`
	PubDate string  `xml:"pubDate"`
	Author  string  `xml:"author,omitempty"`
	GUID    rssGUID `xml:"guid"`
}

// rssGUID is the number of an item, which is no address.
type rssGUID struct {
	Permalink bool  `xml:"isPermaLink,attr"`
	ID        int64 `xml:",chardata"`
}

// newsFeed returns a page of the newest items as RSS.
func (r *reader) newsFeed(ctx context.Context, in catalog.NewsListIn) (none catalog.NewsRSS, err error) {
	v, err := store.OrZero(r.newest.Get(ctx))
	if err != nil {
		return none, err
	}
	feed := rss{Version: "2.0", Title: "News", About: "News of crypto markets, newest first"}
	for _, h := range v.Page(in.Page, in.PageSize) {
		feed.Items = append(feed.Items, rssItem{
			Title: h.Title, Link: h.Link, About: h.Describe, PubDate: time.Unix(h.CreateTime(), 0).UTC().Format(time.RFC1123Z), Author: cmp.Or(h.Author, h.Source), GUID: rssGUID{ID: h.ID},
		})
	}
	body, err := xml.MarshalIndent(feed, "", "  ")
	if err != nil {
		return none, fmt.Errorf("write a feed: %w", err)
	}
	api.SetBody(ctx, none.MediaType()+"; charset=utf-8", append([]byte(xml.Header), body...))
	return none, nil
}
