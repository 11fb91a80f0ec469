package tablefile_test

import (
	"math/rand/v2"
	"testing"

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
