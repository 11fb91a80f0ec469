package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// Merge returns one segment of several, which are in the order in which they were built. It
// takes all at once: what is merged ten at a time is written a tenth as often as what is
// merged by twos.
func Merge(segments ...*Segment) *Segment {
	segments = slices.DeleteFunc(slices.Clone(segments), func(s *Segment) bool { return s.Len() == 0 })
	switch len(segments) {
	case 0:
		return new(Segment)
	case 1:
		return segments[0]
	}
	return merge(math.MaxInt, segments...)
}

// merge is Merge of at most so many documents, the newest ones.
func merge(most int, segments ...*Segment) *Segment {
	m := merger{segments: segments, merged: new(Segment), term: make([]int, len(segments))}
	m.documents(most)
	m.words()
	return m.merged
}

// merger is a merge under way.
type merger struct {
	segments []*Segment
	merged   *Segment
	numbers  [][]uint32 // of each segment's documents in the merged one, or dropped
	term     []int      // the next word of each segment
	entries  []entry    // of the word that is merged
}

// dropped is the number of a document of which a later segment has a newer state, or that is
// too old.
const dropped = 1<<32 - 1

// documents merges the documents, which each segment has in the order of the merged one, until
// there are so many.
func (m *merger) documents(most int) {
	m.numbers = make([][]uint32, len(m.segments))
	total := 0
	for _, s := range m.segments {
		total += s.Len()
	}
	seen := make(map[int64]struct{}, total)
	for i, s := range slices.Backward(m.segments) {
		m.numbers[i] = make([]uint32, s.Len())
		for n, id := range s.ids {
			if _, ok := seen[id]; ok {
				m.numbers[i][n] = dropped
			} else {
				seen[id] = struct{}{}
			}
		}
	}
	next := make([]int, len(m.segments))
	to := m.merged
	to.ids, to.times, to.titles = make([]int64, 0, len(seen)), make([]int64, 0, len(seen)), make([]uint32, 0, len(seen))
	for len(to.ids) < most {
		first := -1
		for i, s := range m.segments {
			for next[i] < s.Len() && m.numbers[i][next[i]] == dropped {
				next[i]++
			}
			if next[i] == s.Len() {
				continue
			}
			if first < 0 || newestFirst(s.times[next[i]], s.ids[next[i]], m.segments[first].times[next[first]], m.segments[first].ids[next[first]]) < 0 {
				first = i
			}
		}
		if first < 0 {
			break
		}
		s, n := m.segments[first], next[first]
		m.numbers[first][n] = uint32(len(to.ids))
		to.ids, to.times, to.titles = append(to.ids, s.ids[n]), append(to.times, s.times[n]), append(to.titles, s.titles[n])
		next[first]++
	}
	for i, from := range next {
		for n := from; n < len(m.numbers[i]); n++ {
			m.numbers[i][n] = dropped
		}
	}
}

// words merges the words with their postings.
func (m *merger) words() {
	terms := make([][]byte, len(m.segments)) // the next one of each, nil behind the last
	for i, s := range m.segments {
		terms[i] = s.termBytes(0)
	}
	var encoded []byte
	for {
		var term []byte
		for _, t := range terms {
			if t != nil && (term == nil || bytes.Compare(t, term) < 0) {
				term = t
			}
		}
		if term == nil {
			return
		}
		m.entries = m.entries[:0]
		for i, s := range slices.Backward(m.segments) { // later segments mostly have newer documents, which come first
			if terms[i] == nil || !bytes.Equal(terms[i], term) {
				continue
			}
			m.take(s.postingsOf(m.term[i]), m.numbers[i])
			m.term[i]++
			terms[i] = s.termBytes(m.term[i])
		}
		if len(m.entries) == 0 {
			continue
		}
		byDocument := func(a, b entry) int { return cmp.Compare(a.doc, b.doc) }
		if !slices.IsSortedFunc(m.entries, byDocument) {
			slices.SortFunc(m.entries, byDocument)
		}
		encoded = encoded[:0]
		before := uint32(0)
		for _, e := range m.entries {
			encoded = binary.AppendUvarint(encoded, uint64(e.doc-before))
			encoded = append(encoded, e.places...)
			before = e.doc
		}
		m.merged.append(term, encoded)
	}
}

// entry is a document of the merged segment with the encoded places of a word in it.
type entry struct {
	doc    uint32
	places []byte
}

// take appends the entries of a word's postings, of documents that are kept.
func (m *merger) take(postings []byte, numbers []uint32) {
	doc := uint64(0)
	for len(postings) > 0 {
		behind, size := binary.Uvarint(postings)
		count, more := binary.Uvarint(postings[max(size, 0):])
		if doc += behind; size <= 0 || more <= 0 || doc >= uint64(len(numbers)) {
			return // as a search does
		}
		from := size
		to := skipUvarints(postings, from+more, count)
		if to < 0 {
			return
		}
		if n := numbers[doc]; n != dropped {
			m.entries = append(m.entries, entry{n, postings[from:to]})
		}
		postings = postings[to:]
	}
}

// skipUvarints returns where so many uvarints end that begin at a place, below 0 where they
// do not.
func skipUvarints(b []byte, from int, count uint64) int {
	for ; count > 0; from++ {
		if from >= len(b) {
			return -1
		}
		if b[from] < 0x80 {
			count--
		}
	}
	return from
}
