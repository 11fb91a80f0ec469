package flashindex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/search"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// document is the nth state of a document.
func document(id int64, state int) search.Document {
	return search.Document{ID: id, Time: id, Title: fmt.Sprint("bitcoin w", id%97), Text: fmt.Sprint("state", state, " 比特币上涨")}
}

// TestWhatWasAddedIsFound adds documents and newer states of them in pieces, over restarts
// from what was published, and searches as one segment of all of them would.
func TestWhatWasAddedIsFound(t *testing.T) {
	t.Parallel()
	var tree Builder
	r := rand.New(rand.NewPCG(1, 2))
	newest := map[int64]search.Document{}
	var published [Levels][]byte
	for n := 0; n < 18_000; {
		var some []search.Document
		for range r.IntN(300) {
			id := int64(1 + r.IntN(n+200))
			newest[id] = document(id, n%7)
			some = append(some, newest[id])
			n++
		}
		tree.Add(some)
		for level, body := range tree.Changed() {
			if body != nil {
				published[level] = body
			}
		}
		if r.IntN(20) == 0 {
			tree = Builder{}
			for level, body := range published {
				if body == nil {
					continue
				}
				l := must.Get(Decode(body))(t)
				tree.Restore(level, l)
			}
		}
	}
	var all []search.Document
	for _, d := range newest {
		all = append(all, d)
	}
	whole := search.NewIndex(search.Build(all))
	for _, query := range []string{"bitcoin", "w5", "state3", "比特币 w9", "上涨 state6 w90", "nothing"} {
		got, total := tree.Index().Find(query, 0, 50)
		want, wanted := whole.Find(query, 0, 50)
		if diff := cmp.Diff(want, got); diff != "" || total != wanted {
			t.Errorf("%s: %d of %d (-want +got):\n%s", query, total, wanted, diff)
		}
	}
	for level, l := range tree.levels {
		if len(l) >= fanIn {
			t.Errorf("level %d has %d segments", level, len(l))
		}
	}
}

// TestManyDocumentsAreMergedSeldom adds as many documents as a large drop has, with newer
// states of some, and counts how often they are written into another segment.
func TestManyDocumentsAreMergedSeldom(t *testing.T) {
	t.Parallel()
	const piece, pieces = 20_000, 70
	var tree Builder
	written, known := 0, map[*search.Segment]bool{}
	for n := range pieces {
		var some []search.Document
		for i := range piece {
			some = append(some, search.Document{ID: int64(n*piece + i + 1), Time: int64(n*piece + i), Title: "w"})
		}
		some[0] = search.Document{ID: 1, Time: 1, Title: fmt.Sprint("state", n)}
		tree.Add(some)
		tree.build()
		for _, l := range tree.levels {
			for _, s := range l {
				if !known[s] {
					known[s] = true
					written += s.Len()
				}
			}
		}
	}
	if times := float64(written) / (piece * pieces); times > 3.5 {
		t.Errorf("a document was written %.1f times", times)
	}
	x := tree.Index()
	if _, total := x.Find("w", 0, 1); total != (piece-1)*pieces {
		t.Errorf("%d of %d documents are found", total, (piece-1)*pieces)
	}
	for n := range pieces {
		if _, total := x.Find(fmt.Sprint("state", n), 0, 1); (total == 1) != (n == pieces-1) {
			t.Errorf("state %d of the first document is found %d times", n, total)
		}
	}
}

// TestAPublicationIsOfWhatIsNew publishes flashes one by one, as they come, and counts how often
// each is written.
func TestAPublicationIsOfWhatIsNew(t *testing.T) {
	t.Parallel()
	const flushes = 4096 // which reach level 6
	var tree Builder
	written, bytes, few := 0, 0, 0
	for id := range int64(flushes) {
		tree.Add([]search.Document{document(id+1, 1)})
		documents := 0
		for _, body := range tree.Changed() {
			if body == nil {
				continue
			}
			l := must.Get(Decode(body))(t)
			for _, s := range l.Segments {
				documents += s.Len()
			}
			bytes += len(body)
		}
		written += documents
		if documents < fanIn {
			few++
		}
	}
	once := len(Encode(Level{Segments: []*search.Segment{search.Build([]search.Document{document(1, 1)})}}))
	if times := float64(written) / flushes; times > 2*7 {
		t.Errorf("a flash was published %.1f times on 7 levels", times)
	}
	if bytes > 14*once*flushes {
		t.Errorf("%d bytes were published, %d for each flash, of which one takes %d", bytes, bytes/flushes, once)
	}
	if few < flushes*3/4 {
		t.Errorf("%d publications of %d have less than %d flashes", few, flushes, fanIn)
	}
}

// hostile is a flash of as many words as are indexed, which nobody wrote before.
func hostile(r *rand.Rand, id int64, characters int) search.Document {
	text := make([]rune, characters)
	for i := range text {
		text[i] = rune(0x4e00 + r.IntN(20_000))
	}
	return search.Document{ID: id, Time: id, Title: fmt.Sprint("bitcoin w", id%97), Text: string(text)}
}

// TestALongFlashTakesNoMoreThanItsFirstWords, whatever a vendor sends.
func TestALongFlashTakesNoMoreThanItsFirstWords(t *testing.T) {
	t.Parallel()
	const flashes = 50
	r := rand.New(rand.NewPCG(5, 6))
	var tree Builder
	for id := range int64(flashes) {
		tree.Add([]search.Document{hostile(r, id+1, 8000)})
	}
	size := 0
	for _, body := range tree.Changed() {
		size += len(body)
	}
	if each := size / flashes; each > 10_000 {
		t.Errorf("a flash takes %d bytes", each)
	}
}

// TestTheOldestFlashesAreDroppedWhereTheIndexIsFull bounds an index again and again. No more than
// the bound is kept, a good part of that, and the newest flashes; a level, encoded, is no view
// that is refused; a reader of the views finds the same; and of no flash an older state is found.
func TestTheOldestFlashesAreDroppedWhereTheIndexIsFull(t *testing.T) {
	t.Parallel()
	const most, flashes = 1 << 19, 500
	r := rand.New(rand.NewPCG(7, 8))
	tree := Builder{most: most}
	var published [Levels][]byte
	for id := int64(1); id <= flashes; id++ {
		tree.Add([]search.Document{hostile(r, id, 600)})
		if hidden := id - 20; hidden > 0 {
			tree.Add([]search.Document{{ID: hidden, Time: hidden, Title: "hidden"}})
		}
		if id%10 != 0 {
			continue
		}
		for level, body := range tree.Changed() {
			if body != nil {
				published[level] = body
			}
		}
		bytes, encoded := 0, 0
		var read Builder
		for level, body := range published {
			for _, s := range tree.levels[level] {
				bytes += s.Bytes()
			}
			if body != nil {
				encoded += len(body)
				l := must.Get(Decode(body))(t)
				read.Restore(level, l)
			}
		}
		if bytes > most || encoded > most*5/4 {
			t.Fatalf("after %d flashes %d bytes are kept, %d encoded, at most %d may be", id, bytes, encoded, most)
		}
		got, total := tree.Index().Find("bitcoin", 0, 20)
		if total != int(min(id, 20)) || got[0].ID != id {
			t.Fatalf("after %d flashes %d are found that are not hidden, %v", id, total, got)
		}
		if again, n := read.Index().Find("bitcoin", 0, 20); n != total || !cmp.Equal(got, again) {
			t.Fatalf("after %d flashes a reader finds %d (-want +got):\n%s", id, n, cmp.Diff(got, again))
		}
	}
	if _, total := tree.Index().Find("hidden", 0, 1); total == 0 || total > flashes*9/10 {
		t.Errorf("%d of %d older flashes are left", total, flashes)
	}
}

// TestAReaderMissesNothing reads between any two writes of a publisher, who ends between two of
// them now and then and begins again from what is there, and adds again what was not published.
func TestAReaderMissesNothing(t *testing.T) {
	t.Parallel()
	views := storetest.Open(t).Views
	now := time.Now()
	clock := func() time.Time { return now }
	var readers []*Reader
	for range 8 {
		readers = append(readers, Open(views, clock, "house"))
	}
	var tree Builder
	r := rand.New(rand.NewPCG(3, 4))
	published, writes := 0, 0
	look := func(n int) {
		t.Helper()
		now = now.Add(time.Minute)
		for i, one := range append(readers, Open(views, clock, "house")) {
			if i < len(readers) && r.IntN(6) > 0 { // who looks seldom has older versions
				continue
			}
			x := must.Get(one.Index(t.Context()))(t)
			if _, total := x.Find("bitcoin", 0, 1); total < published || total > n {
				t.Fatalf("reader %d finds %d of %d to %d flashes after %d writes", i, total, published, n, writes)
			}
		}
	}
	for n := 1; published < 150; {
		for id := published + 1; id <= n; id++ {
			tree.Add([]search.Document{document(int64(id), 1)})
		}
		ended := false
		bodies := tree.Changed()
		for level, body := range slices.Backward(bodies[:]) {
			if body == nil {
				continue
			}
			if ended = r.IntN(10) == 0; ended {
				tree = restored(t, views)
				break
			}
			must.Do(t, views.Publish(t.Context(), Name("house", level), body))
			writes++
			look(n)
		}
		if !ended {
			published = n
			look(n)
			n += 1 + r.IntN(4)
		}
	}
}

// restored is the tree as its views have it.
func restored(t *testing.T, views *store.Views) (tree Builder) {
	t.Helper()
	for level := range Levels {
		body, _, _, err := views.Fetch(t.Context(), Name("house", level), "")
		if errors.Is(err, store.ErrNoView) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		l := must.Get(Decode(body))(t)
		tree.Restore(level, l)
	}
	return tree
}

func TestAReaderSeesWhatIsPublished(t *testing.T) {
	t.Parallel()
	views := storetest.Open(t).Views
	now := time.Now()
	r := Open(views, func() time.Time { return now }, "house")
	find := func() int {
		t.Helper()
		x := must.Get(r.Index(t.Context()))(t)
		_, total := x.Find("bitcoin", 0, 10)
		return total
	}
	if n := find(); n != 0 {
		t.Errorf("%d before anything is published", n)
	}
	var tree Builder
	tree.Add([]search.Document{document(1, 1), document(2, 1)})
	for level, body := range tree.Changed() {
		if body != nil {
			must.Do(t, views.Publish(t.Context(), Name("house", level), body))
		}
	}
	now = now.Add(time.Minute)
	if n := find(); n != 2 {
		t.Errorf("%d, want 2", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(Level{Segments: []*search.Segment{search.Build([]search.Document{document(1, 1)})}}))
	f.Add([]byte{9})
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = Decode(b) })
}
