package main

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/news"
	"quotary/shared/store/storetest"
)

const (
	listPath   = "/v2/content/news-list"
	feedPath   = "/v2/content/square/market/news-list"
	detailPath = "/v2/content/news-detail"

	published = int64(1_795_000_000) // s
)

// article is the nth item of a publisher, published n minutes after the start.
func article(n int64, language news.Language, title string) news.Item {
	key := fmt.Sprint("guid-", n)
	at := (published + 60*n) * 1000
	return news.Item{
		ID: news.ID("Example News", key), Source: "Example News", Key: key, Language: language, Title: title, Describe: "A summary of " + title,
		Content: `<p>Text, &amp; a <a href="https://news.example/more" rel="nofollow">link</a></p>`, Cover: "https://img.example/cover.png",
		Author: "A. Writer", Avatar: "https://img.example/logo.png", Published: published + 60*n, Seen: at + 1500, FirstSeen: at + 1500,
	}
}

func newWorld(t *testing.T, items ...news.Item) *apitest.World {
	t.Helper()
	w, log, views := openContent(t)
	if len(items) == 0 {
		return w
	}
	var headings []news.Heading
	for i := range items {
		headings = append(headings, news.HeadingOf(&items[i]))
	}
	storetest.PutLog(t, log, news.Name, news.AppendRows, items...)
	storetest.Publish(t, views, news.Published, news.NewView(headings))
	return w
}

func TestNewsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	chinese, plain := article(2, news.Chinese, "比特币突破新高"), article(3, news.English, "No author, no date, no picture")
	plain.Author, plain.Cover, plain.Avatar, plain.Describe, plain.Published = "", "", "", "", 0
	w := newWorld(t, article(1, news.English, "Fees & funding < 1 %"), chinese, plain)
	w.Get(t, w.SubKey, listPath).Golden(t, "news-list")
}

// The same list is a feed that a reader of RSS takes.
func TestNewsAreAFeed(t *testing.T) {
	t.Parallel()
	linked, hostile, plain := article(1, news.English, "Fees & funding < 1 %"), article(2, news.Chinese, "]]></title><script>\x00比特币"), article(3, news.English, "Nothing else")
	linked.Link = "https://news.example/1?a=1&b=2"
	plain.Author, plain.Describe = "", ""
	w := newWorld(t, linked, hostile, plain)
	w.Get(t, w.SubKey, feedPath+"?page=2&pageSize=2").Golden(t, "news-feed")
	for query, want := range map[string][]int64{"": {plain.ID, hostile.ID, linked.ID}, "?page=2&pageSize=2": {linked.ID}, "?page=9": nil} {
		a := w.Get(t, w.SubKey, feedPath+query)
		var feed struct {
			Version string `xml:"version,attr"`
			Items   []struct {
				Title, Link, Description, PubDate, Author string
				GUID                                      int64 `xml:"guid"`
			} `xml:"channel>item"`
		}
		if err := xml.Unmarshal(a.Body, &feed); err != nil || a.Header["Content-Type"] != "application/rss+xml; charset=utf-8" || feed.Version != "2.0" {
			t.Fatalf("%v: %v %s", err, a.Header, a.Body)
		}
		var got []int64
		for _, item := range feed.Items {
			got = append(got, item.GUID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	w.Get(t, w.SubKey, feedPath+"?pageSize=21").Refused(t, http.StatusBadRequest, "pageSize", "20")
}

func TestPagesOfNewsAreBoundedAndEndEmpty(t *testing.T) {
	t.Parallel()
	var items []news.Item
	for n := range int64(45) {
		items = append(items, article(n, news.English, fmt.Sprint(n)))
	}
	w := newWorld(t, items...)
	for query, want := range map[string][2]int{ // first title and how many
		"":                       {44, 20},
		"?pageSize=20":           {44, 20},
		"?page=2":                {24, 20},
		"?page=3&pageSize=20":    {4, 5},
		"?page=4":                {0, 0},
		"?page=2&pageSize=7":     {37, 7},
		"?page=9000000000000000": {0, 0},
		"?page=1&lan=en&x=1":     {44, 20}, // names that no document lists are ignored
	} {
		list := apitest.Data[[]catalog.NewsItem](t, w.Get(t, w.SubKey, listPath+query))
		if len(list) != want[1] || len(list) > 0 && list[0].Title != strconv.Itoa(want[0]) {
			t.Errorf("%s: %d items: %+v", query, len(list), list)
		}
	}
	w.Get(t, w.SubKey, listPath+"?pageSize=21").Refused(t, http.StatusBadRequest, "invalid pageSize", "20")
	w.Get(t, w.SubKey, listPath+"?pageSize=0").Refused(t, http.StatusBadRequest, "invalid pageSize")
	w.Get(t, w.SubKey, listPath+"?page=0").Refused(t, http.StatusBadRequest, "invalid page")
	w.Get(t, w.SubKey, listPath+"?page=one").Refused(t, http.StatusBadRequest, "invalid page")
}

func TestWithoutNewsTheListIsEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if a := w.Get(t, w.SubKey, listPath); a.Status != http.StatusOK || string(a.Body) != `{"success":true,"errorCode":200,"error":"","data":[]}` {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestANewsItemIsFoundByItsID(t *testing.T) {
	t.Parallel()
	item := article(1, news.English, "Fees & funding < 1 %")
	edited := item
	edited.Title, edited.Seen, edited.FirstSeen = "Fees & funding < 2 %", item.Seen+60_000, item.Seen+60_000
	w := newWorld(t, item)
	storetest.PutLog(t, w.Log(), news.Name, news.AppendRows, edited)
	w.Get(t, w.SubKey, fmt.Sprint(detailPath, "?id=", item.ID)).Golden(t, "news-detail")
}
