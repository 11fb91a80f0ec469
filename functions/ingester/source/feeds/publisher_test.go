package feeds

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/localstack/sim"
	"quotary/localstack/sim/newssite"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/upstream"
)

// The simulated publisher shares no code with this package.
func TestWhatASimulatedPublisherShowsIsRead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	site := newssite.New(sim.Config{Seed: 3, Now: func() time.Time { return now }})
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	for _, language := range []string{newssite.English, newssite.Chinese} {
		a := must.Get(get(t, quick(), server.URL+"/"+language+"/rss.xml"))(t)
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
	server := httptest.NewServer(newssite.New(sim.Config{}).Handler())
	t.Cleanup(server.Close)
	for path, want := range map[string]error{
		"/broken": syndication.ErrNoFeed, "/html": syndication.ErrNoFeed, "/huge": errTooLarge, "/slow": context.DeadlineExceeded, "/private": upstream.ErrPrivate,
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
				_, err = Parse(a.body, a.contentType, valid(url.Parse(server.URL+path)))
			}
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
}

// TestRecordedFeeds reads what two publishers answered.
func TestRecordedFeeds(t *testing.T) {
	t.Parallel()
	for name, newest := range map[string]time.Time{
		"rss_cointelegraph_2026-08-28.xml": time.Date(2026, 8, 28, 20, 42, 54, 0, time.UTC),
		"rss_coindesk_2026-09-25.xml":      {},
	} {
		text := testenv.RecordingText(t, "news/"+name)
		doc, err := Parse([]byte(text), "application/rss+xml", base)
		if written := strings.Count(text, "<item>"); err != nil || doc.Malformed != 0 || len(doc.Items) != written || written == 0 {
			t.Fatalf("%s: %d items of %d, %d malformed, %v", name, len(doc.Items), written, doc.Malformed, err)
		}
		if !newest.IsZero() && !doc.Items[0].Published.Equal(newest) {
			t.Errorf("%s: the newest is of %s", name, doc.Items[0].Published)
		}
		for _, item := range doc.Items {
			if item.Key == "" || item.Title == "" || item.Summary == "" || item.Published.IsZero() || !strings.HasPrefix(item.Link, "https://") || strings.Contains(item.Title+item.Summary, "<") {
				t.Errorf("%s: %+v", name, item)
			}
		}
	}
}
