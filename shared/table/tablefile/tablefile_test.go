package tablefile_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

// file is a file in memory, which counts what is read of it.
type file struct {
	bytes []byte
	reads int
}

func (f *file) Range(_ context.Context, offset, n int64) ([]byte, error) {
	f.reads++
	if offset < 0 || n < 0 || offset+n > int64(len(f.bytes)) {
		return nil, fmt.Errorf("%d bytes from %d on are not there", n, offset)
	}
	return f.bytes[offset : offset+n], nil
}

// drawn is a part with columns of every kind.
func drawn(t *rapid.T, rows int) ([]tablefile.Column, *tablefile.Part) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var columns []tablefile.Column
	var values [][]int64
	var known []table.Bits
	for c := range rapid.IntRange(0, 6).Draw(t, "columns") {
		columns = append(columns, tablefile.Column{
			Name: "z" + strconv.Itoa(9-c), Kind: rapid.SampledFrom([]tablefile.Kind{tablefile.Count, tablefile.Money, tablefile.Ratio, tablefile.Date}).Draw(t, "kind"), Scale: rapid.IntRange(0, 18).Draw(t, "scale"),
		})
		most := rapid.SampledFrom([]int64{1, 100, 1e6, tablefile.Most}).Draw(t, "most")
		share := rapid.SampledFrom([]int{0, 1, 9, 10}).Draw(t, "known of ten")
		numbers, bits := make([]int64, rows), table.NewBits(rows)
		for i := range numbers {
			if rng.IntN(10) < share {
				numbers[i] = rng.Int64N(2*most) - most
				bits.Set(i)
			}
		}
		values, known = append(values, numbers), append(known, bits)
	}
	figures := len(columns)
	names := make([][][]string, rapid.IntRange(0, 2).Draw(t, "columns of sets"))
	for c := range names {
		columns = append(columns, tablefile.Column{Name: "names" + strconv.Itoa(c), Kind: tablefile.Names})
		names[c] = make([][]string, rows)
		most := rapid.SampledFrom([]int{1, 3, 200}).Draw(t, "names")
		for i := range names[c] {
			for n := range rng.IntN(4) {
				if name := strconv.Itoa(n * rng.IntN(most)); !slices.Contains(names[c][i], name) {
					names[c][i] = append(names[c][i], name)
				}
			}
		}
	}
	p := &tablefile.Part{
		Tier: "hot", Version: 5, Addresses: make([]table.Address, rows),
		Values: func(c int) ([]int64, table.Bits, error) { return values[c], known[c], nil },
		Names:  func(c int) ([][]string, error) { return names[c-figures], nil },
	}
	for i := range p.Addresses {
		binary.BigEndian.PutUint32(p.Addresses[i][16:], uint32(i)) //nolint:gosec // there are few
		binary.BigEndian.PutUint64(p.Addresses[i][:], rng.Uint64())
	}
	return columns, p
}

func TestAFileIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SampledFrom([]int{0, 1, 63, 64, 500, 3000, 3000, table.BlockRows, table.BlockRows + 1}).Draw(t, "rows")
		columns, p := drawn(t, rows)
		stored := &file{bytes: must.Get(tablefile.Bytes(columns, p))(t)}
		f := must.Get(tablefile.Open(t.Context(), stored, int64(len(stored.bytes))))(t)
		if f.Rows() != rows || stored.reads != 1 {
			t.Fatalf("%d rows after %d reads, want %d after one", f.Rows(), stored.reads, rows)
		}
		addresses := must.Get(f.Addresses(t.Context()))(t)
		for i, a := range p.Addresses {
			if addresses[i] != a {
				t.Fatalf("address %d is %x, want %x", i, addresses[i], a)
			}
		}
		for c := range columns {
			before := stored.reads
			if columns[c].Kind == tablefile.Names {
				sameNames(t, must.Get(f.Sets(t.Context(), columns[c].Name))(t), must.Get(p.Names(c))(t))
				continue
			}
			blocks := must.Get(f.Blocks(t.Context(), columns[c].Name))(t)
			if stored.reads > before+1 {
				t.Errorf("a column takes %d reads, want one", stored.reads-before)
			}
			values, known, _ := p.Values(c)
			for i, want := range values {
				got, ok := blocks[i/table.BlockRows].At(i % table.BlockRows)
				if is := known.Has(i); ok != is || is && got != want {
					t.Fatalf("%+v, row %d: %d, known %t, want %d, %t", columns[c], i, got, ok, want, is)
				}
			}
		}
	})
}

// sameNames compares a column of sets with the names of each row, and with others that some row has.
func sameNames(t *rapid.T, blocks []table.SetBlock, rows [][]string) {
	all := map[string]bool{"no such": true}
	for _, names := range rows[:min(len(rows), 500)] {
		for _, name := range names {
			all[name] = true
		}
	}
	for row, names := range rows {
		b := &blocks[row/table.BlockRows]
		for _, name := range names {
			if !b.Has(row%table.BlockRows, name) {
				t.Fatalf("row %d lacks %q", row, name)
			}
		}
		for name := range all {
			if row < 2000 && b.Has(row%table.BlockRows, name) != slices.Contains(names, name) {
				t.Fatalf("row %d has %v, and %q", row, names, name)
			}
		}
	}
}

func TestADamagedFileIsAnError(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		columns, p := drawn(t, rapid.IntRange(0, 300).Draw(t, "rows"))
		whole := must.Get(tablefile.Bytes(columns, p))(t)
		stored := &file{bytes: append([]byte(nil), whole...)}
		if rapid.Bool().Draw(t, "cut") {
			stored.bytes = whole[:rapid.IntRange(0, len(whole)-1).Draw(t, "length")]
		}
		for range rapid.IntRange(0, 4).Draw(t, "damages") {
			if len(stored.bytes) > 0 {
				stored.bytes[rapid.IntRange(0, len(stored.bytes)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
		}
		f, err := tablefile.Open(t.Context(), stored, int64(len(stored.bytes)))
		if err != nil {
			return
		}
		for _, c := range columns { // an error, or values: never a panic
			_, _ = f.Blocks(t.Context(), c.Name)
			_, _ = f.Sets(t.Context(), c.Name)
		}
		_, _ = f.Addresses(t.Context())
	})
}

func TestWhatAFileDoesNotHoldIsRefused(t *testing.T) {
	t.Parallel()
	columns := []tablefile.Column{{Name: "a", Kind: tablefile.Money}}
	for name, values := range map[string][]int64{"too few": nil, "too large": {tablefile.Most + 1}, "too small": {-tablefile.Most - 1}} {
		p := &tablefile.Part{Addresses: make([]table.Address, 1), Values: func(int) ([]int64, table.Bits, error) { return values, table.Bits{1}, nil }}
		if _, err := tablefile.Bytes(columns, p); err == nil {
			t.Errorf("%s: it is written", name)
		}
	}
	stored := &file{bytes: must.Get(tablefile.Bytes(nil, &tablefile.Part{}))(t)}
	f := must.Get(tablefile.Open(t.Context(), stored, int64(len(stored.bytes))))(t)
	if _, err := f.Blocks(t.Context(), "a"); err == nil {
		t.Error("a column is read that is not there")
	}
}
