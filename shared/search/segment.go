package search

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Segment is the index of some documents. It is never changed, and may be searched by
// several goroutines.
type Segment struct {
	ids    []int64  // of documents, newest first
	times  []int64  // theirs
	titles []uint32 // how many places their titles take

	terms    []byte   // all words one behind the other, sorted
	termEnds []uint32 // where each ends

	// postings has for each word, in their order: of each document that holds it, in
	// their order, how far its number is behind the one before, how many places of the
	// word are kept, and how far each is behind the one before, all as uvarints.
	postings    []byte
	postingEnds []uint32
}

// Len is the number of documents.
func (s *Segment) Len() int { return len(s.ids) }

// Bytes is what the segment takes in memory. Encoded it takes a quarter more at most, and
// mostly less.
func (s *Segment) Bytes() int {
	return len(s.ids)*(8+8+4) + len(s.termEnds)*(4+4) + len(s.terms) + len(s.postings)
}

// Newest returns the segment of at most so many documents, the newest ones.
func (s *Segment) Newest(most int) *Segment {
	if s.Len() <= most {
		return s
	}
	return merge(most, s)
}

// posting is a word's places in a document that are kept, ascending.
type posting struct {
	doc    uint32
	places []uint32
}

// Build returns the segment of documents. Of those with the same ID the last one counts.
func Build(documents []Document) *Segment {
	last := make(map[int64]int, len(documents))
	for i := range documents {
		last[documents[i].ID] = i
	}
	var order []int
	for i := range documents {
		if last[documents[i].ID] == i {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return newestFirst(documents[a].Time, documents[a].ID, documents[b].Time, documents[b].ID)
	})
	s := new(Segment)
	numbers := map[string]int{} // of words as they come
	var lists []postingList
	var found []placed // in one document
	var places []uint32
	for n, i := range order {
		d := &documents[i]
		found = found[:0]
		add := func(w word) bool {
			number, ok := numbers[w.text]
			if !ok {
				number = len(lists)
				numbers[strings.Clone(w.text)], lists = number, append(lists, postingList{dense: w.dense})
			}
			found = append(found, placed{number, uint32(w.at)})
			return w.at < maxWords
		}
		title := words(d.Title, 0, add)
		words(d.Text, title+1, add) // a place between: no run goes on from one to the other
		s.ids, s.times, s.titles = append(s.ids, d.ID), append(s.times, d.Time), append(s.titles, uint32(title))
		slices.SortStableFunc(found, func(a, b placed) int { return cmp.Compare(a.word, b.word) })
		for from := 0; from < len(found); {
			word, to := found[from].word, from
			most := maxPlaces
			if !lists[word].dense {
				most = 1
			}
			for places = places[:0]; to < len(found) && found[to].word == word; to++ {
				if len(places) < most {
					places = append(places, found[to].at)
				}
			}
			lists[word].add(uint32(n), places)
			from = to
		}
	}
	for _, term := range slices.Sorted(maps.Keys(numbers)) {
		s.append([]byte(term), lists[numbers[term]].b)
	}
	return s
}

// placed is a word, by its number, at a place of a document.
type placed struct {
	word int
	at   uint32
}

// postingList is the encoded postings of a word, of documents in their order.
type postingList struct {
	b     []byte
	doc   uint32 // the last one
	dense bool   // the word is one of a run
}

// add adds a document with the places of the word in it, ascending.
func (l *postingList) add(doc uint32, places []uint32) {
	l.b = binary.AppendUvarint(l.b, uint64(doc-l.doc))
	l.b = binary.AppendUvarint(l.b, uint64(len(places)))
	l.doc = doc
	before := uint32(0)
	for _, at := range places {
		l.b = binary.AppendUvarint(l.b, uint64(at-before))
		before = at
	}
}

func newestFirst(timeA, idA, timeB, idB int64) int {
	return cmp.Or(cmp.Compare(timeB, timeA), cmp.Compare(idB, idA))
}

// append adds a word, which is behind all that there are, with its encoded postings.
func (s *Segment) append(term, postings []byte) {
	s.terms, s.postings = append(s.terms, term...), append(s.postings, postings...)
	s.termEnds, s.postingEnds = append(s.termEnds, uint32(len(s.terms))), append(s.postingEnds, uint32(len(s.postings)))
}

// term is the word of a number.
func (s *Segment) term(n int) string { return string(s.termBytes(n)) }

// termBytes is the word of a number, nil behind the last. It is the segment's own.
func (s *Segment) termBytes(n int) []byte {
	if n >= len(s.termEnds) {
		return nil
	}
	return piece(s.terms, s.termEnds, n)
}

// postingsOf is the encoded postings of the word of a number.
func (s *Segment) postingsOf(n int) []byte { return piece(s.postings, s.postingEnds, n) }

// piece is the nth of those that stand one behind the other. It is never nil.
func piece(all []byte, ends []uint32, n int) []byte {
	from := uint32(0)
	if n > 0 {
		from = ends[n-1]
	}
	return all[from:ends[n]:ends[n]]
}

// list yields the postings of the word of a number. The places are valid until the next.
func (s *Segment) list(n int) iter.Seq[posting] {
	bytes := s.postingsOf(n)
	return func(yield func(posting) bool) {
		at := 0
		next := func() uint32 {
			if at < len(bytes) && bytes[at] < 0x80 { // as most are
				at++
				return uint32(bytes[at-1])
			}
			v, size := binary.Uvarint(bytes[at:])
			if size <= 0 {
				at = len(bytes)
				return 0
			}
			at += size
			return uint32(v)
		}
		var p posting
		for at < len(bytes) {
			p.doc += next()
			p.places = p.places[:0]
			place := uint32(0)
			count := int(next())
			for range min(count, len(bytes)-at) { // each takes a byte at least
				place += next()
				p.places = append(p.places, place)
			}
			if int(p.doc) >= len(s.ids) || !yield(p) {
				return
			}
		}
	}
}

// find are the words that a word of a query means.
func (s *Segment) find(w queryWord) (of terms) {
	of.from = sort.Search(len(s.termEnds), func(n int) bool { return s.term(n) >= w.text })
	of.to = of.from
	for of.to < len(s.termEnds) && (s.term(of.to) == w.text || w.prefix && strings.HasPrefix(s.term(of.to), w.text)) {
		of.to++
	}
	return of
}

// match calls found with the documents that hold all runs of a query, in their order, and
// returns what that took: postings and places that were looked at.
func (s *Segment) match(query []run, found func(doc uint32, inTitle bool)) (work int) {
	wanted := make([]wantedRun, len(query))
	for i, r := range query {
		if wanted[i] = s.wanted(r); wanted[i].bytes == 0 {
			return 0
		}
	}
	slices.SortStableFunc(wanted, func(a, b wantedRun) int { return cmp.Compare(a.bytes, b.bytes) })
	l := lookup{Segment: s}
	for i, r := range wanted {
		if l.run(r, i == 0); len(l.among.list) == 0 {
			return l.work
		}
	}
	for _, m := range l.among.list {
		found(m.doc, m.inTitle)
	}
	return l.work
}

// wantedRun is a run of a query with the numbers of the words that each of its words means.
type wantedRun struct {
	words []terms
	bytes int // of the postings of its rarest word; 0 where no document holds it
}

// terms are words with neighbouring numbers.
type terms struct{ from, to int }

func (s *Segment) wanted(r run) (wanted wantedRun) {
	for i, w := range r {
		of, bytes := s.find(w), 0
		for n := of.from; n < of.to; n++ {
			bytes += len(s.postingsOf(n))
		}
		if wanted.words = append(wanted.words, of); i == 0 || bytes < wanted.bytes {
			wanted.bytes = bytes
		}
	}
	return wanted
}

// lookup is a search of a segment that is under way.
type lookup struct {
	*Segment
	among matches // those so far
	work  int     // postings and places that were looked at
}

// matches are documents that hold the words of a query so far, in their order.
type matches struct {
	list []match
	ends []uint32 // of all documents, one behind the other
}

// match is one of them.
type match struct {
	doc      uint32
	inTitle  bool // the title alone holds the words
	from, to int  // in ends: places where the run of words may go on that the last one is part of, ascending
}

// run keeps of the documents so far, or of all, those that hold a run too.
func (l *lookup) run(r wantedRun, all bool) {
	for i, of := range r.words {
		switch joined := i > 0; {
		case of.to-of.from > 1: // which stand alone: see [parseQuery]
			l.anyOf(of, all)
		default:
			l.word(of.from, all && !joined, joined, i+1 < len(r.words))
		}
		if len(l.among.list) == 0 {
			return
		}
	}
}

// word keeps of the documents those that hold a word too, right behind the one before it where
// it is joined to that. Where the run of words ends is kept only if it goes on.
func (l *lookup) word(term int, all, joined, goesOn bool) {
	var kept matches
	for p, before := range l.common(term, all) {
		m := match{doc: p.doc, inTitle: true}
		if before >= 0 {
			m = l.among.list[before]
		}
		places := p.places
		if joined {
			ends := l.among.ends[m.from:m.to]
			l.work += len(places) + len(ends)
			places = inBoth(places, ends)
		}
		if len(places) == 0 {
			continue
		}
		m.inTitle = m.inTitle && places[0] < l.titles[p.doc]
		m.from = len(kept.ends)
		if goesOn {
			for _, at := range places {
				kept.ends = append(kept.ends, at+1)
			}
		}
		m.to = len(kept.ends)
		kept.list = append(kept.list, m)
	}
	l.among = kept
}

// common yields the postings of a word in all documents, or in those so far, with the index of
// each among them.
func (l *lookup) common(term int, all bool) iter.Seq2[posting, int] {
	return func(yield func(posting, int) bool) {
		i := 0
		for p := range l.list(term) {
			l.work++
			if all {
				if !yield(p, -1) {
					return
				}
				continue
			}
			for i < len(l.among.list) && l.among.list[i].doc < p.doc {
				i++
			}
			if i == len(l.among.list) {
				return
			}
			if l.among.list[i].doc == p.doc && !yield(p, i) {
				return
			}
		}
	}
}

// anyOf keeps of the documents those that hold one of some words.
func (l *lookup) anyOf(of terms, all bool) {
	if all {
		l.among = matches{list: make([]match, l.Len())}
		for n := range l.among.list {
			l.among.list[n] = match{doc: uint32(n), inTitle: true}
		}
	}
	const inText, inTitle = 1, 2
	holds := make([]byte, len(l.among.list))
	for n := of.from; n < of.to; n++ {
		for p, i := range l.common(n, false) {
			switch {
			case len(p.places) == 0:
			case p.places[0] < l.titles[p.doc]:
				holds[i] |= inTitle
			default:
				holds[i] |= inText
			}
		}
	}
	kept := l.among.list[:0]
	for i, m := range l.among.list {
		if holds[i] != 0 {
			kept = append(kept, match{doc: m.doc, inTitle: m.inTitle && holds[i]&inTitle != 0})
		}
	}
	l.among = matches{list: kept}
}

// inBoth are the places that are in both of two ascending lists. It takes the room of the first.
func inBoth(places, others []uint32) []uint32 {
	both := places[:0]
	for _, at := range places {
		for len(others) > 0 && others[0] < at {
			others = others[1:]
		}
		if len(others) > 0 && others[0] == at {
			both = append(both, at)
		}
	}
	return both
}

// version is the first byte of an encoded segment.
const version = 1

// Append appends the encoded segment to b.
func (s *Segment) Append(b []byte) []byte {
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(len(s.ids)))
	for i := range s.ids {
		b = binary.AppendVarint(b, s.ids[i])
		b = binary.AppendVarint(b, s.times[i])
		b = binary.AppendUvarint(b, uint64(s.titles[i]))
	}
	b = binary.AppendUvarint(b, uint64(len(s.termEnds)))
	for _, ends := range [...][]uint32{s.termEnds, s.postingEnds} {
		before := uint32(0)
		for _, end := range ends {
			b = binary.AppendUvarint(b, uint64(end-before))
			before = end
		}
	}
	b = append(b, s.terms...)
	return append(b, s.postings...)
}

var errSegment = errors.New("is no segment of a search index")

// Decode reads an encoded segment, and keeps b.
func Decode(b []byte) (*Segment, error) {
	r := reader{b: b}
	if r.byte() != version {
		return nil, fmt.Errorf("%w of version %d", errSegment, version)
	}
	s := new(Segment)
	for range r.count(3) {
		s.ids, s.times, s.titles = append(s.ids, r.varint()), append(s.times, r.varint()), append(s.titles, uint32(r.uvarint()))
	}
	words := r.count(2)
	s.termEnds, s.postingEnds = r.ends(words), r.ends(words)
	if r.failed {
		return nil, errSegment
	}
	terms, postings := 0, 0
	if words > 0 {
		terms, postings = int(s.termEnds[words-1]), int(s.postingEnds[words-1])
	}
	if len(r.b) != terms+postings {
		return nil, errSegment
	}
	s.terms, s.postings = r.b[:terms], r.b[terms:]
	return s, nil
}

// reader reads numbers, and then fails for ever where there is none.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.failed = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uvarint() uint64 {
	v, size := binary.Uvarint(r.b)
	return v * r.skip(size)
}

func (r *reader) varint() int64 {
	v, size := binary.Varint(r.b)
	return v * int64(r.skip(size))
}

// skip goes on by a size, and returns 1; where it is none, 0.
func (r *reader) skip(size int) uint64 {
	if size <= 0 {
		r.failed = true
		return 0
	}
	r.b = r.b[size:]
	return 1
}

// count reads a number of things of at least so many bytes each.
func (r *reader) count(bytes int) int {
	n := r.uvarint()
	if n > uint64(len(r.b)/bytes) {
		r.failed = true
		return 0
	}
	return int(n)
}

// ends reads lengths, and returns where each ends. They grow no further than 32 bits.
func (r *reader) ends(n int) []uint32 {
	list := make([]uint32, 0, n)
	end := uint64(0)
	for range n {
		end += r.uvarint()
		if end > 1<<32-1 {
			r.failed = true
			return make([]uint32, n)
		}
		list = append(list, uint32(end))
	}
	return list
}
