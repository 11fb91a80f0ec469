package tablefile_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// published is a table as it is published: files by their keys, and which are the newest version.
type published struct {
	mu     sync.Mutex
	files  map[string][]byte
	newest tablefile.Manifest
	reads  map[string]int // of each file
	held   chan struct{}  // what is not nil holds reads up until it is closed
	lost   map[string]bool
}

var figures = []tablefile.Column{{Name: "pnl", Kind: tablefile.Money, Scale: 6}, {Name: "trades"}, {Name: "added.later"}, {Name: "coins", Kind: tablefile.Names}}

// put adds a version, of files that are there and a new one whose rows have the addresses from..to and
// value x 1000 + address in each column; those with an odd one traded BTC beside ETH.
func (p *published) put(t *testing.T, version int64, columns int, value int64, from, to int, keep ...string) string {
	t.Helper()
	part := &tablefile.Part{Tier: "hot", Version: version}
	numbers, known := make([]int64, to-from), table.NewBits(to-from)
	for i := range numbers {
		var a table.Address
		binary.BigEndian.PutUint64(a[12:], uint64(from+i)) //nolint:gosec // there are few
		part.Addresses = append(part.Addresses, a)
		numbers[i] = 1000*value + int64(from+i)
		known.Set(i)
	}
	part.Values = func(int) ([]int64, table.Bits, error) { return numbers, known, nil }
	names := make([][]string, to-from)
	for i := range names {
		names[i] = []string{"ETH", "BTC"}[:1+(from+i)%2]
	}
	part.Names = func(int) ([][]string, error) { return names, nil }
	key := fmt.Sprintf("%d.parquet", version)
	body := must.Get(tablefile.Bytes(figures[:columns], part))(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files == nil {
		p.files, p.reads, p.lost = map[string][]byte{}, map[string]int{}, map[string]bool{}
	}
	p.files[key] = body
	p.newest = tablefile.Manifest{Version: version}
	for _, k := range append(slices.Clone(keep), key) {
		p.newest.Files = append(p.newest.Files, tablefile.Named{Key: k, Bytes: int64(len(p.files[k]))})
	}
	return key
}

func (p *published) Newest(context.Context) (tablefile.Manifest, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest.Version == 0 {
		return tablefile.Manifest{}, errors.New("nothing was published")
	}
	return p.newest, nil
}

func (p *published) Range(ctx context.Context, key string, offset, n int64) ([]byte, error) {
	p.mu.Lock()
	p.reads[key]++
	body, held, lost := p.files[key], p.held, p.lost[key]
	p.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if lost || offset < 0 || offset+n > int64(len(body)) {
		return nil, fmt.Errorf("%s is not there", key)
	}
	return body[offset : offset+n], nil
}

// hold holds reads up until the returned function is called.
func (p *published) hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := make(chan struct{})
	p.held = held
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = nil
		close(held)
	}
}

// first asks for the row with the greatest pnl.
func first(t *testing.T, r *tablefile.Reader) (version int64, total int, values []tablefile.Value) {
	t.Helper()
	a := must.Get(r.Ask(t.Context(), &table.Query{Filters: []table.Filter{table.Known(1)}, Limit: 1}, []int{0, 2}))(t)
	if len(a.Rows) != 1 {
		t.Fatalf("%d rows", len(a.Rows))
	}
	return a.Version, a.Total, a.Rows[0].Values
}

func TestAQueryIsOfOneVersionAndHidesWhatIsThereAnew(t *testing.T) {
	t.Parallel()
	var p published
	r := tablefile.NewReader(figures, p.Newest, &p, 1<<20)
	cold := p.put(t, 1, 2, 5, 0, 100)
	p.put(t, 2, 3, 3, 90, 120, cold)
	version, total, values := first(t, r)
	want := []tablefile.Value{{Value: 5089, Known: true}, {}}
	if version != 2 || total != 120 || !slices.Equal(values, want) {
		t.Errorf("version %d, %d rows, the first is %v: want version 2 with 120 and %v", version, total, values, want)
	}
}

func TestNobodyBelongsToTheSetsThatAFileWasMadeWithout(t *testing.T) {
	t.Parallel()
	var p published
	r := tablefile.NewReader(figures, p.Newest, &p, 1<<20)
	older := p.put(t, 1, 3, 5, 0, 100)
	p.put(t, 2, 4, 3, 90, 120, older)
	for kind, want := range map[table.SetKind]int{table.Any: 15, table.None: 105, table.Only: 0, table.Some: 30} {
		q := table.Query{Sets: []table.SetFilter{{Column: 3, Names: []string{"BTC"}, Kind: kind}}}
		if a := must.Get(r.Ask(t.Context(), &q, nil))(t); a.Total != want {
			t.Errorf("kind %d: %d rows, want %d", kind, a.Total, want)
		}
	}
}

func TestARowShowsTheSetsThatItBelongsToBesideItsFigures(t *testing.T) {
	t.Parallel()
	var p published
	r := tablefile.NewReader(figures, p.Newest, &p, 1<<20)
	older := p.put(t, 1, 3, 5, 0, 100)
	p.put(t, 2, 4, 3, 90, 120, older)
	for address, want := range map[byte][]string{91: {"BTC", "ETH"}, 92: {"ETH"}, 5: nil} {
		a := must.Get(r.Ask(t.Context(), &table.Query{Addresses: []table.Address{{19: address}}, Limit: 1}, []int{0, 3, 1}))(t)
		if row := &a.Rows[0]; !slices.Equal(row.NamesAt(1), want) || row.NamesAt(0) != nil || row.NamesAt(2) != nil || row.Values[0] != row.Values[2] || !row.Values[0].Known {
			t.Errorf("row %d is %+v, want %v in the middle", address, row, want)
		}
	}
}

func TestTheVersionBeforeAnswersWhileANewOneLoads(t *testing.T) {
	t.Parallel()
	var p published
	r := tablefile.NewReader(figures, p.Newest, &p, 1<<20)
	cold := p.put(t, 1, 3, 5, 0, 100)
	first(t, r)
	before := p.reads[cold]
	release := p.hold()
	p.put(t, 2, 3, 9, 0, 10, cold)
	for range 3 {
		if version, _, values := first(t, r); version != 1 || values[0].Value != 5099 {
			t.Fatalf("version %d while the second loads, %v", version, values)
		}
	}
	release()
	testenv.Until(t, "the second version answers", func() bool {
		version, total, values := first(t, r)
		return version == 2 && total == 100 && values[0].Value == 9009
	})
	if p.reads[cold] != before {
		t.Errorf("a file that stays is read %d times more", p.reads[cold]-before)
	}
}

func TestAVersionThatCannotBeReadLeavesTheOneBefore(t *testing.T) {
	t.Parallel()
	var p published
	r := tablefile.NewReader(figures, p.Newest, &p, 1<<20)
	if _, err := r.Ask(t.Context(), &table.Query{}, nil); err == nil {
		t.Error("what was never published answers")
	}
	p.put(t, 1, 3, 5, 0, 100)
	first(t, r)
	torn := p.put(t, 2, 3, 9, 0, 100)
	p.mu.Lock()
	p.lost[torn] = true
	p.mu.Unlock()
	testenv.Until(t, "the second version is tried", func() bool {
		if version, _, _ := first(t, r); version != 1 {
			t.Fatalf("version %d answers", version)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.reads[torn] > 0
	})
	p.put(t, 3, 3, 7, 0, 100)
	testenv.Until(t, "the third version answers", func() bool {
		version, _, _ := first(t, r)
		return version == 3
	})
}

func TestManyThatAskAtOnceReadAColumnOnce(t *testing.T) {
	t.Parallel()
	var p published
	key := p.put(t, 1, 3, 5, 0, 100)
	r := tablefile.NewReader(figures, p.Newest, &p, 1<<20)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { first(t, r) })
	}
	wg.Wait()
	if want := 4; p.reads[key] != want { // the footer, the addresses, and columns: those that find a row, and those it shows beside
		t.Errorf("%d reads, want %d", p.reads[key], want)
	}
	small := tablefile.NewReader(figures, p.Newest, &p, 1)
	first(t, small)
	before := p.reads[key]
	if first(t, small); p.reads[key] != before+2 { // what finds the row, and what it shows
		t.Errorf("without room for columns a query reads %d times, want 2", p.reads[key]-before)
	}
}

// apart are files that are larger than they were written, between what they have and their footers. It
// notes which of them are being read.
type apart struct {
	*published
	bytes int64

	mu   sync.Mutex
	open map[string]bool
	most int
}

func (a *apart) Range(_ context.Context, key string, offset, n int64) ([]byte, error) {
	a.mu.Lock()
	a.open[key] = true
	a.most = max(a.most, len(a.open))
	a.mu.Unlock()
	body := a.files[key]
	footer := int64(binary.LittleEndian.Uint32(body[len(body)-8:])) + 8
	end := a.bytes - footer
	b := make([]byte, n)
	if offset < int64(len(body)) {
		copy(b, body[offset:])
	}
	if offset+n > end {
		copy(b[end-offset:], body[int64(len(body))-footer:])
	}
	return b, nil
}

// However many files a question needs, what is held of them is not more.
func TestLargeFilesAreReadOneAfterTheOther(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]int{64 << 20: 1, 32 << 20: 2} {
		a := &apart{published: new(published), bytes: bytes, open: map[string]bool{}}
		var named []tablefile.Named
		for n := range 5 {
			named = append(named, tablefile.Named{Key: a.put(t, int64(n+1), 4, int64(n), 0, 100), Bytes: bytes})
		}
		seen := 0
		must.Do(t, tablefile.NewFiles(figures, a, 1).Each(t.Context(), named, []int{0, 1, 3}, func(file int, rows *table.Part, columns []int) error {
			if v, known := rows.At(3, 0); v != int64(1000*file+3) || !known || len(rows.Columns) != 2 || !rows.Sets[3][0].Has(3, "BTC") || len(columns) != 3 {
				t.Errorf("file %d has %d, known %t, in %v", file, v, known, columns)
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.open, named[file].Key)
			seen++
			return nil
		}))
		if seen != len(named) || a.most > want {
			t.Errorf("%d files of %d bytes are read, %d at once", seen, bytes, a.most)
		}
	}
}

// A request costs as much as some hundred kilobytes.
func TestColumnsOfAFileAreReadTogether(t *testing.T) {
	t.Parallel()
	var p published
	var named []tablefile.Named
	for n := range 5 {
		p.put(t, int64(n+1), 4, int64(n), 0, 100)
		named = append(named, p.newest.Files...)
	}
	f := tablefile.NewFiles(figures, &p, 1<<20)
	for range 2 {
		must.Do(t, f.Each(t.Context(), named, []int{0, 1, 3}, func(int, *table.Part, []int) error { return nil }))
	}
	for _, of := range named {
		if p.reads[of.Key] != 3 { // the footer, the addresses and all columns
			t.Errorf("%d reads of %s, want 3", p.reads[of.Key], of.Key)
		}
	}
	broken := errors.New("broken")
	if err := f.Each(t.Context(), named, []int{0}, func(int, *table.Part, []int) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

func TestWhoLeavesDoesNotWait(t *testing.T) {
	t.Parallel()
	var p published
	p.put(t, 1, 3, 5, 0, 100)
	defer p.hold()()
	r := tablefile.NewReader(figures, p.Newest, &p, 1<<20)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Ask(ctx, &table.Query{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// memory reads a file, and looks with each column how much is in memory.
type memory struct {
	file []byte
	mu   sync.Mutex
	most uint64
}

func (m *memory) Range(_ context.Context, _ string, offset, n int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	m.most = max(m.most, now.HeapAlloc)
	return m.file[offset : offset+n], nil
}

// The columns of what an answer shows are as long as the table, however few rows it has.
func TestAnAnswerOfManyColumnsHoldsFewOfThemAtATime(t *testing.T) { //nolint:paralleltest // it counts what is in memory
	const rows, shown = 64 << 10, 200
	columns, part := make([]tablefile.Column, shown), &tablefile.Part{Version: 1, Addresses: make([]table.Address, rows)}
	show := make([]int, shown)
	for i := range columns {
		columns[i], show[i] = tablefile.Column{Name: fmt.Sprint("c", i), Kind: tablefile.Money}, i
	}
	for i := range part.Addresses {
		binary.BigEndian.PutUint64(part.Addresses[i][12:], uint64(i))
	}
	part.Values = func(column int) ([]int64, table.Bits, error) {
		values, known, r := make([]int64, rows), table.NewBits(rows), rand.New(rand.NewPCG(1, uint64(column))) //nolint:gosec // it is small
		for i := range values {
			values[i] = r.Int64N(1e17)
			known.Set(i)
		}
		return values, known, nil
	}
	m := &memory{file: must.Get(tablefile.Bytes(columns, part))(t)}
	var before runtime.MemStats
	for range 3 { // what is pooled takes more than one
		runtime.GC()
	}
	runtime.ReadMemStats(&before)
	manifest := tablefile.Manifest{Version: 1, Files: []tablefile.Named{{Key: "a", Bytes: int64(len(m.file))}}}
	r := tablefile.NewReader(columns, func(context.Context) (tablefile.Manifest, error) { return manifest, nil }, m, 1)
	a := must.Get(r.Ask(t.Context(), &table.Query{Limit: 25}, show))(t)
	if all := uint64(rows * 8 * shown); len(a.Rows) != 25 || len(a.Rows[0].Values) != shown || m.most > before.HeapAlloc+all*3/5 {
		t.Errorf("%d rows of %d values, with %d bytes in memory, of %d", len(a.Rows), len(a.Rows[0].Values), m.most-before.HeapAlloc, all)
	}
}
