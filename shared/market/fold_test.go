package market

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// someTrades draws trades of one coin within a minute, several in the same ms.
func someTrades(t *rapid.T) []Trade {
	n := rapid.IntRange(1, 40).Draw(t, "n")
	trades := make([]Trade, n)
	for i := range trades {
		trades[i] = Trade{
			Coin: "BTC", Side: rapid.SampledFrom([]Side{Buy, Sell}).Draw(t, "side"),
			Px: mustDecimal(decimalText(6, 5).Draw(t, "px")), Sz: mustDecimal(decimalText(6, 8).Draw(t, "sz")),
			Time: 1773532800000 + rapid.Int64Range(0, 50).Draw(t, "ms"), Seq: rapid.Int64Range(0, 3).Draw(t, "seq"), Tid: int64(i + 1),
		}
	}
	return trades
}

func fold(trades []Trade) (c Candle) {
	for i := range trades {
		c.Add(&trades[i])
	}
	return c
}

func TestTheFoldOfPartsIsTheFoldOfAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trades := someTrades(t)
		all := fold(trades)
		shuffled := slices.Clone(trades)
		shuffle(t, shuffled)
		// Cut into parts, fold each, merge them in any grouping.
		var parts []Candle
		for len(shuffled) > 0 {
			n := rapid.IntRange(1, len(shuffled)).Draw(t, "part")
			parts = append(parts, fold(shuffled[:n]))
			shuffled = shuffled[n:]
		}
		for len(parts) > 1 {
			i := rapid.IntRange(0, len(parts)-2).Draw(t, "merge")
			parts[i].Merge(&parts[i+1])
			parts = slices.Delete(parts, i+1, i+2)
		}
		if !parts[0].Equal(&all) || parts[0].First != all.First || parts[0].Last != all.Last {
			t.Fatalf("parts %+v\nall %+v", parts[0], all)
		}
	})
}

func shuffle[T any](t *rapid.T, s []T) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}

func TestACandleIsWhatItsTradesSay(t *testing.T) {
	t.Parallel()
	trade := func(ms, seq int64, side Side, px, sz string) Trade {
		return Trade{Side: side, Px: mustDecimal(px), Sz: mustDecimal(sz), Time: ms, Seq: seq, Tid: ms + seq}
	}
	c := fold([]Trade{
		trade(2000, 1, Sell, "99.5", "2"), trade(1000, 0, Buy, "100", "1"), trade(2000, 0, Buy, "101.25", "0.5"), trade(1500, 0, Sell, "98", "0.1"),
	})
	c.OpenTime = 1000
	want := Candle{
		OpenTime: 1000, Trades: 4, Size: mustDecimal("3.6"), Amount: mustDecimal("359.425"), TradesBuyer: 2, SizeBuyer: mustDecimal("1.5"),
		AmountBuyer: mustDecimal("150.625"), Open: mustDecimal("100"), High: mustDecimal("101.25"), Low: mustDecimal("98"), Close: mustDecimal("99.5"),
	}
	if !c.Equal(&want) {
		t.Fatalf("got %+v, want %+v", c, want)
	}
}

func someRanked(t *rapid.T) []Ranked {
	fills := make([]Ranked, rapid.IntRange(1, 40).Draw(t, "n"))
	for i := range fills {
		// Few values, so that most differ in one of the tie-breakers only.
		small := func(name string) int64 { return rapid.Int64Range(0, 2).Draw(t, name) }
		fills[i] = Ranked{Time: 1 + small("time"), Address: fmt.Sprint("0x", small("address")), Coin: "BTC",
			Side: rapid.SampledFrom([]Side{Buy, Sell}).Draw(t, "side"), Oid: small("oid"), IsTaker: small("taker") == 0, Px: "1.0", Sz: "1.0",
			Val: mustDecimal(fmt.Sprint(small("val"), ".5")), EndPosition: mustDecimal(fmt.Sprint(small("end"), ".25"))}
	}
	return fills
}

func TestATopIsTheSameInAnyOrderGroupingAndRepetition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fills := someRanked(t)
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		want := slices.Clone(fills)
		slices.SortFunc(want, func(a, b Ranked) int { return a.Compare(&b) })
		want = slices.CompactFunc(want, func(a, b Ranked) bool { return a.Compare(&b) == 0 })
		want = want[:min(limit, len(want))]

		again := append(slices.Clone(fills), fills...)
		shuffle(t, again)
		parts := make([]Top, 3)
		for i, f := range again {
			parts[i%3].Add(f, limit)
		}
		parts[0].Merge(parts[1], limit)
		parts[0].Merge(parts[2], limit)
		if parts[0].Merge(parts[1], limit) {
			t.Fatal("merging the same again changed the top")
		}
		if !slices.EqualFunc(parts[0], Top(want), func(a, b Ranked) bool { return a.Compare(&b) == 0 }) {
			t.Fatalf("got  %+v\nwant %+v", parts[0], want)
		}
	})
}

func BenchmarkCandleAdd(b *testing.B) {
	t := Trade{Side: Buy, Px: mustDecimal("105056.0"), Sz: mustDecimal("0.00219"), Time: 1, Tid: 1}
	var c Candle
	b.ReportAllocs()
	for b.Loop() {
		t.Time++
		c.Add(&t)
	}
}
