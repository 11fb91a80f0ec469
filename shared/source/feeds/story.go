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

// sameStory is how far apart two items of one title and page may be published at most to
// be one story: pages that are written anew are others each time.
const sameStory = 24 * time.Hour

// have reports whether an item tells one of the stories.
func (s stories) have(item *Item) bool {
	at, ok := s[story(item)]
	if !ok || at == 0 || item.Published.IsZero() {
		return ok
	}
	return time.Unix(at, 0).Sub(item.Published).Abs() <= sameStory
}

// add takes the story of an item, if it tells one.
func (s stories) add(item *Item) {
	digest := story(item)
	if digest == "" {
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
