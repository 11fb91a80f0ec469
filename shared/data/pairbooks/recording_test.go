package pairbooks

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// A write of DynamoDB costs a unit for each kilobyte, of which the names and the key take some
// 150 bytes: samples of genuine books of perpetuals cost one, and of spot two, as prices are
// farther apart there and sizes longer. The guide's costs follow from that.
func TestSamplesOfRecordedBooksCostAUnitOrTwo(t *testing.T) {
	t.Parallel()
	const unit, around = 1024, 150
	for name, c := range map[string]struct {
		contract int64 // US dollars; 0 of a book in coins
		sample   int   // bytes at most
		level    int   // of the whole book, bytes at most
	}{
		"hftbacktest_binance_spot_btcusdt_20240808.gz":      {0, 2*unit - around, 7},
		"hftbacktest_binance_usdm_btcusdt_20240808.gz":      {0, unit - around, 3},
		"hftbacktest_binance_coinm_btcusd_perp_20240808.gz": {100, unit - around, 5},
	} {
		lines := testenv.Recording(t, "exchanges/"+name)
		for lines.Scan() {
			_, line, _ := strings.Cut(lines.Text(), " ")
			if !strings.HasPrefix(line, `{"lastUpdateId"`) {
				continue
			}
			var s struct{ Bids, Asks [][2]market.Decimal }
			must.Do(t, json.Unmarshal([]byte(line), &s))
			b := market.PairBook{Pair: "btcswapusdt:binance", Time: 1_790_000_000_123}
			for i, side := range [][][2]market.Decimal{s.Bids, s.Asks} {
				for _, l := range side {
					size := l[1]
					if c.contract > 0 {
						size = must.Get(size.Mul(market.DecimalFromInt(c.contract)).Div(l[0]))(t).RoundHAZ(8)
					}
					if to := &b.Bids; i == 0 {
						*to = append(*to, market.PairLevel{Px: l[0], Sz: size})
					} else {
						b.Asks = append(b.Asks, market.PairLevel{Px: l[0], Sz: size})
					}
				}
			}
			row, ok := SampleRow(&b)
			levels := len(b.Bids) + len(b.Asks)
			packed := len(NewView(time.UnixMilli(0), b).Books[b.Pair].Levels)
			t.Logf("%s: a sample has %d bytes, %d levels %d", name, len(row.Body), levels, packed)
			if !ok || len(row.Body) > c.sample || packed > levels*c.level {
				t.Errorf("%s: a sample has %d bytes, %d levels %d", name, len(row.Body), levels, packed)
			}
			break
		}
	}
}
