// Package flashindex is the index in which flashes and posts are searched: some views of
// segments (package search) for each platform.
//
// # Levels
//
// A new flash is merged into the smallest segment, in level 0. One that has grown full is
// merged into level 1, and that of level 1 in time into level 2: so every publication is
// small, and a flash is written a few times only. What was merged stays where it was until
// the next time, so that readers who see one level newer than the other miss nothing; where
// a flash is in two segments, the newer one counts.
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
const Levels = 3

// full is from how many flashes on the newest segment of a level is merged into the next.
var full = [Levels]int{512, 16_384, 1 << 40}

// Level is the segments of a view, the oldest first: of level 2 one, of the others that which
// was merged last and that which grows.
type Level []*search.Segment

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
const maxPending = 8192

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
		t.add(0, search.Build(t.pending))
		t.pending = nil
	}
}

func (t *Tree) add(level int, segment *search.Segment) {
	l := t.levels[level]
	growing := segment
	var merged Level
	if n := len(l); n > 0 {
		growing, merged = search.Merge(l[n-1], segment), l[:n-1]
	}
	t.dirty[level] = true
	if growing.Len() < full[level] {
		t.levels[level] = append(slices.Clone(merged), growing)
		return
	}
	t.add(level+1, growing)
	t.levels[level] = Level{growing, search.Build(nil)}
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
const maxSegments = 8

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
