package feeds

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/shared/backoff"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a publisher of one feed, whose items and behaviour a test changes.
type site struct {
	*httptest.Server
	asked atomic.Int64

	mu     sync.Mutex
	answer http.HandlerFunc
}

func newSite(t *testing.T, answer http.HandlerFunc) *site {
	t.Helper()
	s := &site{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		s.mu.Lock()
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) set(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func serving(feed string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, feed) }
}

func items(guids ...string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>N</title>`)
	for _, guid := range guids {
		key, title, _ := strings.Cut(guid, "=")
		b.WriteString("<item><title>" + title + "</title><guid>" + key + "</guid></item>")
	}
	return b.String() + "</channel></rss>"
}

// quick is a client that pauses for milliseconds.
func quick() *Client {
	c := NewClient()
	c.hosts.pauses = backoff.Backoff{Min: time.Millisecond, Max: 4 * time.Millisecond}
	return c
}

func get(t *testing.T, c *Client, address string) (answer, error) {
	t.Helper()
	u := valid(url.Parse(address))
	a, _, err := c.get(t.Context(), transport(u), u, Validators{})
	return a, err
}

// The feed is on this machine, as the operator has said; where it redirects to is not
// what the operator has said.
func TestARedirectToAPrivateAddressIsNotFollowed(t *testing.T) {
	t.Parallel()
	secret := newSite(t, serving(items("a=secret")))
	for _, to := range []string{secret.URL, strings.Replace(secret.URL, "127.0.0.1", "localhost", 1), "http://169.254.169.254/latest/meta-data/", "http://[::ffff:127.0.0.1]:1/"} {
		s := newSite(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		if _, err := get(t, quick(), s.URL); !errors.Is(err, upstream.ErrPrivate) {
			t.Errorf("to %s: %v", to, err)
		}
	}
	if n := secret.asked.Load(); n != 0 {
		t.Errorf("the private address was asked %d times", n)
	}
}

func TestANameThatLeadsToThisMachineIsNotConnectedTo(t *testing.T) {
	t.Parallel()
	s := newSite(t, serving(items("a=secret")))
	web := transport(valid(url.Parse("http://news.example/")))
	one := web.Transport.(upstream.Inflating).Transport
	dial := one.DialContext
	one.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, s.Listener.Addr().String()) // as a resolver would answer
	}
	if _, err := ask(t.Context(), web, valid(url.Parse("http://news.example/")), Validators{}); !errors.Is(err, upstream.ErrPrivate) || s.asked.Load() != 0 {
		t.Errorf("%v, asked %d times", err, s.asked.Load())
	}
}

func TestNothingOfWhereARedirectLeadsIsSaid(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]error{
		"http://says..hello/":                errElsewhere,
		"http://says-hello.invalid:99999/":   errElsewhere,
		"http://[fe80::1%25says-hello]/":     upstream.ErrPrivate,
		"ftp://says-hello.invalid/":          errScheme,
		"http://says-hello@127.0.0.1:1/path": upstream.ErrPrivate,
	} {
		s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		if _, err := get(t, quick(), s.URL); !errors.Is(err, want) || strings.Contains(err.Error(), "hello") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("to %s: %v", to, err)
		}
	}
}

func TestRedirectsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.set(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/xxxxx" {
			serving(items("a=A"))(w, r)
			return
		}
		http.Redirect(w, r, r.URL.Path+"x", http.StatusMovedPermanently)
	})
	if a, err := get(t, quick(), s.URL+"/"); err != nil || a.url.Path != "/xxxxx" {
		t.Errorf("%v %v", a.url, err)
	}
	s.set(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) })
	before := s.asked.Load()
	if _, err := get(t, quick(), s.URL+"/"); !errors.Is(err, errRedirects) || s.asked.Load()-before != maxRedirects+1 {
		t.Errorf("%v after %d", err, s.asked.Load()-before)
	}
	s.set(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	if _, err := get(t, quick(), s.URL+"/"); !errors.Is(err, errScheme) {
		t.Error(err)
	}
}

func TestAnAnswerIsBoundedInSizeAndTime(t *testing.T) {
	t.Parallel()
	huge := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip") // a small answer that unpacks to a huge one
		z := gzip.NewWriter(w)
		block := make([]byte, 1<<20)
		for range 64 {
			if _, err := z.Write(block); err != nil {
				return
			}
		}
		_ = z.Close()
	})
	patient := quick()
	patient.deadline = 5 * time.Minute // on a busy machine
	if _, err := get(t, patient, huge.URL); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	slow := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	})
	c := quick()
	c.deadline = 50 * time.Millisecond
	if _, err := get(t, c, slow.URL); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestAHostIsAskedOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		time.Sleep(time.Millisecond)
		serving(items("a=A"))(w, r)
	})
	c := quick()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := get(t, c, s.URL); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "-5": 0, "soon": 0, "Sun, 22 Nov 2026 10:00:30 GMT": 30 * time.Second, "Sun, 22 Nov 2026 09:00:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	c := quick()
	u := valid(url.Parse(s.URL))
	if _, pause, err := c.get(t.Context(), transport(u), u, Validators{}); pause != time.Hour || err == nil || err.Error() != "status 429" {
		t.Errorf("pause %s, %v", pause, err)
	}
	// Another feed of that host waits too.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, _, err := c.get(ctx, transport(u), u, Validators{}); !errors.Is(err, context.DeadlineExceeded) || s.asked.Load() != 1 {
		t.Errorf("%v, asked %d times", err, s.asked.Load())
	}
	forever := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "99999999")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	u = valid(url.Parse(forever.URL))
	if _, pause, _ := c.get(t.Context(), transport(u), u, Validators{}); pause != longestPause {
		t.Errorf("pause %s", pause)
	}
}

// An answer that is parsed takes memory, whatever it holds: there is one at a time.
func TestOneAnswerIsParsedAtATime(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	format := Format{Read: func([]byte) (*syndication.Feed, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		runtime.Gosched()
		return new(syndication.Feed), nil
	}}
	c := quick()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := c.parse(&format, &answer{url: base}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
}

// What is cut off is asked for again in full, also where the server says that nothing has
// changed, and what it hides meanwhile is not new.
func TestAFeedThatIsCutOffIsAskedForAgain(t *testing.T) {
	t.Parallel()
	var parts atomic.Int64
	whole := items("a=A", "b=B", "c=C")
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"7"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		switch parts.Load() {
		case 1:
			whole := items("b=B", "c=C", "a=A")
			_, _ = io.WriteString(w, whole[:strings.Index(whole, "<title>A")])
		default:
			_, _ = io.WriteString(w, whole)
		}
	})
	parts.Store(1)
	var got inbox
	_, stop := follow(t, s, Position{}, got.take)
	testenv.Until(t, "the items before the cut", func() bool { return got.titles() == "B C" })
	parts.Store(0)
	testenv.Until(t, "all of it", func() bool { return got.titles() == "B C A" })
	_ = stop() // it was to end
	if at := got.position(); at.ETag != `"7"` {
		t.Errorf("%+v", at)
	}
}

// follow follows a feed and returns what it delivers.
func follow(t *testing.T, s *site, from Position, to func(context.Context, Delivery) error) (stats *source.Stats, stop func() error) {
	t.Helper()
	one := &Source{Client: quick(), URL: valid(url.Parse(s.URL)), Every: time.Millisecond, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- one.Follow(ctx, from, to) }()
	return one.Stats, sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
}

// inbox collects deliveries.
type inbox struct {
	mu   sync.Mutex
	list []Delivery
}

func (i *inbox) take(_ context.Context, d Delivery) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = append(i.list, d)
	return nil
}

func (i *inbox) titles() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []string
	for _, d := range i.list {
		for _, item := range d.Items {
			all = append(all, item.Title)
		}
	}
	return strings.Join(all, " ")
}

func (i *inbox) position() Position {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.list[len(i.list)-1].Position
}

func TestOnlyWhatIsNewOrHasChangedIsDelivered(t *testing.T) {
	t.Parallel()
	s := newSite(t, serving(items("a=A", "b=B")))
	var got inbox
	stats, stop := follow(t, s, Position{}, got.take)
	testenv.Until(t, "the first two", func() bool { return got.titles() == "A B" })
	s.set(serving(items("c=C", "a=A", "b=B2")))
	testenv.Until(t, "one new and one changed", func() bool { return got.titles() == "A B C B2" })
	s.set(serving(items())) // empty for a moment
	asked := s.asked.Load()
	testenv.Until(t, "asked again", func() bool { return s.asked.Load() > asked+2 })
	s.set(serving(items("d=D", "c=C", "a=A", "b=B2")))
	testenv.Until(t, "the next", func() bool { return got.titles() == "A B C B2 D" })
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if stats.Lines.Load() < 4 || stats.LastSeen.Load() == 0 {
		t.Errorf("%d answers", stats.Lines.Load())
	}

	// Another process goes on where this one stood.
	s.set(serving(items("e=E", "d=D", "c=C", "a=A", "b=B2")))
	var later inbox
	_, stop = follow(t, s, got.position(), later.take)
	testenv.Until(t, "the new one alone", func() bool { return later.titles() == "E" })
	_ = stop() // it was to end
}

// entries is a feed of ids, titles, pages and days.
func entries(items ...string) http.HandlerFunc {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>N</title>`)
	for _, item := range items {
		parts := strings.Fields(item)
		fmt.Fprintf(&b, "<item><guid>%s</guid><title>%s</title><link>https://news.example/%s</link>", parts[0], parts[1], append(parts, "")[2])
		if len(parts) > 3 {
			fmt.Fprintf(&b, "<pubDate>%s Sep 2026 12:00:00 GMT</pubDate>", parts[3])
		}
		b.WriteString("</item>")
	}
	return serving(b.String() + "</channel></rss>")
}

// An item is its id, as it stands: of one page and one title there may be many.
func TestAnIDIsAnItem(t *testing.T) {
	t.Parallel()
	s := newSite(t, entries("https://exchange.example/changelog#2026-11-24 One", "https://exchange.example/changelog#2026-11-25 Two", "https://exchange.example/?ref=a Three", "https://exchange.example/?ref=b Four"))
	var got inbox
	_, stop := follow(t, s, Position{}, got.take)
	want := "One Two Three Four"
	testenv.Until(t, "ids that differ in fragment or in tracking parameters", func() bool { return got.titles() == want })
	for _, step := range []struct {
		feed  []string
		added string
	}{
		{[]string{"s1 Investigating status 10"}, " Investigating"},
		{[]string{"s1 Investigating status 10", "s2 Investigating status 10", "s3 Investigating status"}, " Investigating Investigating"},
		{[]string{"s2 Investigating-still status 10", "s3 Investigating status"}, " Investigating-still"},
	} {
		s.set(entries(step.feed...))
		want += step.added
		testenv.Until(t, step.feed[0], func() bool { return got.titles() == want })
	}
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Two feeds of a publisher list the same stories, each with addresses and ids of its own.
func TestTwinsInTwoFeedsAreDeliveredOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 20, 0, 0, 0, 0, time.UTC)
	var twins Twins
	feeds := [2]*Source{new(Source), new(Source)}
	var at [2]Position
	for n, step := range []struct {
		feed  int
		items []string // ids, titles, pages and days
		want  string
	}{
		{0, []string{"1 A a 10", "2 B b?utm_source=one", "https://news.example/c?utm_source=one C c", "4 D", "5 E e 10", "6 E e 10"}, "A B C D E E"},
		{1, []string{"91 A a?utm_source=two 10", "2 B b", "https://news.example/c?utm_source=two C c", "94 D", "95 E e 11"}, "B D E"},
		{0, []string{"1 A a 10", "7 F f 12"}, "F"},
		{1, []string{"91 A2 a 10", "97 F f 12", "98 G g"}, "G"}, // a twin is one whatever becomes of it
		{0, []string{"1 A3 a 10"}, "A3"},
		{0, []string{"1 A3 a 10", "99 A2 a 10"}, "A2"},
	} {
		server := newSite(t, entries(step.items...))
		a := must.Get(get(t, quick(), server.URL))(t)
		doc := valid(Parse(a.body, a.contentType, a.url))
		var items []Item
		at[step.feed], items, _ = at[step.feed].follow(&doc, now, &twins, feeds[step.feed])
		var titles []string
		for _, item := range items {
			titles = append(titles, item.Title)
		}
		if got := strings.Join(titles, " "); got != step.want {
			t.Errorf("step %d: %s, want %s", n, got, step.want)
		}
	}
}

func TestAnUnchangedFeedIsAskedForByItsValidators(t *testing.T) {
	t.Parallel()
	var unchanged atomic.Int64
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"7"`)
		w.Header().Set("Last-Modified", "Sun, 22 Nov 2026 09:00:00 GMT")
		if r.Header.Get("If-None-Match") == `"7"` && r.Header.Get("If-Modified-Since") == "Sun, 22 Nov 2026 09:00:00 GMT" {
			unchanged.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		serving(items("a=A"))(w, r)
	})
	var got inbox
	_, stop := follow(t, s, Position{}, got.take)
	testenv.Until(t, "some answers without a body", func() bool { return unchanged.Load() >= 3 })
	_ = stop() // it was to end
	if got.titles() != "A" || s.asked.Load() != unchanged.Load()+1 {
		t.Errorf("%s: asked %d times, unchanged %d times", got.titles(), s.asked.Load(), unchanged.Load())
	}
	if p := got.position(); p.ETag != `"7"` || len(p.Seen) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestTroubleIsCountedAndPasses(t *testing.T) {
	t.Parallel()
	s := newSite(t, serving(items("a=A")))
	var got inbox
	stats, stop := follow(t, s, Position{}, got.take)
	defer func() { _ = stop() }() // it was to end
	testenv.Until(t, "the first", func() bool { return got.titles() == "A" })
	want := "A"
	for name, answer := range map[string]http.HandlerFunc{
		"HTML":     serving("<html><body>Just a moment</body></html>"),
		"garbage":  serving("\x00\x01\x02"),
		"cut":      serving(items("a=A")[:50]),
		"fails":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"gone":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		},
	} {
		before := stats.Malformed.Load()
		s.set(answer)
		testenv.Until(t, name+" is counted", func() bool { return stats.Malformed.Load() > before })
		want += " " + strings.ToUpper(name)
		guid := strings.ReplaceAll(name, " ", "") + "=" + strings.ToUpper(name)
		s.set(serving(items(guid)))
		testenv.Until(t, "it passes after "+name, func() bool { return got.titles() == want })
	}
}

// What a feed names is handed on, and asked for by nobody: here all of it is on this machine,
// where the feed itself may be.
func TestNothingThatAFeedNamesIsAskedFor(t *testing.T) {
	t.Parallel()
	secret := newSite(t, serving("secret"))
	s := newSite(t, serving(strings.ReplaceAll(`<?xml version="1.0"?><!DOCTYPE rss SYSTEM "SECRET/dtd" [<!ENTITY secret SYSTEM "SECRET/entity">]>
		<?xml-stylesheet href="SECRET/style"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>N</title><link>SECRET/</link>
		<atom:link rel="next" href="SECRET/next"/><atom:link rel="hub" href="SECRET/hub"/><image><url>SECRET/logo.png</url></image>
		<item><title>named</title><guid>SECRET/a</guid><link>SECRET/a</link><enclosure url="SECRET/a.png" type="image/png" length="1"/>
		<description><![CDATA[<img src="SECRET/b.png"><link rel="import" href="SECRET/c">text]]></description></item></channel></rss>`, "SECRET", secret.URL)))
	var got inbox
	_, stop := follow(t, s, Position{}, got.take)
	testenv.Until(t, "the item", func() bool { return got.titles() == "named" })
	asked := s.asked.Load()
	testenv.Until(t, "asked again", func() bool { return s.asked.Load() > asked+2 })
	_ = stop() // it was to end
	if item := got.list[0].Items[0]; item.Link != secret.URL+"/a" || item.Image == "" {
		t.Errorf("%+v names nothing", item)
	}
	if n := secret.asked.Load(); n != 0 {
		t.Errorf("what the feed names was asked for %d times", n)
	}
}

func TestASinkThatFailsEndsTheSource(t *testing.T) {
	t.Parallel()
	s := newSite(t, serving(items("a=A")))
	fault := errors.New("full")
	one := &Source{Client: quick(), URL: valid(url.Parse(s.URL)), Every: time.Millisecond, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	if err := one.Follow(t.Context(), Position{}, func(context.Context, Delivery) error { return fault }); !errors.Is(err, fault) {
		t.Error(err)
	}
}
