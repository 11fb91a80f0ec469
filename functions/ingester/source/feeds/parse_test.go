package feeds

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"quotary/functions/ingester/source/feeds/syndication"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/text/visible"
)

var base = valid(url.Parse("https://news.example/feeds/all.xml"))

func valid[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// rss is a feed of one item with these members.
func rss(members string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>N</title><link>https://news.example/</link><item>` + members + `</item></channel></rss>`
}

var at = time.Date(2026, 9, 25, 14, 41, 53, 0, time.UTC)

func TestItemsOfFeedsAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		feed string
		want Item
	}{
		"RSS with an opaque guid, a picture and an empty text": {
			rss(`<title><![CDATA[Circle & Tether <b>freeze</b>]]></title><link>https://news.example/a</link><guid isPermaLink="false">id-1</guid>
				<media:content url="https://img.example/a.png?w=1&amp;h=2" type="image/*" medium="image"/><pubDate>Fri, 25 Sep 2026 14:41:53 +0000</pubDate>
				<description><![CDATA[A <i>wallet</i>, frozen.]]></description><dc:creator>A. Writer</dc:creator><content:encoded/>`),
			Item{Key: "id-1", Title: "Circle & Tether freeze", Summary: "A wallet, frozen.", Content: "A <i>wallet</i>, frozen.", Link: "https://news.example/a",
				Image: "https://img.example/a.png?w=1&h=2", Author: "A. Writer", Published: at},
		},
		"RSS with a tracked link as guid": {
			rss(`<title>T</title><guid isPermaLink="true">https://news.example/a?utm_source=rss&amp;id=7#top</guid><link>https://news.example/a?id=7&amp;utm_medium=x</link><pubDate>Fri, 25 Sep 2026 22:41:53 +0800</pubDate>`),
			Item{Key: "https://news.example/a?utm_source=rss&id=7#top", Title: "T", Link: "https://news.example/a?id=7&utm_medium=x", Published: at},
		},
		"RSS without guid": {
			rss(`<title>T</title><link>https://news.example/a?fbclid=1&amp;utm_campaign=x</link>`),
			Item{Key: "https://news.example/a", Title: "T", Link: "https://news.example/a?fbclid=1&utm_campaign=x"},
		},
		"relative addresses": {
			rss(`<title>T</title><guid>g</guid><link>/news/1/</link><description><![CDATA[<p><a href="../2">two</a><img src="pic.jpg" srcset="x 2x"></p>]]></description>`),
			Item{Key: "g", Title: "T", Summary: "two", Link: "https://news.example/news/1/", Image: "https://news.example/news/1/pic.jpg",
				Content: `<p><a href="https://news.example/news/2" rel="nofollow noreferrer">two</a><img src="https://news.example/news/1/pic.jpg"/></p>`},
		},
		"a date that cannot be read": {
			rss(`<title>T</title><guid>g</guid><pubDate>the day before yesterday</pubDate>`),
			Item{Key: "g", Title: "T"},
		},
		"a date without weekday, seconds and zone in letters": {
			rss(`<title>T</title><guid>g</guid><pubDate>25 Sep 2026 14:41 GMT</pubDate>`),
			Item{Key: "g", Title: "T", Published: at.Truncate(time.Minute)},
		},
		"a title that names elements, escaped once": {
			rss(`<title>New &lt;script&gt; attack: &lt;title&gt; and &lt;b&gt; drain wallets</title><guid>g</guid><description>&lt;p&gt;The &amp;lt;script&amp;gt; tag&lt;/p&gt; and more</description>`),
			Item{Key: "g", Title: "New <script> attack: <title> and <b> drain wallets", Summary: "The <script> tag and more", Content: "<p>The &lt;script&gt; tag</p> and more"},
		},
		"a title that names an element, escaped twice": {
			rss(`<title>New &amp;lt;script&amp;gt; attack drains wallets</title><guid>g</guid>`),
			Item{Key: "g", Title: "New <script> attack drains wallets"},
		},
		"a title that begins with an element": {
			rss(`<title>&lt;title&gt; is what search engines show</title><guid>g</guid>`),
			Item{Key: "g", Title: "<title> is what search engines show"},
		},
		"a title that compares": {
			rss(`<title><![CDATA[If mark<index then pay & a &amp;lt; b]]></title><guid>g</guid>`),
			Item{Key: "g", Title: "If mark<index then pay & a &lt; b"},
		},
		"markup that is not escaped": {
			rss(`<title>A <i>word</i> &amp;amp; more</title><guid>g</guid><description><p>1 &lt; 2<br>and</p><p>more</p></description>`),
			Item{Key: "g", Title: "A word & more", Summary: "1 < 2 and more", Content: "<p>1 &lt; 2<br/>and</p><p>more</p>"},
		},
		"a tag that does not end": {
			rss(`<title>T</title><guid>g</guid><description><![CDATA[<p>When</p> mark<index. Traders pay if a<b]]></description>`),
			Item{Key: "g", Title: "T", Summary: "When mark<index. Traders pay if a<b", Content: "<p>When</p> mark&lt;index. Traders pay if a&lt;b"},
		},
		"elements that end where the next begin": {
			rss(`<title>T</title><guid>g</guid><description><![CDATA[<table><tr><td>a<td><p>b<tr><td>c</table><ul><li>d<ul><li>e</ul><li>f</ul>]]></description>`),
			Item{Key: "g", Title: "T", Summary: "a b c d e f", Content: "<table><tr><td>a</td><td><p>b</p></td></tr><tr><td>c</td></tr></table><ul><li>d<ul><li>e</li></ul></li><li>f</li></ul>"},
		},
		"a permalink alone": {
			rss(`<guid isPermaLink="true">https://blog.example/post-1</guid><title>x</title>`),
			Item{Key: "https://blog.example/post-1", Title: "x", Link: "https://blog.example/post-1"},
		},
		"a guid that is an address but no link": {
			rss(`<guid isPermaLink="false">https://blog.example/?p=1</guid><title>x</title>`),
			Item{Key: "https://blog.example/?p=1", Title: "x"},
		},
		"a picture in a group": {
			rss(`<title>T</title><guid>g</guid><media:group><media:content url="/v.mp4" type="video/mp4"/><media:content url="/i.jpg" type="image/jpeg"/></media:group>`),
			Item{Key: "g", Title: "T", Image: "https://news.example/i.jpg"},
		},
		"a picture of which nothing is said": {
			rss(`<title>T</title><guid>g</guid><media:thumbnail url="/small.jpg"/><media:content url="/v.mp4"/><media:content url="/i.jpg?w=1"/>`),
			Item{Key: "g", Title: "T", Image: "https://news.example/i.jpg?w=1"},
		},
		"pictures of one pixel": {
			rss(`<title>T</title><guid>g</guid><media:content url="/1.gif" width="1" height="1"/><media:content url="/1px.gif" width="1px"/><description><![CDATA[<img src="/2.gif" height="1" width="1"><img src="/3.gif" style="width:1px; height:1px"><img src="/4.jpg" width="100">]]></description>`),
			Item{Key: "g", Title: "T", Image: "https://news.example/4.jpg",
				Content: `<img src="https://news.example/2.gif" height="1" width="1"/><img src="https://news.example/3.gif"/><img src="https://news.example/4.jpg" width="100"/>`},
		},
		"characters that are none": {
			rss("<title>Volume up&#29; again&#x1;\x02</title><guid>g</guid><description>a&#0;b&#xFFFF;c&#55555555555;d</description>"),
			Item{Key: "g", Title: "Volume up again", Summary: "a\uFFFDbc\uFFFDd", Content: "a\uFFFDbc\uFFFDd"},
		},
		"RDF": {
			`<?xml version="1.0"?><rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><link>https://news.example/</link></channel>
				<item rdf:about="https://news.example/a#1"><title>T</title><link>/a</link><d:date>2026-09-25T23:41:53+09:00</d:date><d:creator>A. Writer</d:creator></item></rdf:RDF>`,
			Item{Key: "https://news.example/a#1", Title: "T", Link: "https://news.example/a", Author: "A. Writer", Published: at},
		},
		"Atom of plain texts": {
			`<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:id>urn:1</a:id><a:title>How &lt;b&gt;this&lt;/b&gt; &amp;amp; that differ</a:title>
				<a:summary type="text">mark&lt;index. Done</a:summary><a:content type="text">mark&lt;index. Done

Second &lt;p&gt; paragraph</a:content></a:entry></a:feed>`,
			Item{Key: "urn:1", Title: "How <b>this</b> &amp; that differ", Summary: "mark<index. Done", Content: "<p>mark&lt;index. Done</p><p>Second &lt;p&gt; paragraph</p>"},
		},
		"Atom of XHTML": {
			`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://other.example/b/"><entry xml:base="c/"><id>urn:1</id><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A &lt;b&gt; <b>word</b></div></title>
				<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>1 &lt; 2, <![CDATA[<p>]]>&lt;script&gt;<br/><img src="i.png"/></p></div></content></entry></feed>`,
			Item{Key: "urn:1", Title: "A <b> word", Summary: "1 < 2, <p><script>", Image: "https://other.example/b/c/i.png",
				Content: `<p>1 &lt; 2, &lt;p&gt;&lt;script&gt;<br/><img src="https://other.example/b/c/i.png"/></p>`},
		},
		"JSON Feed of text": {
			`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":7,"content_text":"Funding is negative when mark<index. Traders who are short pay.\n\nSecond paragraph,\ntwo lines. <b>","attachments":[{"url":"/v.mp4","mime_type":"video/mp4"},{"url":"/i.png","mime_type":"image/png"}],"date_modified":"2026-09-25T14:41:53Z"}]}`,
			Item{Key: "7", Title: "Funding is negative when mark<index. Traders who are short pay. Second paragraph, two lines. <b>", Summary: "Funding is negative when mark<index. Traders who are short pay. Second paragraph, two lines. <b>",
				Content: "<p>Funding is negative when mark&lt;index. Traders who are short pay.</p><p>Second paragraph,<br/>two lines. &lt;b&gt;</p>", Image: "https://news.example/i.png", Published: at},
		},
		"a title with markup escaped once and twice": {
			rss(`<title>&lt;b&gt;BTC&lt;/b&gt; &amp;lt;script&amp;gt;alert(1)&amp;lt;/script&amp;gt; &amp;amp; ETH &lt; 3k</title><guid>g</guid>`),
			Item{Key: "g", Title: "BTC <script>alert(1)</script> & ETH < 3k"},
		},
		"HTML entities that XML does not know": {
			rss(`<title>Caf&eacute;&nbsp;&mdash; 100&euro;</title><guid>g</guid>`),
			Item{Key: "g", Title: "Café — 100€"},
		},
		"a text that attacks its reader": {
			rss(`<title>T</title><guid>g</guid><description><![CDATA[<p onclick="x()">a<script>x()</script><iframe src="https://x.example"></iframe><a href="javascript:x()">b</a><img src="data:image/png;base64,AA"><img src="http://user:pw@x.example/i.png"></p>]]></description>`),
			Item{Key: "g", Title: "T", Summary: "ab", Content: "<p>ab</p>"},
		},
		"no title": {
			rss(`<guid>g</guid><description>Only a text.</description>`),
			Item{Key: "g", Title: "Only a text.", Summary: "Only a text.", Content: "Only a text."},
		},
		"an attached picture": {
			rss(`<title>T</title><guid>g</guid><enclosure url="/i.jpg" type="image/jpeg" length="1"/>`),
			Item{Key: "g", Title: "T", Image: "https://news.example/i.jpg"},
		},
		"Chinese": {
			rss(`<title>比特币突破新高</title><guid>g</guid><description><![CDATA[<p>第一段</p><p>第二段</p>]]></description>`),
			Item{Key: "g", Title: "比特币突破新高", Summary: "第一段 第二段", Content: "<p>第一段</p><p>第二段</p>"},
		},
		"Atom": {
			`<feed xmlns="http://www.w3.org/2005/Atom"><title>N</title><link href="https://news.example/"/><entry><id>urn:1</id><title type="html">A &amp;amp; B</title>
				<link rel="alternate" href="/a"/><updated>2026-09-26T00:00:00Z</updated><published>2026-09-25T22:41:53+08:00</published><summary>S</summary>
				<content type="html">&lt;p&gt;C&lt;/p&gt;</content><author><name>A. Writer</name></author></entry></feed>`,
			Item{Key: "urn:1", Title: "A & B", Summary: "S", Content: "<p>C</p>", Link: "https://news.example/a", Author: "A. Writer", Published: at},
		},
		"Atom with only an update": {
			`<feed xmlns="http://www.w3.org/2005/Atom"><title>N</title><entry><id>urn:1</id><title>T</title><updated>2026-09-25T14:41:53.5Z</updated></entry></feed>`,
			Item{Key: "urn:1", Title: "T", Published: at},
		},
		"JSON Feed": {
			`{"version":"https://jsonfeed.org/version/1.1","title":"N","home_page_url":"https://news.example/","items":[{"id":"7","url":"/a","title":"T","content_html":"<p>C</p>","summary":"S","image":"/i.png","date_published":"2026-09-25T14:41:53Z","authors":[{"name":"A. Writer"}]}]}`,
			Item{Key: "7", Title: "T", Summary: "S", Content: "<p>C</p>", Link: "https://news.example/a", Image: "https://news.example/i.png", Author: "A. Writer", Published: at},
		},
	} {
		doc, err := Parse([]byte(c.feed), "application/xml", base)
		if err != nil || len(doc.Items) != 1 || doc.Malformed != 0 {
			t.Errorf("%s: %v, %+v", name, err, doc)
			continue
		}
		check.Equalf(t, c.want, doc.Items[0], "%s", name)
	}
}

func TestFeedsOfEveryEncoding(t *testing.T) {
	t.Parallel()
	const title = "比特币突破新高，市场情绪回暖"
	feed := func(encoding string) string {
		return strings.Replace(rss("<title>"+title+"</title><guid>g</guid>"), "UTF-8", encoding, 1)
	}
	gbk := valid(simplifiedchinese.GB18030.NewEncoder().String(feed("gb2312")))
	undeclared := valid(simplifiedchinese.GB18030.NewEncoder().String(strings.Replace(feed(""), ` encoding=""`, "", 1)))
	utf16 := valid(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(feed("UTF-16")))
	for name, c := range map[string]struct{ body, contentType string }{
		"UTF-8":                         {feed("UTF-8"), ""},
		"UTF-8 with a byte order mark":  {"\uFEFF" + feed("UTF-8"), ""},
		"UTF-8 that says it is another": {feed("gb2312"), "text/xml; charset=iso-8859-1"},
		"GBK as declared":               {gbk, "text/xml; charset=utf-8"},
		"GBK that says it is UTF-8":     {valid(simplifiedchinese.GB18030.NewEncoder().String(feed("utf-8"))), "text/xml; charset=gbk"},
		"GBK that says it is Big5":      {strings.Replace(gbk, "gb2312", "big5", 1), "text/xml; charset=gbk"},
		"UTF-8 with a broken byte":      {feed("gb2312") + "<!--\xff-->", "text/xml; charset=iso-8859-1"},
		"UTF-8 that says it is UTF-16":  {feed("utf-16"), "text/xml"},
		"ISO-2022-JP":                   {valid(japanese.ISO2022JP.NewEncoder().String(strings.Replace(feed("iso-2022-jp"), title, "仮想通貨", 1))), "text/xml"},
		"GBK as the content type says":  {undeclared, "text/xml; charset=GBK"},
		"UTF-16":                        {utf16, "text/xml"},
		"an encoding that nobody knows": {feed("klingon"), "text/xml; charset=klingon"},
		"space before the declaration":  {"\n\n  " + feed("UTF-8"), ""},
		"a control character in a text": {strings.Replace(feed("UTF-8"), "突破", "突\x0b破", 1), ""},
	} {
		doc, err := Parse([]byte(c.body), c.contentType, base)
		if err != nil || len(doc.Items) != 1 || doc.Items[0].Title != title && doc.Items[0].Title != "仮想通貨" {
			t.Errorf("%s: %v, %+v", name, err, doc)
		}
	}
}

func TestWhatIsNoFeedIsAnError(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":        "",
		"HTML":           "<!doctype html><html><body><h1>Just a moment...</h1></body></html>",
		"JSON":           `{"status":"error"}`,
		"text":           "Too many requests",
		"a feed cut off": rss("<title>T</title>")[:200],
		"bytes":          "\x00\x01\x02\xff",
	} {
		if doc, err := Parse([]byte(body), "text/html", base); err == nil && len(doc.Items) > 0 {
			t.Errorf("%s: %+v", name, doc)
		} else if err == nil && name != "JSON" {
			t.Errorf("%s is a feed", name)
		}
	}
}

func TestItemsThatCannotBeUsedAreCounted(t *testing.T) {
	t.Parallel()
	feed := `<rss version="2.0"><channel><title>N</title><item><title>no key</title></item><item><guid>no-text</guid></item>` +
		`<item><title>one</title><guid>g</guid></item><item><title>one again</title><guid>g</guid></item>` +
		`<item><title>long</title><guid>` + strings.Repeat("x", maxKey+1) + `</guid></item></channel></rss>`
	doc, err := Parse([]byte(feed), "", base)
	if err != nil || doc.Malformed != 4 || len(doc.Items) != 1 || doc.Items[0].Title != "one" {
		t.Errorf("%v, %+v", err, doc)
	}
	many := `<rss version="2.0"><channel><title>N</title>` + strings.Repeat("<item><title>t</title><guid>g</guid></item>", maxItems+7) + `</channel></rss>`
	if doc, err = Parse([]byte(many), "", base); err != nil || doc.Malformed != 7+maxItems-1 || len(doc.Items) != 1 {
		t.Errorf("%v, %d malformed, %d items", err, doc.Malformed, len(doc.Items))
	}
}

// A broken item costs itself alone, and is counted.
func TestABrokenItemCostsItselfAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken    string
		malformed int
	}{
		"elements that are not closed":   {`<item><title>x<description><p><br>`, 1},
		"an item that is not closed":     {`<item><title>x</title>`, 1},
		"ends of nothing":                {`<item></b></p></title></item>`, 1},
		"bare signs":                     {`<item>a < b & c <3 &&; </ > <></item>`, 1},
		"attributes that are none":       {`<item a b= c='d" <e>>'</item>`, 1},
		"control characters":             {"<item>\x00\x01<ti\x02tle>x</title></item>", 1},
		"references that are none":       {`<item>&#29;&#xZ;&nope;&#99999999999;</item>`, 1},
		"an end inside of a CDATA":       {`<item><title><![CDATA[</title></item>]]></title></item>`, 1},
		"a prefix that nobody declared":  {`<item><x:title>x</x:title><guid>x</guid></item>`, 1},
		"a warning of the program":       {`<br /><b>Warning</b>: in <b>feed.php</b> on line <b>7</b><br />`, 0},
		"an instruction and a comment":   {`<?php echo "a" ?><!-- -- --><!x>`, 0},
		"an item that closes the others": {`<item></channel>`, 1},
	} {
		doc, err := Parse([]byte(`<rss version="2.0"><channel><item><guid>1</guid><title>one</title></item>`+c.broken+`<item><guid>2</guid><title>two</title></item></channel></rss>`), "", base)
		if err != nil || doc.Malformed != c.malformed || len(doc.Items) != 2 || doc.Items[0].Title != "one" || doc.Items[1].Title != "two" {
			t.Errorf("%s: %v, %+v", name, err, doc)
		}
	}
	for name, c := range map[string]string{
		"a CDATA section that does not end":                `<item><title><![CDATA[x</title></item>`,
		"a comment that does not end":                      `<item><!-- <title>x</title></item>`,
		"sections of both kinds that do not end":           `<item><!-- <title><![CDATA[x</title></item>`,
		"a section that does not end, before some that do": `<item><title><![CDATA[x</title></item><item><title><![CDATA[y]]></title></item>`,
	} {
		for _, title := range []string{"two", "<![CDATA[two]]><!-- -->"} {
			doc, err := Parse([]byte(`<rss version="2.0"><channel><item><guid>1</guid><title>one</title></item>`+c+`<item><guid>2</guid><title>`+title+`</title></item></channel></rss>`), "", base)
			if err != nil || doc.Malformed == 0 || len(doc.Items) != 2 || doc.Items[1].Title != "two" {
				t.Errorf("%s: %v, %+v", name, err, doc)
			}
		}
	}
	for name, c := range map[string]string{
		"RSS that is cut off":   `<rss version="2.0"><channel><item><guid>1</guid><title>one</title></item><item><guid>2</guid><title>tw`,
		"JSON that is cut off":  `{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"one"},{"id":"2","title":"tw`,
		"JSON with a bad value": `{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"one"},{"id":"2","title":"\x"}]}`,
	} {
		doc, err := Parse([]byte(c), "", base)
		if err != nil || doc.Malformed != 1 || len(doc.Items) != 1 || doc.Items[0].Title != "one" || !doc.cut {
			t.Errorf("%s: %v, %+v", name, err, doc)
		}
	}
	doc, err := Parse([]byte("{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"id\":\"1\",\"title\":\"o\tn\x01e\",\n\"content_text\":\"a\nb\"}]}"), "", base)
	if err != nil || doc.Malformed != 0 || len(doc.Items) != 1 || doc.Items[0].Title != "o n e" {
		t.Errorf("JSON with control characters: %v, %+v", err, doc)
	}
	doc, err = Parse([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"one"},null,7,[],"x",{"title":"no id"},{"id":"3","title":{},"authors":"x","attachments":{}},{"id":{},"url":[],"title":"x"},{"id":"2","title":"two","authors":7,"image":1}]}`), "", base)
	if err != nil || doc.Malformed != 7 || len(doc.Items) != 2 || doc.Items[1].Title != "two" {
		t.Errorf("JSON: %v, %+v", err, doc)
	}
}

// Wherever its bound falls, a long article keeps what is before it, as whole elements.
func TestALongArticleIsCutAtItsBound(t *testing.T) {
	t.Parallel()
	for _, part := range []string{`<p>Some words &amp; <b>more</b>, of which "many" follow. </p>`, `<p>涨跌</p>`, `<ul><li>one<li>two</ul>`, `a &lt; b `, `<div><blockquote><a href="https://news.example/a">`, `x`} {
		for _, length := range []int{58_000, 60_000, 60_480, 250_000} {
			text := strings.Repeat(part, length/len(part)+1)
			doc := valid(Parse([]byte(rss("<title>T</title><guid>g</guid><description><![CDATA["+text+"]]></description>")), "", base))
			content := doc.Items[0].Content
			if least := min(length, maxContent) - 200; !strings.Contains(part, "div") && len(content) < least || len(content) > maxContent {
				t.Errorf("%d bytes of %s: %d are kept", length, part, len(content))
			}
			var w work
			if again := w.closed(content); again != content || strings.Count(content, "<") != strings.Count(content, ">") {
				t.Errorf("%d bytes of %s end with %q", length, part, content[max(0, len(content)-80):])
			}
		}
	}
}

func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<p>涨 &amp;amp; \"</p>", 40_000)
	doc := must.Get(Parse([]byte(rss("<title>"+strings.Repeat("长", 400)+"</title><guid>g</guid><description><![CDATA["+long+"]]></description>")), "", base))(t)
	item := doc.Items[0]
	stored := valid(json.Marshal(item))
	if utf8.RuneCountInString(item.Title) != maxTitle || utf8.RuneCountInString(item.Summary) > maxSummary || len(item.Content) > maxContent || item.Content == "" || len(stored) > 380_000 {
		t.Errorf("title %d, summary %d, content %d, stored %d", len(item.Title), len(item.Summary), len(item.Content), len(stored))
	}
}

// FuzzParse wants of any bytes an error or items that are safe to show.
func FuzzParse(f *testing.F) {
	f.Add([]byte(rss(`<title>T</title><guid>g</guid><description>&lt;p&gt;x&lt;/p&gt;</description>`)), "text/xml")
	f.Add([]byte(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title>T</title></entry></feed>`), "")
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"7","content_text":"<b>"}]}`), "application/json")
	f.Add([]byte("\xff\xfe<\x00r\x00s\x00s\x00"), "text/xml; charset=utf-16")
	f.Add([]byte(`<rss version="2.0"><channel><item><title>&lt;&lt;a&gt;script&gt;</title><link>http://[::1</link></item></channel></rss>`), "")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		doc, err := Parse(body, contentType, base)
		if err != nil {
			return
		}
		if int(doc.work) > mostRead*len(body)+1000 {
			t.Errorf("%d tokens of markup in %d bytes", doc.work, len(body))
		}
		for _, item := range doc.Items {
			for _, text := range []string{item.Title, item.Summary, item.Author} {
				if !utf8.ValidString(text) || text != oneLine(text) {
					t.Errorf("%q is not plain", text)
				}
			}
			if item.Key == "" || item.Title == "" || len(item.Content) > maxContent {
				t.Errorf("%+v", item)
			}
			for _, address := range []string{item.Link, item.Image} {
				if u, err := url.Parse(address); address != "" && (err != nil || checkScheme(u) != nil) {
					t.Errorf("%q is no absolute address", address)
				}
			}
			if low := strings.ToLower(item.Content); strings.Contains(low, "<script") || strings.Contains(low, `="javascript:`) {
				t.Errorf("%q runs", item.Content)
			}
		}
	})
}

// BenchmarkParseHostile reads 5 MB that are made to be slow: 500 items whose texts nest
// and end nothing.
func BenchmarkParseHostile(b *testing.B) {
	text := strings.Repeat("<li><p>", 1400)
	feed := []byte(`<rss version="2.0"><channel>` + strings.Repeat("<item><title>t</title><guid>g</guid><description><![CDATA["+text+"]]></description></item>", 500) + `</channel></rss>`)
	b.SetBytes(int64(len(feed)))
	for b.Loop() {
		must.Get(Parse(feed, "", base))(b)
	}
}

// Elements of a feed stand in each other only so deep, and what does not is no feed.
func TestADeeplyNestedFeedIsRefused(t *testing.T) {
	t.Parallel()
	nested := func(depth int) []byte {
		return []byte(`<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><item><guid>1</guid><title>a</title><x:y xmlns:x="x">` +
			strings.Repeat("<a>", depth) + strings.Repeat("</a>", depth) + `</x:y></item></channel></rss>`)
	}
	if doc, err := Parse(nested(90), "application/rss+xml", base); err != nil || len(doc.Items) != 1 {
		t.Errorf("%d items, %v", len(doc.Items), err)
	}
	for _, depth := range []int{100, 1_000_000} {
		if _, err := Parse(nested(depth), "application/rss+xml", base); err == nil || !strings.Contains(err.Error(), "nested") {
			t.Errorf("%d levels: %v", depth, err)
		}
	}
}

// What is hidden in a text is neither in what is shown nor in an id, wherever it comes from.
func TestHiddenCharactersOfAFeedAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"markup": `<rss version="2.0"><channel><item><title>T</title><guid>a&#x202e;b</guid><description><![CDATA[a&#1;b&#x202e;c&#x7f;d <a title="x&#x202e;">l</a>]]></description></item></channel></rss>`,
		"JSON":   `{"version":"https://jsonfeed.org/version/1.1","title":"F","items":[{"id":"i\u202e","title":"T","content_text":"p\u202e\u0001q"}]}`,
	} {
		doc, err := Parse([]byte(text), "", base)
		if err != nil || len(doc.Items) != 1 {
			t.Fatalf("%s: %d items, %v", name, len(doc.Items), err)
		}
		one := doc.Items[0]
		for _, shown := range []string{one.Key, one.Title, one.Summary, one.Content} {
			if strings.ContainsFunc(shown, visible.Hidden) {
				t.Errorf("%s: %q", name, shown)
			}
		}
	}
}

// A date that no JSON holds is none: the last day of the calendar in one zone is behind it in another.
func TestADateBehindTheCalendarIsNone(t *testing.T) {
	t.Parallel()
	look := func(f Format, text, what string) {
		t.Helper()
		doc, err := f.parse([]byte(text), "", nil)
		if err != nil || len(doc.Items) != 1 {
			t.Fatalf("%s: %d items, %v", what, len(doc.Items), err)
		}
		if at := doc.Items[0].Published; !at.IsZero() {
			t.Errorf("%s is of %s", what, at)
		}
		if _, items, _ := new(Position).follow(&doc, noon, nil, nil); len(items) != 1 {
			t.Errorf("%s: %d are delivered", what, len(items))
		}
	}
	for _, date := range []string{"Fri, 31 Dec 9999 23:59:59 -0500", "9999-12-31T23:59:59-14:00", "31 Dec 9999 24:00:00 GMT", "31 Dec 9999 23:59:60 GMT"} {
		for _, text := range []string{
			`<rss><channel><item><title>Title</title><guid>1</guid><pubDate>` + date + `</pubDate></item></channel></rss>`,
			`<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>Title</title><id>1</id><updated>` + date + `</updated></entry></feed>`,
			`{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":"1","title":"Title","date_published":"` + date + `"}]}`,
		} {
			look(Format{}, text, date)
		}
	}
	for _, at := range []time.Time{time.Unix(1<<40-1, 0), time.Date(0, time.December, 31, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)} {
		look(Format{Read: func([]byte) (*syndication.Feed, error) {
			return &syndication.Feed{Items: []syndication.Item{{ID: "1", Title: syndication.Text{Body: "Title"}, Published: at}}}, nil
		}}, "{}", "a vendor's "+at.String())
	}
}
