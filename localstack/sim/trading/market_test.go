package trading

import (
	"testing"
	"time"

	"quotary/localstack/sim/prices"
)

var now = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

func markets(seed uint64) []*Market {
	return Open(seed, []*Market{
		{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Tick: 2, Lot: 5, MaxLots: 40_000, PerMinute: 30},
		{Symbol: "ETHBTC", Base: "ETH", Quote: "BTC", Tick: 5, Lot: 4, MaxLots: 50_000, PerMinute: 2},
		{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", Swap: true, Tick: 3, Lot: 0, MaxLots: 500, PerMinute: 6, Quiet: true},
		{Symbol: "1000PEPEUSDT", Base: "1000PEPE", Quote: "USDT", Swap: true, Tick: 7, Lot: 0, MaxLots: 900_000, PerMinute: 5},
	})
}

func TestTradesCountUpAndFollowFromTheSeed(t *testing.T) {
	t.Parallel()
	from := now.Add(-2 * time.Hour).UnixMilli()
	for i, m := range markets(1) {
		again, other := markets(1)[i], markets(2)[i]
		var before Trade
		same := true
		for n, trade := range m.Trades(from, now.UnixMilli()) {
			if n > 0 && (trade.ID != before.ID+1 || trade.First != before.Last+1 || trade.Time < before.Time) {
				t.Fatalf("%s: %+v after %+v", m.Symbol, trade, before)
			}
			if trade.Price < 1 || trade.Size < 1 {
				t.Fatalf("%s: %+v", m.Symbol, trade)
			}
			before = trade
			if again.Trades(trade.Time, trade.Time+1)[0] != trade {
				t.Fatalf("%s: %+v is another one when asked again", m.Symbol, trade)
			}
			same = same && other.Trades(from, now.UnixMilli())[n] == trade
			if n == 50 {
				break
			}
		}
		if same {
			t.Errorf("%s: another seed makes the same trades", m.Symbol)
		}
	}
}

// Spot and perpetual are one market, which the other simulators show too.
func TestPricesAreThoseOfTheCoins(t *testing.T) {
	t.Parallel()
	at := now.UnixMilli()
	btc, eth, pepe := prices.WalkOf(1, "BTC"), prices.WalkOf(1, "ETH"), prices.WalkOf(1, "PEPE")
	want := map[string]int64{"BTCUSDT": btc.At(at, 9), "SOLUSDT": prices.WalkOf(1, "SOL").At(at, 9),
		"ETHBTC": eth.At(at, 9) * 1_000_000 / (btc.At(at, 9) / 1000), "1000PEPEUSDT": pepe.At(at, 9) * 1000}
	for _, m := range markets(1) {
		price := m.price(at) * pow10(9-m.Tick)
		if off := (price - want[m.Symbol]) * 1000 / want[m.Symbol]; off > 1 || off < -1 {
			t.Errorf("%s is at %s, the coin at %d", m.Symbol, m.Price(m.price(at)), want[m.Symbol])
		}
	}
}

func TestDecimals(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{"61234.56": Decimal(6123456, 2), "0.00005": Decimal(5, 5), "7": Decimal(7, 0), "0.0": Decimal(0, 1)} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
