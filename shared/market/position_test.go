package market_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
)

const week = 7 * 86_400_000

// positionFill is a fill of account n: seq orders those of one ms.
func positionFill(account int, coin string, ms, seq int64, start, sz string, side market.Side) market.Fill {
	return market.Fill{Address: fmt.Sprintf("0x%040x", account), Coin: coin, Px: "10.0", Sz: sz, Side: side,
		Time: ms, Seq: seq, Tid: seq + 1, StartPosition: start}
}

// restarted is what is known again after a restart.
func restarted(p *market.Positions) *market.Positions {
	again := new(market.Positions)
	again.RestoreNewest(p.Newest())
	for one := range p.All() {
		again.Restore(one)
	}
	return again
}

func TestOpenInterestIsTheSumOfPositions(t *testing.T) {
	t.Parallel()
	var p market.Positions
	for _, f := range []market.Fill{
		positionFill(1, "BTC", 1000, 1, "0.0", "1.5", market.Buy),
		positionFill(2, "BTC", 1000, 2, "0.0", "1.5", market.Sell),
		positionFill(3, "BTC", 1001, 3, "2.0", "0.25", market.Sell), // held 2.0 before it was seen
		positionFill(4, "BTC", 1002, 4, "-1.0", "1.0", market.Buy),  // closed
		positionFill(5, "BTC", 1003, 5, "1.0", "3.0", market.Sell),  // turned around
		positionFill(1, "ETH", 1003, 6, "0.0", "7.0", market.Buy),
		positionFill(1, "@107", 1004, 7, "0.0", "7.0", market.Buy),
		positionFill(1, "#441", 1004, 8, "0.0", "7.0", market.Buy),
	} {
		p.Add(&f)
	}
	btc := p.OpenInterest("BTC")
	if btc.Longs != 2 || btc.Shorts != 2 || market.Text(btc.LongSize) != "3.25" || market.Text(btc.ShortSize) != "3.5" {
		t.Errorf("BTC: %+v", btc)
	}
	if coins := fmt.Sprint(p.Coins()); coins != "[BTC ETH]" {
		t.Errorf("coins are %s", coins)
	}
	closing := positionFill(1, "ETH", 1005, 8, "7.0", "7.0", market.Sell)
	if !p.Add(&closing) || p.OpenInterest("ETH").Longs != 0 || !p.OpenInterest("ETH").LongSize.IsZero() || len(p.Coins()) != 1 {
		t.Errorf("after closing ETH: %+v", p.OpenInterest("ETH"))
	}
}

func TestAClosedPositionIsNotOpenedByALateFill(t *testing.T) {
	t.Parallel()
	opening := positionFill(1, "BTC", 1000, 1, "0.0", "1.0", market.Buy)
	closing := positionFill(1, "BTC", 1000, 2, "1.0", "1.0", market.Sell)
	var p market.Positions
	p.Add(&closing)
	if p.Add(&opening) || p.OpenInterest("BTC").Longs != 0 {
		t.Errorf("open: %+v", p.OpenInterest("BTC"))
	}
	again := restarted(&p)
	if again.Add(&opening) || again.OpenInterest("BTC").Longs != 0 {
		t.Errorf("after a restart: %+v", again.OpenInterest("BTC"))
	}
	// A week later the closing is forgotten, and so old an opening is refused.
	later := positionFill(2, "BTC", 1000+week+1, 3, "0.0", "1.0", market.Buy)
	again.Add(&later)
	again.Prune()
	if n := again.Len(); n != 1 {
		t.Errorf("%d positions are kept, want the open one", n)
	}
	if again.Add(&opening) || again.OpenInterest("BTC").Longs != 1 {
		t.Errorf("after a week: %+v", again.OpenInterest("BTC"))
	}
}

// TestPositionsEndTheSameInAnyOrder adds the fills of some accounts in any
// order, some of them twice, with restarts in between.
func TestPositionsEndTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var fills []market.Fill
		held := map[string]int{}
		for i := range rapid.IntRange(1, 60).Draw(t, "fills") {
			account := rapid.IntRange(1, 5).Draw(t, "account")
			coin := rapid.SampledFrom([]string{"BTC", "xyz:GOLD"}).Draw(t, "coin")
			sz := rapid.IntRange(1, 3).Draw(t, "sz")
			side := rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(t, "side")
			key := fmt.Sprint(account, coin)
			fills = append(fills, positionFill(account, coin, int64(1000+i/3), int64(i), fmt.Sprintf("%d.0", held[key]), fmt.Sprintf("%d.0", sz), side))
			if side == market.Sell {
				sz = -sz
			}
			held[key] += sz
		}
		var want market.Positions
		for i := range fills {
			want.Add(&fills[i])
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		again := append(append([]market.Fill(nil), fills...), fills[:r.IntN(len(fills))]...)
		r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		got := new(market.Positions)
		for i := range again {
			got.Add(&again[i])
			if r.IntN(10) == 0 {
				got.Prune()
				got = restarted(got)
			}
		}
		want.Prune()
		got.Prune()
		if w, g := slices.Collect(want.All()), slices.Collect(got.All()); fmt.Sprint(w) != fmt.Sprint(g) {
			t.Fatalf("got\n%v, want\n%v", g, w)
		}
		for _, coin := range []string{"BTC", "xyz:GOLD"} {
			w, g := want.OpenInterest(coin), got.OpenInterest(coin)
			if w.Longs != g.Longs || w.Shorts != g.Shorts || !w.LongSize.Equal(g.LongSize) || !w.ShortSize.Equal(g.ShortSize) {
				t.Fatalf("%s: got %+v, want %+v", coin, g, w)
			}
			sum := 0
			for account := 1; account <= 5; account++ {
				sum += held[fmt.Sprint(account, coin)]
			}
			if market.Text(g.LongSize.Sub(g.ShortSize)) != fmt.Sprintf("%d.0", sum) {
				t.Fatalf("%s: %+v, the accounts hold %d", coin, g, sum)
			}
		}
	})
}
