package table_test

import (
	"context"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/testing/must"
)

// holds is the meaning of an operator, in fractions.
func holds(op table.Op, figure, value *big.Rat) bool {
	c := figure.Cmp(value)
	return map[table.Op]bool{
		table.Equal: c == 0, table.Different: c != 0, table.Less: c < 0, table.AtMost: c <= 0, table.Greater: c > 0, table.AtLeast: c >= 0,
	}[op]
}

func TestAComparisonWithADecimalIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.IntRange(0, 18).Draw(t, "scale")
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,19})?`).Draw(t, "value")
		value := must.Get(market.ParseDecimal(text))(t)
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no fraction", text)
		}
		ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		figures := []int64{0, 1, -1, table.MostValue, -table.MostValue, rapid.Int64Range(-1e18, 1e18).Draw(t, "figure")}
		near := new(big.Rat).Mul(want, ten)
		whole := new(big.Int).Quo(near.Num(), near.Denom())
		if whole.IsInt64() && whole.Int64() < table.MostValue && whole.Int64() > -table.MostValue {
			figures = append(figures, whole.Int64()-1, whole.Int64(), whole.Int64()+1)
		}
		block := must.Get(table.NewBlock(figures, nil))(t)
		p := table.NewPart(make([]table.Address, len(figures)))
		p.Columns[0] = []table.Block{block}
		for op := table.Equal; op <= table.AtLeast; op++ {
			n := 0
			for _, f := range figures {
				if holds(op, new(big.Rat).Quo(new(big.Rat).SetInt64(f), ten), want) {
					n++
				}
			}
			q := table.Query{Filters: []table.Filter{table.Compare(0, op, value, scale)}}
			if got := must.Get(q.Run(context.Background(), []*table.Part{p}))(t); got.Total != n {
				t.Fatalf("operator %d with %s at scale %d: %d of %v pass, want %d", op, text, scale, got.Total, figures, n)
			}
		}
	})
}
