package catalog

import "encoding/json"

// Large orders and runs of takers of pairs of exchanges.
var (
	// Lists the latest 100 large orders of a pair and what became of them, newest first.
	BigOrders = route[BigOrdersIn, BigOrderList]("GET", "/v2/order/bigOrder", Order, anyLevel, EnvelopeA).needs(ExchangeBooks)
	// Lists the latest 100 aggregated trades of a pair, newest first.
	AggTrades = route[AggTradesIn, AggTradeList]("GET", "/v2/order/aggTrade", Order, anyLevel, EnvelopeA).needs(ExchangeTrades, VenueTrades)
)

var _ = does(Order, readLog, readViews)

// BigOrdersIn selects the large orders of a pair whose order book is followed. Of any other key
// the list is empty.
type BigOrdersIn struct {
	Symbol PairKey `query:"symbol" required:"true" example:"btcswapusdt:binance"` // key of the pair
}

// BigOrderList is the large orders of a pair.
type BigOrderList struct {
	Map  *BigOrderPair `json:"map"`  // what the orders are of; null where the key is of no pair of an exchange
	List []BigOrder    `json:"list"` // orders, at most 100, those that were first seen last at the beginning
}

// BigOrderPair is the pair of a list.
type BigOrderPair struct {
	Coin      string `json:"coin"`       // the coin, in lower case: btc
	CoinType  string `json:"coin_type"`  // what is traded, in lower case: btcusdt, of a perpetual btcswapusdt
	Platform  string `json:"platform"`   // key of the exchange
	ShowState int64  `json:"show_state"` // 1 where its order book is followed, else 0
}

// BigOrder is a price at which much rests in an order book, from when it was first seen until it
// is over; several orders at one price are one. Amounts are contracts or, where the exchange
// counts sizes in coins (spot pairs, and perpetuals of Binance and Bybit in USDT), coins.
type BigOrder struct {
	ID                string       `json:"id"`                  // names it among those of the pair
	StartTime         int64        `json:"start_time"`          // when it was first seen, ms
	HoldTime          int64        `json:"hold_time"`           // for how long it has rested until now or its end, ms
	ShowState         int64        `json:"show_state"`          // 1, or 0 of one that has not rested for ten seconds
	TradeType         string       `json:"trade_type"`          // spot or futures
	DepthPrice        json.Number  `json:"depth_price"`         // its price
	DepthType         string       `json:"depth_type"`          // bid or ask
	DepthState        int64        `json:"depth_state"`         // 0 pending: not yet ten seconds; 1 confirmed; 2 partly filled; 3 fully filled; 4 cancelled
	TradePrice        *json.Number `json:"trade_price"`         // price of its trades, which is its own; null before any
	DepthAmount       json.Number  `json:"depth_amount"`        // what rested when it was first seen, in contracts
	DepthTurnover     json.Number  `json:"depth_turnover"`      // its value at its price, in US dollars
	DepthVol          json.Number  `json:"depth_vol"`           // the same in coins
	LastAmount        json.Number  `json:"last_amount"`         // what rests now, or was left at the end, in contracts
	LastTurnover      json.Number  `json:"last_turnover"`       // its value at its price, in US dollars
	HighAmount        json.Number  `json:"high_amount"`         // the most that rested, in contracts
	HighTurnover      json.Number  `json:"high_turnover"`       // its value at its price, in US dollars
	TradeAmount       json.Number  `json:"trade_amount"`        // what was traded of it, in contracts
	TradeTurnover     json.Number  `json:"trade_turnover"`      // its value at its price, in US dollars
	TradeCount        int64        `json:"trade_count"`         // trades at its price against its side, as the exchange shows them
	HighTradeAmount   json.Number  `json:"high_trade_amount"`   // size of the largest of these, in contracts
	HighTradeTurnover json.Number  `json:"high_trade_turnover"` // its value at its price, in US dollars
}

// AggTradesIn selects the runs of takers of a pair that is priced in USDT or, of an inverse
// perpetual, in US dollars. Of any other key the list is empty.
type AggTradesIn struct {
	Symbol PairKey `query:"symbol" required:"true" example:"btcswapusdt:binance"` // key of the pair
}

// Needs implements [Needer].
func (in AggTradesIn) Needs() []Need {
	return ofPairs([]PairKey{in.Symbol}, ExchangeTrades, VenueTrades)
}

// AggTradeList is the runs of takers of a pair: trades of takers of one side, each within half a
// second of the one before, with none of the other side between them, all within a minute. Those
// are listed that are worth a twentieth of a large order: BTC 100,000 US dollars, ETH 50,000, SOL,
// XRP, BNB and DOGE 25,000, others 10,000.
type AggTradeList struct {
	Map  [9]string     `json:"map"`  // names of the columns: id, trade_type, start_price, max_price, slippage_price, max_vol, total_vol, total_count, total_turnover
	List []AggTradeRow `json:"list"` // rows, at most 100, those that began last at the beginning
}

// AggTradeRow is a run of a taker, all texts: id of its first trade; side of the taker, buy or sell;
// price of its first trade; the worst price that was paid, the highest of a buyer and the lowest of
// a seller; by how much this is worse than the first; size of its largest trade in coins; size of
// all its trades in coins; how many trades; their value in quote coins.
type AggTradeRow [9]string
