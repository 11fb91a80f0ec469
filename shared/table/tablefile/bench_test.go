package tablefile_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

// BenchmarkColumn writes and reads a column of 1,000,000 rows of which one in three is not known.
func BenchmarkColumn(b *testing.B) {
	const rows = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		kind tablefile.Kind
		most int64
	}{"money": {tablefile.Money, 1e12}, "count": {tablefile.Count, 5000}, "ratio": {tablefile.Ratio, 10_000}, "date": {tablefile.Date, 1 << 34}} {
		columns := []tablefile.Column{{Name: "a", Kind: c.kind, Scale: 6}}
		values, known := make([]int64, rows), table.NewBits(rows)
		for i := range values {
			if values[i] = rng.Int64N(c.most); rng.IntN(3) > 0 {
				known.Set(i)
			}
		}
		p := &tablefile.Part{Tier: "cold", Addresses: make([]table.Address, rows), Values: func(int) ([]int64, table.Bits, error) { return values, known, nil }}
		stored := &file{bytes: must.Get(tablefile.Bytes(columns, p))(b)}
		f := must.Get(tablefile.Open(b.Context(), stored, int64(len(stored.bytes))))(b)
		b.Run(name+"/write", func(b *testing.B) {
			for b.Loop() {
				must.Get(tablefile.Bytes(columns, p))(b)
			}
		})
		b.Run(name+"/read", func(b *testing.B) {
			for b.Loop() {
				must.Get(f.Blocks(b.Context(), "a"))(b)
			}
			b.ReportMetric(float64(len(stored.bytes))/1e6, "MB")
		})
	}
}

// skewed are figures as traders have them: of seven in ten nothing is known, few are zero, and some are
// very large.
func skewed(rng *rand.Rand, rows int, kind tablefile.Kind) ([]int64, table.Bits) {
	values, known := make([]int64, rows), table.NewBits(rows)
	for i := range values {
		if rng.IntN(100) < 71 {
			continue
		}
		known.Set(i)
		switch {
		case rng.IntN(5) == 0:
		case kind == tablefile.Money:
			values[i] = int64(rng.NormFloat64() * 1e8 * math.Exp(3*rng.NormFloat64()))
		case kind == tablefile.Date:
			values[i] = 1_760_000_000_000 + rng.Int64N(3e9)
		case kind == tablefile.Ratio:
			values[i] = rng.Int64N(1_000_000)
		default:
			values[i] = int64(math.Exp(2 * math.Abs(rng.NormFloat64())))
		}
	}
	return values, known
}

// BenchmarkHotTier writes 400 columns of three blocks, as a publication does every five minutes.
func BenchmarkHotTier(b *testing.B) {
	const rows, width = 3 * table.BlockRows, 400
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := []tablefile.Kind{tablefile.Count, tablefile.Money, tablefile.Ratio, tablefile.Money}
	var columns []tablefile.Column
	for c := range width {
		columns = append(columns, tablefile.Column{Name: "c" + strconv.Itoa(c), Kind: kinds[c%4], Scale: 6})
	}
	type made struct {
		values []int64
		known  table.Bits
	}
	var some [20]made // others are the same again
	for i := range some {
		some[i].values, some[i].known = skewed(rng, rows, kinds[i%4])
	}
	p := &tablefile.Part{Tier: "hot", Addresses: make([]table.Address, rows), Values: func(c int) ([]int64, table.Bits, error) { return some[c%20].values, some[c%20].known, nil }}
	var size int
	for b.Loop() {
		size = len(must.Get(tablefile.Bytes(columns, p))(b))
	}
	b.ReportMetric(float64(size)/1e6, "MB")
}

// network is a store at some distance: 15 ms until an answer begins, 80 MB/s each and 75 MB/s in all.
type network struct {
	bytes []byte

	mu   sync.Mutex
	free time.Time // when what all share has carried what was asked for before
	sent int
}

// Range reads a part of the file.
func (n *network) Range(ctx context.Context, _ string, offset, size int64) ([]byte, error) {
	n.mu.Lock()
	n.sent += int(size)
	now := time.Now()
	n.free = later(n.free, now).Add(time.Duration(size) * time.Second / 75e6)
	until := later(n.free, now.Add(time.Duration(size)*time.Second/80e6)).Add(15 * time.Millisecond)
	n.mu.Unlock()
	return n.bytes[offset : offset+size], backoff.Sleep(ctx, time.Until(until))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// BenchmarkFromNothing answers the first queries of a process about 1,000,000 rows from a store at some
// distance: the footer, the addresses and the columns of each are read.
func BenchmarkFromNothing(b *testing.B) {
	const rows, width = 1_000_000, 12
	rng := rand.New(rand.NewPCG(1, 2))
	var columns []tablefile.Column
	var values [][]int64
	var known []table.Bits
	for c := range width {
		kind := []tablefile.Kind{tablefile.Money, tablefile.Count, tablefile.Ratio}[c%3]
		columns = append(columns, tablefile.Column{Name: "c" + strconv.Itoa(c), Kind: kind, Scale: 6})
		v, k := skewed(rng, rows, kind)
		values, known = append(values, v), append(known, k)
	}
	p := &tablefile.Part{Tier: "cold", Addresses: make([]table.Address, rows), Values: func(c int) ([]int64, table.Bits, error) { return values[c], known[c], nil }}
	for i := range p.Addresses {
		for at := range p.Addresses[i] {
			p.Addresses[i][at] = byte(rng.IntN(256))
		}
	}
	store := &network{bytes: must.Get(tablefile.Bytes(columns, p))(b)}
	m := tablefile.Manifest{Version: 1, Files: []tablefile.Named{{Key: "a", Bytes: int64(len(store.bytes))}}}
	filters := func(n int) (list []table.Filter) {
		for c := range n {
			list = append(list, table.Filter{Column: c, Low: 1, High: table.MostValue})
		}
		return list
	}
	for name, q := range map[string]table.Query{"default": {Limit: 25}, "3 filters": {Limit: 25, Filters: filters(3)}, "8 filters": {Limit: 25, Filters: filters(8)}} {
		b.Run(name, func(b *testing.B) {
			store.sent = 0
			for b.Loop() {
				r := tablefile.NewReader(columns, func(context.Context) (tablefile.Manifest, error) { return m, nil }, store, 512<<20)
				must.Get(r.Ask(b.Context(), &q, []int{0, 1, 2}))(b)
			}
			b.ReportMetric(float64(store.sent)/1e6/float64(b.N), "MB")
		})
	}
}
