package feeds

import (
	"net/url"
	"time"
)

// stories are items whatever their keys: publishers deliver a story again under another id.
// By a digest of its title and the address of its page, each has the time of publication,
// Unix s, 0 for none.
type stories map[string]int64

// repeats stands for the digest of an item that repeats a story.
const repeats = "repeats"

// sameStory is how long after a story an item of its title and page may be published to be
// that story: a page that is written anew every day is another story each time.
const sameStory = 6 * time.Hour

// have reports whether an item tells one of the stories.
func (s stories) have(item *Item) bool {
	at, ok := s[story(item)]
	if !ok || at == 0 || item.Published.IsZero() {
		return ok
	}
	return time.Unix(at, 0).Sub(item.Published).Abs() <= sameStory
}

// add takes the story of an item, if it tells one. A repetition does not make it newer.
func (s stories) add(item *Item) {
	digest := story(item)
	if digest == "" || s.have(item) {
		return
	}
	s[digest] = 0
	if !item.Published.IsZero() {
		s[digest] = item.Published.Unix()
	}
}

// story is the digest of an item's title and page, "" where it links to none of its own:
// to nothing, or to the publisher's first page.
func story(item *Item) string {
	address := untracked(item.Link)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Path == "" || u.Path == "/") && u.RawQuery == "" {
		return ""
	}
	return digest([]byte(item.Title + "\n" + address))
}
