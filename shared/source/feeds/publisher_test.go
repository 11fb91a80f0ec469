package feeds

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/localstack/newssite"
)

// The simulated publisher shares no code with this package.
func TestWhatASimulatedPublisherShowsIsRead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	site := newssite.New(newssite.Config{Seed: 3, Now: func() time.Time { return now }})
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	for _, language := range []string{newssite.English, newssite.Chinese} {
		a, err := get(t, quick(), server.URL+"/"+language+"/rss.xml")
		if err != nil {
			t.Fatal(err)
		}
		doc, err := Parse(a.body, a.contentType, a.url)
		if err != nil || doc.Malformed != 0 || doc.Image != newssite.Logo(server.URL) {
			t.Fatalf("%v, %d malformed, picture %s", err, doc.Malformed, doc.Image)
		}
		var want []Item
		for _, i := range site.Items(server.URL, language, now) {
			want = append(want, Item{Key: i.GUID, Title: i.Title, Summary: i.Summary, Content: i.Content, Link: i.Link, Image: i.Image, Author: i.Author, Published: i.Published})
		}
		if diff := cmp.Diff(want, doc.Items); diff != "" {
			t.Errorf("%s (-published +read):\n%s", language, diff)
		}
	}
}

func TestAPublisherThatGoesWrongDoesNoHarm(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newssite.New(newssite.Config{}).Handler())
	t.Cleanup(server.Close)
	for path, want := range map[string]error{
		"/broken": errNoFeed, "/html": errNoFeed, "/huge": errTooLarge, "/slow": context.DeadlineExceeded, "/private": errPrivate,
		"/redirect/5": nil, "/redirect/6": errRedirects,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			c := quick()
			if path == "/slow" {
				c.deadline = 50 * time.Millisecond
			}
			a, err := get(t, c, server.URL+path)
			if err == nil {
				_, err = Parse(a.body, a.contentType, must(url.Parse(server.URL+path)))
			}
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
}
