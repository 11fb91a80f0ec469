package table_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quotary/shared/table"
)

const (
	benchRows    = 1_000_000
	benchColumns = 24
)

// BenchmarkQuery asks a table of 1,000,000 rows as traders are: seven of ten figures are not known
// or zero, a few are very large, and who is active comes first.
func BenchmarkQuery(b *testing.B) {
	parts, values := benchTable(b)
	bytes := 0
	for _, blocks := range parts[0].Columns {
		for i := range blocks {
			bytes += blocks[i].Bytes()
		}
	}
	above := func(column int, share float64) table.Filter {
		return table.Filter{Column: column, Low: quantile(values[column], share), High: math.MaxInt64}
	}
	var loose, mixed []table.Filter
	for c := range 8 {
		loose = append(loose, above(dense+c, .03))
		mixed = append(mixed, above(3*c, .2))
	}
	for _, one := range []struct {
		name  string
		query table.Query
	}{
		{"default", table.Query{Order: 0, Limit: 25}},
		{"one filter", table.Query{Order: dense, Limit: 25, Filters: []table.Filter{above(dense+1, .5)}}},
		{"3 filters", table.Query{Order: dense, Limit: 25, Filters: []table.Filter{above(dense+1, .5), above(dense+2, .3), above(1, .2)}}},
		{"8 filters", table.Query{Order: dense, Limit: 25, Filters: mixed}},
		{"8 loose filters, page 20", table.Query{Order: dense, Offset: 475, Limit: 25, Filters: loose}},
		{"count", table.Query{Filters: []table.Filter{above(dense, .5)}}},
		{"of coins", table.Query{Order: dense, Limit: 25, Sets: []table.SetFilter{{Column: coins, Names: []string{"BTC", "ETH"}, Kind: table.Any}}}},
		{"of coins alone", table.Query{Order: dense, Limit: 25, Sets: []table.SetFilter{{Column: coins, Names: []string{"BTC", "ETH"}, Kind: table.Only}}}},
		{"2,000 addresses", table.Query{Order: dense, Limit: 25, Addresses: parts[0].Addresses[5000:7000], Filters: []table.Filter{above(dense+1, .5)}}},
	} {
		b.Run(one.name, func(b *testing.B) {
			var total int
			for b.Loop() {
				r, err := one.query.Run(context.Background(), parts)
				if err != nil {
					b.Fatal(err)
				}
				total = r.Total
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms")
			b.ReportMetric(float64(total), "rows")
		})
	}
	b.Logf("%d columns take %.1f MB", len(parts[0].Columns), float64(bytes)/1e6)
}

// Columns of the benchmark: up to dense mostly unknown ones, then those that most rows have.
const (
	dense = 12
)

func benchTable(b *testing.B) ([]*table.Part, [][]int64) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	addresses := make([]table.Address, benchRows)
	for i := range addresses {
		binary.BigEndian.PutUint64(addresses[i][:], rng.Uint64())
		binary.BigEndian.PutUint64(addresses[i][8:], rng.Uint64())
	}
	p := table.NewPart(addresses)
	kept := make([][]int64, benchColumns)
	for c := range benchColumns {
		share := .08 // of the rows that are active, which come first
		if c >= dense {
			share = .97
		}
		numbers, known := make([]int64, benchRows), table.NewBits(benchRows)
		for i := range numbers {
			if active := rng.Float64() < share; !active || c < dense && i > benchRows/5 && rng.IntN(20) > 0 {
				continue
			}
			known.Set(i)
			switch c % 3 {
			case 0: // money
				numbers[i] = int64(rng.NormFloat64() * 1e6 * math.Exp(3*rng.NormFloat64()))
			case 1: // a count
				numbers[i] = int64(math.Exp(2 * math.Abs(rng.NormFloat64())))
			case 2: // a ratio
				numbers[i] = rng.Int64N(1_000_000)
			}
			kept[c] = append(kept[c], numbers[i])
		}
		p.Columns[c] = blocksOf(b, numbers, known)
	}
	benchSets(b, p, rng)
	for _, values := range kept {
		slices.SortFunc(values, cmp.Compare[int64])
	}
	return []*table.Part{p}, kept
}

func blocksOf(b *testing.B, numbers []int64, known table.Bits) (blocks []table.Block) {
	b.Helper()
	for from := 0; from < len(numbers); from += table.BlockRows {
		to := min(from+table.BlockRows, len(numbers))
		one, err := table.NewBlock(numbers[from:to], known[from/64:(to+63)/64])
		if err != nil {
			b.Fatal(err)
		}
		blocks = append(blocks, one)
	}
	return blocks
}

func benchSets(b *testing.B, p *table.Part, rng *rand.Rand) {
	b.Helper()
	for from := 0; from < len(p.Addresses); from += table.BlockRows {
		of, rows := map[string][]uint16{}, min(table.BlockRows, len(p.Addresses)-from)
		for i, name := range []string{"BTC", "ETH", "SOL", "HYPE"} {
			for r := range rows {
				if rng.IntN(2+3*i) == 0 {
					of[name] = append(of[name], uint16(r))
				}
			}
		}
		sets, err := table.NewSetBlock(rows, of)
		if err != nil {
			b.Fatal(err)
		}
		p.Sets[coins] = append(p.Sets[coins], sets)
	}
}

func quantile(sorted []int64, share float64) int64 { return sorted[int(share*float64(len(sorted)))] }
