package market_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// levels reads "px:sz:n px:sz:n".
func levels(text string) []market.Level {
	list := []market.Level{}
	for _, part := range strings.Fields(text) {
		var l market.Level
		fields := strings.Split(part, ":")
		l.Px, l.Sz = fields[0], fields[1]
		fmt.Sscan(fields[2], &l.N)
		list = append(list, l)
	}
	return list
}

func TestABookIsGroupedWithBidsDownAndAsksUp(t *testing.T) {
	t.Parallel()
	b := market.Book{Coin: "BTC", Time: 1,
		Bids: levels("105056.0:1.5:1 105051.0:0.25:2 104999.0:3.0:1"),
		Asks: levels("105057.0:0.00001:1 105061.0:2.0:5 105149.0:1.0:1")}
	for g, want := range map[market.Grouping][2]string{
		{}:                     {"105056.0:1.5:1 105051.0:0.25:2 104999.0:3.0:1", "105057.0:0.00001:1 105061.0:2.0:5 105149.0:1.0:1"},
		{Figs: 5, Mantissa: 1}: {"105050.0:1.75:3 104990.0:3.0:1", "105060.0:0.00001:1 105070.0:2.0:5 105150.0:1.0:1"},
		{Figs: 5, Mantissa: 2}: {"105040.0:1.75:3 104980.0:3.0:1", "105060.0:0.00001:1 105080.0:2.0:5 105160.0:1.0:1"},
		{Figs: 5, Mantissa: 5}: {"105050.0:1.75:3 104950.0:3.0:1", "105100.0:2.00001:6 105150.0:1.0:1"},
		{Figs: 4, Mantissa: 1}: {"105000.0:1.75:3 104900.0:3.0:1", "105100.0:2.00001:6 105200.0:1.0:1"},
		{Figs: 2, Mantissa: 1}: {"100000.0:4.75:4", "110000.0:3.00001:7"},
	} {
		got := b.Group(g)
		check.Equalf(t, market.Book{Coin: "BTC", Time: 1, Bids: levels(want[0]), Asks: levels(want[1])}, got, "%+v", g)
	}
}

func TestTheStepChangesWithTheMagnitude(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figs         int
		px, down, up string
	}{
		{5, "9999.96", "9999.9", "10000.0"},
		{5, "10000.3", "10000.0", "10001.0"},
		{5, "0.0123456", "0.012345", "0.012346"},
		{2, "0.0123456", "0.012", "0.013"},
		{2, "0.99", "0.99", "0.99"},
		{2, "0.991", "0.99", "1.0"},
		{3, "7", "7", "7"}, // nothing to join
		{2, "12345678901234567890", "12000000000000000000.0", "13000000000000000000.0"},
		{5, "0.0000000000000000123", "0.0000000000000000123", "0.0000000000000000123"},
		{2, "0.0", "0.0", "0.0"},
	} {
		one := []market.Level{{Px: c.px, Sz: "1", N: 1}}
		b := market.Book{Coin: "X", Bids: one, Asks: one}
		got := b.Group(market.Grouping{Figs: c.figs, Mantissa: 1})
		down, up := trimmed(t, c.down), trimmed(t, c.up)
		if got.Bids[0].Px != down || got.Asks[0].Px != up {
			t.Errorf("%s to %d figures is %s and %s, want %s and %s", c.px, c.figs, got.Bids[0].Px, got.Asks[0].Px, down, up)
		}
	}
}

func trimmed(t *testing.T, s string) string {
	t.Helper()
	d := must.Get(market.ParseDecimal(s))(t)
	return market.Text(d)
}

func TestGroupingsAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	n := func(i int) *int { return &i }
	for _, c := range []struct {
		figs, mantissa *int
		want           market.Grouping
		err            error
	}{
		{nil, nil, market.Grouping{}, nil},
		{n(2), nil, market.Grouping{Figs: 2, Mantissa: 1}, nil},
		{n(5), nil, market.Grouping{Figs: 5, Mantissa: 1}, nil},
		{n(5), n(5), market.Grouping{Figs: 5, Mantissa: 5}, nil},
		{n(1), nil, market.Grouping{}, market.ErrSigFigs},
		{n(6), nil, market.Grouping{}, market.ErrSigFigs},
		{n(4), n(2), market.Grouping{}, market.ErrMantissa},
		{nil, n(1), market.Grouping{}, market.ErrMantissa},
		{n(5), n(3), market.Grouping{}, market.ErrMantissa},
	} {
		if got, err := market.NewGrouping(c.figs, c.mantissa); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v, %v: %+v, %v; want %+v, %v", c.figs, c.mantissa, got, err, c.want, c.err)
		}
	}
}

func TestGroupingLosesNoOrderAndPromisesNoBetterPrice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := market.Grouping{Figs: rapid.IntRange(2, 5).Draw(t, "figs"), Mantissa: 1}
		if g.Figs == 5 {
			g.Mantissa = rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "mantissa")
		}
		b := market.Book{Coin: "X", Time: 1}
		px := rapid.IntRange(1, 1_000_000).Draw(t, "px")
		places := rapid.IntRange(0, 6).Draw(t, "places")
		for range rapid.IntRange(0, 30).Draw(t, "levels") {
			px += rapid.IntRange(1, 2000).Draw(t, "step")
			text := fmt.Sprintf("%d.%0*d", px, places+1, 0)
			if places > 0 {
				text = fmt.Sprintf("0.%0*d", places+7, px)
			}
			l := market.Level{Px: text, Sz: fmt.Sprintf("%d.5", px%7), N: int64(px % 3)}
			b.Asks = append(b.Asks, l)
			b.Bids = append([]market.Level{l}, b.Bids...)
		}
		must.Do(t, b.Check())
		joined := b.Group(g)
		if err := joined.Check(); err != nil {
			t.Fatalf("%+v: %v", joined, err)
		}
		for side, pair := range map[string][2][]market.Level{"bids": {b.Bids, joined.Bids}, "asks": {b.Asks, joined.Asks}} {
			if len(pair[0]) == 0 {
				continue
			}
			if sum(t, pair[0]) != sum(t, pair[1]) {
				t.Fatalf("%s hold %s, were %s", side, sum(t, pair[1]), sum(t, pair[0]))
			}
			best, was := decimal(t, pair[1][0].Px), decimal(t, pair[0][0].Px)
			if side == "bids" && best.GreaterThan(was) || side == "asks" && best.LessThan(was) {
				t.Fatalf("the best of the %s is %s, was %s", side, best, was)
			}
		}
	})
}

func sum(t *rapid.T, levels []market.Level) string {
	var sz market.Decimal
	n := int64(0)
	for _, l := range levels {
		sz = sz.Add(decimal(t, l.Sz))
		n += l.N
	}
	return fmt.Sprint(sz, " in ", n)
}

func decimal(t *rapid.T, s string) market.Decimal {
	return must.Get(market.ParseDecimal(s))(t)
}

func TestTheDepthIsWhatRestsOnEachSide(t *testing.T) {
	t.Parallel()
	b := market.Book{Bids: levels("3.0:1.5:1 2.0:0.25:2"), Asks: levels("4.0:0.00001:1")}
	if bids, asks := b.Depth(); market.Text(bids) != "1.75" || market.Text(asks) != "0.00001" {
		t.Errorf("got %s and %s", bids, asks)
	}
}

// TestPricesAreComparedAsNumbers asks with books of two bids whether one price is
// higher than another.
func TestPricesAreComparedAsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			s := rapid.StringMatching(`[01]{1,3}(\.[01]{1,4})?`).Draw(t, name)
			return s
		}
		high, low := text("high"), text("low")
		b := market.Book{Coin: "X", Time: 1, Bids: []market.Level{{Px: high, Sz: "1", N: 1}, {Px: low, Sz: "1", N: 1}}}
		err := b.Check()
		if higher := decimal(t, high).GreaterThan(decimal(t, low)); higher != (err == nil) {
			t.Fatalf("%s over %s: %v", high, low, err)
		}
	})
}
