package binance

import "quotary/localstack/sim/trading"

// What the exchange trades; see package trading.
type (
	Market = trading.Market
	Trade  = trading.Trade
	Kline  = trading.Kline
)

const (
	minute = int64(60_000) // ms
	hour   = 60 * minute
	day    = 24 * hour
)

// kind is one of the kinds of markets, each with a host and a weight of its own.
type kind int

const (
	spot  kind = iota
	usdm       // perpetuals in USDT
	coinm      // perpetuals that are paid in their base coins
	kinds
)

func kindOf(m *Market) kind {
	switch {
	case m.Dollars > 0:
		return coinm
	case m.Swap:
		return usdm
	}
	return spot
}

// limit is the weight that the host of a kind allows in a minute.
func (k kind) limit() int {
	if k == spot {
		return 6000
	}
	return 2400
}

// markets are those that there are.
func markets(seed uint64) []*Market {
	return trading.Open(seed, []*Market{
		{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Tick: 2, Lot: 5, MaxLots: 40_000, Large: 4_000_000, PerMinute: 30},
		{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", Tick: 2, Lot: 4, MaxLots: 50_000, Large: 6_000_000, PerMinute: 20},
		{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", Tick: 2, Lot: 3, MaxLots: 90_000, PerMinute: 4, Quiet: true},
		{Symbol: "ETHBTC", Base: "ETH", Quote: "BTC", Tick: 5, Lot: 4, MaxLots: 50_000, PerMinute: 2},
		{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Swap: true, Tick: 1, Lot: 3, MaxLots: 3_000, Large: 40_000, PerMinute: 40},
		{Symbol: "ETHUSDT", Base: "ETH", Quote: "USDT", Swap: true, Tick: 2, Lot: 3, MaxLots: 40_000, Large: 600_000, PerMinute: 25},
		{Symbol: "SOLUSDT", Base: "SOL", Quote: "USDT", Swap: true, Tick: 3, Lot: 0, MaxLots: 500, PerMinute: 6, Quiet: true},
		{Symbol: "1000PEPEUSDT", Base: "1000PEPE", Quote: "USDT", Swap: true, Tick: 7, Lot: 0, MaxLots: 900_000, PerMinute: 5},
		{Symbol: "BTCUSD_PERP", Base: "BTC", Quote: "USD", Swap: true, Dollars: 100, Tick: 1, MaxLots: 2_000, Large: 30_000, PerMinute: 15},
		{Symbol: "ETHUSD_PERP", Base: "ETH", Quote: "USD", Swap: true, Dollars: 10, Tick: 2, MaxLots: 5_000, Large: 150_000, PerMinute: 8},
	})
}
