package traderhistory

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"testing"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

type whole struct{ *bytes.Reader }

func (w whole) Range(_ context.Context, offset, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := w.ReadAt(b, offset)
	return b, err
}

// One such sum would be in the way of every publication.
func TestASumThatNoFileHoldsIsNotKnownAndTheOthersAre(t *testing.T) {
	t.Parallel()
	most := market.DecimalOf(tablefile.Most-5, valuePlaces)
	hour := StartOf(markettest.Base, Day)
	var files []*tablefile.File
	column := slices.IndexFunc(Columns(), func(c tablefile.Column) bool { return c.Name == "perpTakerValue" })
	sums := NewSums(hour, 2, []int{column})
	for range 24 { // of which the sum is beyond a number of 64 bits too
		var did []Did
		for n := range 2 {
			f := &market.Facts{Perp: market.FillFacts{Taker: market.FillSum{Count: 1, Value: market.DecimalFromInt(3)}, Maker: market.FillSum{Count: 2}}}
			if n == 0 {
				f.Perp.Taker.Value, f.Perp.Maker.Value = most, most.Neg()
			}
			did = append(did, Did{Address: table.Address{19: byte(n)}, Facts: f})
		}
		body := must.Get(tablefile.Bytes(Columns(), Part(did)))(t)
		f := must.Get(tablefile.Open(t.Context(), whole{bytes.NewReader(body)}, int64(len(body))))(t)
		files = append(files, f)
		sums.add(column, 0, tablefile.Most-5)
		sums.add(column, 1, 3_000_000)
	}
	part := must.Get(Sum(t.Context(), hour, files))(t)
	body := must.Get(tablefile.Bytes(Columns(), part))(t)
	sum := must.Get(tablefile.Open(t.Context(), whole{bytes.NewReader(body)}, int64(len(body))))(t)
	for name, want := range map[string][2]any{
		"perpTakerValue": {nil, int64(72_000_000)}, "perpMakerValue": {nil, nil}, "perpTakerCount": {int64(24), int64(24)}, "perpMakerCount": {int64(48), int64(48)},
	} {
		blocks := must.Get(sum.Blocks(t.Context(), name))(t)
		for row, want := range want {
			if v, known := blocks[0].At(row); known != (want != nil) || known && v != want {
				t.Errorf("%s of row %d is %d, known %t, want %v", name, row, v, known, want)
			}
		}
	}
	for trader, want := range []int64{0, 72} {
		var did market.Facts
		if sums.Facts(trader, []int{column}, &did); !did.Perp.Taker.Value.Equal(market.DecimalFromInt(want)) {
			t.Errorf("the value of trader %d is %s, want %d", trader, did.Perp.Taker.Value, want)
		}
	}
}

// The traders of a builder were there last in each of some thousand hours.
func TestHoursOfManyTradersAreSummedUpInOneGo(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	const from, hours = 500_000 * hourMs, 2000
	var texts []string
	for n := range int64(24 * hours) {
		texts = append(texts, continued(market.Continued{Hour: from - (1+n%hours)*hourMs, N: 1 + n%2}))
	}
	texts = append(texts, continued(market.Continued{Hour: from, N: 1}), continued(market.Continued{Hour: from - hourMs, N: -24}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := (&summing{from: from}).continued(texts)
	runtime.ReadMemStats(&after)
	if len(got) != hours-1 || got[0] != continued(market.Continued{Hour: from - hours*hourMs, N: 48}) || after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("%d hours, the first %v, with %d bytes", len(got), got[:1], after.TotalAlloc-before.TotalAlloc)
	}
}
