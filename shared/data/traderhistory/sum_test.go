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

// One such sum would be in the way of every publication, or be taken for nothing.
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
		"perpTakerValue": {int64(unknown), int64(72_000_000)}, "perpMakerValue": {int64(unknown), nil}, "perpTakerCount": {int64(24), int64(24)}, "perpMakerCount": {int64(48), int64(48)},
	} {
		blocks := must.Get(sum.Blocks(t.Context(), name))(t)
		for row, want := range want {
			if v, known := blocks[0].At(row); known != (want != nil) || known && v != want {
				t.Errorf("%s of row %d is %d, known %t, want %v", name, row, v, known, want)
			}
		}
	}
	of := NewSums(hour, 2, []int{column}) // of the file of the sum, and of one in which trader 0 did little
	little := Part([]Did{{Address: table.Address{}, Facts: &market.Facts{Perp: market.FillFacts{Taker: market.FillSum{Value: market.DecimalFromInt(1)}}}}})
	for _, p := range []*tablefile.Part{part, little} {
		values, known, err := p.Values(column)
		for row := range p.Addresses {
			if err == nil && known.Has(row) {
				of.add(column, row, values[row])
			}
		}
	}
	for name, s := range map[string]*Sums{"hours": sums, "a file of a sum": of} {
		var did market.Facts
		s.Facts(1, []int{column}, &did)
		if s.Known(0, []int{column}) || !s.Known(1, []int{column}) || !did.Perp.Taker.Value.Equal(market.DecimalFromInt(72)) {
			t.Errorf("of %s it is known of traders %t, %t, and that of the second is %s", name, s.Known(0, []int{column}), s.Known(1, []int{column}), did.Perp.Taker.Value)
		}
	}
}

// What has too many digits by itself is told from nothing too, and stays greater than all.
func TestANumberThatNoFileHoldsIsNotNothing(t *testing.T) {
	t.Parallel()
	huge := market.DecimalOf(tablefile.Most, 0)
	closed := market.PositionFacts{Long: market.PositionSum{Count: 1}, MaxPnl: huge, MinPnl: huge.Neg()}
	part := Part([]Did{{Facts: &market.Facts{Closed: closed, Spot: market.FillFacts{Maker: market.FillSum{Value: huge}}}}})
	for i := range components {
		c := &components[i]
		values, known, err := part.Values(i)
		if err != nil {
			t.Fatal(err)
		}
		switch c.Name {
		case "maxPnl", "minPnl", "spotMakerValue":
			if !known.Has(0) || values[0] != unknown || c.merged(values[0], -5) != unknown || c.merged(5, values[0]) != unknown {
				t.Errorf("%s is %d, known %t", c.Name, values[0], known.Has(0))
			}
		case "spotTakerValue":
			if known.Has(0) {
				t.Error("what was not done is told")
			}
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
