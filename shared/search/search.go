// Package search finds documents by words: English and other words as a whole, Chinese
// by what follows what.
//
// Documents are put into segments ([Build]), which are never changed: they are encoded,
// stored, and merged to larger ones ([Merge]) by whoever keeps them. An [Index] searches
// several segments at once; where a document is in two of them, the later segment has its
// newest state. Nothing of a document's text is kept but which word stands where, so a
// segment of ten thousand flashes takes about a megabyte.
//
// # Words
//
// A word is a run of letters and digits, in lower case: "BTC/USDT" has two of them. A point
// or a comma between digits belongs to the number, without the comma: "100,000.5" is
// 100000.5. Chinese, Japanese and Korean have no spaces: there each pair of neighbours is a
// word (比特, 特币), as is the last character of a run.
//
// A query matches documents that hold all of its words, those of one run of Chinese side by
// side and in order, unless one of them stood there 128 times before. Documents whose title alone holds them all come first; among equals,
// newer ones.
package search

import (
	"cmp"
	"slices"
)

// Document is what is searched.
type Document struct {
	ID    int64 // above 0; the same document again is its newer state
	Time  int64 // by which the newer comes first
	Title string
	Text  string
}

// Hit is a document that matches.
type Hit struct {
	ID      int64
	Time    int64
	InTitle bool // the title alone holds all words
}

// compare sorts better hits first.
func (h Hit) compare(o Hit) int {
	if h.InTitle != o.InTitle {
		if h.InTitle {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(o.Time, h.Time), cmp.Compare(o.ID, h.ID))
}

// Index searches segments. The zero value has none.
type Index struct {
	parts []part
}

// part is a segment with those of its documents that a later one replaces; nil for none.
type part struct {
	*Segment
	replaced []bool
}

// NewIndex returns the index of segments, in the order in which they were built.
func NewIndex(segments ...*Segment) *Index {
	x := &Index{parts: make([]part, len(segments))}
	later := 0 // documents of those behind the first
	for _, s := range segments[min(1, len(segments)):] {
		later += s.Len()
	}
	seen := make(map[int64]struct{}, later)
	for i, s := range slices.Backward(segments) {
		p := part{Segment: s}
		for n, id := range s.ids {
			if _, ok := seen[id]; ok {
				if p.replaced == nil {
					p.replaced = make([]bool, s.Len())
				}
				p.replaced[n] = true
			} else if i > 0 {
				seen[id] = struct{}{}
			}
		}
		x.parts[i] = p
	}
	return x
}

// MaxHits is how many of the best hits can be reached.
const MaxHits = 10_000

// Find returns limit of the documents that match, best first, from the offset on, and how
// many match in all. A query without a word matches nothing. Hits behind [MaxHits] are
// counted, but not returned.
func (x *Index) Find(query string, offset, limit int) (hits []Hit, total int) {
	hits, total, _ = x.find(query, offset, limit)
	return hits, total
}

// find is Find, and says what it took: postings and places of words that were looked at.
func (x *Index) find(query string, offset, limit int) (hits []Hit, total, work int) {
	runs := parseQuery(query)
	if len(runs) == 0 {
		return nil, 0, 0
	}
	offset = min(offset, MaxHits)
	most := min(offset+limit, MaxHits)
	best := best{most: most}
	for i := range x.parts {
		p := &x.parts[i]
		work += p.match(runs, func(doc uint32, inTitle bool) {
			if p.replaced == nil || !p.replaced[doc] {
				total++
				best.add(Hit{ID: p.ids[doc], Time: p.times[doc], InTitle: inTitle})
			}
		})
	}
	best.sort()
	return best.hits[min(offset, len(best.hits)):], total, work
}

// best keeps the best hits of many.
type best struct {
	most int
	hits []Hit
	full bool // hits[:most] is sorted: a hit worse than its last is dropped
}

func (b *best) add(h Hit) {
	if b.full && (b.most == 0 || h.compare(b.hits[b.most-1]) > 0) {
		return // as most are, which come newest first
	}
	if b.hits = append(b.hits, h); len(b.hits) >= 2*b.most+64 { // sorted seldom, and bounded
		b.sort()
	}
}

func (b *best) sort() {
	slices.SortFunc(b.hits, Hit.compare)
	if len(b.hits) >= b.most {
		b.hits, b.full = b.hits[:b.most], true
	}
}
