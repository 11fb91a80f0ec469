// Package flashindex is the index in which flashes and posts are searched: some views of
// segments (package search) for each platform.
//
// # Levels
//
// A new flash is merged into the segment of level 0. When that has grown full it becomes a
// segment of level 1; when all of those are together full they are merged to one of level 2,
// and so on: so every publication is small, and a flash is written a few times only, however
// many come. Many at once are a segment from the start. In the last level there are, of each
// eightfold size, a few segments. What was merged stays in its level until the next time, so
// that readers who see one level newer than the other miss nothing; where a flash is in two
// segments, the newer one counts.
package flashindex

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/search"
	"quotary/shared/store"
)

// Levels is how many views there are of a platform.
const Levels = 4

// full is from how many flashes on a level is merged into the next.
var full = [Levels]int{512, 8192, 131_072, 1 << 40}

// fanIn is how many segments of about one size the last level may have.
const fanIn = 8

// Level is the segments of a view, the oldest first: what was merged into the next level last,
// and behind it the level's own. Of one alone the level is.
type Level []*search.Segment

// own are the segments of a level that are in no larger one yet.
func (l Level) own() Level {
	if len(l) < 2 {
		return l
	}
	return l[1:]
}

// len is how many flashes the segments hold.
func (l Level) len() (n int) {
	for _, s := range l {
		n += s.Len()
	}
	return n
}

// Name is that of the view of a level of a platform.
func Name(platform string, level int) string { return fmt.Sprintf("flashindex-%s-%d", platform, level) }

// Tree is the index of a platform as its writer has it. The zero value is empty.
type Tree struct {
	levels  [Levels]Level
	dirty   [Levels]bool
	pending []search.Document // in no segment yet
}

// Restore takes a level.
func (t *Tree) Restore(level int, segments Level) { t.levels[level] = segments }

// maxPending is how many documents wait for others, as a large segment costs less than many
// small ones.
const maxPending = 32_768

// Add adds documents, or newer states of them.
func (t *Tree) Add(documents []search.Document) {
	t.pending = append(t.pending, documents...)
	if len(t.pending) >= maxPending {
		t.build()
	}
}

// build makes a segment of what is pending.
func (t *Tree) build() {
	if len(t.pending) > 0 {
		t.add(search.Build(t.pending))
		t.pending = nil
	}
}

// add puts a segment into the first level that does not become full by it. What the levels
// below hold, which is older, goes with it.
func (t *Tree) add(segment *search.Segment) {
	level, moving := 0, Level{segment}
	for own := t.levels[0].own(); own.len()+moving.len() >= full[level]; own = t.levels[level].own() {
		moving = slices.Concat(own, moving)
		level++
	}
	own := t.levels[level].own()
	before := t.levels[level][:len(t.levels[level])-len(own)]
	if len(before) == 0 {
		before = Level{search.Build(nil)}
	}
	if level == 0 {
		moving, own = slices.Concat(own, moving), nil
	}
	landed := search.Merge(moving...)
	for below := range level {
		t.levels[below], t.dirty[below] = Level{landed, search.Build(nil)}, true
	}
	t.levels[level], t.dirty[level] = slices.Concat(before, own, Level{landed}), true
	if level == Levels-1 {
		t.levels[level] = compact(t.levels[level])
	}
}

// compact merges the newest segments of the last level where there are many of about one size.
func compact(l Level) Level {
	for {
		from := len(l) - 1
		for from > 1 && size(l[from-1]) <= size(l[len(l)-1]) {
			from--
		}
		if len(l)-from < fanIn {
			return l
		}
		l = append(slices.Clone(l[:from]), search.Merge(l[from:]...))
	}
}

// size is how often eight segments of the smallest size of the last level have been merged.
func size(s *search.Segment) (class int) {
	for n := s.Len(); n >= fanIn*full[Levels-2]; n /= fanIn {
		class++
	}
	return class
}

// Changed returns the bodies of the views of levels that have changed since it was asked
// last, by level: the largest are to be published first.
func (t *Tree) Changed() (bodies [Levels][]byte) {
	t.build()
	for level := range t.levels {
		if t.dirty[level] {
			bodies[level], t.dirty[level] = Encode(t.levels[level]), false
		}
	}
	return bodies
}

// Index searches the tree.
func (t *Tree) Index() *search.Index {
	t.build()
	return index(t.levels)
}

// index is that of levels: of a larger one first, which is older.
func index(levels [Levels]Level) *search.Index {
	var all []*search.Segment
	for _, l := range slices.Backward(levels[:]) {
		all = append(all, l...)
	}
	return search.NewIndex(all...)
}

// Encode writes the body of a level's view.
func Encode(l Level) []byte {
	b := binary.AppendUvarint(nil, uint64(len(l)))
	for _, s := range l {
		body := s.Append(nil)
		b = binary.AppendUvarint(b, uint64(len(body)))
		b = append(b, body...)
	}
	return b
}

// maxSegments is how many segments a level may have.
const maxSegments = 64

var errLevel = errors.New("is no level of an index")

// Decode reads the body of a level's view.
func Decode(b []byte) (Level, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > maxSegments {
		return nil, errLevel
	}
	b = b[size:]
	l := make(Level, n)
	for i := range l {
		length, size := binary.Uvarint(b)
		if size <= 0 || length > uint64(len(b)-size) {
			return nil, errLevel
		}
		var err error
		if l[i], err = search.Decode(b[size : size+int(length)]); err != nil {
			return nil, fmt.Errorf("segment %d: %w", i, err)
		}
		b = b[size+int(length):]
	}
	if len(b) > 0 {
		return nil, errLevel
	}
	return l, nil
}

// Reader is the index of a platform as a reader keeps it in memory.
type Reader struct {
	views [Levels]*store.View[Level]

	mu     sync.Mutex
	levels [Levels]Level
	index  *search.Index
}

// Open returns the index of a platform.
func Open(views *store.Views, clock func() time.Time, platform string) *Reader {
	r := new(Reader)
	for level := range r.views {
		r.views[level] = dataset.View[Level]{Name: Name(platform, level), Period: 5 * time.Second, Encode: Encode, Decode: Decode}.Open(views, clock)
	}
	return r
}

// Index returns the newest state of the index. Where none was ever published it is empty.
func (r *Reader) Index(ctx context.Context) (*search.Index, error) {
	var levels [Levels]Level
	for level, view := range r.views { // the smallest first: what leaves it is in the larger one then
		l, err := store.OrZero(view.Get(ctx))
		if err != nil {
			return nil, err
		}
		levels[level] = l
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	same := r.index != nil
	for level := range levels {
		same = same && slices.Equal(levels[level], r.levels[level])
	}
	if !same {
		r.levels, r.index = levels, index(levels)
	}
	return r.index, nil
}

// Publish replaces the views of a platform by a tree's.
func Publish(ctx context.Context, views *store.Views, platform string, t *Tree) error {
	t.build()
	for level := range t.levels {
		if err := views.Publish(ctx, Name(platform, level), Encode(t.levels[level])); err != nil {
			return err
		}
	}
	return nil
}
