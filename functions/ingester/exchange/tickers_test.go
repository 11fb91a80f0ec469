package exchange

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/pairtickers"
	"quotary/shared/data/platformflows"
	"quotary/shared/market"
)

func TestTheNewestTickerOfEachPairIsKeptWhileItsExchangeTellsIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		p := m.restored(t, newTickers())
		tell := func(ms int64, pairs ...string) {
			b := new(Batch)
			for _, pair := range pairs {
				b.Tickers = append(b.Tickers, market.PairTicker{Pair: pair, Time: ms, Last: dec(ms - midnight)})
			}
			m.apply(t, p, b, time.UnixMilli(ms))
		}
		tell(midnight+5, "a:x", "b:x", "c:y")
		tell(midnight+3, "a:x") // late
		p = m.restored(t, newTickers())
		tell(midnight+tickerFor+6, "a:x")
		v, err := pairtickers.Decode(m.views[pairtickers.Name])
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, one := range v.Tickers {
			got[one.Pair] = one.Last.String()
		}
		// b trades no more; of its exchange nothing else was told of c.
		if diff := cmp.Diff(map[string]string{"a:x": "600006", "c:y": "5"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestFlowsAreTheTradesOfADayOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		p := m.restored(t, newFlows())
		want := map[string]int64{}
		at, id := midnight, int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "trades") {
			at += rapid.Int64Range(0, 90_000).Draw(t, "pause")
			id++
			trade := market.PairTrade{Pair: rapid.SampledFrom([]string{"a:x", "b:x", "a:y"}).Draw(t, "pair"), ID: id, Time: at, Px: dec(10), Sz: dec(rapid.Int64Range(1, 5).Draw(t, "size")), Side: market.Buy}
			value, err := trade.Value().Int64()
			if err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "sold") {
				trade.Side, value = market.Sell, -value
			}
			want[platformOf(trade.Pair)] += value
			m.apply(t, p, &Batch{PairEvents: market.PairEvents{Trades: []market.PairTrade{trade, trade}}}, time.UnixMilli(at))
			if rapid.IntRange(0, 5).Draw(t, "restart") == 0 {
				p = m.restored(t, newFlows())
			}
		}
		v, err := platformflows.Decode(m.views[platformflows.Name])
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, one := range v.Platforms {
			net, _ := one.Since(time.Time{})
			if got[one.Key], err = net.Int64(); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		// A day later only what came then is left.
		m.apply(t, p, &Batch{PairEvents: market.PairEvents{Trades: []market.PairTrade{{Pair: "a:x", ID: id + 1, Time: at + 2*day.Milliseconds(), Px: dec(1), Sz: dec(1), Side: market.Buy}}}}, time.UnixMilli(at))
		if v, err = platformflows.Decode(m.views[platformflows.Name]); err != nil {
			t.Fatal(err)
		}
		for _, one := range v.Platforms {
			if one.Key == "x" && len(one.Minutes) != 1 || one.Key == "y" && len(one.Minutes) != 0 {
				t.Fatalf("two days later there is %+v", one)
			}
		}
	})
}
