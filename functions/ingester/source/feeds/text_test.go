package feeds

import (
	"fmt"
	"strings"
	"testing"
)

// itemsOf is a feed of so many items, of which each has a link and so many bytes of a markup.
func itemsOf(items int, link, markup string, bytes int) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel>`)
	for n := range items {
		fmt.Fprintf(&b, "<item><title>t</title><guid>%d</guid><link>%s</link><description><![CDATA[%s]]></description></item>", n, link, strings.Repeat(markup, bytes/len(markup)))
	}
	return b.String() + "</channel></rss>"
}

// longLink is an address of so many folders, of two bytes each.
func longLink(folders int) string {
	return "https://story.example/" + strings.Repeat("a/", folders) + "b/"
}

// What makes a document dear is counted: behind that, texts are shown without their markup. The
// work of each document is then that of its texts, however large it is.
func TestADearDocumentIsShownAsText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, kept string }{
		"tokens":                         {itemsOf(8, "https://story.example/", "<b>x</b>", 240_000), "<b>"},
		"addresses that become too long": {itemsOf(3, longLink(1011), "<a href=bbbbbbbbb></a><b>x</b>", 240_000), "<b>"},
		"addresses of three attributes":  {itemsOf(3, longLink(1011), "<q href=bbbb src=bbbb cite=bbbb>x</q>", 240_000), "<q>"},
	} {
		doc, err := Parse([]byte(c.text), "", base)
		if err != nil || len(doc.Items) < 3 {
			t.Fatalf("%s: %d items, %v", name, len(doc.Items), err)
		}
		first, last := doc.Items[0].Content, doc.Items[len(doc.Items)-1].Content
		if !strings.Contains(first, c.kept) || strings.Contains(last, "<") || !strings.Contains(last, "x") {
			t.Errorf("%s: the first item begins with %.60q, the last one with %.60q", name, first, last)
		}
	}
}

// Of documents of the largest size, each of which is dear in its own way, what is done and what is
// allocated is bounded.
func TestTheLargestDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	const size, items = maxBody - 1<<20, 20
	for name, text := range map[string]string{
		"addresses of three attributes": itemsOf(items, longLink(1011), "<q href=bbbb src=bbbb cite=bbbb>", size/items),
		"addresses":                     itemsOf(items, longLink(1011), "<a href=bbbb>", size/items),
		"addresses of small items":      itemsOf(400, longLink(1011), "<q href=bbbb src=bbbb cite=bbbb>", size/400),
		"pictures":                      itemsOf(items, longLink(1011), "<img src=bbbb>", size/items),
	} {
		doc, err := Parse([]byte(text), "", base)
		if most := work(500_000 + len(text)); err != nil || len(doc.Items) < items || doc.work > most {
			t.Errorf("%s: %d items, %v, work %d, want at most %d", name, len(doc.Items), err, doc.work, most)
		}
	}
}

// So much is looked at of one element, and of what becomes a short text.
func TestWhatIsLookedAtIsBounded(t *testing.T) {
	t.Parallel()
	attributes := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf(" a%d=1", i)
		}
		return text
	}
	for name, c := range map[string]struct{ text, summary, image string }{
		"an attribute that is one of many":      {`<img` + attributes(31) + ` src=/i.png>`, "", "https://story.example/i.png"},
		"an attribute behind many":              {`<img` + attributes(32) + ` src=/i.png>`, "", ""},
		"a text behind some markup":             {strings.Repeat("<i></i>", 2000) + "text", "text", ""},
		"a text behind more markup than a text": {strings.Repeat("<i></i>", 2400) + "text", "", ""},
	} {
		doc, err := Parse([]byte(itemsOf(1, "https://story.example/", c.text, len(c.text))), "", base)
		if err != nil || len(doc.Items) != 1 || doc.Items[0].Summary != c.summary || doc.Items[0].Image != c.image {
			t.Errorf("%s: %v, %+.200v", name, err, doc)
		}
	}
}
