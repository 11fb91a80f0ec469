// Package flashindex is the index in which flashes and posts are searched: some views of
// segments (package search) for each platform.
//
// # Levels
//
// New flashes are a segment of level 0. Four segments of a level are merged to one of the next:
// so a level's segments are about four times as large as those of the level below, a publication
// mostly has a few flashes alone, and a flash is published about twice on each level, however
// many come. Many at once are a segment of the level of their number, with all that is on the
// levels below, which is older. Where a flash is in two segments, the newer one counts.
//
// The index of a platform takes [MaxBytes] at most: some 280,000 flashes of 80 words. When it
// has more, the older half of its oldest segment is dropped, again and again: the flashes in it
// are not found any more, and are listed as before.
//
// # What readers see
//
// Levels are published one after the other, the largest first, and read the smallest first;
// each says which versions of the larger levels hold what has left it ([Level]). A reader who
// has an older one of those reads it again: so it misses nothing, also where the publisher has
// ended between two levels. What is on two levels then is found once.
package flashindex

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"quotary/shared/search"
	"quotary/shared/store"
)

// Levels is how many views there are of a platform.
const Levels = 11

// MaxBytes is what the index of a platform takes in memory at most. A function of 512 MB holds
// one, and it a second time, packed too, while it reads it; and a level, encoded, is far from
// what a view may have.
const MaxBytes = 128 << 20

// fanIn is how many segments of a level are merged to one of the next.
const fanIn = 4

// Level is the view of a level.
type Level struct {
	// Versions counts how often each level was published: this one, and the larger ones which
	// what has left this one had reached by then. Those of smaller ones are 0.
	Versions [Levels]uint64

	Segments []*search.Segment // the oldest first
}

// Name is that of the view of a level of a platform.
func Name(platform string, level int) string { return fmt.Sprintf("flashindex-%s-%d", platform, level) }

// Builder is the index of a platform as its writer has it. The zero value is empty.
type Builder struct {
	levels    [Levels][]*search.Segment
	versions  [Levels]uint64
	published [Levels]bool      // the level is as its view has it
	pending   []search.Document // in no segment yet
	most      int               // bytes; 0 is MaxBytes
}

// Restore takes a level.
func (t *Builder) Restore(level int, l Level) {
	t.levels[level], t.published[level] = l.Segments, true
	for i, version := range l.Versions { // a level whose view is lost has its version from the smaller levels that name it
		t.versions[i] = max(t.versions[i], version)
	}
}

// maxPending is how many documents wait for others, as a large segment costs less than many
// small ones.
const maxPending = 32_768

// Add adds documents, or newer states of them.
func (t *Builder) Add(documents []search.Document) {
	t.pending = append(t.pending, documents...)
	if len(t.pending) >= maxPending {
		t.build()
	}
}

// build makes a segment of what is pending.
func (t *Builder) build() {
	if len(t.pending) > 0 {
		t.add(search.Build(t.pending))
		t.pending = nil
		t.bound(cmp.Or(t.most, MaxBytes))
	}
}

// bound drops the oldest flashes until no more than so many bytes are left. It takes them
// of the oldest segment alone: of no flash in it an older state is left, to be found again.
func (t *Builder) bound(most int) {
	bytes := 0
	for _, segments := range t.levels {
		for _, s := range segments {
			bytes += s.Bytes()
		}
	}
	for level := Levels - 1; bytes > most; {
		segments := t.levels[level]
		if len(segments) == 0 {
			level--
			continue
		}
		oldest := segments[0]
		segments = slices.Clone(segments[1:])
		if half := oldest.Newest(oldest.Len() / 2); half.Len() > 0 {
			segments = slices.Insert(segments, 0, half)
			bytes += half.Bytes()
		}
		bytes -= oldest.Bytes()
		t.levels[level], t.published[level], t.published[0] = segments, false, false
	}
}

// add puts a segment on the first level that has room for it. What is on the levels below,
// which is older, goes with it.
func (t *Builder) add(segment *search.Segment) {
	moving, size := []*search.Segment{segment}, segment.Len()
	level := 0
	for most := fanIn; level < Levels-1 && (size >= most || len(t.levels[level]) == fanIn-1); level++ {
		for _, s := range t.levels[level] {
			size += s.Len()
		}
		if len(t.levels[level]) > 0 {
			moving = slices.Concat(t.levels[level], moving)
			t.levels[level], t.published[level] = nil, false
		}
		most *= fanIn
	}
	here := slices.Concat(t.levels[level], []*search.Segment{search.Merge(moving...)})
	if len(here) == fanIn { // on the last level, which has none above
		here = []*search.Segment{search.Merge(here...)}
	}
	t.levels[level], t.published[level] = here, false
	t.published[0] = false // in which readers see that there is something new
}

// Changed returns the bodies of the views of levels that have changed since it was asked
// last, by level: the largest are to be published first.
func (t *Builder) Changed() (bodies [Levels][]byte) {
	t.build()
	for level := range t.levels {
		if !t.published[level] {
			t.versions[level]++
		}
	}
	for level, segments := range t.levels {
		if !t.published[level] {
			l := Level{Segments: segments}
			copy(l.Versions[level:], t.versions[level:])
			bodies[level], t.published[level] = Encode(l), true
		}
	}
	return bodies
}

// Index searches the tree.
func (t *Builder) Index() *search.Index {
	t.build()
	return index(t.levels)
}

// index is that of the segments of levels: of a larger one first, which is older.
func index(levels [Levels][]*search.Segment) *search.Index {
	var all []*search.Segment
	for level := Levels - 1; level >= 0; level-- {
		all = append(all, levels[level]...)
	}
	return search.NewIndex(all...)
}

// format is the first byte of a level's view.
const format = 2

// Encode writes the body of a level's view.
func Encode(l Level) []byte {
	b := []byte{format}
	for _, version := range l.Versions {
		b = binary.AppendUvarint(b, version)
	}
	b = binary.AppendUvarint(b, uint64(len(l.Segments)))
	for _, s := range l.Segments {
		body := s.Append(nil)
		b = binary.AppendUvarint(b, uint64(len(body)))
		b = append(b, body...)
	}
	return b
}

var errLevel = errors.New("is no level of an index")

// Decode reads the body of a level's view.
func Decode(b []byte) (l Level, err error) {
	if len(b) == 0 || b[0] != format {
		return Level{}, errLevel
	}
	b = b[1:]
	next := func() (n uint64) {
		var size int
		if n, size = binary.Uvarint(b); size <= 0 {
			err = errLevel
			return 0
		}
		b = b[size:]
		return n
	}
	for i := range l.Versions {
		l.Versions[i] = next()
	}
	for n := next(); n > 0 && err == nil; n-- {
		length := next()
		if err != nil || length > uint64(len(b)) {
			return Level{}, errLevel
		}
		s, err := search.Decode(b[:length])
		if err != nil {
			return Level{}, fmt.Errorf("segment %d: %w", len(l.Segments), err)
		}
		l.Segments, b = append(l.Segments, s), b[length:]
	}
	if err != nil || len(b) > 0 {
		return Level{}, errLevel
	}
	return l, nil
}

// Reader is the index of a platform as a reader keeps it in memory.
type Reader struct {
	views    *store.Views
	platform string
	newest   *store.View[Level] // level 0, which changes with every publication

	mu     sync.Mutex
	levels [Levels]Level
	index  *search.Index
}

// Published is how the view of a level is stored.
func Published(platform string, level int) store.ViewType[Level] {
	return store.ViewType[Level]{Name: Name(platform, level), Period: 5 * time.Second, Write: Encode, Read: Decode}
}

// Open returns the index of a platform.
func Open(views *store.Views, clock func() time.Time, platform string) *Reader {
	return &Reader{views: views, platform: platform, newest: Published(platform, 0).Open(views, clock)}
}

// Index returns the newest state of the index. Where none was ever published it is empty. Of
// the levels those are read that have changed.
func (r *Reader) Index(ctx context.Context) (*search.Index, error) {
	newest, err := store.OrZero(r.newest.Get(ctx))
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index != nil && r.levels[0].Versions == newest.Versions {
		return r.index, nil
	}
	levels, wanted := r.levels, newest.Versions
	levels[0] = newest
	var segments [Levels][]*search.Segment
	for level := range levels {
		if l := &levels[level]; l.Versions[level] < wanted[level] {
			if *l, err = r.read(ctx, level); err != nil {
				return nil, err
			}
		}
		for i, version := range levels[level].Versions {
			wanted[i] = max(wanted[i], version)
		}
		segments[level] = levels[level].Segments
	}
	r.levels, r.index = levels, index(segments)
	return r.index, nil
}

// read reads a level. One that is lost is empty until its publisher has made it again.
func (r *Reader) read(ctx context.Context, level int) (Level, error) {
	body, _, _, err := r.views.Fetch(ctx, Name(r.platform, level), "")
	if err != nil {
		return store.OrZero(Level{}, err)
	}
	l, err := Decode(body)
	if err != nil {
		return Level{}, fmt.Errorf("read level %d of the index of %s: %w", level, r.platform, err)
	}
	return l, nil
}
