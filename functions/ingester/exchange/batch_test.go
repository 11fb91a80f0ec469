package exchange

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
)

func TestMergingKeepsEveryEvent(t *testing.T) {
	t.Parallel()
	one := func(key string) *Batch {
		return &Batch{
			PairEvents: market.PairEvents{
				Trades: []market.PairTrade{{Pair: key, ID: 1}}, Tickers: []market.PairTicker{{Pair: key}}, Fundings: []market.PairFunding{{Pair: key}},
				Interests: []market.PairInterest{{Pair: key}}, Liquidations: []market.PairLiquidation{{Pair: key}}, Ratios: []market.PairRatio{{Pair: key}},
			},
			Runs:     []Run{{CandleRun: market.CandleRun{Pair: key, Candles: make([]market.Candle, 2)}, Stored: true}},
			Past:     []market.CandleRun{{Pair: key, Candles: make([]market.Candle, 3)}},
			Listings: []Listing{{Platform: key, Pairs: make([]market.Pair, 4)}},
		}
	}
	b := NewBatch()
	b.Merge(nil)
	b.Merge(one("a"))
	b.Merge(one("b"))
	if b.Len() != 2*15 || one("a").Len() != 15 {
		t.Errorf("%d events", b.Len())
	}
	want := &Batch{
		PairEvents: market.PairEvents{
			Trades: append(one("a").Trades, one("b").Trades...), Tickers: append(one("a").Tickers, one("b").Tickers...), Fundings: append(one("a").Fundings, one("b").Fundings...),
			Interests: append(one("a").Interests, one("b").Interests...), Liquidations: append(one("a").Liquidations, one("b").Liquidations...), Ratios: append(one("a").Ratios, one("b").Ratios...),
		},
		Runs: append(one("a").Runs, one("b").Runs...),
		Past: append(one("a").Past, one("b").Past...), Listings: append(one("a").Listings, one("b").Listings...),
	}
	if diff := cmp.Diff(want, b, cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
