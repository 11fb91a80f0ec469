package syndication

import (
	"strings"
	"testing"
	"unicode/utf8"

	"quotary/shared/testing/check"
)

func rss(items string) string { return `<rss version="2.0"><channel>` + items + `</channel></rss>` }

func TestCharacterReferences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a": "a", "&amp;": "&", "&amp;amp;": "&amp;", "&lt;p&gt;": "<p>", "&eacute;&nbsp;&mdash;": "é\u00a0—", "&#x1F600;&#228;": "😀ä",
		"a & b && c": "a & b && c", "AT&T; &": "AT&T; &", "&copy=1&lt": "&copy=1&lt", "&notit;": "&notit;", "&#12ab;": "&#12ab;", "&#;&;": "&#;&;",
		"&nope;&amp;": "&nope;&", "&#150;": "–", "&NotEqualTilde;": "≂̸", "&" + strings.Repeat("a", 100) + ";": "&" + strings.Repeat("a", 100) + ";",
	} {
		if got := Unescape(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Elements of other vocabularies that are called as those of feeds are none of them.
func TestElementsAreThoseOfTheirNamespace(t *testing.T) {
	t.Parallel()
	want := []Item{{ID: "1", Title: Text{Headline, "T"}, Link: "https://a.example/", Summary: Text{Markup, "S"}}}
	for name, text := range map[string]string{
		"prefixes":         rss(`<item><media:title>no</media:title><x:link>no</x:link><title>T</title><guid>1</guid><link>https://a.example/</link><description>S</description><media:description>no</media:description></item>`),
		"other prefixes":   `<rss xmlns:m="http://search.yahoo.com/mrss/"><channel><item><m:title>no</m:title><title>T</title><guid>1</guid><link>https://a.example/</link><description>S</description></item></channel></rss>`,
		"in each other":    rss(`<item><source><title>no</title><link>no</link></source><title>T</title><guid>1</guid><link>https://a.example/</link><description>S</description></item>`),
		"a link of Atom":   rss(`<a10:link href="https://feed.example/"/><item><link xmlns="http://www.w3.org/2005/Atom" rel="self" href="no"/><title>T</title><guid>1</guid><atom:link href="https://a.example/"/><description>S</description></item>`),
		"CDATA in pieces":  rss(`<item><title><![CDATA[]]><!-- no -->T<?no?></title><guid> 1 </guid><link><![CDATA[https://a.example/]]></link><description>S</description></item>`),
		"twice":            rss(`<item><title/><title>T</title><title>no</title><guid>1</guid><link>https://a.example/</link><link/><description/><description>S</description></item>`),
		"letters of cases": `<RSS><Channel><ITEM><Title>T</Title><Guid>1</GUID><LINK>https://a.example/</link><Description>S</description></ITEM></Channel></RSS>`,
	} {
		feed, err := Read([]byte(text))
		if err != nil || feed.Unread != 0 {
			t.Errorf("%s: %v, %d unread", name, err, feed.Unread)
			continue
		}
		check.Equalf(t, want, feed.Items, "%s", name)
	}
}

func TestAuthorsAreNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A. Writer": "A. Writer", "a@news.example (A. Writer)": "A. Writer", "A. Writer <a@news.example>": "A. Writer", "a@news.example": "", "Writer (Desk)": "Writer (Desk)",
	} {
		if got := person(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestItemsBeyondTheBoundAreCounted(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"RSS":       rss(strings.Repeat("<item><title>t</title></item>", MaxItems+7)),
		"Atom":      `<feed>` + strings.Repeat("<entry><title>t</title></entry>", MaxItems+7) + `</feed>`,
		"JSON Feed": `{"version":"https://jsonfeed.org/version/1","items":[` + strings.Repeat(`{},`, MaxItems+6) + `{}]}`,
	} {
		if feed, err := Read([]byte(text)); err != nil || len(feed.Items) != MaxItems || feed.Unread != 7 {
			t.Errorf("%s: %v, %d items, %d unread", name, err, len(feed.Items), feed.Unread)
		}
	}
}

// FuzzRead wants of any bytes an error or a feed within its bounds, for work that grows with
// their number alone.
func FuzzRead(f *testing.F) {
	f.Add([]byte(rss(`<item rdf:about="x" xmlns:m="http://search.yahoo.com/mrss/"><title>T &amp; &#29;</title><guid isPermaLink="true">http://a.example</guid><m:content url="x"/><description><p><![CDATA[x]]></p></description><pubDate>Thu, 02 Apr 2026 21:13:00 +0000 (UTC)</pubDate></item>`)))
	f.Add([]byte(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title type="xhtml"><div>T<b/></div></title><link rel="enclosure" type="image/x" href="/"/><author><name>n</name></author></entry></feed>`))
	f.Add([]byte(`<rdf:RDF><item><title>a<item><title>b</title></item></rdf:RDF>`))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"7","content_text":"<b>"},1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		feed, err := Read(text)
		if feed.Work > 6*len(text)+100 { // of what is refused too
			t.Errorf("%d are read of %d bytes", feed.Work, len(text))
		}
		if err != nil {
			return
		}
		if len(feed.Items) > MaxItems {
			t.Errorf("%d items", len(feed.Items))
		}
		for _, item := range feed.Items {
			for _, one := range []string{item.ID, item.Title.Body, item.Summary.Body, item.Content.Body, item.Author.Body} {
				if !utf8.ValidString(one) || strings.ContainsAny(one, "\x00\x1d") || len(one) > 2*maxLong {
					t.Errorf("%.100q", one)
				}
			}
			if len(item.Pictures) > maxPictures+2 {
				t.Errorf("%d pictures", len(item.Pictures))
			}
		}
	})
}

// An element of the feed itself that does not end costs no item, nor a text the tag behind it.
func TestAnElementOfTheFeedThatDoesNotEndCostsNoItem(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"RSS":                 `<rss version="2.0"><channel><link>http://x<item><title>A</title></item><item><title>B</title></item></channel></rss>`,
		"Atom":                `<feed xmlns="http://www.w3.org/2005/Atom"><logo>http://x<entry><id>1</id><title>A</title></entry><entry><id>2</id><title>B</title></entry></feed>`,
		"a title of the item": `<rss version="2.0"><channel><item><title>A<item><title>B</title></item></channel></rss>`,
	} {
		feed, err := Read([]byte(text))
		if err != nil || len(feed.Items) != 2 || feed.Items[0].Title.Body != "A" || feed.Items[1].Title.Body != "B" {
			t.Errorf("%s: %+v, %v", name, feed, err)
		}
	}
}
