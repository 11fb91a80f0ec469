package feeds

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/shared/testing/must"
)

// pages is a format of a publisher's own: a list of numbers, two on a page.
var pages = Format{
	Header: http.Header{"Api-Key": {"hush"}},
	Page: func(list *url.URL, n int) *url.URL {
		u := *list
		u.RawQuery = "page=" + strconv.Itoa(n)
		return &u
	},
	Read: func(text []byte) (*syndication.Feed, error) {
		var numbers []int
		if err := json.Unmarshal(text, &numbers); err != nil {
			return nil, errors.New("not a list")
		}
		feed := new(syndication.Feed)
		for _, n := range numbers {
			feed.Items = append(feed.Items, syndication.Item{ID: strconv.Itoa(n), Title: syndication.Text{Form: syndication.Headline, Body: fmt.Sprint("<b>", n, "</b>")}})
		}
		return feed, nil
	},
}

func TestPagesAreReadUpToWhatIsKnown(t *testing.T) {
	t.Parallel()
	var newest, asked atomic.Int64
	newest.Store(6)
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Api-Key") != "hush" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		page, _ := strconv.ParseInt(r.FormValue("page"), 10, 64) // 0, of which nothing is expected
		from := newest.Load() - 2*(page-1)
		list := []int64{}
		for n := from; n > max(0, from-2); n-- {
			list = append(list, n)
		}
		_ = json.NewEncoder(w).Encode(list)
	})
	for _, c := range []struct {
		newest int64
		titles string
		asked  int64
		known  []int
	}{
		{6, "6 5 4 3 2 1", 4, nil}, // and an empty one
		{6, "6 5", 1, []int{4, 5}},
		{9, "9 8 7 6 5", 3, []int{4, 5}},
		{100, "100 99 98 97 96 95 94 93 92 91 90 89 88 87 86 85 84 83 82 81", maxPages, []int{4, 5}},
	} {
		from := Position{Seen: map[string]string{}}
		for _, n := range c.known {
			from.Seen[digest([]byte(strconv.Itoa(n)))] = "otherwise"
		}
		newest.Store(c.newest)
		asked.Store(0)
		var got inbox
		one := &Source{Client: quick(), URL: valid(url.Parse(s.URL)), Format: pages, Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
		web := one.web()
		must.Get2(one.look(t.Context(), web, from, got.take))(t)
		if titles := strings.Join(strings.Fields(got.titles()), " "); !strings.HasPrefix(titles, c.titles) || asked.Load() != c.asked {
			t.Errorf("%s in %d questions, want %s in %d", titles, asked.Load(), c.titles, c.asked)
		}
	}
}

// A page that is refused holds back neither the pages before it nor, once it is answered, those
// behind: at a start and later.
func TestPagesBehindARefusalAreReadLater(t *testing.T) {
	t.Parallel()
	var newest, refused atomic.Int64
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.ParseInt(r.FormValue("page"), 10, 64) // 0, of which nothing is expected
		switch page {
		case refused.Load():
			w.WriteHeader(http.StatusTooManyRequests)
			return
		case refused.Load() + 1:
			t.Errorf("page %d is asked for", page)
		}
		etag := strconv.Quote(strconv.FormatInt(newest.Load(), 10))
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		list := []int64{}
		for n := newest.Load() - 2*(page-1); n > 0 && len(list) < 2; n-- {
			list = append(list, n)
		}
		_ = json.NewEncoder(w).Encode(list)
	})
	one := &Source{Client: quick(), URL: valid(url.Parse(s.URL)), Format: pages, Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	at, web := Position{}, one.web()
	for _, step := range []struct {
		newest, refused int64
		titles          string
		fails           bool
	}{
		{9, 1, "", true},
		{9, 3, "9 8 7 6", true}, // at the start
		{10, 3, "10", true},     // something new meanwhile
		{10, 1, "", true},       // nothing at all
		{10, 99, "5 4 3 2 1", false},
		{16, 2, "16 15", true}, // later
		{0, 99, "", false},     // empty for a moment
		{17, 99, "17 14 13 12 11", false},
		{17, 99, "", false},
	} {
		newest.Store(step.newest)
		refused.Store(step.refused)
		var got inbox
		before := one.Stats.Malformed.Load()
		next, _, err := one.look(t.Context(), web, at, got.take)
		if titles := strings.Join(strings.Fields(got.titles()), " "); titles != step.titles || (err != nil) != step.fails || (one.Stats.Malformed.Load() > before) != step.fails {
			t.Errorf("%+v: delivered %q, %v", step, titles, err)
		}
		if at = next; len(at.Cut) > 0 && at.Validators != (Validators{}) {
			t.Errorf("%+v: pages are to be read only where something has changed", step)
		}
	}
	if len(at.Cut) > 0 || at.ETag == "" {
		t.Errorf("%+v", at)
	}
}

func TestAKeyIsSentToTheFeedsOwnHostAlone(t *testing.T) {
	t.Parallel()
	keys := make(chan string, 10)
	s := newSite(t, nil)
	s.set(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.URL.Path + " " + r.Header.Get("Api-Key")
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "/same", http.StatusFound)
		default: // the same address under another name
			if strings.HasPrefix(r.Host, "127.") {
				http.Redirect(w, r, strings.Replace(s.URL, "127.0.0.1", "localhost", 1)+"/other", http.StatusFound)
				return
			}
			_, _ = io.WriteString(w, "[]")
		}
	})
	one := &Source{Client: quick(), URL: valid(url.Parse(s.URL + "/")), Format: pages, Stats: new(source.Stats)}
	if _, err := ask(t.Context(), one.web(), one.URL, Validators{}); err != nil {
		t.Log(err) // where localhost is not the address of the test's server
	}
	if first, second := <-keys, <-keys; first != "/ hush" || second != "/same hush" {
		t.Errorf("%q, %q", first, second)
	}
	if len(keys) > 0 {
		if third := <-keys; third != "/other " {
			t.Errorf("%q", third)
		}
	}
}
