package exchange

import (
	"slices"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/market"
)

func TestABatchSaysWhatItHoldsOfEachPlatform(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		batch Batch
		want  []string
	}{
		"nothing":       {},
		"lists":         {Batch{Listings: []Listing{{Platform: "okex"}, {Platform: "binance"}}}, []string{"pairs/binance", "pairs/okex"}},
		"prices":        {Batch{PairEvents: market.PairEvents{Tickers: []market.PairTicker{{Pair: "a:bybit"}, {Pair: "b:bybit"}}}}, []string{"pairtickers/bybit"}},
		"trades":        {Batch{PairEvents: market.PairEvents{Trades: []market.PairTrade{{Pair: "a:bybit"}}}}, []string{"pairtrades/bybit"}},
		"candles":       {Batch{Runs: []Run{{CandleRun: market.CandleRun{Pair: "a:okex"}}}}, []string{"pairklines/okex"}},
		"paid funding":  {Batch{PairEvents: market.PairEvents{Fundings: []market.PairFunding{{Pair: "a:binance", Paid: true}}}}, []string{"pairfunding/binance"}},
		"funding":       {Batch{PairEvents: market.PairEvents{Fundings: []market.PairFunding{{Pair: "a:binance"}}}}, []string{"pairfunding/binance", "pairliquidations/binance"}},
		"liquidations":  {Batch{PairEvents: market.PairEvents{Liquidations: []market.PairLiquidation{{Pair: "a:binance"}}}}, []string{"pairliquidations/binance"}},
		"open interest": {Batch{PairEvents: market.PairEvents{Interests: []market.PairInterest{{Pair: "a:binance"}}}}, []string{"pairinterest/binance"}},
		"accounts":      {Batch{PairEvents: market.PairEvents{Ratios: []market.PairRatio{{Pair: "a:binance"}}}}, []string{"pairratios/binance"}},
	} {
		var said []string
		holds(&tt.batch, func(need catalog.Need) { said = append(said, need.Key()) })
		slices.Sort(said)
		if !slices.Equal(said, tt.want) {
			t.Errorf("%s: %q, want %q", name, said, tt.want)
		}
	}
}
