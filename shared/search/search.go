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
// side and in order. Documents whose title alone holds them all come first; among equals,
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

// part is a segment with those of its documents that a later one replaces.
type part struct {
	*Segment
	replaced map[uint32]bool
}

// NewIndex returns the index of segments, in the order in which they were built.
func NewIndex(segments ...*Segment) *Index {
	x := &Index{parts: make([]part, len(segments))}
	seen := map[int64]bool{}
	for i, s := range slices.Backward(segments) {
		p := part{Segment: s, replaced: map[uint32]bool{}}
		for n, id := range s.ids {
			if seen[id] {
				p.replaced[uint32(n)] = true
			}
			seen[id] = true
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
	words := parseQuery(query)
	if len(words) == 0 {
		return nil, 0
	}
	offset = min(offset, MaxHits)
	most := min(offset+limit, MaxHits)
	var best []Hit
	for i := range x.parts {
		p := &x.parts[i]
		p.match(words, func(doc uint32, inTitle bool) {
			if p.replaced[doc] {
				return
			}
			total++
			best = append(best, Hit{ID: p.ids[doc], Time: p.times[doc], InTitle: inTitle})
			if len(best) >= 2*most+64 { // sorted seldom, and bounded
				slices.SortFunc(best, Hit.compare)
				best = best[:most]
			}
		})
	}
	slices.SortFunc(best, Hit.compare)
	best = best[:min(len(best), most)]
	return best[min(offset, len(best)):], total
}
