package newssite

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/localstack/sim"
	"quotary/localstack/sim/simtest"
	"quotary/shared/testing/must"
)

var start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func serve(t *testing.T, now *time.Time) (*Site, *httptest.Server) {
	t.Helper()
	s := New(sim.Config{Seed: 7, Now: func() time.Time { return *now }})
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return s, server
}

func TestFeedsHoldWhatIsPublished(t *testing.T) {
	t.Parallel()
	now := start
	s, server := serve(t, &now)
	for _, language := range []string{English, Chinese} {
		_, body := simtest.Get(t, server.URL+"/"+language+"/rss.xml")
		var feed struct {
			Items []struct {
				GUID    string `xml:"guid"`
				PubDate string `xml:"pubDate"`
			} `xml:"channel>item"`
		}
		must.Do(t, xml.Unmarshal(body, &feed))
		want := s.Items(server.URL, language, now)
		if len(feed.Items) != Listed || len(want) != Listed {
			t.Fatalf("%d items, want %d", len(feed.Items), len(want))
		}
		for i, item := range feed.Items {
			if at, err := time.Parse(time.RFC1123Z, item.PubDate); err != nil || item.GUID != want[i].GUID || !at.Equal(want[i].Published) {
				t.Errorf("%+v, want %+v", item, want[i])
			}
		}
		if !strings.Contains(string(body), "imulated") || strings.Contains(string(body), server.URL+"/img/") {
			t.Error("it is not labelled, or has no relative addresses")
		}
	}
}

func TestNewItemsComeAndSomeAreEdited(t *testing.T) {
	t.Parallel()
	now := start
	s, _ := serve(t, &now)
	before, again := s.Items("http://x", English, now), New(sim.Config{Seed: 7}).Items("http://x", English, now)
	if diff := cmp.Diff(before, again); diff != "" {
		t.Error(diff)
	}
	if other := New(sim.Config{Seed: 8}).Items("http://x", English, now); cmp.Equal(before, other) {
		t.Error("the seed makes no difference")
	}
	after := s.Items("http://x", English, now.Add(8*time.Minute))
	if after[8].GUID != before[0].GUID || before[0].Published.After(now) {
		t.Errorf("%+v, %+v", after[8], before[0])
	}
	edited := 0
	for i := range 8 {
		if before[i].Title != after[i+8].Title {
			edited++
		}
	}
	if edited != 1 {
		t.Errorf("%d of the newest items were edited since", edited)
	}
}

func TestAnUnchangedFeedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	now := start
	_, server := serve(t, &now)
	first, _ := simtest.Get(t, server.URL+"/en/rss.xml")
	if res, body := simtest.Get(t, server.URL+"/en/rss.xml", "If-None-Match", first.Header.Get("ETag")); res.StatusCode != http.StatusNotModified || len(body) > 0 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	now = now.Add(time.Minute)
	if res, _ := simtest.Get(t, server.URL+"/en/rss.xml", "If-None-Match", first.Header.Get("ETag")); res.StatusCode != http.StatusOK {
		t.Error(res.StatusCode)
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	now := start
	s, server := serve(t, &now)
	item := s.Items(server.URL, Chinese, now)[0]
	for _, address := range []string{item.Link, item.Image, Logo(server.URL), server.URL + "/redirect/3"} {
		if res, _ := simtest.Get(t, address); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", address, res.StatusCode)
		}
	}
}
