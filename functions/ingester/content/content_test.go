package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/news"
	"quotary/shared/service/config"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

func TestSettingsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``: "", `[]`: "",
		`[{"url":"https://a.example/rss","language":"en","source":"A"},{"url":"https://a.example/rss?x=1","language":"CN","source":"A","every":"30s"}]`: "",
		`{}`:          "QUOTARY_NEWS_FEEDS must be a JSON list",
		`[{"uri":1}]`: `unknown field "uri"`,
		`[] []`:       "must be a JSON list",
		`[{"url":"ftp://a.example","language":"en","source":"A"}]`:                                                                           "feed 1: url must be",
		`[{"url":"/rss","language":"en","source":"A"}]`:                                                                                      "feed 1: url must be",
		`[{"url":"https://a.example","language":"fr","source":"A"}]`:                                                                         `language must be cn or en, not "fr"`,
		`[{"url":"https://a.example","language":"en"}]`:                                                                                      "source must be the publisher's name",
		`[{"url":"https://a.example","language":"en","source":"A","every":"1ms"}]`:                                                           "every must be a duration of at least 1s",
		`[{"url":"https://a.example","language":"en","source":"A"},{"url":"https://a.example","language":"cn","source":"B"}]`:                "feed 2: its url is listed twice",
		`[` + strings.Repeat(`{"url":"https://a.example","language":"en","source":"A"},`, 200) + `{"url":"x","language":"en","source":"A"}]`: "at most 200 feeds",
	} {
		env := config.Env{Lookup: func(name string) (string, bool) { return text, name == "QUOTARY_NEWS_FEEDS" }}
		c := Settings(&env)
		if err := env.Err(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.100s: %v", text, err)
		}
		if want == "" && strings.Contains(text, "x=1") {
			if f := c.Feeds[1]; len(c.Feeds) != 2 || f.Language != news.Chinese || f.Every != 30*time.Second || f.Source != "A" || strings.Contains(f.name(), "x=1") || c.Feeds[0].Every != everyDefault {
				t.Errorf("%+v", c.Feeds)
			}
		}
	}
}

func TestATimeOfPublicationThatCannotBeTrueIsNone(t *testing.T) {
	t.Parallel()
	seen := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]int64{
		{}: 0, time.Unix(0, 0): 0, seen: seen.Unix(), seen.Add(-time.Hour): seen.Unix() - 3600, seen.Add(5 * time.Minute): seen.Unix() + 300, seen.Add(time.Hour): 0,
	} {
		if got := published(at, seen); got != want {
			t.Errorf("%s: %d, want %d", at, got, want)
		}
	}
}

const seenAt = int64(1_795_000_000_000) // ms

func drawItem(t *rapid.T) news.Item {
	key := fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "key"))
	i := news.Item{ID: news.ID("Acme", key), Source: "Acme", Key: key, Language: news.English, Title: rapid.StringMatching(`[a-c]{1,2}`).Draw(t, "title"),
		Published: rapid.SampledFrom([]int64{0, 1_794_000_000, 1_794_000_060}).Draw(t, "published"), Seen: seenAt + rapid.Int64Range(0, 5).Draw(t, "seen")}
	i.FirstSeen = i.Seen
	return i
}

// TestTheViewEndsTheSameWhateverHappens lets items come late, twice and in any order,
// over restarts from the view that was published last.
func TestTheViewEndsTheSameWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(drawItem), 1, 12).Draw(t, "items")
		clean := newNewest()
		mustApply(t, clean, all)
		want := clean.Changes(time.Now(), true).Views[0].Body

		var last []byte // as published
		p := newNewest()
		for _, item := range rapid.Permutation(slices.Concat(all, all)).Draw(t, "order") {
			mustApply(t, p, []news.Item{item})
			if views := p.Changes(time.Now(), false).Views; len(views) > 0 {
				last = views[0].Body
			}
			if rapid.Bool().Draw(t, "restart") {
				p = newNewest()
				must.Do(t, p.Restore(map[string][]byte{news.Name: last}))
			}
		}
		if diff := cmp.Diff(string(want), string(last)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func mustApply(t *rapid.T, p *newest, items []news.Item) {
	must.Do(t, p.Apply(&Batch{News: items}, engine.NewReads(), time.Now()))
}

// An item without a date is as old as when it was first seen, also when it has left the
// list and is edited.
func TestAnOldItemThatIsEditedIsNotNew(t *testing.T) {
	t.Parallel()
	p, stored := newNewest(), map[store.SeriesAt]store.Point{}
	apply := func(items ...news.Item) (listed news.View) {
		t.Helper()
		b, r := &Batch{News: items}, engine.NewReads()
		p.Prefetch(b, r)
		r.Fill(nil, stored)
		must.Do(t, p.Apply(b, r, time.Now()))
		changes := p.Changes(time.Now(), true)
		for _, row := range changes.Fine {
			stored[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
		}
		listed = must.Get(news.Published.Decode(changes.Views[0].Body))(t)
		return listed
	}
	item := func(key int, title string, seen int64) news.Item {
		return news.Item{ID: news.ID("Acme", fmt.Sprint(key)), Source: "Acme", Key: fmt.Sprint(key), Title: title, Seen: seen, FirstSeen: seen}
	}
	apply(item(0, "old", seenAt))
	var others []news.Item
	for n := range news.Listed {
		others = append(others, item(n+1, "other", seenAt+1000))
	}
	apply(others...)
	edited := item(0, "old, edited", seenAt+2000)
	if v := apply(edited); len(v.Items) != news.Listed || slices.ContainsFunc(v.Items, func(h news.Heading) bool { return h.ID == edited.ID }) {
		t.Errorf("of %d items the first is %q", len(v.Items), v.Items[0].Title)
	}
	if v := apply(item(-1, "new", seenAt+3000)); v.Items[0].Title != "new" {
		t.Errorf("the first is %q", v.Items[0].Title)
	}
}

// site publishes feeds whose items a test adds and edits.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	texts map[string][]string // items by path, newest first
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{texts: map[string][]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		list := slices.Clone(s.texts[r.URL.Path])
		s.mu.Unlock()
		etag := fmt.Sprintf("%q", strings.Join(list, ""))
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		var b strings.Builder
		for _, one := range list {
			key, title, _ := strings.Cut(one, "=")
			fmt.Fprintf(&b, "<item><guid>%s</guid><title>%s</title><pubDate>%s</pubDate></item>", key, title, time.Unix(1_794_000_000+int64(len(key)), 0).UTC().Format(time.RFC1123Z))
		}
		_, _ = io.WriteString(w, `<rss version="2.0"><channel><title>N</title>`+b.String()+`</channel></rss>`)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) publish(path string, items ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[path] = items
}

func (s *site) feed(t *testing.T, path string, language news.Language) Feed {
	t.Helper()
	u := must.Get(url.Parse(s.URL + path))(t)
	return Feed{URL: u, Language: language, Source: "Acme", Every: 5 * time.Millisecond}
}

// world is stores, of which a test makes others that fail.
type world struct {
	db      *dynamodb.Client
	prefix  string
	stores  engine.Stores
	objects *s3.Client
	bucket  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := storetest.DynamoDB(t)
	w := &world{db: db, prefix: storetest.Tables(t, db)}
	w.objects, w.bucket = storetest.S3(t)
	w.stores = w.on(db, engine.Stores{Views: store.NewViews(w.objects, w.bucket), Quarantine: engine.Quarantine{Objects: w.objects, Bucket: w.bucket}})
	return w
}

func (w *world) on(db *dynamodb.Client, with engine.Stores) engine.Stores {
	with.Log, with.Series = store.NewLog(db, w.prefix+schema.LogTable), store.NewSeries(db, w.prefix+schema.SeriesTable)
	return with
}

func (w *world) start(t *testing.T, p *engine.Pipeline[*Batch]) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Run(ctx) // what it came to is seen in the stores
	}()
	return sync.OnceFunc(func() { cancel(); <-ended })
}

func (w *world) pipeline(stores engine.Stores, feeds ...Feed) *engine.Pipeline[*Batch] {
	p := Config{Stores: stores, Objects: w.objects, Bucket: w.bucket, DropsEvery: 5 * time.Millisecond, Logger: slog.New(slog.DiscardHandler), Feeds: feeds}.pipeline()
	p.StopWithin = 5 * time.Minute
	return p
}

// listed are the titles of the view by key.
func (w *world) listed(t *testing.T) map[string]string {
	t.Helper()
	body, _, _, err := w.stores.Views.Fetch(t.Context(), news.Name, "")
	if errors.Is(err, store.ErrNoView) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	v := must.Get(news.Published.Decode(body))(t)
	titles := map[string]string{}
	for _, h := range v.Items {
		titles[h.Owner] += h.Title // twice if it is there twice
	}
	return titles
}

// wanted is what must be listed of items, and checks that each is found by number.
func (w *world) wanted(t *testing.T, items ...string) map[string]string {
	t.Helper()
	want := map[string]string{}
	for _, one := range items {
		key, title, _ := strings.Cut(one, "=")
		want[news.Subject("Acme", key)] = title
		if got, ok, err := news.ByID(t.Context(), w.stores.Log, news.ID("Acme", key)); err != nil || !ok || got.Title != title {
			t.Errorf("%s is %+v, %t, %v", key, got, ok, err)
		}
	}
	return want
}

func (w *world) until(t *testing.T, items ...string) {
	t.Helper()
	want := map[string]string{}
	for _, one := range items {
		key, title, _ := strings.Cut(one, "=")
		want[news.Subject("Acme", key)] = title
	}
	testenv.Until(t, fmt.Sprint("the list is ", items), func() bool { return maps.Equal(w.listed(t), want) })
	w.wanted(t, items...)
}

func TestWhatPublishersWriteIsListedAndFound(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), newSite(t)
	s.publish("/en", "b=B", "a=A")
	s.publish("/cn", "c=甲", "a=A") // the same story in two feeds of a publisher
	feeds := []Feed{s.feed(t, "/en", news.English), s.feed(t, "/cn", news.Chinese)}
	stop := w.start(t, w.pipeline(w.stores, feeds...))
	w.until(t, "a=A", "b=B", "c=甲")
	s.publish("/en", "dd=D", "b=B edited", "a=A")
	w.until(t, "a=A", "b=B edited", "c=甲", "dd=D")
	stop()

	// What comes while nobody reads is there after a restart, and what went is kept.
	s.publish("/en", "ee=E", "dd=D")
	stop = w.start(t, w.pipeline(w.stores, feeds...))
	w.until(t, "a=A", "b=B edited", "c=甲", "dd=D", "ee=E")
	stop()
	rows := 0
	for range must.All(t, w.stores.Log.Rows(t.Context(), store.Query{Dataset: news.Name, Subject: news.Subject("Acme", "b")})) {
		rows++
	}
	if rows != 2 {
		t.Errorf("an item that was edited once has %d rows", rows)
	}
}

// TestNothingIsLostOrListedTwiceAfterCrashes lets lives die before any write.
func TestNothingIsLostOrListedTwiceAfterCrashes(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Amount(4, 60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			w, s := newWorld(t), newSite(t)
			var all []string
			for life := range 5 {
				for n := range 3 {
					all = append(all, fmt.Sprintf("g%d-%d=item %d of %d", life, n, n, life))
				}
				s.publish("/en", all...)
				nth := int64(r.IntN(6))
				ctx, kill := context.WithCancel(t.Context())
				var writes atomic.Int64
				mortal := storetest.Intercept(w.db, func(in any, send func() (any, error)) (any, error) {
					switch in.(type) {
					case *dynamodb.BatchWriteItemInput, *dynamodb.PutItemInput, *dynamodb.UpdateItemInput:
						if writes.Add(1) > nth {
							kill()
							return nil, errors.New("the process died")
						}
					}
					return send()
				})
				p := w.pipeline(w.on(mortal, w.stores), s.feed(t, "/en", news.English))
				p.StopWithin = time.Nanosecond
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = p.Run(ctx) // it dies
				}()
				testenv.Until(t, "it dies, or has nothing left to write", func() bool {
					select {
					case <-ended:
						return true
					default:
						return len(w.listed(t)) == len(all) && p.Stats.Flushed.Load() > 0
					}
				})
				kill()
				<-ended
			}
			stop := w.start(t, w.pipeline(w.stores, s.feed(t, "/en", news.English)))
			w.until(t, all...)
			stop()
		})
	}
}

func TestAListThatIsAddedLaterHasWhatIsStored(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), newSite(t)
	s.publish("/en", "b=B", "a=A")
	before := w.pipeline(w.stores, s.feed(t, "/en", news.English))
	before.Projections = nil
	stop := w.start(t, before)
	testenv.Until(t, "the items are stored", func() bool { return before.Stats.Events.Load() == 2 && before.Stats.Flushed.Load() > 0 })
	stop()
	s.publish("/en", "c=C") // the others are in the feed no more
	stop = w.start(t, w.pipeline(w.stores, s.feed(t, "/en", news.English)))
	w.until(t, "a=A", "b=B", "c=C")
	stop()
}

func TestWithoutFeedsNothingIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.pipeline(w.stores)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	testenv.Until(t, "it has begun", func() bool { return p.Stats.Flushed.Load() > 0 })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Two feeds of a publisher list a story with addresses and ids of their own, entries of one
// page under ids of their own, and later an item whose date cannot be read.
func TestAnItemIsWhatItsPublisherSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := func(guid, title, page, date string) string {
		return fmt.Sprintf(`<item><guid isPermaLink="false">%s</guid><title>%s</title><link>https://news.example/%s</link><pubDate>%s</pubDate></item>`, guid, title, page, date)
	}
	const at = "Thu, 02 Apr 2026 21:13:00 GMT"
	var later atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tracked := "?utm_source=" + r.URL.Path[1:]
		list := item("https://news.example/a"+tracked, "A", "a"+tracked, at) + item("s1", "Investigating", "status", at)
		if r.URL.Path == "/en" {
			list += item("https://news.example/log#1", "One", "log", at) + item("https://news.example/log#2", "Two", "log", at)
			if later.Load() {
				list = item("s2", "Investigating", "status", "02 Avril 2026") + list
			}
		}
		_, _ = io.WriteString(w, `<rss version="2.0"><channel><title>N</title>`+list+`</channel></rss>`)
	}))
	t.Cleanup(server.Close)
	s := &site{Server: server}
	stop := w.start(t, w.pipeline(w.stores, s.feed(t, "/en", news.English), s.feed(t, "/all", news.English)))
	titles := func() string { return strings.Join(slices.Sorted(maps.Values(w.listed(t))), " ") }
	testenv.Until(t, "both feeds are listed once", func() bool { return titles() == "A Investigating One Two" })
	later.Store(true)
	testenv.Until(t, "the next entry of that title and page", func() bool { return titles() == "A Investigating Investigating One Two" })
	stop()
	got, ok, err := news.ByID(t.Context(), w.stores.Log, news.ID("Acme", "s2"))
	if want := time.Date(2026, 4, 2, 21, 13, 0, 0, time.UTC).Unix(); err != nil || !ok || got.CreateTime() != want {
		t.Errorf("%t, %v: the item without a date is of %d, want %d", ok, err, got.CreateTime(), want)
	}
}
