package exchange

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/pairtickers"
	"quotary/shared/data/platformflows"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
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
		v := must.Get(pairtickers.Published.Decode(m.views[pairtickers.Name]))(t)
		got := map[string]string{}
		for _, one := range v.Tickers {
			got[one.Pair] = one.Last.String()
		}
		// b trades no more; of its exchange nothing else was told of c.
		check.Equal(t, map[string]string{"a:x": "600006", "c:y": "5"}, got)
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
			value := must.Get(trade.Value().Int64())(t)
			if rapid.Bool().Draw(t, "sold") {
				trade.Side, value = market.Sell, -value
			}
			want[platformOf(trade.Pair)] += value
			m.apply(t, p, &Batch{PairEvents: market.PairEvents{Trades: []market.PairTrade{trade, trade}}}, time.UnixMilli(at))
			if rapid.IntRange(0, 5).Draw(t, "restart") == 0 {
				p = m.restored(t, newFlows())
			}
		}
		v, err := platformflows.Published.Decode(m.views[platformflows.Name])
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
		if v, err = platformflows.Published.Decode(m.views[platformflows.Name]); err != nil {
			t.Fatal(err)
		}
		for _, one := range v.Platforms {
			if one.Key == "x" && len(one.Minutes) != 1 || one.Key == "y" && len(one.Minutes) != 0 {
				t.Fatalf("two days later there is %+v", one)
			}
		}
	})
}

// Whatever trades are lost, whenever the process starts again, and whatever comes again then:
// minutes that are confirmed are what the exchange says.
func TestFlowsAreThoseOfTheExchangesKLinesWhereTheseTellTakers(t *testing.T) {
	t.Parallel()
	const minutes = 40 // before and after midnight
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory()
		p := m.restored(t, newFlows())
		traded := perpetual("BTC", "x", false)
		other := market.Pair{Key: "wanted:x"}
		listing := Listing{Pairs: []market.Pair{traded, other}, Followed: map[string]bool{traded.Key: true}}
		var bought, sold [2 * minutes]int64
		for i := range bought {
			bought[i], sold[i] = rapid.Int64Range(0, 3).Draw(t, "bought"), rapid.Int64Range(0, 3).Draw(t, "sold")
		}
		open := func(i int) int64 { return midnight + int64(i-minutes)*60_000 }
		run := func(pair string, from, to int) market.CandleRun {
			run := market.CandleRun{Pair: pair, Interval: market.Minute1, From: open(from), To: open(to)}
			for i := from; i < to; i++ {
				if n := bought[i] + sold[i]; n > 0 {
					run.Candles = append(run.Candles, market.Candle{OpenTime: open(i), Trades: n, Size: dec(n), Amount: dec(n), AmountBuyer: dec(bought[i])})
				}
			}
			return run
		}
		past, id, confirmed := minutes, int64(0), minutes // K-lines are counted from past to confirmed
		began := false
		for now := minutes; now < 2*minutes; now++ {
			b := &Batch{}
			if !began || rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				p, began = m.restored(t, newFlows()), true
				b.Listings = []Listing{listing}
				b.Runs = []Run{{CandleRun: run(traded.Key, minutes, confirmed), Stored: true}, {CandleRun: run(other.Key, minutes, now)}}
			}
			if rapid.Bool().Draw(t, "past") && past > 0 && confirmed > minutes {
				from := max(0, past-15)
				b.Past = append(b.Past, run(traded.Key, from, past))
				past = from
			}
			if rapid.Bool().Draw(t, "confirm") {
				b.Runs = append(b.Runs, Run{CandleRun: run(traded.Key, confirmed, now)})
				confirmed = now
			}
			for i, n := range []int64{bought[now], sold[now]} {
				for range n {
					id++
					side := market.Buy
					if i == 1 {
						side = market.Sell
					}
					if rapid.IntRange(0, 3).Draw(t, "lost") > 0 {
						b.Trades = append(b.Trades, market.PairTrade{Pair: traded.Key, ID: id, Time: open(now) + 5, Px: dec(1), Sz: dec(1), Side: side})
					}
				}
			}
			m.apply(t, p, b, time.UnixMilli(open(now)))
			v, err := platformflows.Published.Decode(m.views[platformflows.Name])
			if err != nil {
				continue // nothing has happened yet
			}
			got := map[int64]market.Decimal{}
			for _, one := range v.Platform("x").Minutes {
				got[one.Time] = one.Net
			}
			for i := past; i < confirmed; i++ {
				if want := dec(bought[i] - sold[i]); !got[open(i)].Equal(want) {
					t.Fatalf("in minute %d, of %d to %d: %s, want %s", i, past, confirmed, got[open(i)], want)
				}
			}
		}
	})
}
