package feeds

import (
	"net/url"
	"strconv"
	"sync"
)

// Twins join the feeds of a publisher, which list the same story under addresses and ids that
// differ: what one of them tells, the others leave out. Within a feed an id is an item. The
// zero value is ready; nil joins nothing.
type Twins struct {
	mu   sync.Mutex
	keys map[*Source]map[string]string // keys of items by what they are known by
}

// begin holds the other feeds back until end, and returns whether one of them tells a story
// under another key.
func (t *Twins) begin(of *Source) (inOtherFeed func(twin, key string) bool) {
	if t == nil {
		return func(string, string) bool { return false }
	}
	t.mu.Lock()
	return func(twin, key string) bool {
		for feed, items := range t.keys {
			if by, ok := items[twin]; ok && feed != of && by != key {
				return true
			}
		}
		return false
	}
}

// end notes what a feed tells.
func (t *Twins) end(of *Source, items map[string]string) {
	if t == nil {
		return
	}
	if t.keys == nil {
		t.keys = map[*Source]map[string]string{}
	}
	t.keys[of] = items
	t.mu.Unlock()
}

// twinOf is what other feeds of its publisher know an item by: its title, its page and when
// it was published, where it has no date its id without tracking parameters. It is "" for one
// that links to no page of its own: to nothing, or to the publisher's first page.
func twinOf(item *Item) string {
	address := page(item.Link)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Path == "" || u.Path == "/") && u.RawQuery == "" {
		return ""
	}
	of := untracked(item.Key)
	if !item.Published.IsZero() {
		of = strconv.FormatInt(item.Published.Unix(), 10)
	}
	return digest([]byte(item.Title + "\n" + address + "\n" + of))
}
