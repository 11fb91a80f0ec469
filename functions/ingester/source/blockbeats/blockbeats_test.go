package blockbeats

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/feeds"
	"quotary/localstack/sim"
	"quotary/localstack/sim/newssite"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// first follows a list until something is delivered of it.
func first(t *testing.T, address string, l List) (feeds.Delivery, *source.Stats) {
	t.Helper()
	u := must.Get(url.Parse(address))(t)
	s := &feeds.Source{Client: feeds.NewClient(), URL: u, Format: l.Format(), Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got feeds.Delivery
	_ = s.Follow(ctx, feeds.Position{}, func(_ context.Context, d feeds.Delivery) error { // it ends as it was told
		got = d
		cancel()
		return nil
	})
	return got, s.Stats
}

// The simulated vendor shares no code with this package.
func TestWhatASimulatedVendorListsIsRead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	site := newssite.New(sim.Config{Seed: 3, Now: func() time.Time { return now }})
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	for _, l := range []List{{Language: English}, {Language: Chinese}, {Language: Chinese, Important: true}} {
		var want, got []newssite.Flash
		for _, f := range site.Flashes(server.URL, l.Language, now) {
			if f.Important || !l.Important {
				f.Important = l.Important
				want = append(want, f)
			}
		}
		d, stats := first(t, server.URL+newssite.FlashPath, l)
		for _, i := range d.Items {
			id, _ := strconv.ParseInt(i.Key, 10, 64) // 0, which is not listed
			got = append(got, newssite.Flash{ID: id, Title: i.Title, Content: feeds.Text(i.Content, 8000), Link: i.Link, Pic: i.Image, Important: l.Important, Published: i.Published})
			if strings.Contains(i.Content, "script") {
				t.Errorf("%q runs", i.Content)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || stats.Malformed.Load() != 0 {
			t.Errorf("%+v: %d malformed (-listed +read):\n%s", l, stats.Malformed.Load(), diff)
		}
	}
}

func TestFlashesAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("api-key") != "hush" || r.FormValue("page") != "1" {
			_, _ = io.WriteString(w, `{"status":0,"data":{"page":2,"data":[]}}`)
			return
		}
		_, _ = io.WriteString(w, `{"status":0,"message":"","data":{"page":"1","data":[
			{"id":7,"title":"A &amp; <b>B</b>","content":"<p>Text<script>x</script></p><p onclick=\"x\">more</p>","pic":"","link":"","url":"https://story.example/7","create_time":"1749999053"},
			{"id":"8","title":"T","link":"/flash/8","pic":"/pic/8.png","create_time":1749999053,"more":{}},
			{"id":9,"title":"no time"},
			{"id":10,"title":null,"content":"<p>no title</p>","create_time":"1749999053"},
			{"id":11,"title":"T","create_time":"2025-06-15 14:50:53"},
			{"id":12,"title":"","content":"","create_time":"1749999053"},
			{"id":0,"title":"T","create_time":"1749999053"},
			{"id":-1,"title":"T"}, {"id":1.5,"title":"T"}, {"title":"T"}, {"id":13,"title":{}}, {"id":[]}, null, "14", 15,
			{"id":16,"title":"T","link":"javascript:x","url":"javascript:x","create_time":"9999999999999999999999"},
			{"id":7,"title":"again","create_time":"1749999053"}
		]}}`)
	}))
	t.Cleanup(server.Close)
	at := time.Date(2025, 6, 15, 14, 50, 53, 0, time.UTC)
	want := []feeds.Item{
		{Key: "7", Title: "A & B", Summary: "Text more", Content: "<p>Text</p><p>more</p>", Link: "https://story.example/7", Published: at},
		{Key: "8", Title: "T", Link: "https://www.theblockbeats.info/flash/8", Image: "https://www.theblockbeats.info/pic/8.png", Published: at},
		{Key: "9", Title: "no time", Neighbour: at},
		{Key: "10", Title: "no title", Summary: "no title", Content: "<p>no title</p>", Published: at},
		{Key: "16", Title: "T", Neighbour: at},
	}
	d, stats := first(t, server.URL, List{Language: English, Key: "hush"})
	check.Equal(t, want, d.Items)
	if n := stats.Malformed.Load(); n != 12 { // what repeats another too
		t.Errorf("%d malformed", n)
	}
}

func TestWhatIsNoListOfFlashesIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": errAnswer, "<!doctype html><title>Just a moment</title>": errAnswer, "[]": errAnswer, "{}": errAnswer, `{"data":{"data":[]}}`: errAnswer, `{"status":0,"data":{"data":{}}}`: errAnswer,
		`{"status":0,"data":{"data":[{"id":1`: errAnswer, strings.Repeat(`{"data":`, 100_000): errAnswer, `{"status":"0"}`: errAnswer,
		`{"status":401,"message":"the key hush is not known"}`: errStatus,
		`{"status":0}`: nil, `{"status":0,"data":null}`: nil, `{"status":0,"data":{"page":1,"data":null}}`: nil,
	} {
		feed, err := read([]byte(text))
		if want == nil && (err != nil || len(feed.Items) > 0) || want != nil && (err == nil || !strings.Contains(err.Error(), want.Error()) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%.60s: %v, want %v", text, err, want)
		}
	}
}

// A vendor that goes wrong is counted, and delivers nothing.
func TestAVendorThatGoesWrongDoesNoHarm(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newssite.New(sim.Config{}).Handler())
	t.Cleanup(server.Close)
	for _, path := range []string{"/html", "/huge", "/broken", "/private", "/nothing"} {
		u := must.Get(url.Parse(server.URL + path))(t)
		s := &feeds.Source{Client: feeds.NewClient(), URL: u, Format: List{Language: English}.Format(), Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- s.Follow(ctx, feeds.Position{}, func(context.Context, feeds.Delivery) error {
				t.Errorf("%s: something is delivered", path)
				return nil
			})
		}()
		testenv.Until(t, path+" is counted", func() bool { return s.Stats.Malformed.Load() == 1 })
		cancel()
		<-ended // as it was cancelled
	}
}

// TestRecordedFlashes reads what the vendor answered, of which the recorder has kept ids,
// titles and times.
func TestRecordedFlashes(t *testing.T) {
	t.Parallel()
	text := testenv.RecordingText(t, "news/blockbeats_flash_2025-06.json")
	var list []flash
	must.Do(t, json.Unmarshal([]byte(text), &list))
	feed, err := read(fmt.Appendf(nil, `{"status":0,"message":"","data":{"page":1,"data":%s}}`, text))
	if err != nil || len(feed.Items) != len(list) || len(list) != 63 {
		t.Fatalf("%d of %d flashes, %v", len(feed.Items), len(list), err)
	}
	for n, item := range feed.Items {
		if item.ID != list[n].ID.String() || item.Title.Body != list[n].Title || fmt.Sprint(item.Published.Unix()) != list[n].CreateTime.String() {
			t.Errorf("%+v, want %+v", item, list[n])
		}
	}
}
