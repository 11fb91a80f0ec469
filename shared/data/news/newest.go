package news

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"quotary/shared/store"
)

// Listed is how many items the view holds: those behind them are found by their number
// alone.
const Listed = 5000

// Heading is an item in a list: without its text.
type Heading struct {
	ID       int64    `json:"id"`
	Owner    string   `json:"owner"`  // [Subject] of the item
	Digest   string   `json:"digest"` // of what the item says
	Language Language `json:"language"`
	Title    string   `json:"title"`
	Describe string   `json:"describe"`
	Cover    string   `json:"cover"`
	Link     string   `json:"link,omitempty"`
	Source   string   `json:"source"`
	Author   string   `json:"author"`
	Avatar   string   `json:"avatar"`

	Published int64 `json:"published"` // Unix s, 0 for none
	Seen      int64 `json:"seen"`      // ms
	FirstSeen int64 `json:"firstSeen"` // ms
}

// HeadingOf is the heading of an item.
func HeadingOf(i *Item) Heading {
	return Heading{
		ID: i.ID, Owner: Subject(i.Source, i.Key), Digest: digest(i), Language: i.Language, Title: i.Title, Describe: i.Describe,
		Cover: i.Cover, Link: i.Link, Source: i.Source, Author: i.Author, Avatar: i.Avatar, Published: i.Published, Seen: i.Seen, FirstSeen: i.FirstSeen,
	}
}

// CreateTime is when the item was published, or else first seen, Unix s.
func (h *Heading) CreateTime() int64 {
	if h.Published > 0 {
		return h.Published
	}
	return h.FirstSeen / 1000
}

// Merge is what two headings of one number are together, whichever came first: of one
// item the state that was seen last, of two items the one that was seen first.
func (h Heading) Merge(other Heading) Heading {
	if h.Owner != other.Owner {
		if c := cmp.Or(cmp.Compare(h.FirstSeen, other.FirstSeen), strings.Compare(h.Owner, other.Owner)); c > 0 {
			return other
		}
		return h
	}
	newest := h
	if cmp.Or(cmp.Compare(h.Seen, other.Seen), strings.Compare(h.Digest, other.Digest)) < 0 {
		newest = other
	}
	newest.FirstSeen = min(h.FirstSeen, other.FirstSeen)
	return newest
}

// View is the newest items, newest first, and those of one second by falling number.
type View struct {
	Items []Heading `json:"items"`
}

// NewView returns the view of items of different numbers: the newest [Listed] of them.
func NewView(items []Heading) View {
	slices.SortFunc(items, func(a, b Heading) int {
		return cmp.Or(cmp.Compare(b.CreateTime(), a.CreateTime()), cmp.Compare(b.ID, a.ID))
	})
	return View{Items: items[:min(len(items), Listed)]}
}

// Page returns a page of the list, counted from 1; one beyond the end is empty.
func (v View) Page(page, size int64) []Heading {
	n := int64(len(v.Items))
	if page < 1 || size < 1 || page-1 > n/size {
		return nil
	}
	return v.Items[min((page-1)*size, n):min(page*size, n)]
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 5 * time.Second}
