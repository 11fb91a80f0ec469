package publication_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/functions/ingester/objects"
	"quotary/functions/ingester/publication"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

var columns = []tablefile.Column{{Name: "pnl", Kind: tablefile.Money, Scale: 6}, {Name: "trades"}, {Name: "coins", Kind: tablefile.Names}}

// memory is a store that ends at one of its requests, as a process does that is killed.
type memory struct {
	mu     sync.Mutex
	files  map[string][]byte
	newest tablefile.Manifest
	list   []string
	left   int    // requests until it ends
	done   bool   // whether the request at which it ends is still carried out
	after  func() // each request; nil for nothing
}

var errKilled = errors.New("it was killed")

// request carries out a change, or ends.
func (m *memory) request(change func() error) error {
	if m.after != nil {
		defer m.after()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left--
	switch {
	case m.left > 0:
		return change()
	case m.left == 0 && m.done:
		_ = change()
	}
	return errKilled
}

// Range reads a part of a file.
func (m *memory) Range(_ context.Context, key string, offset, n int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, ok := m.files[key]
	if !ok || offset < 0 || offset+n > int64(len(body)) {
		return nil, fmt.Errorf("%s has no %d bytes from %d on", key, n, offset)
	}
	return body[offset : offset+n], nil
}

// Create, Files, Remove, Manifest, Replace and List are those of a store.
func (m *memory) Create(_ context.Context, key string, file []byte) error {
	return m.request(func() error {
		if m.files[key] != nil {
			return objects.ErrExists
		}
		m.files[key] = file
		return nil
	})
}

func (m *memory) Files(_ context.Context, prefix string) (keys []string, err error) {
	err = m.request(func() error {
		for key := range m.files {
			if strings.HasPrefix(key, prefix) {
				keys = append(keys, key)
			}
		}
		return nil
	})
	return keys, err
}

func (m *memory) Remove(_ context.Context, key string) error {
	return m.request(func() error {
		delete(m.files, key)
		return nil
	})
}

func (m *memory) Manifest(context.Context) (tablefile.Manifest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.newest, nil
}

func (m *memory) Replace(_ context.Context, of tablefile.Manifest) error {
	return m.request(func() error {
		m.newest = of
		return nil
	})
}

func (m *memory) List(_ context.Context, keys []string) error {
	return m.request(func() error {
		m.list = keys
		return nil
	})
}

// trader is a row as a test keeps it.
type trader struct {
	pnl    int64
	trades int64 // -1 is not known
	coins  []string
}

func partOf(rows map[table.Address]trader) *tablefile.Part {
	p := &tablefile.Part{}
	p.Addresses = slices.SortedFunc(maps.Keys(rows), func(a, b table.Address) int { return slices.Compare(a[:], b[:]) })
	p.Values = func(c int) (values []int64, known table.Bits, err error) {
		known = table.NewBits(len(p.Addresses))
		for i, a := range p.Addresses {
			v := []int64{rows[a].pnl, rows[a].trades}[c]
			if values = append(values, v); v != -1 {
				known.Set(i)
			}
		}
		return values, known, nil
	}
	p.Names = func(int) (names [][]string, err error) {
		for _, a := range p.Addresses {
			names = append(names, rows[a].coins)
		}
		return names, nil
	}
	return p
}

// world is a table that is published, and what it should be.
type world struct {
	*memory
	publisher publication.Publisher
	now       time.Time
	want      map[table.Address]trader // of the newest version
	hot       map[table.Address]bool
	state     string
	versions  int
}

func newWorld() *world {
	w := &world{memory: &memory{files: map[string][]byte{}, left: 1 << 30}, now: time.UnixMilli(1_700_000_000_000), want: map[table.Address]trader{}}
	w.publisher = publication.Publisher{Columns: columns, Prefix: "table/", Store: w.memory, Keep: time.Hour, Now: func() time.Time { return w.now }}
	return w
}

func address(n int) (a table.Address) {
	binary.BigEndian.PutUint64(a[12:], uint64(n)) //nolint:gosec // there are few
	return a
}

// next draws how traders change, and the change of the table that follows.
func (w *world) next(t *rapid.T) (c publication.Change, want map[table.Address]trader, hot map[table.Address]bool) {
	w.versions++
	want, hot = maps.Clone(w.want), map[table.Address]bool{}
	hotRows, left := map[table.Address]trader{}, map[table.Address]trader{}
	for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 0, 15, rapid.ID[int]).Draw(t, "changed") {
		want[address(n)] = trader{int64(w.versions*1000 + n), int64(n%5 - 1), []string{"BTC", "ETH", "SOL"}[:rapid.IntRange(0, 3).Draw(t, "coins")]}
	}
	for a, row := range want {
		if rapid.IntRange(0, 2).Draw(t, "hot") == 0 {
			hot[a], hotRows[a] = true, row
		} else if old, had := w.want[a]; !had || w.hot[a] || old.pnl != row.pnl {
			left[a] = row
		}
	}
	c = publication.Change{Hot: partOf(hotRows), Left: partOf(left), Cold: rapid.IntRange(0, 3).Draw(t, "cold") == 0}
	if rapid.Bool().Draw(t, "the state changes") {
		c.State = fmt.Append(nil, "state ", w.versions)
	}
	return c, want, hot
}

// published has a change be that of the newest version.
func (w *world) published(c *publication.Change, want map[table.Address]trader, hot map[table.Address]bool) {
	if w.want, w.hot = want, hot; c.State != nil {
		w.state = string(c.State)
	}
}

// checkState holds the state of the newest version to what was last put there.
func checkState(t *rapid.T, w *world) {
	t.Helper()
	of := w.newest.State
	if body := string(w.files[of.Key]); body != w.state || of.Bytes != int64(len(body)) {
		t.Fatalf("the state of version %d is %q of %d bytes, want %q", w.newest.Version, body, of.Bytes, w.state)
	}
}

func (w *world) publish(t *rapid.T) {
	c, want, hot := w.next(t)
	w.now = w.now.Add(rapid.SampledFrom([]time.Duration{0, -time.Hour, 5 * time.Minute, 40 * time.Minute}).Draw(t, "pass"))
	if _, err := w.publisher.Publish(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.published(&c, want, hot)
	checkState(t, w)
}

// check compares a version with what it should be.
func check(t *rapid.T, w *world, m tablefile.Manifest, want map[table.Address]trader) {
	t.Helper()
	r := tablefile.NewReader(columns, func(context.Context) (tablefile.Manifest, error) { return m, nil }, w.memory, 1<<20)
	a, err := r.Ask(t.Context(), &table.Query{Unordered: true, Limit: 100}, []int{0, 1})
	if err != nil || a.Total != len(want) || len(a.Rows) != len(want) || a.Version != m.Version {
		t.Fatalf("version %d has %d rows (%v), want %d", m.Version, a.Total, err, len(want))
	}
	for _, row := range a.Rows {
		of := want[row.Address]
		if v := row.Values; v[0] != (tablefile.Value{Value: of.pnl, Known: of.pnl != -1}) || v[1].Known != (of.trades != -1) || v[1].Known && v[1].Value != of.trades {
			t.Fatalf("%x is %v, want %+v", row.Address, v, of)
		}
	}
	for n := range 3 {
		coin, count := []string{"BTC", "ETH", "SOL"}[n], 0
		for _, of := range want {
			if len(of.coins) > n {
				count++
			}
		}
		a, err := r.Ask(t.Context(), &table.Query{Sets: []table.SetFilter{{Column: 2, Names: []string{coin}, Kind: table.All}}}, nil)
		if err != nil || a.Total != count {
			t.Fatalf("%d traded %s (%v), want %d", a.Total, coin, err, count)
		}
	}
}

// latest are each trader's rows of the latest version of the files in the list, as engines find
// them that know nothing of manifests.
func latest(t *rapid.T, w *world) map[table.Address]int64 {
	t.Helper()
	version, pnl := map[table.Address]int64{}, map[table.Address]int64{}
	for _, key := range w.list {
		f := must.Get(tablefile.OpenObject(t.Context(), w.memory, tablefile.Named{Key: key, Bytes: int64(len(w.files[key]))}))(t)
		blocks := must.Get(f.Blocks(t.Context(), "pnl"))(t)
		of := must.Get(strconv.ParseInt(strings.TrimPrefix(key[:strings.LastIndex(key, "-")], "table/"), 10, 64))(t)
		for i, a := range must.Get(f.Addresses(t.Context()))(t) {
			if of > version[a] {
				version[a] = of
				pnl[a], _ = blocks[0].At(i)
			}
		}
	}
	return pnl
}

// lists reports whether the list is of a version that has these rows, all of them.
func lists(t *rapid.T, w *world, want map[table.Address]trader) bool {
	t.Helper()
	pnl := latest(t, w)
	for a, of := range want {
		if got, ok := pnl[a]; !ok || got != of.pnl {
			return false
		}
	}
	return len(pnl) == len(want)
}

// checkList holds the list to be of one of some versions.
func checkList(t *rapid.T, w *world, versions ...map[table.Address]trader) {
	t.Helper()
	for _, want := range versions {
		if lists(t, w, want) {
			return
		}
	}
	t.Fatalf("the files %v say %v, want one of %v", w.list, latest(t, w), versions)
}

func TestEachVersionIsTheWholeTable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(1, 4).Draw(t, "versions") {
			before, had := w.newest, w.want
			w.publish(t)
			check(t, w, w.newest, w.want)
			if before.Version > 0 {
				check(t, w, before, had) // who reads it still goes on
			}
			checkList(t, w, w.want)
		}
	})
}

// TestWhoReadsTheListSeesAWholeVersionAtAnyTime: until the list is written it is the version before, of
// which all files stay, though the manifest may name the next one already.
func TestWhoReadsTheListSeesAWholeVersionAtAnyTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(1, 4).Draw(t, "versions") {
			c, want, hot := w.next(t)
			w.now = w.now.Add(rapid.SampledFrom([]time.Duration{-time.Hour, 5 * time.Minute, 3 * time.Hour}).Draw(t, "pass"))
			had, before := w.want, w.list
			w.after = func() {
				if slices.Equal(w.list, before) {
					checkList(t, w, had)
				} else {
					checkList(t, w, want)
				}
			}
			must.Get(w.publisher.Publish(t.Context(), c))(t)
			w.published(&c, want, hot)
		}
	})
}

func TestAPublicationThatIsKilledLeavesTheTableWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(0, 2).Draw(t, "versions") {
			w.publish(t)
		}
		c, want, hot := w.next(t)
		had := w.want
		w.left, w.done = rapid.IntRange(1, 8).Draw(t, "requests"), rapid.Bool().Draw(t, "carried out")
		before := w.newest.Version
		_, err := w.publisher.Publish(t.Context(), c)
		if w.newest.Version > before {
			w.published(&c, want, hot)
		} else if err == nil {
			t.Fatal("it says that it was published")
		}
		check(t, w, w.newest, w.want)
		checkState(t, w)
		checkList(t, w, had, w.want)
		w.left = 1 << 30
		for range 3 {
			w.publish(t)
			check(t, w, w.newest, w.want)
			checkList(t, w, w.want)
		}
		for range 2 { // by versions, as the clock may have stood behind
			w.now = time.UnixMilli(w.newest.Version).Add(3 * time.Hour)
			w.publish(t)
		}
		keep := map[string]bool{}
		for _, f := range w.newest.All() {
			keep[f.Key] = true
		}
		for _, l := range w.newest.Left {
			keep[l.Key] = true
		}
		for key := range w.files {
			if !keep[key] {
				t.Fatalf("%s stays, of %v and %v", key, w.newest.Files, w.newest.Left)
			}
		}
		check(t, w, w.newest, w.want)
	})
}
