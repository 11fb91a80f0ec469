package syndication

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func read(text string) (*Feed, error) { return Read([]byte(text)) }

func TestAFeedOfTooManyTokensIsRefused(t *testing.T) {
	t.Parallel()
	feed, err := read(rss(strings.Repeat("<a>", 10) + strings.Repeat("</b>", 1_000_000)))
	if !errors.Is(err, errTokens) || feed.Work > 1_000_100 {
		t.Errorf("%v, with a work of %d", err, feed.Work)
	}
}

func TestReadingEndsAtALongToken(t *testing.T) {
	t.Parallel()
	const item = "<item><guid>%d</guid></item>"
	for size, want := range map[int]int{2<<20 - 1000: 2, 2<<20 + 1: 1} {
		feed, err := read(rss(fmt.Sprintf(item, 1) + "<x>" + strings.Repeat("a", size) + "</x>" + fmt.Sprintf(item, 2)))
		if err != nil || len(feed.Items) != want || feed.Cut != (want == 1) {
			t.Errorf("behind a text of %d bytes: %d items, cut %t, %v", size, len(feed.Items), feed.Cut, err)
		}
	}
}

func TestBoundsOfAnElement(t *testing.T) {
	t.Parallel()
	attributes := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf(` a%d="1"`, i)
		}
		return text
	}
	declared := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `<x xmlns:n%d="http://purl.org/rss/1.0/modules/content/"/>`, i)
		}
		return b.String() + fmt.Sprintf("<item><n%d:encoded>text</n%[1]d:encoded></item>", n-1)
	}
	long := func(element string, n int) string {
		return "<item><" + element + ">" + strings.Repeat("a", n) + "</" + element + "></item>"
	}
	for name, c := range map[string]struct {
		text string
		got  func(*Item) int
		want int
	}{
		"64 attributes":       {"<item><enclosure" + attributes(62) + ` type="image/png" url="i"/></item>`, func(i *Item) int { return len(i.Pictures) }, 1},
		"65 attributes":       {"<item><enclosure" + attributes(63) + ` type="image/png" url="i"/></item>`, func(i *Item) int { return len(i.Pictures) }, 0},
		"64 namespaces":       {declared(64), func(i *Item) int { return len(i.Content.Body) }, 4},
		"65 namespaces":       {declared(65), func(i *Item) int { return len(i.Content.Body) }, 0},
		"a long text":         {long("description", 300<<10), func(i *Item) int { return len(i.Summary.Body) }, 256 << 10},
		"a long title":        {long("title", 300<<10), func(i *Item) int { return len(i.Title.Body) }, 16 << 10},
		"a long id":           {long("guid", 300<<10), func(i *Item) int { return len(i.ID) }, 16 << 10},
		"pictures of an item": {"<item>" + strings.Repeat(`<media:thumbnail url="i"/>`, 99) + "</item>", func(i *Item) int { return len(i.Pictures) }, 10},
	} {
		feed, err := read(rss(c.text))
		if err != nil || len(feed.Items) != 1 {
			t.Fatalf("%s: %v, %+.100v", name, err, feed)
		}
		if got := c.got(&feed.Items[0]); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
