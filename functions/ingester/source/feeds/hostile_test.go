package feeds

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"quotary/functions/ingester/source/feeds/syndication"
)

// TestHostileDocumentsCostWhatTheirLengthDoes counts tokens, bytes that are copied and bytes
// that are allocated, which are the same on any machine. It runs alone, as others allocate.
func TestHostileDocumentsCostWhatTheirLengthDoes(t *testing.T) { //nolint:paralleltest // it counts what the program allocates
	for name, text := range hostile(100_000) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		doc, _ := Parse([]byte(text), "", base) // an error or items
		runtime.ReadMemStats(&after)
		allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text))
		feed, _ := syndication.Read([]byte(text)) // of what is refused too, what it has cost
		if read := float64(feed.Work) / float64(len(text)); feed.Work == 0 || read > mostRead || float64(doc.work)/float64(len(text)) > mostRead || allocated > mostAllocated {
			t.Errorf("%s: for each byte %.1f are read, %.1f tokens of markup, %.0f bytes allocated", name, read, float64(doc.work)/float64(len(text)), allocated)
		}
	}
}

// What is done at most for each byte of a document: tokens and bytes that are copied, and
// bytes that are allocated in all, whether they are held or not.
const (
	mostRead      = 6
	mostAllocated = 400
)

// A character that HTML writes as five costs what five do.
func TestTextThatGrowsIsCountedAndStopsGrowing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		most work // in thousands of bytes that are read or written
	}{
		// All of it is read. Of what it becomes so much is written and read again as may be kept.
		"a text of quotes":         {strings.Repeat(`"`, 240_000), 240 + 5*60 + 5*60},
		"a value of quotes":        {"<p title='" + strings.Repeat(`"`, 200_000) + "'>", 200 + 5*2},
		"signs":                    {strings.Repeat("<", 240_000), 243 + 4*60 + 4*60},
		"a tag that is not closed": {strings.Repeat(`<a href="`, 26_000), 240 + 2*60},
	} {
		var w work
		w.markup(syndication.Text{Form: syndication.Markup, Body: c.body}, base)
		if most := c.most*1000/textOfWork + 1100; w > most {
			t.Errorf("%s takes %d, at most %d may be", name, w, most)
		}
	}
	const items, each = 150, 10_000
	for name, unit := range map[string]string{"quotes": `"`, "signs": "<"} {
		feed := &syndication.Item{ID: "1", Content: syndication.Text{Form: syndication.Markup, Body: strings.Repeat(unit, each)}}
		w := work(maxWork * 3 / 4)
		written := 0
		for range items {
			item, _ := w.item(feed, base)
			written += len(item.Content)
		}
		if w < maxWork || w > maxWork*5/4 || written > 4*items*each*9/10 {
			t.Errorf("%d KB of %s take %d and become %d KB", items*each>>10, name, w, written>>10)
		}
	}
}

// hostile are documents of about so many bytes that are made to cost their reader much.
func hostile(bytes int) map[string]string {
	fill := func(begin, part, end string) string {
		return begin + strings.Repeat(part, max(0, bytes-len(begin)-len(end))/len(part)) + end
	}
	const head, tail = `<rss version="2.0"><channel>`, `</channel></rss>`
	const item, ends = `<item><title>t</title><guid>g</guid><description>`, `</description></item>`
	numbered := func(begin, format, end string) string {
		var b strings.Builder
		b.WriteString(begin)
		for n := 0; b.Len() < bytes-len(end); n++ {
			fmt.Fprintf(&b, format, n)
		}
		return b.String() + end
	}
	inItems := func(begin, part string) string { // 500 items
		each := item + "<![CDATA[" + begin + strings.Repeat(part, max(1, (bytes/500-len(item)-len(begin)-len(ends)-12)/len(part))) + "]]>" + ends
		return head + strings.Repeat(each, 500) + tail
	}
	var fonts strings.Builder
	for n := range 300 {
		fmt.Fprintf(&fonts, "<font color=%d>", n)
	}
	// Relative addresses, each of which is resolved against a long one.
	withLink := func(item, link, part string) string {
		return "<item><title>t</title><guid>" + item + "</guid><link>https://story.example/" + strings.Repeat(link, 1900/len(link)) + "/</link><description><![CDATA[" +
			strings.Repeat(part, max(1, (min(bytes, 240_000)-2100)/len(part))) + "]]></description></item>"
	}
	long := func(link, part string) string {
		var b strings.Builder
		b.WriteString(head)
		for n := 0; b.Len() == len(head) || b.Len() < bytes-240_000; n++ {
			b.WriteString(withLink(fmt.Sprint(n), link, part))
		}
		return b.String() + tail
	}
	return map[string]string{
		"addresses that quotes make long":   long("'", "<a href=b>"),
		"addresses of many folders":         long("a/", "<a href=b>"),
		"pictures of a long address":        long("a", "<img src=b>"),
		"nested behind a control character": fill(head+"\x01<item><title>t</title><guid>g</guid>", "<a>", ""),
		"nested in a text":                  fill(head+item, "<a>", ends+tail),
		"namespaces and children":           numbered("<rss", ` xmlns:n%d="u"`, "><channel>"+strings.Repeat("<n1:a/>", bytes/28)+tail),
		"namespaces of children":            numbered(head, `<a xmlns:n%d="http://www.w3.org/2005/Atom"/>`, tail),
		"namespaces in each other":          numbered(head, `<x:y xmlns:n%d="u">`, tail),
		"attributes of an element":          numbered(head+"<a", ` b%d=""`, "/>"+tail),
		"an attribute":                      fill(head+`<item x="`, "&amp;", `"/>`+tail),
		"attributes of items":               fill(head, `<item a="" b="" c="" d=""/>`, tail),
		"text in CDATA sections":            fill(head+item, "<![CDATA[a]]>", ends+tail),
		"text between comments":             fill(head+item, "a<!---->", ends+tail),
		"text of references":                fill(head+item, "&lt;", ends+tail),
		"text of names that nobody knows":   fill(head+item, "&CounterClockwiseContourIntegra;", ends+tail),
		"text of bare ampersands":           fill(head+item, "&", ends+tail),
		"text of control characters":        fill(head+item, "\x01", ends+tail),
		"text of bad references":            fill(head+item, "&#29;", ends+tail),
		"empty items":                       fill(head, "<item/>", tail),
		"items that begin":                  fill(head, "<item>", tail),
		"items without a key":               fill(head, "<item><title>t</title></item>", tail),
		"entries":                           fill(`<feed xmlns="http://www.w3.org/2005/Atom">`, "<entry/>", "</feed>"),
		"titles of an item":                 fill(head+"<item>", "<title>t</title>", "</item>"+tail),
		"dates of an item":                  fill(head+"<item>", "<pubDate>"+strings.Repeat("Mon ", 20)+"</pubDate>", "</item>"+tail),
		"pictures of an item":               fill(head+"<item>", `<media:content url="http://a.example/b"/>`, "</item>"+tail),
		"ends of nothing":                   fill(head+"<item><a><a><a>", "</b>", "</item>"+tail),
		"entities that are defined":         fill(`<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`+head+item, "&b;", ends+tail),
		"definitions of entities":           numbered("<!DOCTYPE rss [", `<!ENTITY a%d "aaaa">`, "]>"+head+tail),
		"a comment":                         fill(head+"<!--", "-", tail),
		"instructions":                      fill(head, "<?a?>", tail),
		"less-than signs":                   fill(head+item, "<", ends+tail),
		"markup: fonts that go on":          inItems("<p>"+fonts.String()+"</p>", "<p>x"),
		"markup: fonts that begin":          inItems("", "<font color=1 size=2>"),
		"markup: nested":                    inItems("", "<li><p>"),
		"markup: tables":                    inItems("", "<table><tr><td>"),
		"markup: ends of nothing":           inItems(strings.Repeat("<b>", 90), "</i>"),
		"markup: selects":                   inItems("", "<select><option>"),
		"markup: links":                     inItems("", `<a href=x>`),
		"markup: styles":                    inItems("", `<p style="color:red;x:y">`),
		"markup: attributes":                inItems("<p", ` a=1`),
		"markup: pictures":                  inItems("", `<img src=x>`),
		"markup: comments":                  inItems("", `<!---->`),
		"markup: references":                inItems("", `&lt;`),
		"markup: one long text":             fill(head+item+"<![CDATA[", "<p>a ", "]]>"+ends+tail),
		"headlines":                         head + strings.Repeat("<item><title>"+strings.Repeat("&lt;b>&lt;/i>", bytes/500/14)+"</title><guid>g</guid></item>", 500) + tail,
		"JSON: empty items":                 fill(`{"version":"https://jsonfeed.org/version/1.1","items":[`, "{},", "{}]}"),
		"JSON: numbers":                     fill(`{"version":"https://jsonfeed.org/version/1.1","items":[`, "1,", "1]}"),
		"JSON: nested":                      fill(`{"version":"https://jsonfeed.org/version/1.1","items":`, "[", ""),
		"JSON: nested within bounds":        `{"version":"https://jsonfeed.org/version/1.1","items":[` + strings.Repeat(strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+",", bytes/10000) + "1]}",
		"JSON: authors":                     fill(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","title":"t","authors":[`, "1,", "1]}]}"),
		"JSON: attachments":                 fill(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","title":"t","attachments":[`, "{},", "1]}]}"),
		"JSON: members":                     fill(`{"version":"https://jsonfeed.org/version/1.1","items":[{`, `"a":1,`, `"id":"1","title":"t"}]}`),
		"JSON: texts":                       fill(`{"version":"https://jsonfeed.org/version/1.1","items":[`, `{"id":1,"content_text":"a\n\nb\u0000<"},`, "1]}"),
		"sections that do not end":          fill(head, "<item><![CDATA[</item>", tail),
		"comments that do not end":          fill(head, "<item><!--</item>", tail),
		"sections that end far off":         fill(head, "<![CDATA[", "]]>"+tail),
		"sections before a text":            head + strings.Repeat("<![CDATA[]]>", bytes/24) + strings.Repeat("a", bytes/2) + tail,
		"JSON: control characters":          fill(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"`, "\x01", `"}]}`),
		"JSON: cut off":                     fill(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","title":"t"}`, `,{"id":["`, ""),
		"UTF-16":                            "\xff\xfe" + strings.Repeat("<\x00", bytes/2),
		"a text without markup":             fill("", "a ", ""),
		"markup: half tags":                 inItems("", `<a b='`),
	}
}
