package market

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestTheFoldOfPartsIsTheFoldOfTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trades := someTrades(t)
		whole := fold(trades)
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
		got, want := string(parts[0].AppendJSON(nil)), string(whole.AppendJSON(nil))
		if got != want || parts[0].First != whole.First || parts[0].Last != whole.Last {
			t.Fatalf("parts %s\nwhole %s", got, want)
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
	want := `{"openTime":1000,"tc":4,"size":"3.6","amount":"359.425","tcBuyer":2,"sizeBuyer":"1.5","amountBuyer":"150.625","open":"100.0","high":"101.25","low":"98.0","close":"99.5"}`
	if diff := cmp.Diff(want, string(c.AppendJSON(nil))); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	back, err := ParseCandle([]byte(want))
	if err != nil || !back.Equal(&c) {
		t.Fatalf("%+v, %v", back, err)
	}
	if _, err := ParseCandle([]byte(`{"openTime":1}`)); err == nil {
		t.Fatal("a kline without figures was read")
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
		got := parts[0].AppendJSON(nil)
		if string(got) != string(Top(want).AppendJSON(nil)) {
			t.Fatalf("got  %s\nwant %s", got, Top(want).AppendJSON(nil))
		}
		back, err := ParseTop(got)
		if err != nil || string(back.AppendJSON(nil)) != string(got) {
			t.Fatalf("%s read again is %s, %v", got, back.AppendJSON(nil), err)
		}
	})
}

func TestARankedFillIsOfTheWire(t *testing.T) {
	t.Parallel()
	fills, _, err := AppendFills(nil, blockLine(5, event(alice, buyJSON), event(bob, sellJSON)), 0)
	if err != nil {
		t.Fatal(err)
	}
	var top Top
	for i := range fills {
		top.Add(fills[i].Rank(), TopOfBucket)
	}
	want := `[{"time":1782636233257,"address":"` + bob + `","coin":"SOL","side":"A","oid":481702553903,"isTaker":false,"px":"72.153","sz":"0.58","val":"41.84874","endPosition":"-163.18"},` +
		`{"time":1782636233257,"address":"` + alice + `","coin":"SOL","side":"B","oid":481702553904,"isTaker":true,"px":"72.153","sz":"0.58","val":"41.84874","endPosition":"-162.02"}]`
	if diff := cmp.Diff(want, string(top.AppendJSON(nil))); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	for _, s := range []string{`{}`, `[{"side":"B"}]`, `[{"val":"1","endPosition":"x"}]`, `[{"val":"1","endPosition":"1"}]`} {
		if _, err := ParseTop([]byte(s)); err == nil {
			t.Errorf("ParseTop(%s) gave no error", s)
		}
	}
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
