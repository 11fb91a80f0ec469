// Package newssite is a simulated publisher of news for tests and for the local stack.
// It serves RSS 2.0 in English and Chinese as publishers write it: tracked links,
// relative addresses, CDATA and escapes, a script that no reader wants, an item that is
// edited after a while.
//
//	/en/rss.xml, /cn/rss.xml   the newest 50 items of a language, with ETag and Last-Modified
//	/en/articles/N, /img/N.svg what items link to
//	/v1/open-api/open-flash    flashes in both languages, as the vendor BlockBeats writes them
//	/broken /html /huge /slow /redirect/N /private   feeds that go wrong
//
// What is published follows from the seed and the clock alone: item n of a language is
// published at n times the period, whether anybody runs the site or not. [Site.Items] is
// the truth with which answers of the product are compared; the package shares no code
// with it.
//
// Nothing of it is news. Each answer carries X-Simulated: true, and the names and texts
// say so.
package newssite

import (
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"quotary/localstack/sim"
)

// Site is a publisher.
type Site struct{ cfg sim.Config }

// New returns a site: one item of each language a period, a minute where it is left out.
func New(cfg sim.Config) *Site { return &Site{cfg.WithDefaults(time.Minute)} }

// Listed is how many items a feed shows.
const Listed = 50

// Names of the publisher, and the languages in which it writes.
const (
	Publisher = "Simulated News"
	English   = "en"
	Chinese   = "cn"
)

// Item is an item as a reader shows it: addresses are absolute, texts without markup,
// and Content is HTML without what is dangerous.
type Item struct {
	GUID, Title, Summary, Content, Link, Image, Author string
	Published                                          time.Time
}

// editedEvery is which items get another title, two periods after they were published.
const editedEvery = 4

// Items are those that the feed of a language shows at a time, newest first, with the
// addresses of the site at base: http://127.0.0.1:8085.
func (s *Site) Items(base, language string, at time.Time) []Item {
	newest := at.UnixNano() / int64(s.cfg.Period)
	items := make([]Item, Listed)
	for i := range items {
		n := newest - int64(i)
		items[i] = s.item(base, language, n, n%editedEvery == 0 && i >= 2)
	}
	return items
}

// Logo is the address of the publisher's picture.
func Logo(base string) string { return base + "/img/logo.svg" }

var (
	coins   = []string{"BTC", "ETH", "SOL", "HYPE", "XRP", "DOGE"}
	authors = []string{"Ada Example", "Bo Sample", "示例记者"}
)

func (s *Site) item(base, language string, n int64, edited bool) Item {
	r := rand.New(rand.NewPCG(s.cfg.Seed, uint64(n)))
	coin, other := coins[r.IntN(len(coins))], coins[r.IntN(len(coins))]
	percent, millions := 1+r.IntN(19), 10+r.IntN(900)
	item := Item{
		GUID:      fmt.Sprintf("simulated-%s-%d", language, n),
		Link:      fmt.Sprintf("%s/%s/articles/%d?utm_source=rss&id=%d", base, language, n, n),
		Image:     fmt.Sprintf("%s/img/%d.svg", base, n),
		Author:    authors[r.IntN(len(authors))],
		Published: time.Unix(0, n*int64(s.cfg.Period)).UTC().Truncate(time.Second),
	}
	switch language {
	case Chinese:
		item.Title = fmt.Sprintf("模拟新闻：%s 上涨 %d%%，%s & 其他币种跟进", coin, percent, other)
		item.Summary = fmt.Sprintf("本文为模拟内容。过去一小时，%s 的成交额为 %d 百万美元，波动 < %d%%。", coin, millions, percent+1)
	default:
		item.Title = fmt.Sprintf("Simulated: %s gains %d%% as %s & others follow", coin, percent, other)
		item.Summary = fmt.Sprintf("This text is made up. In the last hour %s traded $%d million, with moves < %d%%.", coin, millions, percent+1)
	}
	if edited {
		item.Title += map[string]string{English: " (updated)", Chinese: "（更新）"}[language]
	}
	item.Content = fmt.Sprintf(`<p>%s</p><p><img src="%s" alt="simulated"/></p>`, escape(item.Summary), item.Image)
	return item
}

// Handler serves the site.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, language := range []string{English, Chinese} {
		mux.HandleFunc("GET /"+language+"/rss.xml", func(w http.ResponseWriter, r *http.Request) { s.feed(w, r, language) })
		mux.HandleFunc("GET /"+language+"/articles/{n}", func(w http.ResponseWriter, r *http.Request) { s.article(w, r, language) })
	}
	mux.HandleFunc("GET /img/{name}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 90"><rect width="160" height="90" fill="#456"/><text x="20" y="50" fill="#fff">simulated</text></svg>`)
	})
	mux.HandleFunc("GET "+FlashPath, s.flashes)
	serveWrong(mux)
	return sim.Label(mux)
}

// feed writes RSS 2.0, or 304 to who has it.
func (s *Site) feed(w http.ResponseWriter, r *http.Request, language string) {
	base := "http://" + r.Host
	items := s.Items(base, language, s.cfg.Now())
	body := rss(base, language, items)
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, body)
	etag := strconv.Quote(strconv.FormatUint(sum.Sum64(), 16))
	w.Header().Set("ETag", etag)
	w.Header().Set("Last-Modified", items[0].Published.Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = io.WriteString(w, body)
}

// rss writes items as publishers do: in one language markup is escaped, in the other it
// stands in CDATA beside relative addresses.
func rss(base, language string, items []Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>%s</title><link>%s/%s/</link><description>Nothing of this is news.</description><language>%[3]s</language><ttl>1</ttl>
<image><url>/img/logo.svg</url><title>%[1]s</title></image>
`, Publisher, base, language)
	for _, i := range items {
		path := func(address string) string { return strings.TrimPrefix(address, base) }
		html := strings.ReplaceAll(i.Content, base, "") + `<script>alert("no reader wants this")</script>`
		b.WriteString("<item>")
		if language == English {
			fmt.Fprintf(&b, `<title><![CDATA[<b>%s</b>]]></title><description><![CDATA[<p>%s</p>]]></description><content:encoded><![CDATA[%s]]></content:encoded>`,
				escape(i.Title), escape(i.Summary), html)
		} else {
			fmt.Fprintf(&b, `<title>%s</title><description>%s</description><content:encoded>%s</content:encoded>`,
				escape(escape(i.Title)), escape(escape(i.Summary)), escape(html))
		}
		fmt.Fprintf(&b, `<link>%s</link><guid isPermaLink="false">%s</guid><pubDate>%s</pubDate><dc:creator>%s</dc:creator><media:content url="%s" type="image/svg+xml" medium="image"/><category>simulated</category></item>
`, escape(path(i.Link)), i.GUID, i.Published.Format(time.RFC1123Z), i.Author, escape(path(i.Image)))
	}
	return b.String() + "</channel></rss>\n"
}

// article is the page to which an item links.
func (s *Site) article(w http.ResponseWriter, r *http.Request, language string) {
	n, err := strconv.ParseInt(r.PathValue("n"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	i := s.item("http://"+r.Host, language, n, false)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><title>%s</title><h1>%[1]s</h1>%s<p>Nothing of this is news.</p>", escape(i.Title), i.Content)
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
