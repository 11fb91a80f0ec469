package engine

import (
	"fmt"
	"maps"
	"testing"

	"quotary/shared/testing/must"
)

// What a source remembers of each of many things fits into an item of the store.
func TestALongPositionIsCompressed(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 10, 10_000} {
		want := map[string]int64{}
		for i := range n {
			want[fmt.Sprintf("funding coin%dswapusdt:binance", i)] = 1_790_000_000_000 + int64(i)*60_000
		}
		p := must.Get(PositionOf(want))(t)
		got := map[string]int64{}
		if err := p.Decode(&got); err != nil || !maps.Equal(got, want) {
			t.Errorf("%d pairs come back as %d: %v", n, len(got), err)
		}
		if len(p) > 200<<10 {
			t.Errorf("%d pairs take %d bytes", n, len(p))
		}
	}
}

func TestAPositionThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	for _, p := range []Position{Position("{"), Position(""), append(Position(nil), zstdMagic...), append(append(Position(nil), zstdMagic...), "broken"...)} {
		if err := p.Decode(new(map[string]int64)); err == nil {
			t.Errorf("%q is read", p)
		}
	}
}
