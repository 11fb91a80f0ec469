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

	"github.com/mmcdole/gofeed"

	"quotary/shared/source"
)

// pages is a format of a publisher's own: a list of numbers, two on a page.
var pages = Format{
	Header: http.Header{"Api-Key": {"hush"}},
	Page: func(list *url.URL, n int) *url.URL {
		u := *list
		u.RawQuery = "page=" + strconv.Itoa(n)
		return &u
	},
	Read: func(text []byte) (*gofeed.Feed, error) {
		var numbers []int
		if err := json.Unmarshal(text, &numbers); err != nil {
			return nil, errors.New("not a list")
		}
		feed := new(gofeed.Feed)
		for _, n := range numbers {
			feed.Items = append(feed.Items, &gofeed.Item{GUID: strconv.Itoa(n), Title: fmt.Sprint("<b>", n, "</b>")})
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
		one := &Source{Client: quick(), URL: must(url.Parse(s.URL)), Format: pages, Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
		web := one.web()
		if _, _, err := one.look(t.Context(), web, from, got.take); err != nil {
			t.Fatal(err)
		}
		if titles := strings.Join(strings.Fields(got.titles()), " "); !strings.HasPrefix(titles, c.titles) || asked.Load() != c.asked {
			t.Errorf("%s in %d questions, want %s in %d", titles, asked.Load(), c.titles, c.asked)
		}
	}
}

// A page that cannot be read delivers nothing of those before it: else they would be known,
// and those behind it never asked for.
func TestAPageThatIsMissingIsAskedForAgain(t *testing.T) {
	t.Parallel()
	var whole atomic.Bool
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.FormValue("page") == "1":
			_, _ = io.WriteString(w, "[2]")
		case r.FormValue("page") == "2" && whole.Load():
			_, _ = io.WriteString(w, "[1]")
		case whole.Load():
			_, _ = io.WriteString(w, "[]")
		default:
			_, _ = io.WriteString(w, "<!doctype html>Just a moment")
		}
	})
	one := &Source{Client: quick(), URL: must(url.Parse(s.URL)), Format: pages, Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	var got inbox
	if _, _, err := one.look(t.Context(), one.web(), Position{}, got.take); err == nil || got.titles() != "" || one.Stats.Malformed.Load() != 1 {
		t.Errorf("%v, delivered %q, %d malformed", err, got.titles(), one.Stats.Malformed.Load())
	}
	whole.Store(true)
	if _, _, err := one.look(t.Context(), one.web(), Position{}, got.take); err != nil || got.titles() != "2 1" {
		t.Errorf("%v, delivered %q", err, got.titles())
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
	one := &Source{Client: quick(), URL: must(url.Parse(s.URL + "/")), Format: pages, Stats: new(source.Stats)}
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
