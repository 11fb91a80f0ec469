package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/localstack/sim/newssite"
	"quotary/shared/testing/testenv"
)

// newsItem is an item as news-list and news-detail answer it.
type newsItem struct {
	ID         int64     `json:"id"`
	Title      string    `json:"title"`
	Describe   string    `json:"describe"`
	Cover      string    `json:"cover"`
	CreateTime int64     `json:"createtime"`
	Content    string    `json:"content"`
	Source     string    `json:"source"`
	Language   int       `json:"language"`
	Columnist  columnist `json:"columnist"`
}

type columnist struct {
	NickName    string `json:"nick_name"`
	Avatar      string `json:"avatar"`
	AvatarBlack string `json:"avatar_black"`
}

// TestNewsAreThoseThatThePublisherShows compares every field of every item that the
// simulated publisher shows in both languages with what the API answers, item by item
// and as pages of a list, while new items come and older ones are edited.
func TestNewsAreThoseThatThePublisherShows(t *testing.T) {
	t.Parallel()
	if world.News == nil {
		t.Skip("no simulated publisher")
	}
	key, base := world.State.Demo.SubKey, world.State.NewsURL
	type named struct {
		Title      string
		CreateTime int64
		Language   int
	}
	published := func(at time.Time) map[named]newsItem {
		want := map[named]newsItem{}
		for language, number := range map[string]int{newssite.English: 11, newssite.Chinese: 10} {
			for _, i := range world.News.Items(base, language, at) {
				logo := newssite.Logo(base)
				want[named{i.Title, i.Published.Unix(), number}] = newsItem{
					Title: i.Title, Describe: i.Summary, Cover: i.Image, CreateTime: i.Published.Unix(), Content: i.Content, Source: newssite.Publisher, Language: number,
					Columnist: columnist{i.Author, logo, logo},
				}
			}
		}
		return want
	}
	// list reads as many pages as the items of both feeds fill.
	list := func() (items []newsItem) {
		for page := 1; page <= 2*newssite.Listed/20; page++ {
			answer := ask(t, key, http.MethodGet, fmt.Sprintf("/v2/content/news-list?page=%d&pageSize=20", page), nil)
			if answer.Status != http.StatusOK {
				t.Fatalf("status %d: %s", answer.Status, answer.Body)
			}
			items = append(items, data[[]newsItem](t, answer)...)
		}
		return items
	}
	var items []newsItem
	var want map[named]newsItem
	testenv.Until(t, "the list is what the publisher shows", func() bool {
		want = published(time.Now())
		items = list()
		if len(items) != len(want) || len(published(time.Now())) != len(want) {
			return false
		}
		for _, i := range items {
			if _, ok := want[named{i.Title, i.CreateTime, i.Language}]; !ok {
				return false
			}
		}
		return true
	})
	for n, i := range items {
		if n > 0 && items[n-1].CreateTime < i.CreateTime {
			t.Errorf("%s is before %s", items[n-1].Title, i.Title)
		}
		shown := want[named{i.Title, i.CreateTime, i.Language}]
		heading := shown
		heading.ID, heading.Content, heading.Source = i.ID, "", ""
		if diff := cmp.Diff(heading, i); diff != "" {
			t.Errorf("in the list (-published +answered):\n%s", diff)
		}
		answer := ask(t, key, http.MethodGet, fmt.Sprint("/v2/content/news-detail?id=", i.ID), nil)
		if answer.Status != http.StatusOK {
			t.Fatalf("%d: status %d: %s", i.ID, answer.Status, answer.Body)
		}
		got := data[newsItem](t, answer)
		shown.ID = i.ID
		if now := published(time.Now()); cmp.Diff(shown, got) != "" && now[named{got.Title, got.CreateTime, got.Language}].Title == "" {
			t.Errorf("by its number (-published +answered):\n%s", cmp.Diff(shown, got))
		}
	}
	if answer := ask(t, key, http.MethodGet, "/v2/content/news-list?page=1000000", nil); answer.Status != http.StatusOK || len(data[[]newsItem](t, answer)) != 0 {
		t.Errorf("far behind the end: %d %s", answer.Status, answer.Body)
	}
	if answer := ask(t, key, http.MethodGet, "/v2/content/news-detail?id=1", nil); answer.Status != http.StatusNotFound {
		t.Errorf("an unknown number: %d %s", answer.Status, answer.Body)
	}
}
