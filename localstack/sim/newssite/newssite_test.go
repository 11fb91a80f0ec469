package newssite

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/testing/must"
)

var start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func serve(t *testing.T, now *time.Time) (*Site, *httptest.Server) {
	t.Helper()
	s := New(Config{Seed: 7, Now: func() time.Time { return *now }})
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return s, server
}

func get(t *testing.T, address, etag string) (*http.Response, string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	req.Header.Set("If-None-Match", etag)
	res := must.Get(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	body := must.Get(io.ReadAll(res.Body))(t)
	if res.Header.Get("X-Simulated") != "true" {
		t.Errorf("%s does not say that it is simulated", address)
	}
	return res, string(body)
}

func TestFeedsHoldWhatIsPublished(t *testing.T) {
	t.Parallel()
	now := start
	s, server := serve(t, &now)
	for _, language := range []string{English, Chinese} {
		_, body := get(t, server.URL+"/"+language+"/rss.xml", "")
		var feed struct {
			Items []struct {
				GUID    string `xml:"guid"`
				PubDate string `xml:"pubDate"`
			} `xml:"channel>item"`
		}
		must.Do(t, xml.Unmarshal([]byte(body), &feed))
		want := s.Items(server.URL, language, now)
		if len(feed.Items) != Listed || len(want) != Listed {
			t.Fatalf("%d items, want %d", len(feed.Items), len(want))
		}
		for i, item := range feed.Items {
			if at, err := time.Parse(time.RFC1123Z, item.PubDate); err != nil || item.GUID != want[i].GUID || !at.Equal(want[i].Published) {
				t.Errorf("%+v, want %+v", item, want[i])
			}
		}
		if !strings.Contains(body, "imulated") || strings.Contains(body, server.URL+"/img/") {
			t.Error("it is not labelled, or has no relative addresses")
		}
	}
}

func TestNewItemsComeAndSomeAreEdited(t *testing.T) {
	t.Parallel()
	now := start
	s, _ := serve(t, &now)
	before, again := s.Items("http://x", English, now), New(Config{Seed: 7}).Items("http://x", English, now)
	if diff := cmp.Diff(before, again); diff != "" {
		t.Error(diff)
	}
	if other := New(Config{Seed: 8}).Items("http://x", English, now); cmp.Equal(before, other) {
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
	first, _ := get(t, server.URL+"/en/rss.xml", "")
	if res, body := get(t, server.URL+"/en/rss.xml", first.Header.Get("ETag")); res.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	now = now.Add(time.Minute)
	if res, _ := get(t, server.URL+"/en/rss.xml", first.Header.Get("ETag")); res.StatusCode != http.StatusOK {
		t.Error(res.StatusCode)
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	now := start
	s, server := serve(t, &now)
	item := s.Items(server.URL, Chinese, now)[0]
	for _, address := range []string{item.Link, item.Image, Logo(server.URL), server.URL + "/redirect/3"} {
		if res, _ := get(t, address, ""); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", address, res.StatusCode)
		}
	}
}
